package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// tellDamage tells the operator once of each damaged file.
func (s *Store) tellDamage(info pebbledb.DataCorruptionInfo) {
	if _, told := s.damaged.LoadOrStore(info.Path, true); !told {
		s.log.Error("a file of the store is damaged: what it held cannot be read, the rest is served; restore a backup",
			"file", info.Path, "error", info.Details)
	}
}

// hint adds to an error of opening the database what can be done, unless it is one of the system's.
func hint(err error) error {
	var path *fs.PathError
	if errors.Is(err, ErrInUse) || vfs.IsNoSpaceError(err) || errors.As(err, &path) {
		return err
	}
	return fmt.Errorf("%w (if a file was damaged or removed, restore a backup)", err)
}

var errFile = errors.New("a file of bodies is damaged or missing")

// unreadable, deferred, makes an error of the panic by which the database says that it cannot open a file of bodies.
func (s *Store) unreadable(err *error) {
	switch p := recover().(type) {
	case nil:
	case string:
		if !strings.HasPrefix(p, "unknown metadata type") {
			panic(p)
		}
		s.interrupted.Store(true)
		*err = s.readError(fmt.Errorf("%w: %s", errFile, p))
	default:
		panic(p)
	}
}

// closeDatabase closes the database. It complains about what reads hold that panicked, when all else is closed.
func (s *Store) closeDatabase() (err error) {
	defer func() {
		if s.interrupted.Load() {
			_, err = recover(), nil
		}
	}()
	return s.db.Close()
}
