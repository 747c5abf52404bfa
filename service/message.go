package service

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"strconv"
	"strings"
	"time"
)

// Summary is a message as a list has it.
type Summary struct {
	ID         string
	From       string // bare address of the From header, or else the envelope sender; may be empty
	FromName   string
	Subject    string
	ReceivedAt time.Time // UTC, milliseconds
	Size       int64     // bytes of the raw message
}

// Message is a message as it was received.
type Message struct {
	Summary
	To  string // the recipient as it was addressed, in lower case
	Raw []byte
}

// Arrival is a message that has just been stored.
type Arrival struct {
	KeyID, InboxID string
	To             string // the recipient as it was addressed, in lower case
	Raw            []byte
	Summary
}

// Page asks for part of a list of messages or inboxes. The zero value asks for all of it, if there is no limit.
type Page struct {
	Address string // of inboxes, the one that mail to this address goes to, and nothing else
	Limit   int    // how many at most; 0 means the limit of the list itself
	After   string // ID of what the page starts after, newest first, even if it is gone by now; empty: from the newest
}

// List is a list of messages, newest first.
type List struct {
	Messages []Summary
	Total    int    // messages in the inbox, whatever the page
	Version  uint64 // of the inbox
}

// Messages lists the messages of an inbox of the key. NotFound: no such inbox, or After never was one of its
// messages.
func (s *Service) Messages(ctx context.Context, k Key, inboxID string, p Page) (List, error) {
	in, err := s.Inbox(ctx, k, inboxID)
	if err != nil {
		return List{}, err
	}
	// The version covers only these, even if more have arrived since.
	before := in.Last + 1
	if p.After != "" {
		seq, ok := MessageSeq(p.After)
		if !ok || seq >= before {
			return List{}, errNoMessage()
		}
		// A message that is gone or damaged still has its place.
		if m, err := s.store.Summary(ctx, in, seq); err == nil && m.ID != p.After {
			return List{}, errNoMessage()
		}
		before = seq
	}
	list := List{Total: in.Messages, Version: in.Version}
	if list.Messages, err = s.store.Messages(ctx, in, before, p.Limit); err != nil {
		return List{}, err
	}
	return list, nil
}

// Message returns a message of an inbox of the key, or NotFound.
func (s *Service) Message(ctx context.Context, k Key, inboxID, messageID string) (Message, error) {
	return find(ctx, s, k, inboxID, messageID, s.store.Message, func(m Message) string { return m.ID })
}

// Summary returns the summary of a message without reading its body, or NotFound.
func (s *Service) Summary(ctx context.Context, k Key, inboxID, messageID string) (Summary, error) {
	return find(ctx, s, k, inboxID, messageID, s.store.Summary, func(m Summary) string { return m.ID })
}

// find reads a message of an inbox of the key by the sequence number in its ID.
func find[M any](ctx context.Context, s *Service, k Key, inboxID, messageID string,
	read func(context.Context, Inbox, uint64) (M, error), id func(M) string) (M, error) {
	var none M
	in, err := s.Inbox(ctx, k, inboxID)
	if err != nil {
		return none, err
	}
	seq, ok := MessageSeq(messageID)
	if !ok {
		return none, errNoMessage()
	}
	m, err := read(ctx, in, seq)
	if ErrorCode(err) == NotFound || err == nil && id(m) != messageID {
		return none, errNoMessage()
	}
	return m, err
}

// DeleteMessages removes a message from an inbox of the key, or all of them with the ID "", or returns
// NotFound.
func (s *Service) DeleteMessages(ctx context.Context, k Key, inboxID, messageID string) error {
	in, err := s.Inbox(ctx, k, inboxID)
	if err != nil {
		return err
	}
	notFound := errNoMessage()
	if messageID == "" {
		notFound = errNoInbox()
	}
	return s.changed(inboxID, s.store.DeleteMessages(ctx, in, messageID), notFound)
}

func errNoMessage() error { return Errorf(NotFound, "No such message") }

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

func newKeyID() string { return "key_" + randomID(10) }

// newInboxID returns an ID for an inbox: "inbox_", 128 random bits, and when it was created in milliseconds, by
// which a page that starts after the inbox is found once that is gone.
func newInboxID(created time.Time) string {
	return "inbox_" + randomID(16) + strconv.FormatInt(created.UnixMilli(), 32)
}

// NewMessageID returns an ID for a message: "msg_", 128 random bits, and its sequence number in the
// inbox, by which a store finds it without an index. The first to arrive has the number 1.
func NewMessageID(seq uint64) string {
	return "msg_" + randomID(16) + strconv.FormatUint(seq, 32)
}

// MessageSeq returns the sequence number in a message ID; ok is false if it cannot be an ID.
func MessageSeq(id string) (seq uint64, ok bool) { return numberIn(id, "msg_") }

// numberIn returns the number after the random bits of an ID, which is positive.
func numberIn(id, prefix string) (n uint64, ok bool) {
	rest, found := strings.CutPrefix(id, prefix)
	if !found || len(rest) <= randomDigits {
		return 0, false
	}
	digits := rest[randomDigits:]
	n, err := strconv.ParseUint(digits, 32, 64)
	if err != nil || n == 0 || strconv.FormatUint(n, 32) != digits {
		return 0, false
	}
	return n, true
}
