package pebble

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"

	"mayfly/service"
)

// These are the first bytes of the database's keys. Names end in a zero byte, times are
// milliseconds since 1970, and all numbers are big-endian, so that keys are ordered like what they
// stand for.
//
//	f                                       format of the store
//	k key-ID                                a key
//	h hash                                  the ID of the key with that secret
//	a address 0                             the owner of an address, and its inbox
//	i key-ID 0 inbox-ID 0                   an inbox, found by its owner only
//	x expires inbox-ID 0                    the owner of an inbox, ordered by expiry
//	m expires inbox-ID 0 's' ^place         summary of a message, the newest first
//	m expires inbox-ID 0 'b' ^place         its raw body
//	q day key-ID                            count of a key's messages on a day
//
// Messages are ordered by the expiry of their inbox: inboxes that expire at the same time are
// neighbours, one range deletion removes them all, and whole files can be dropped.
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

// isName reports whether s can be part of a key of the database. Nothing else was ever stored.
func isName(s string) bool { return s != "" && len(s) <= 512 && strings.IndexByte(s, 0) < 0 }

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

// messagesKey returns the prefix of the keys of an inbox's messages.
func messagesKey(expires time.Time, id string) []byte {
	k := make([]byte, 0, 1+8+len(id)+1+1+8)
	k = append(k, messagePrefix)
	k = binary.BigEndian.AppendUint64(k, uint64(max(0, expires.UnixMilli())))
	k = append(k, id...)
	return append(k, 0)
}

// messageKey appends to messagesKey.
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

// cutName splits a key after the name that it begins with.
func cutName(key []byte) (name string, rest []byte, ok bool) {
	before, rest, ok := bytes.Cut(key, []byte{0})
	return string(before), rest, ok
}
