package pebble

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// lock keeps other processes from a store: a lock on a file, which all systems have, and one on the
// folder, which the removal of that file does not undo.
type lock struct {
	file   *pebbledb.Lock
	folder io.Closer
}

// lockStore locks a store for this process, or fails with [ErrInUse].
func lockStore(disk vfs.FS, dir string) (*lock, error) {
	l := &lock{folder: io.NopCloser(nil)}
	if _, ok := disk.(private); ok {
		var err error
		if l.folder, err = lockFolder(dir); err != nil {
			return nil, err
		}
	}
	var err error
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
