package service

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// Inbox is a temporary mailbox.
type Inbox struct {
	ID        string
	KeyID     string // the owner
	Address   string // lower case
	CreatedAt time.Time
	ExpiresAt time.Time // from then on, the inbox is gone
	Messages  int       // how many it has
	Last      uint64    // the sequence number of the newest message it ever had; 0: none
	Version   uint64    // differs after each change of it or its messages; compare it for equality only
	Partition int64     // for the store alone: where it keeps the messages; 0: where ExpiresAt says
}

// DefaultTTL is the default lifetime of an inbox, MinTTL the shortest.
const (
	DefaultTTL = time.Hour
	MinTTL     = time.Minute
)

// NewInbox describes an inbox to create.
type NewInbox struct {
	Domain   string        // default: the first of Domains
	Username string        // default: a random one
	TTL      time.Duration // whole seconds; default: DefaultTTL
}

// CreateInbox creates an inbox for the key. The messages of Invalid and Taken say what is wrong
// with the request.
func (s *Service) CreateInbox(ctx context.Context, k Key, n NewInbox) (Inbox, error) {
	domain, err := s.domain(n.Domain)
	if err != nil {
		return Inbox{}, err
	}
	ttl, err := lifetime(n.TTL, k.Plan.Limits().MaxTTL)
	if err != nil {
		return Inbox{}, err
	}
	if n.Username != "" {
		username, err := parseUsername(n.Username)
		if err != nil {
			return Inbox{}, err
		}
		return s.createInbox(ctx, k.ID, username+"@"+domain, ttl)
	}
	// A collision of random names is improbable; three in a row have another cause.
	var in Inbox
	for range 3 {
		in, err = s.createInbox(ctx, k.ID, randomUsername()+"@"+domain, ttl)
		if ErrorCode(err) != Taken {
			break
		}
	}
	return in, err
}

func (s *Service) createInbox(ctx context.Context, keyID, address string, ttl time.Duration) (Inbox, error) {
	now := s.now()
	in := Inbox{ID: newInboxID(), KeyID: keyID, Address: address, CreatedAt: now, ExpiresAt: now.Add(ttl)}
	err := s.store.CreateInbox(ctx, in)
	if ErrorCode(err) == Taken {
		return Inbox{}, Errorf(Taken, "The address %s is taken", address)
	}
	if err != nil {
		return Inbox{}, err
	}
	s.hub.notify(keyID)
	return in, nil
}

// lifetime checks a requested lifetime against the plan's maximum, and fills in the default.
func lifetime(ttl, limit time.Duration) (time.Duration, error) {
	if ttl == 0 {
		ttl = min(DefaultTTL, limit)
	}
	if ttl < MinTTL || ttl > limit || ttl%time.Second != 0 {
		return 0, Errorf(Invalid, "ttl must be a whole number of seconds from %d to %d", MinTTL/time.Second, limit/time.Second)
	}
	return ttl, nil
}

// Inbox returns an inbox of the key, or NotFound.
func (s *Service) Inbox(ctx context.Context, k Key, id string) (Inbox, error) {
	in, err := s.store.Inbox(ctx, k.ID, id)
	if ErrorCode(err) == NotFound || err == nil && s.expired(in) {
		return Inbox{}, errNoInbox()
	}
	return in, err
}

// InboxAt returns the inbox of the key that has an address, or NotFound. It does the same work for
// another key's inbox as for none.
func (s *Service) InboxAt(ctx context.Context, k Key, address string) (Inbox, error) {
	in, err := s.store.InboxByAddress(ctx, lower(address))
	if err != nil && ErrorCode(err) != NotFound {
		return Inbox{}, err
	}
	return s.Inbox(ctx, k, in.ID)
}

func errNoInbox() error { return Errorf(NotFound, "No such inbox") }

func (s *Service) expired(in Inbox) bool { return !s.now().Before(in.ExpiresAt) }

// ExtendInbox sets the end of an inbox of the key to ttl from now, sooner or later than it was. Invalid: the
// plan does not allow that.
func (s *Service) ExtendInbox(ctx context.Context, k Key, id string, ttl time.Duration) (Inbox, error) {
	ttl, err := lifetime(ttl, k.Plan.Limits().MaxTTL)
	if err != nil {
		return Inbox{}, err
	}
	now := s.now()
	in, err := s.store.ExtendInbox(ctx, k.ID, id, now, now.Add(ttl))
	return in, s.changed(k, id, err, errNoInbox())
}

// changed wakes those who wait for an inbox after a change to it, or returns why that was not made.
func (s *Service) changed(k Key, inboxID string, err, notFound error) error {
	if ErrorCode(err) == NotFound {
		return notFound
	}
	if err == nil {
		s.hub.notify(inboxID, k.ID)
	}
	return err
}

// Inboxes returns the key's inboxes, newest first, and the version of the list, which differs after
// each change of one of them or of its messages. Compare versions for equality only.
func (s *Service) Inboxes(ctx context.Context, k Key) ([]Inbox, uint64, error) {
	list, version, err := s.store.Inboxes(ctx, k.ID)
	if err != nil {
		return nil, 0, err
	}
	list = slices.DeleteFunc(list, s.expired)
	slices.SortFunc(list, func(a, b Inbox) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return list, version, nil
}

// InboxesVersion returns the version of the key's list of inboxes without reading it.
func (s *Service) InboxesVersion(ctx context.Context, k Key) (uint64, error) {
	return s.store.InboxesVersion(ctx, k.ID)
}

// DeleteInbox removes an inbox of the key with all its messages, or returns NotFound.
func (s *Service) DeleteInbox(ctx context.Context, k Key, id string) error {
	if _, err := s.Inbox(ctx, k, id); err != nil {
		return err
	}
	return s.changed(k, id, s.store.DeleteInbox(ctx, k.ID, id), errNoInbox())
}
