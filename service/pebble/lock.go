package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/gofrs/flock"
)

// lock keeps other processes from a store: a lock on a file, which all systems have, and one on the
// folder, which the removal of that file does not undo.
type lock struct {
	file   *pebbledb.Lock
	folder *flock.Flock
}

// lockStore locks a store for this process, or fails with [ErrInUse].
func lockStore(disk vfs.FS, dir string) (*lock, error) {
	l := &lock{folder: flock.New(dir)}
	var err error
	if _, ok := disk.(private); ok {
		if l.folder, err = lockFolder(dir); err != nil {
			return nil, err
		}
	}
	l.file, err = pebbledb.LockDirectory(dir, disk)
	if err == nil {
		return l, nil
	}
	// If the file can be created but not locked, another process has it.
	if path := (&fs.PathError{}); !errors.As(err, &path) {
		err = fmt.Errorf("%w: %w", ErrInUse, err)
	}
	return nil, errors.Join(err, l.folder.Close())
}

func (l *lock) release() error { return errors.Join(l.file.Close(), l.folder.Close()) }

// lockFolder locks a folder for this process, or fails with [ErrInUse]. Windows cannot do it, where a
// file that is locked cannot be removed, and some network file systems: there it does nothing.
func lockFolder(dir string) (*flock.Flock, error) {
	l := flock.New(dir, flock.SetFlag(os.O_RDONLY))
	if runtime.GOOS == "windows" {
		return l, nil
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	if locked, err := l.TryLock(); err == nil && !locked {
		return nil, ErrInUse
	}
	return l, nil
}
