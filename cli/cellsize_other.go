//go:build !unix

package cli

import "mayfly/render/picture"

// cellSize is the size in pixels of a terminal's cells, which is not told here.
func cellSize(int) picture.Size { return picture.Size{} }
