package service

import (
	"context"
	"time"
)

// Store keeps the domain's state. The service decides what is allowed; the store decides what must be
// atomic. Every method may be called concurrently, and a method that changes something returns nil
// only when the change is durable, Sweep excepted. Errors carry a Code: NotFound, Taken and OverQuota
// where a method says so, else Full, Unavailable, Damaged or Internal.
//
// The store never asks for the time: it is told, so that all that one request does happens at one
// instant. An inbox exists for the store until it is deleted or swept; the service hides an expired one.
type Store interface {
	// CreateKey creates a key; its ID and its hash are new.
	CreateKey(ctx context.Context, k StoredKey) error
	// UpdateKey changes a key and returns it, or NotFound. The change is made in one piece with reading
	// it, but may be made again after a conflict. The hash of a replaced secret finds nothing any more.
	UpdateKey(ctx context.Context, id string, change func(*StoredKey)) (StoredKey, error)
	// Key returns a key by its ID, or NotFound.
	Key(ctx context.Context, id string) (StoredKey, error)
	// KeyByHash returns the key whose secret has the SHA-256 hash, or NotFound.
	KeyByHash(ctx context.Context, hash [32]byte) (StoredKey, error)
	// Keys returns all keys, the oldest first.
	Keys(ctx context.Context) ([]StoredKey, error)

	// CreateInbox creates an inbox, of which ID, KeyID, Address, CreatedAt and ExpiresAt are given.
	// Taken: the address belongs to another key, now or once, or to an inbox that has not expired at
	// CreatedAt.
	CreateInbox(ctx context.Context, in Inbox) error
	// Inbox returns an inbox of the key, or NotFound; an inbox of another key costs what none costs.
	Inbox(ctx context.Context, keyID, id string) (Inbox, error)
	// InboxByAddress returns the inbox that has the address, or NotFound. Messages and Version may be zero.
	InboxByAddress(ctx context.Context, address string) (Inbox, error)
	// Inboxes returns the key's inboxes in no order, and the version that the list has at least.
	Inboxes(ctx context.Context, keyID string) ([]Inbox, uint64, error)
	// InboxesVersion returns a number that differs after each change to the key's list of inboxes or to
	// one of them, a delivery included.
	InboxesVersion(ctx context.Context, keyID string) (uint64, error)
	// DeleteInbox removes an inbox of the key and all its messages, or returns NotFound.
	DeleteInbox(ctx context.Context, keyID, id string) error

	// Append stores one delivery: all its messages or none. A message whose inbox is gone or has
	// expired at Received is left out; when none is left, NotFound. With Canceled nothing was stored.
	// OverQuota: a key would have more messages on the UTC day of Received than EmailsPerDay.
	// Calls that come together share a commit.
	Append(ctx context.Context, d Append) error
	// EmailsToday returns how many messages were appended for the key on the UTC day. Of those that other processes
	// have appended some may be missing.
	EmailsToday(ctx context.Context, keyID string, day Day) (int, error)
	// Messages returns up to limit summaries of messages with a place below before, the newest first.
	// Limit 0 is no limit. An inbox that is gone has none.
	Messages(ctx context.Context, in Inbox, before uint64, limit int) ([]Summary, error)
	// Summary returns a message without its body, by its place in the inbox, or NotFound. The caller
	// compares the ID.
	Summary(ctx context.Context, in Inbox, place uint64) (Summary, error)
	// Message returns a message by its place in the inbox, or NotFound. The caller compares the ID.
	Message(ctx context.Context, in Inbox, place uint64) (Message, error)

	// Sweep removes up to limit inboxes that have expired at now, the earliest first.
	Sweep(ctx context.Context, now time.Time, limit int) (Swept, error)

	// Ready returns nil when the store can be read and written, else why not.
	Ready(ctx context.Context) error
}

// Shared is what a store has besides that several processes may have open at once.
type Shared interface {
	// Listen calls changed with the ID of each inbox and key that another process changes, with each topic that one
	// announces, and with "" when anything may have changed. It returns nil when ctx ends.
	Listen(ctx context.Context, changed func(topic string)) error
	// Announce tells a topic to the processes that listen. It may get lost.
	Announce(topic string)
	// Lease settles a lot, if Settled names one, and then, with a limit above 0, takes a new one for the key: a small
	// part of what all processes together may still do. Its tokens may be used until LotHold after the call.
	Lease(ctx context.Context, keyID string, limit int, s Settled) (Lot, error)
}

// Lot is a number of requests of a key that a process may let through without asking.
type Lot struct {
	ID      string
	Tokens  int           // 0: all are used up
	Charged int           // requests of the window and tokens in lots, of all processes, this lot's among them
	Open    int           // of Charged, tokens in lots of other processes
	Free    time.Duration // until the first request leaves the window; 0 when there was none
}

// Settled is a lot that is given back.
type Settled struct {
	Lot  string          // empty: none
	Uses []time.Duration // how long ago its tokens were used; those that are not named were not
}

// LotHold is how long a process may use the tokens of a lot.
const LotHold = 10 * time.Second

// StoredKey is a key with the hash of its secret.
type StoredKey struct {
	Key
	Hash [32]byte // SHA-256 of the secret
}

// Append is one delivery for the store.
type Append struct {
	Received time.Time
	Messages []NewMessage
	Raw      []byte // the message as received, the same for all; not kept after the call
}

// NewMessage is a message for one inbox; the store gives it its place and its ID.
type NewMessage struct {
	KeyID, InboxID string
	EmailsPerDay   int    // of the key's plan
	To             string // the recipient as it was addressed
	From           string
	FromName       string
	Subject        string
}

// Swept is what a sweep removed.
type Swept struct {
	Inboxes []Inbox   // ID and KeyID
	Next    time.Time // when the next inbox expires; zero when there is none
}

// Day is a UTC day: days since 1970-01-01.
type Day int32

// DayOf returns the UTC day of an instant.
func DayOf(t time.Time) Day {
	const day = 24 * 60 * 60
	s := t.Unix()
	if s < 0 {
		s -= day - 1
	}
	return Day(s / day)
}

// End returns the instant at which the day is over.
func (d Day) End() time.Time { return time.Unix((int64(d)+1)*24*60*60, 0).UTC() }
