package pebble

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"

	"mayfly/service"
)

// The keys of the database. Names end in a zero byte, times are milliseconds since 1970, all numbers
// big-endian, so that the order of keys is the order of what they name.
//
//	f                                       format of the store
//	k key-ID                                a key
//	h hash                                  the ID of the key with that secret
//	a address 0                             who owns the address, and its inbox
//	i key-ID 0 inbox-ID 0                   an inbox, found by its owner only
//	x expires inbox-ID 0                    the owner of an inbox, ordered by expiry
//	m expires inbox-ID 0 's' ^place         summary of a message, the newest first
//	m expires inbox-ID 0 'b' ^place         its raw body
//	q day key-ID                            messages of a key on a day
//
// Messages are ordered by the expiry of their inbox: inboxes that end together lie together, one range
// deletion removes them all, and the files that hold them can be dropped whole.
const (
	formatKey     = 'f'
	keyPrefix     = 'k'
	hashPrefix    = 'h'
	addressPrefix = 'a'
	inboxPrefix   = 'i'
	expiryPrefix  = 'x'
	messagePrefix = 'm'
	quotaPrefix   = 'q'

	summaryKind = 's'
	bodyKind    = 'b'
)

// name tells whether s can be part of a key. What cannot was never stored.
func name(s string) bool { return s != "" && len(s) <= 512 && strings.IndexByte(s, 0) < 0 }

func prefixed(prefix byte, s string) []byte { return append([]byte{prefix}, s...) }

func hashKey(hash [32]byte) []byte { return append([]byte{hashPrefix}, hash[:]...) }

func addressKey(address string) []byte { return append(prefixed(addressPrefix, address), 0) }

func ownerKey(keyID string) []byte { return append(prefixed(inboxPrefix, keyID), 0) }

func inboxKey(keyID, id string) []byte { return append(append(ownerKey(keyID), id...), 0) }

func expiryKey(expires time.Time, id string) []byte {
	return append(append(timeKey(expiryPrefix, expires), id...), 0)
}

func timeKey(prefix byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64([]byte{prefix}, uint64(max(0, t.UnixMilli())))
}

// messagesKey is what the keys of all messages of an inbox start with.
func messagesKey(expires time.Time, id string) []byte {
	k := make([]byte, 0, 1+8+len(id)+1+1+8)
	k = append(k, messagePrefix)
	k = binary.BigEndian.AppendUint64(k, uint64(max(0, expires.UnixMilli())))
	k = append(k, id...)
	return append(k, 0)
}

// messageKey appends to the inbox's messagesKey.
func messageKey(messages []byte, kind byte, place uint64) []byte {
	return binary.BigEndian.AppendUint64(append(messages, kind), ^place)
}

func placeOf(key []byte) uint64 { return ^binary.BigEndian.Uint64(key[len(key)-8:]) }

func quotaKey(keyID string, day service.Day) []byte {
	return append(quotaDay(day), keyID...)
}

func quotaDay(day service.Day) []byte {
	return binary.BigEndian.AppendUint32([]byte{quotaPrefix}, uint32(day))
}

// after returns the key that follows all keys with the prefix. No prefix ends in 0xff here.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	end[len(end)-1]++
	return end
}

// cutName returns the name that a key begins with, and what follows it.
func cutName(key []byte) (name string, rest []byte, ok bool) {
	before, rest, ok := bytes.Cut(key, []byte{0})
	return string(before), rest, ok
}
