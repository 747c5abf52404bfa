package pebble

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"

	pebbledb "github.com/cockroachdb/pebble/v2"
)

// salvager reads a store as far as it can.
type salvager struct {
	report  *Report
	store   *Store
	visit   func(key, value []byte) error
	inboxes map[string]bool // IDs of those that can be read
	owners  map[string]bool // IDs of keys that have inboxes, and were not read

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
	options.EventListener.DataCorruption = func(i pebbledb.DataCorruptionInfo) { files.damaged(i.Path) }
	options.EnsureDefaults()
	if err := v.open(files, dir, options); err != nil {
		return err
	}
	err = v.readAll(ctx)
	if cerr := v.store.closeDatabase(); err == nil {
		err = cerr
	}
	v.report.LostKeys = len(v.owners)
	v.report.Unknown = v.report.Unknown || files.tableLost
	for _, name := range slices.Sorted(maps.Keys(files.damage)) {
		v.report.Damage = append(v.report.Damage, name+" cannot be read, or not all of it")
	}
	return err
}

// missingTable is in the error of listing tables. It names one.
var missingTable = regexp.MustCompile(`file (\d+) \(type sstable\) unknown`)

// open opens the database without the tables that are missing.
func (v *salvager) open(files *frozen, dir string, options *pebbledb.Options) (err error) {
	for {
		if v.store.db, err = pebbledb.Open(dir, options); err != nil {
			return err
		}
		tables, err := v.store.db.SSTables()
		if err == nil {
			return files.cut(slices.Concat(tables...))
		}
		missing := missingTable.FindStringSubmatch(err.Error())
		if missing == nil {
			return err
		}
		files.loseTable(missing[1] + ".sst")
		if err := v.store.db.Close(); err != nil {
			return err
		}
	}
}

// readAll reads everything, in the order of the keys.
func (v *salvager) readAll(ctx context.Context) (err error) {
	for next := []byte{0}; next != nil && err == nil; {
		next, err = v.readFrom(ctx, next)
	}
	v.endInbox()
	return err
}

// readFrom reads from a key until something cannot be read, and returns the key to go on from, or nil
// at the end.
func (v *salvager) readFrom(ctx context.Context, start []byte) (next []byte, err error) {
	last := start
	it, err := v.store.db.NewIterWithContext(ctx, &pebbledb.IterOptions{LowerBound: start})
	if err != nil {
		return v.beyond(last), nil
	}
	defer func() { _ = it.Close() }() // Error told what it tells
	for ok := it.First(); ok; ok = it.Next() {
		last = slices.Clone(it.Key())
		if value, err := v.value(it); err != nil {
			v.lose(last)
			return append(last, 0), nil
		} else if err = cmp.Or(v.read(last, value), ctx.Err()); err != nil {
			return nil, err
		}
	}
	if it.Error() == nil {
		return nil, nil
	}
	return v.beyond(last), nil
}

// value returns the value at an iterator, or an error where the database panics.
func (v *salvager) value(it *pebbledb.Iterator) (value []byte, err error) {
	defer v.store.recoverRead(&err)
	return it.ValueAndErr()
}

// beyond returns the first key that can be read again after one after which keys cannot be read, or
// nil if there is none. It goes ahead in growing steps until something can be read, and then back.
func (v *salvager) beyond(last []byte) []byte {
	v.report.Unknown = true
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
	case keyPrefix: // after the inboxes
		v.report.Keys++
		delete(v.owners, string(key[1:]))
	case inboxPrefix:
		owner, rest, _ := cutName(key[1:])
		id, _, _ := cutName(rest)
		v.inboxes[id] = true
		if strings.HasPrefix(owner, "key_") { // others need no key
			v.owners[owner] = true
		}
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
