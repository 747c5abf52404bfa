package service

import (
	"context"
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
	Summary
}

// Page asks for part of a list. The zero value asks for all of it.
type Page struct {
	Limit int    // how many messages at most; 0 is no limit
	After string // ID of the message after which, newest first, the page starts; empty: from the newest
}

// List is a list of messages, newest first.
type List struct {
	Messages []Summary
	Total    int    // messages in the inbox, whatever the page
	Version  uint64 // of the inbox
}

// Messages lists the messages of an inbox of the key. NotFound: no such inbox, or After is not one
// of its messages.
func (s *Service) Messages(ctx context.Context, k Key, inboxID string, p Page) (List, error) {
	in, err := s.Inbox(ctx, k, inboxID)
	if err != nil {
		return List{}, err
	}
	// The version covers only these, even if more have arrived since.
	before := uint64(in.Messages) + 1
	if p.After != "" {
		place, ok := MessagePlace(p.After)
		if !ok || place >= before {
			return List{}, errNoMessage()
		}
		// A damaged message still has its place.
		if m, err := s.store.Summary(ctx, in, place); ErrorCode(err) == NotFound || err == nil && m.ID != p.After {
			return List{}, errNoMessage()
		}
		before = place
	}
	list := List{Total: in.Messages, Version: in.Version}
	if list.Messages, err = s.store.Messages(ctx, in, before, p.Limit); err != nil {
		return List{}, err
	}
	return list, nil
}

// Message returns a message of an inbox of the key, or NotFound.
func (s *Service) Message(ctx context.Context, k Key, inboxID, messageID string) (Message, error) {
	in, place, err := s.place(ctx, k, inboxID, messageID)
	if err != nil {
		return Message{}, err
	}
	m, err := s.store.Message(ctx, in, place)
	if ErrorCode(err) == NotFound || err == nil && m.ID != messageID {
		return Message{}, errNoMessage()
	}
	return m, err
}

// Summary returns the summary of a message without reading its body, or NotFound.
func (s *Service) Summary(ctx context.Context, k Key, inboxID, messageID string) (Summary, error) {
	in, place, err := s.place(ctx, k, inboxID, messageID)
	if err != nil {
		return Summary{}, err
	}
	sum, err := s.store.Summary(ctx, in, place)
	if ErrorCode(err) == NotFound || err == nil && sum.ID != messageID {
		return Summary{}, errNoMessage()
	}
	return sum, err
}

// place returns the inbox of the key and the place in it that a message ID names.
func (s *Service) place(ctx context.Context, k Key, inboxID, messageID string) (Inbox, uint64, error) {
	in, err := s.Inbox(ctx, k, inboxID)
	if err != nil {
		return Inbox{}, 0, err
	}
	place, ok := MessagePlace(messageID)
	if !ok {
		return Inbox{}, 0, errNoMessage()
	}
	return in, place, nil
}

func errNoMessage() error { return Errorf(NotFound, "No such message") }
