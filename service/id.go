package service

import (
	"crypto/rand"
	"encoding/base32"
	"strconv"
	"strings"
)

// encoding is in lower case throughout, so that an ID survives careless copying, and has no
// padding.
var encoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// randomDigits is the length of 128 random bits in encoding.
const randomDigits = 26

func randomID(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b)
	return encoding.EncodeToString(b)
}

func newInboxID() string { return "inbox_" + randomID(16) }
func newKeyID() string   { return "key_" + randomID(10) }

// NewMessageID returns an ID for the message at a place in its inbox, where the first to arrive is
// 1: "msg_", 128 random bits, and the place, by which a store finds the message without an index.
func NewMessageID(place uint64) string {
	return "msg_" + randomID(16) + strconv.FormatUint(place, 32)
}

// MessagePlace returns the place in a message ID; ok is false if it cannot be an ID.
func MessagePlace(id string) (place uint64, ok bool) {
	rest, found := strings.CutPrefix(id, "msg_")
	if !found || len(rest) <= randomDigits {
		return 0, false
	}
	digits := rest[randomDigits:]
	place, err := strconv.ParseUint(digits, 32, 64)
	if err != nil || place == 0 || strconv.FormatUint(place, 32) != digits {
		return 0, false
	}
	return place, true
}
