package pebble

import (
	"context"
	"encoding/binary"

	pebbledb "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"mayfly/service"
)

// Exists reports whether there is a store in a directory.
func Exists(dir string) (bool, error) {
	found, err := pebbledb.Peek(dir, vfs.Default)
	return err == nil && found.Exists, err
}

// EachInbox calls visit for the inboxes of all keys, with the count of their messages, until it
// returns an error. Like EachAddress and EachCount it is for copying the store.
func (s *Store) EachInbox(ctx context.Context, visit func(service.Inbox) error) error {
	return s.each(ctx, inboxPrefix, func(key, value []byte) error {
		keyID, rest, ok := cutName(key)
		if !ok {
			return errValue
		}
		id, _, ok := cutName(rest)
		if !ok {
			return errValue
		}
		in, err := decodeInbox(keyID, id, value)
		if err == nil {
			in, err = s.counted(in)
		}
		if err != nil {
			return err
		}
		return visit(in)
	})
}

// EachAddress calls visit for all addresses that ever had an inbox, with their owner and last
// inbox, until it returns an error.
func (s *Store) EachAddress(ctx context.Context, visit func(address, keyID, inboxID string) error) error {
	return s.each(ctx, addressPrefix, func(key, value []byte) error {
		address, _, ok := cutName(key)
		if !ok {
			return errValue
		}
		owner, err := decodeAddress(value)
		if err != nil {
			return err
		}
		return visit(address, owner.keyID, owner.id)
	})
}

// EachCount calls visit with the number of messages of each key on each of the last days, until it
// returns an error.
func (s *Store) EachCount(ctx context.Context, visit func(keyID string, day service.Day, n int) error) error {
	return s.each(ctx, quotaPrefix, func(key, value []byte) error {
		n, size := binary.Uvarint(value)
		if len(key) < 4 || size <= 0 {
			return errValue
		}
		return visit(string(key[4:]), service.Day(binary.BigEndian.Uint32(key)), int(n))
	})
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
