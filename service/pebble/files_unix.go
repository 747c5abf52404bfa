//go:build unix

package pebble

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// exposed reports whether other users can access a file or folder.
func exposed(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// lockFolder locks a folder for this process, or fails with [ErrInUse]. Some file systems, such as
// NFS, cannot do it: there it does nothing.
func lockFolder(dir string) (io.Closer, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.Join(ErrInUse, f.Close())
	}
	return folderLock{f}, nil
}

type folderLock struct{ *os.File }

// Close unlocks the folder. Without the explicit unlocking, a program that is being started, which
// has all files of this process for a moment, would hold the lock.
func (l folderLock) Close() error {
	_ = unix.Flock(int(l.Fd()), unix.LOCK_UN) // closing it does the same, only later
	return l.File.Close()
}
