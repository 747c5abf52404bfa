package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// salvager reads a store as far as it can.
type salvager struct {
	report  *Report
	store   *Store
	visit   func(key, value []byte) error
	inboxes map[string]bool // IDs of those that can be read

	mu      sync.Mutex
	damaged map[string]bool // names of files

	// The inbox whose messages are being read:
	inbox         []byte          // what their keys begin with
	bodies        map[uint64]bool // places of the bodies that can be read
	newest, whole uint64          // the last place, and how many messages can be read
}

func (v *salvager) run(ctx context.Context, files *frozen, dir string) (err error) {
	defer func() { // the database does not expect some kinds of damage
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	o := Options{Log: slog.New(slog.DiscardHandler), Memory: 64 << 20}
	v.store = newStore(o)
	defer v.store.cache.Unref()
	options := v.store.databaseOptions(sizeOf(files, dir), uint64(o.Memory)/4)
	options.FS, options.ReadOnly, options.DisableConsistencyCheck = files, true, true
	options.EventListener.DataCorruption = func(i pebbledb.DataCorruptionInfo) { v.damage(i.Path) }
	options.EnsureDefaults()
	if err := v.open(ctx, files, dir, options); err != nil {
		return err
	}
	err = v.readAll(ctx)
	if cerr := v.store.closeDatabase(); err == nil {
		err = cerr
	}
	for _, name := range slices.Sorted(maps.Keys(v.damaged)) {
		v.report.Damage = append(v.report.Damage, name+" cannot be read, or not all of it")
	}
	return err
}

// open opens the database with empty tables in place of those of which nothing can be read: they would
// hide what other tables have of the same keys.
func (v *salvager) open(ctx context.Context, files *frozen, dir string, options *pebbledb.Options) (err error) {
	for {
		if v.store.db, err = pebbledb.Open(dir, options); err != nil {
			return err
		}
		bad, err := v.badTables(ctx, files, dir, options)
		if err != nil || len(bad) == 0 {
			return err
		}
		v.report.Unknown = true
		for _, name := range bad {
			v.damage(name)
			if files.files[name], err = emptyTable(options); err != nil {
				return err
			}
		}
		if err := v.store.db.Close(); err != nil {
			return err
		}
	}
}

// missingTable is in the error of listing tables. It names one.
var missingTable = regexp.MustCompile(`file (\d+) \(type sstable\) unknown`)

// badTables returns the names of tables of which nothing can be read.
func (v *salvager) badTables(ctx context.Context, files *frozen, dir string, o *pebbledb.Options) (bad []string, err error) {
	tables, err := v.store.db.SSTables()
	if err != nil {
		missing := missingTable.FindStringSubmatch(err.Error())
		if missing == nil {
			return nil, err
		}
		return []string{missing[1] + ".sst"}, nil
	}
	for _, t := range slices.Concat(tables...) {
		name := fmt.Sprintf("%06d.sst", uint64(t.BackingSSTNum))
		if checkTable(ctx, files, files.PathJoin(dir, name), o) != nil {
			bad = append(bad, name)
		}
	}
	return bad, nil
}

// checkTable returns an error if it cannot be read where the keys of a table are.
func checkTable(ctx context.Context, files vfs.FS, name string, o *pebbledb.Options) error {
	f, err := files.Open(name)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r, err := sstable.NewReader(ctx, readable, o.MakeReaderOptions())
	if err != nil {
		return errors.Join(err, readable.Close())
	}
	_, err = r.Layout()
	return errors.Join(err, r.Close())
}

func emptyTable(o *pebbledb.Options) ([]byte, error) {
	const name = "empty"
	disk := vfs.NewMem()
	f, err := disk.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(f), o.MakeWriterOptions(0, o.FormatMajorVersion.MaxTableFormat()))
	if err := w.Close(); err != nil {
		return nil, err
	}
	return readAll(disk, name)
}

func (v *salvager) damage(path string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.damaged[filepath.Base(path)] = true
}

// readAll reads everything, in the order of the keys.
func (v *salvager) readAll(ctx context.Context) error {
	for next := []byte{0}; next != nil; {
		last, more, err := v.readFrom(ctx, next)
		if err != nil {
			return err
		}
		switch next = nil; more {
		case valueDamaged:
			next = append(last, 0)
		case keysDamaged:
			v.report.Unknown = true
			next = v.beyond(last)
		}
	}
	v.endInbox()
	return nil
}

// What ends the reading of a range of keys.
type ending int

