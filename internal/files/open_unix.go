//go:build !windows

package files

import (
	"os"
	"syscall"
)

// openAtOnce opens a file for reading, without waiting for who writes to a pipe.
func openAtOnce(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
