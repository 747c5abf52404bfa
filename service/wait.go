package service

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// recheckInterval is how long a waiter trusts that other processes announce their changes. A
// process that dies between a change and its announcement is thus made up for.
const recheckInterval = 5 * time.Second

// WaitMessages returns true as soon as the inbox has a version other than the given one, which may
// be at once, and false without an error when ctx ends first. NotFound: no such inbox, or it was
// deleted or expired while waiting.
func (s *Service) WaitMessages(ctx context.Context, k Key, inboxID string, version uint64) (changed bool, err error) {
	return s.wait(ctx, inboxID, version, func() (uint64, time.Duration, error) {
		in, err := s.Inbox(ctx, k, inboxID)
		return in.Version, in.ExpiresAt.Sub(s.now()), err
	})
}

// WaitInboxes does for the key's list of inboxes what WaitMessages does for an inbox.
func (s *Service) WaitInboxes(ctx context.Context, k Key, version uint64) (changed bool, err error) {
	return s.wait(ctx, k.ID, version, func() (uint64, time.Duration, error) {
		current, err := s.store.InboxesVersion(ctx, k.ID)
		return current, math.MaxInt64, err
	})
}

// wait waits until read returns a version other than the given one. Besides the version, read
// returns how long to wait for a notification before reading again.
func (s *Service) wait(ctx context.Context, topic string, version uint64, read func() (uint64, time.Duration, error)) (changed bool, err error) {
	for {
		// Before reading, so that no change is missed.
		notified, unsubscribe := s.hub.subscribe(topic)
		current, limit, err := read()
		if err != nil || current != version {
			unsubscribe()
			if ctx.Err() != nil && ErrorCode(err) == Canceled {
				return false, nil
			}
			return err == nil, err
		}
		if s.shared != nil {
			limit = min(limit, recheckInterval+rand.N(recheckInterval)) // so that not all read at once
		}
		recheck := time.NewTimer(limit)
		select {
		case <-notified:
		case <-recheck.C:
		case <-ctx.Done():
		}
		recheck.Stop()
		unsubscribe()
		if ctx.Err() != nil {
			return false, nil
		}
	}
}

// hub is a publish-subscribe hub within the process. A topic is the ID of an inbox, or the ID of a
// key for its list of inboxes. Publishing carries no data: it wakes the subscribers, which then
// read the store. The subscribers of a topic share a channel; a topic without any takes no memory.
type hub struct {
	mu     sync.Mutex
	topics map[string]*topic
}

type topic struct {
	changed     chan struct{}
	subscribers int
}

// subscribe returns a channel that is closed at the next notification of the topic, and the
// function that ends the subscription.
func (h *hub) subscribe(id string) (changed <-chan struct{}, unsubscribe func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[id]
	if t == nil {
		t = &topic{changed: make(chan struct{})}
		h.topics[id] = t
	}
	t.subscribers++
	return t.changed, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if t.subscribers--; t.subscribers == 0 && h.topics[id] == t {
			delete(h.topics, id)
		}
	}
}

// notify wakes the subscribers of topics, or with "" those of all.
func (h *hub) notify(ids ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Contains(ids, "") {
		ids = slices.Collect(maps.Keys(h.topics))
	}
	for _, id := range ids {
		if t := h.topics[id]; t != nil {
			close(t.changed)
			delete(h.topics, id)
		}
	}
}

// Waiting returns the number of callers in WaitMessages and WaitInboxes.
func (s *Service) Waiting() (n int) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	for _, t := range s.hub.topics {
		n += t.subscribers
	}
	return n
}
