package pebble

import (
	"bytes"
	"cmp"
	"context"
	"errors"
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
	files   *frozen
	store   *Store // all that can be read
	rest    *Store // without tables that are damaged anywhere; nil until it is needed
	visit   func(key, value []byte) error
	inboxes map[string]bool // IDs of those that can be read
	owners  map[string]bool // IDs of keys that have inboxes, and were not read

	// The inbox whose messages are being read:
	inbox         []byte          // what their keys begin with
	bodies        map[uint64]bool // places of the bodies that can be read
	newest, whole uint64          // the last place, and how many messages can be read
}

func (v *salvager) run(ctx context.Context) (err error) {
	defer func() { // the database does not expect some kinds of damage
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	if v.store, err = openFrozen(v.files); err != nil {
		return err
	}
	err = v.readAll(ctx, v.store, []byte{0}, nil)
	v.endInbox()
	for _, s := range []*Store{v.store, v.rest} {
		if s != nil {
			err = errors.Join(err, s.closeDatabase())
			s.cache.Unref()
		}
	}
	v.report.LostKeys = len(v.owners)
	v.report.Unknown = v.report.Unknown || v.files.tableLost
	for _, name := range slices.Sorted(maps.Keys(v.files.damage)) {
		v.report.Damage = append(v.report.Damage, name+" cannot be read, or not all of it")
	}
	return err
}

// missingTable is in the error of listing tables. It names one.
var missingTable = regexp.MustCompile(`file (\d+) \(type sstable\) unknown`)

// openFrozen opens a store for reading, without the tables that are missing.
func openFrozen(files *frozen) (*Store, error) {
	o := Options{Log: slog.New(slog.DiscardHandler), Memory: 64 << 20}
	s := newStore(o)
	options := s.databaseOptions(sizeOf(files, files.dir), uint64(o.Memory)/4)
	options.FS, options.ReadOnly, options.DisableConsistencyCheck = files, true, true
	options.EventListener.DataCorruption = func(i pebbledb.DataCorruptionInfo) { files.damaged(i.Path) }
	for {
		var err error
		if s.db, err = pebbledb.Open(files.dir, options); err != nil {
			return nil, err
		}
		if _, err = s.db.SSTables(); err == nil {
			return s, nil
		}
		missing := missingTable.FindStringSubmatch(err.Error())
		if missing == nil {
			return nil, errors.Join(err, s.db.Close())
		}
		files.loseTable(missing[1] + ".sst")
		if err := s.db.Close(); err != nil {
			return nil, err
		}
	}
}

// readAll reads what is between two keys, in their order. Where a part of a table cannot be read, the
// database reads nothing: there it takes what is in the tables that are whole.
func (v *salvager) readAll(ctx context.Context, s *Store, next, end []byte) error {
	for next != nil {
		after, damaged, err := v.readFrom(ctx, s, next, end)
		if err != nil {
			return err
		}
		if next = after; !damaged {
			continue
		}
		v.report.Unknown = true
		if s == v.rest {
			return nil
		}
		if v.rest == nil {
			if v.rest, err = openFrozen(v.files.whole()); err != nil {
				return err
			}
		}
		next = v.beyond(after)
		if err := v.readAll(ctx, v.rest, after, next); err != nil {
			return err
		}
	}
	return nil
}

// readFrom reads until something cannot be read, which may be the keys or only a value, and returns
// the key to go on from, or nil at the end.
func (v *salvager) readFrom(ctx context.Context, s *Store, start, end []byte) (next []byte, damaged bool, err error) {
	it, err := s.db.NewIterWithContext(ctx, &pebbledb.IterOptions{LowerBound: start, UpperBound: end})
	if err != nil {
		return start, true, nil
	}
	defer func() { _ = it.Close() }() // Error told what it tells
	next = start
	for ok := it.First(); ok; ok = it.Next() {
		key := slices.Clone(it.Key())
		next = append(slices.Clone(key), 0)
		if value, err := s.salvageValue(it); err != nil {
			v.lose(key)
			return next, false, nil
		} else if err = cmp.Or(v.read(key, value), ctx.Err()); err != nil {
			return nil, false, err
		}
	}
	if it.Error() != nil {
		return next, true, nil
	}
	return nil, false, nil
}

// salvageValue returns the value at an iterator, or an error where the database panics.
func (s *Store) salvageValue(it *pebbledb.Iterator) (value []byte, err error) {
	defer s.recoverRead(&err)
	return it.ValueAndErr()
}

// beyond returns the first key that can be read again after keys that cannot, or nil if there is none.
// It goes ahead in growing steps until something can be read, and then back.
func (v *salvager) beyond(after []byte) []byte {
	for n := len(after); n > 0; n-- {
		for key := slices.Clone(after[:n]); key[n-1] < 0xff; {
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
