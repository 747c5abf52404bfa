//go:build !windows

package files

import "github.com/google/renameio/v2"

// Write creates or replaces a file, for its owner only.
func Write(path string, content []byte) error { return renameio.WriteFile(path, content, 0o600) }
