package pebble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Report says what can be read of a store.
type Report struct {
	Damage []string // what is missing or cannot be read, a line each

	Keys, Inboxes, Messages             int  // that are whole
	LostKeys, LostInboxes, LostMessages int  // of which is known that they were there
	Unknown                             bool // whether more is lost is not known
}

// Check reads all of a store that no process has open, and changes nothing in its folder.
func Check(ctx context.Context, dir string) (Report, error) {
	return salvage(ctx, dir, func([]byte, []byte) error { return nil })
}

// Repair makes a new store, in a folder that does not exist yet, of what can be read of a store that
// no process has open, and which it does not change.
func Repair(ctx context.Context, dir, to string) (Report, error) {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return Report{}, fmt.Errorf("%s already exists: name a new folder", to)
	}
	unfinished := to + ".repairing"
	r, err := repair(ctx, dir, unfinished)
	if err == nil {
		err = os.Rename(unfinished, to)
	}
	if err != nil {
		return r, errors.Join(err, os.RemoveAll(unfinished))
	}
	return r, nil
}

func repair(ctx context.Context, dir, to string) (r Report, err error) {
	s, err := Open(to, Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	batch := s.db.NewBatch()
	r, err = salvage(ctx, dir, func(key, value []byte) error {
		if err := batch.Set(key, value, nil); err != nil || batch.Len() < groupBytes {
			return err
		}
		err := batch.Commit(pebbledb.NoSync)
		batch = s.db.NewBatch()
		return err
	})
	if err != nil {
		return r, err
	}
	if err := errors.Join(batch.Commit(pebbledb.NoSync), s.views.advance(s.db), s.index(ctx)); err != nil {
		return r, err
	}
	return r, s.db.Flush()
}

// index adds what leads to inboxes and keys, if it is missing.
func (s *Store) index(ctx context.Context) error {
	add := func(key, value []byte) error {
		_, closer, err := s.db.Get(key)
		if errors.Is(err, pebbledb.ErrNotFound) {
			return s.db.Set(key, value, pebbledb.NoSync)
		}
		if err != nil {
			return err
		}
		return closer.Close()
	}
	err := s.each(ctx, inboxPrefix, func(key, value []byte) error {
		keyID, rest, _ := cutName(key)
		id, _, _ := cutName(rest)
		in, err := decodeInbox(keyID, id, value)
		if err != nil {
			return err
		}
		return errors.Join(
			add(addressKey(in.Address), encodeAddress(inboxOf{keyID, id})),
			add(expiryKey(in.ExpiresAt, id), []byte(keyID)))
	})
	if err != nil {
		return err
	}
	keys, err := s.Keys(ctx)
	for _, k := range keys {
		err = errors.Join(err, add(hashKey(k.Hash), []byte(k.ID)))
	}
	return err
}

// salvage calls visit for everything that can be read of a store, in the order of the keys, except
// for messages of which the summary or the body is lost.
func salvage(ctx context.Context, dir string, visit func(key, value []byte) error) (r Report, err error) {
	dir = filepath.Clean(dir)
	disk := vfs.Default
	folderLock, err := lockFolder(dir)
	if err != nil {
		return r, fmt.Errorf("read the store in %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, folderLock.Close()) }()
	found, err := inspect(disk, dir)
	if err != nil {
		return r, fmt.Errorf("read the store in %s: %w", dir, err)
	}
	if len(found.files) == 0 || len(found.damage) == 0 && found.manifest == "" {
		return r, fmt.Errorf("there is no store in %s", dir)
	}
	r.Damage = found.damage
	r.Unknown = found.incomplete
	if found.unknown != nil {
		r.Damage = append(r.Damage, inventoryName+": "+found.unknown.Error()+", and whether logs are missing is not known")
	}
	files, err := freeze(disk, dir, found)
	if err == nil {
		v := &salvager{report: &r, visit: visit, files: files, inboxes: make(map[string]bool), owners: make(map[string]bool)}
		err = v.run(ctx)
	}
	if err != nil {
		err = fmt.Errorf("read the store in %s: %s", dir, text(err))
	}
	return r, err
}

// each calls visit for the keys with a prefix, which it cuts off, until it returns an error.
func (s *Store) each(ctx context.Context, prefix byte, visit func(key, value []byte) error) error {
	start := []byte{prefix}
	var failed error // of visit, which scan would take for one of the database
	err := s.scan(ctx, start, after(start), func(key, value []byte) (bool, error) {
		failed = visit(key[1:], value)
		return failed == nil, nil
	})
	if failed != nil {
		err = failed
	}
	return err
}
