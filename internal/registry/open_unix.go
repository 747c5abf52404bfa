//go:build !windows

package registry

import "os"

// open opens a file for reading.
func open(path string) (*os.File, error) { return os.Open(path) }
