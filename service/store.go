package service

import (
	"context"
	"time"
)

// Store keeps the domain's state. The service decides what is allowed; the store makes changes
// atomic and durable. It is safe for concurrent use. A method that changes something returns nil
// only when the change is durable, except for Sweep. Errors carry a Code: NotFound, Taken and
// OverQuota where the method says so, else Full, Unavailable, Damaged or Internal.
//
// The store does not read the clock: times are passed in, so that all of a request happens at one
// instant. To the store, an inbox exists until it is deleted or swept; the service hides expired
// ones.
type Store interface {
	// CreateKey creates a key; its ID is new. Taken: there is a key with its hash.
	CreateKey(ctx context.Context, k StoredKey) error
	// UpdateKey applies a change to a key atomically and returns the result, or NotFound. It may
	// call change again after a conflict. The hash of a replaced secret no longer finds the key.
	UpdateKey(ctx context.Context, id string, change func(*StoredKey)) (StoredKey, error)
	// Key returns a key by its ID, or NotFound.
	Key(ctx context.Context, id string) (StoredKey, error)
	// KeyByHash returns the key that has the hash, or NotFound.
	KeyByHash(ctx context.Context, hash [32]byte) (StoredKey, error)
	// Keys returns all keys, oldest first.
	Keys(ctx context.Context) ([]StoredKey, error)

	// AddSSHKey adds a public key of SSH. Taken: it is there.
	AddSSHKey(ctx context.Context, k SSHKey) error
	// SSHKey returns the public key with a fingerprint, or NotFound.
	SSHKey(ctx context.Context, fingerprint string) (SSHKey, error)
	// SSHKeys returns the public keys of a key, or of all with "", oldest first.
	SSHKeys(ctx context.Context, keyID string) ([]SSHKey, error)
	// RemoveSSHKey removes a public key, or returns NotFound.
	RemoveSSHKey(ctx context.Context, fingerprint string) error
	// Secret returns the secret with a name, which is fresh if there was none.
	Secret(ctx context.Context, name string, fresh []byte) ([]byte, error)

	// ClientStates returns what clients keep of the inboxes of a key, by their IDs. It is gone with its inbox.
	ClientStates(ctx context.Context, keyID string) (map[string][]byte, error)
	// SetClientState replaces what clients keep of an inbox, nil at first. Taken: it is not before. NotFound: there is no such inbox.
	SetClientState(ctx context.Context, keyID, inboxID string, before, after []byte) error

	// CreateInbox creates an inbox from its ID, KeyID, Address, CreatedAt and ExpiresAt. Taken: the
	// address belongs or once belonged to another key, or has an inbox that is not expired at
	// CreatedAt, or never belonged to a key while one of its Untagged addresses does to another.
	// OverQuota: the key has limit inboxes. ErrOtherAddress: another address may be possible now.
	CreateInbox(ctx context.Context, in Inbox, limit int) error
	// Inbox returns an inbox of the key, or NotFound, which takes as long for another key's inbox
	// as for none.
	Inbox(ctx context.Context, keyID, id string) (Inbox, error)
	// InboxByAddress returns the inbox with the address. If it is gone, only the Address and the
	// KeyID, which has the address permanently, are certain, and the ID may be empty. NotFound: no key
	// ever had the address. Messages and Version may be zero.
	InboxByAddress(ctx context.Context, address string) (Inbox, error)
	// Inboxes returns a page of the key's list of inboxes, which has the newest first, and those created at
	// the same time in the order of their IDs, and how many the key has. It takes no longer the more there are.
	Inboxes(ctx context.Context, p PageOfInboxes) (page []Inbox, total int, err error)
	// DeleteInbox removes an inbox of the key and all its messages, or returns NotFound.
	DeleteInbox(ctx context.Context, keyID, id string) error
	// ExtendInbox sets when an inbox of the key expires that has not expired at now, and returns it,
	// or NotFound. Its messages stay until then.
	ExtendInbox(ctx context.Context, keyID, id string, now, expires time.Time) (Inbox, error)

	// Append stores one delivery: all of its messages or none, and their body once, or once for each key, until
	// the last of them is removed or expires. A message whose inbox is gone or has
	// expired at Received is left out; if none remains, NotFound. OverQuota: a key would have more
	// messages on the UTC day of Received than EmailsPerDay, see Emails. With Canceled nothing was stored.
	// Without an error it has set ID and ReceivedAt in d.Messages. Concurrent calls share a commit.
	Append(ctx context.Context, d Append) error
	// EmailsToday returns Emails.On for the key. It may lag behind what other processes append.
	EmailsToday(ctx context.Context, keyID string, day Day) (int, error)
	// Messages returns up to limit summaries of messages whose sequence number in the inbox is below
	// before, newest first. Limit 0 means no limit. An inbox that is gone has none.
	Messages(ctx context.Context, in Inbox, before uint64, limit int) ([]Summary, error)
	// DeleteMessages removes the message with an ID from an inbox, or all with "", or returns NotFound.
	// Sequence numbers are not used again, nor is the day's count reduced.
	DeleteMessages(ctx context.Context, in Inbox, messageID string) error
	// Summary returns the summary of the message with a sequence number, or NotFound. The caller compares
	// the ID.
	Summary(ctx context.Context, in Inbox, seq uint64) (Summary, error)
	// Message returns the message with a sequence number, or NotFound. The caller compares the ID.
	Message(ctx context.Context, in Inbox, seq uint64) (Message, error)

	// Delivery returns how the message with a sequence number came, as it was appended, or NotFound.
	Delivery(ctx context.Context, in Inbox, seq uint64) ([]byte, error)

	// Sweep removes up to limit inboxes that have expired at now, earliest first.
	Sweep(ctx context.Context, now time.Time, limit int) (Swept, error)

	// Ready returns nil if the store can write as a delivery does, which it tries, else why not. It
	// returns soon after ctx ends.
	Ready(ctx context.Context) error
}

