package files

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// How long Write tries to replace a file that others read, and how often: each of them has it open for a moment only.
const (
	longestWait = 2 * time.Second
	pause       = 5 * time.Millisecond
)

// Write creates or replaces a file, which belongs to whom its directory belongs.
func Write(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path))
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// rename replaces a file. Windows refuses that while somebody has it open, and does not say when
// nobody has any more.
func rename(from, to string) error {
	for began := time.Now(); ; time.Sleep(pause) {
		err := os.Rename(from, to)
		inUse := errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
		if !inUse || time.Since(began) > longestWait {
			return err
		}
	}
}