const (
	allRead      ending = iota
	valueDamaged        // the value of the last key cannot be read
	keysDamaged         // what follows the last key cannot be read
)

// readFrom reads from a key until something cannot be read, and returns the last key before.
func (v *salvager) readFrom(ctx context.Context, start []byte) (last []byte, end ending, err error) {
	last = start
	it, err := v.store.db.NewIterWithContext(ctx, &pebbledb.IterOptions{LowerBound: start})
	if err != nil {
		return last, keysDamaged, nil
	}
	defer func() { _ = it.Close() }() // Error told what it tells
	for ok := it.First(); ok; ok = it.Next() {
		last = append(last[:0:0], it.Key()...)
		value, err := v.value(it)
		if err != nil {
			v.lose(last)
			return last, valueDamaged, nil
		}
		if err := v.read(last, value); err != nil {
			return last, allRead, err
		}
		if err := ctx.Err(); err != nil {
			return last, allRead, err
		}
	}
	if it.Error() != nil {
		return last, keysDamaged, nil
	}
	return last, allRead, nil
}

// value returns the value at an iterator, or an error where the database panics.
func (v *salvager) value(it *pebbledb.Iterator) (value []byte, err error) {
	defer v.store.recoverRead(&err)
	return it.ValueAndErr()
}

// beyond returns the first key that can be read again after one after which keys cannot be read, or
// nil if there is none. It goes ahead in growing steps until something can be read, and then back.
func (v *salvager) beyond(last []byte) []byte {
	after := append(slices.Clone(last), 0)
	for n := len(last); n > 0; n-- {
		for key := slices.Clone(last[:n]); key[n-1] < 0xff; {
			key[n-1]++
			if found := v.back(after, key); found != nil {
				return found
			}
			if n > 1 {
				break
			}
		}
	}
	return nil
}

// back returns the first key from which all keys up to another can be read, or nil if that one
// cannot.
func (v *salvager) back(after, to []byte) (first []byte) {
	it, err := v.store.db.NewIter(&pebbledb.IterOptions{LowerBound: after})
	if err != nil {
		return nil
	}
	defer func() { _ = it.Close() }() // it fails where keys are damaged
	if !it.SeekGE(to) {
		return nil
	}
	for ok := true; ok; ok = it.Prev() {
		first = append(first[:0], it.Key()...)
	}
	return first
}

// read takes a key and its value.
func (v *salvager) read(key, value []byte) error {
	switch key[0] {
	case keyPrefix:
		v.report.Keys++
	case inboxPrefix:
		_, rest, _ := cutName(key[1:])
		id, _, _ := cutName(rest)
		v.inboxes[id] = true
		v.report.Inboxes++
	case expiryPrefix:
		if len(key) > 10 && !v.inboxes[string(key[9:len(key)-1])] {
			v.report.LostInboxes++
			return nil
		}
	case messagePrefix:
		return v.readMessage(key, value)
	}
	return v.visit(key, value)
}

func (v *salvager) readMessage(key, value []byte) error {
	kind, place, ok := v.enter(key)
	if !ok {
		return nil
	}
	if kind == bodyKind { // these come first
		v.bodies[place] = true
		return v.visit(key, value)
	}
	if !v.bodies[place] {
		return nil
	}
	v.whole++
	return v.visit(key, value)
}

// lose takes a key whose value cannot be read.
func (v *salvager) lose(key []byte) {
	if key[0] == messagePrefix {
		v.enter(key)
	}
}

// enter goes to the inbox of a key of a message, and reports whether it can be read.
func (v *salvager) enter(key []byte) (kind byte, place uint64, ok bool) {
	const least = 1 + 8 + 1 + 1 + 8
	if len(key) < least {
		return 0, 0, false
	}
	inbox := key[:len(key)-9]
	if !v.inboxes[string(inbox[9:len(inbox)-1])] {
		return 0, 0, false
	}
	if !bytes.Equal(inbox, v.inbox) {
		v.endInbox()
		v.inbox, v.bodies = slices.Clone(inbox), make(map[uint64]bool)
	}
	place = placeOf(key)
	v.newest = max(v.newest, place)
	return key[len(key)-9], place, true
}

// endInbox counts the messages of an inbox: their places are without gaps.
func (v *salvager) endInbox() {
	v.report.Messages += int(v.whole)
	v.report.LostMessages += int(v.newest - v.whole)
	v.newest, v.whole = 0, 0
}