// What stores answer with. Users see other words of the service for the first three.
var (
	ErrNotFound  = &Error{Code: NotFound, Message: "not found"}
	ErrTaken     = &Error{Code: Taken, Message: "The address is taken"}
	ErrOverQuota = &Error{Code: OverQuota, Message: "over the day's quota"}
	ErrHashTaken = &Error{Code: Taken, Message: "there is a key with this secret"}
	ErrChanged   = &Error{Code: Taken, Message: "another client has changed it"}
	// A Code of Unavailable: what has the address does not answer.
	ErrOtherAddress = &Error{Code: Unavailable, Message: "The address cannot be created now", RetryAfter: 5 * time.Second}
	ErrClosed       = &Error{Code: Unavailable, Message: "The service is stopping"}
)

// Shared are the additional methods of a store that several processes can have open at once.
type Shared interface {
	// Now is the time for all processes, whatever the clocks of their machines.
	Now() time.Time
	// Listen calls changed with the ID of each inbox that another process changes, that of each key for which
	// it creates one, and "" when anything may have changed. It returns nil when ctx ends.
	Listen(ctx context.Context, changed func(id string)) error
	// Limiter counts the requests at all processes together.
	Limiter
}

// StoredKey is a key with the hash of its secret.
type StoredKey struct {
	Key
	Hash     [32]byte  // SHA-256 of the secret
	OldHash  [32]byte  // that of the secret before, zero if it was refused at once
	OldUntil time.Time // when that one stops working
}

// Has reports whether a hash is that of the secret or of the one before.
func (k StoredKey) Has(hash [32]byte) bool {
	return hash == k.Hash || hash == k.OldHash && hash != [32]byte{}
}

// PageOfInboxes asks for Limit inboxes of a key, fewer only if there are no more, that follow the one with
// a time of creation and an ID, whether or not there is such an inbox. A time in the future asks for the newest.
type PageOfInboxes struct {
	KeyID     string
	CreatedAt time.Time
	ID        string
	Limit     int
}

// Append is one delivery for the store.
type Append struct {
	Received time.Time // now
	Messages []NewMessage
	Raw      []byte // the message as received, the same for all; not kept after the call
}

// What a delivery takes: MaxDelivery at most, of which its body is one part, and each message MaxSummary at most, in bytes.
const (
	MaxDelivery = 512 << 20
	MaxSummary  = 4 << 10
)

// NewMessage is a message for one inbox; the store assigns its sequence number and its ID.
type NewMessage struct {
	ID             string    // set by Store.Append; empty if the message was left out
	ReceivedAt     time.Time // set by Store.Append, by Inbox.Receive
	KeyID, InboxID string
	EmailsPerDay   int    // of the key's plan
	To             string // the recipient as it was addressed
	From           string
	FromName       string
	Subject        string
	Delivery       []byte // its delivery details, at most 1 KiB; not kept after the call
}

// Emails counts the messages of a key on the last day that had any, and on the last one before it. Clocks may step
// back: no day is counted again, and none lies ahead of the clock by more than one, since it counts until it is over.
type Emails struct {
	Day, DayBefore Day
	Count, Before  int
}

// On returns the number of messages on a day, as far as they limit how many more there may be.
func (e Emails) On(day Day) int {
	switch {
	case day > e.Day:
		return 0
	case day == e.Day:
		return e.Count
	case day > e.DayBefore:
		return 0
	}
	return e.Before
}

// Add counts n messages on a day.
func (e *Emails) Add(day Day, n int) {
	switch {
	case day > e.Day:
		*e = Emails{Day: day, Count: n, DayBefore: e.Day, Before: e.Count}
	case day == e.Day:
		e.Count += n
	default:
		*e = Emails{Day: min(e.Day, day+1), Count: e.Count, DayBefore: day, Before: e.On(day) + n}
	}
}

// Swept is what a sweep removed.
type Swept struct {
	Inboxes []Inbox   // ID and KeyID
	Next    time.Time // when the next inbox expires; zero if there is none
}

// Day is a UTC day: days since 1970-01-01.
type Day int32

// DayOf returns the UTC day of an instant since 1970.
func DayOf(t time.Time) Day { return Day(t.Unix() / (24 * 60 * 60)) }

// End returns the instant at which the day ends.
func (d Day) End() time.Time { return time.Unix((int64(d)+1)*24*60*60, 0).UTC() }
