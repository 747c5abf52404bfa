//go:build !unix

package cli

import "mayfly/render/image"

// cellSize is the size in pixels of a terminal's cells, which is not told here.
func cellSize(int) image.Size { return image.Size{} }
