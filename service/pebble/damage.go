package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// logDamage logs each damaged file once.
func (s *Store) logDamage(info pebbledb.DataCorruptionInfo) {
	if _, logged := s.damaged.LoadOrStore(info.Path, true); !logged {
		s.log.Error("a file of the store is damaged: its content cannot be read, the rest is served; restore a backup",
			"file", info.Path, "error", info.Details.Error())
	}
}

// text returns an error in a line, without what the database adds for its own developers.
func text(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n<corruption detail carrier>")
	return line
}

// hint adds what to do to an error of opening the database, unless it is an error of the system.
func hint(dir string, err error) error {
	var path *fs.PathError
	if vfs.IsNoSpaceError(err) || errors.As(err, &path) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	return fmt.Errorf("%s: if a file was damaged or removed, %s", text(err), advice(dir))
}

// DamageError says that a store was not opened, since something is missing or cannot be read.
type DamageError struct {
	Dir    string
	Damage []string // a line each
}

// Error implements error.
func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: %s", strings.Join(e.Damage, "; "), advice(e.Dir))
}

// advice says what to do about a damaged store.
func advice(dir string) string {
	return fmt.Sprintf("restore a backup, or save what is left: mayfly admin store repair %s --to NEW", dir)
}

var errFile = errors.New("a file of bodies is damaged or missing")

// recoverRead turns the panic of the database when it cannot open a file of bodies into an error.
// It is to be deferred.
func (s *Store) recoverRead(err *error) {
	switch p := recover().(type) {
	case nil:
	case string:
		if !strings.HasPrefix(p, "unknown metadata type") {
			panic(p)
		}
		s.readPanic.Store(true)
		*err = s.readError(fmt.Errorf("%w: %s", errFile, p))
	default:
		panic(p)
	}
}

// closeDatabase closes the database. After a read has panicked it panics, too, once everything is
// closed, since that read has not released its resources.
func (s *Store) closeDatabase() (err error) {
	defer func() {
		if s.readPanic.Load() {
			_, err = recover(), nil
		}
	}()
	return errors.Join(s.views.close(), s.db.Close())
}
