package service

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// hub wakes who waits on a topic: the ID of an inbox, or of a key for its list of inboxes. All who
// wait on a topic share a channel; a topic that nobody waits on takes no space.
type hub struct {
	mu      sync.Mutex
	topics  map[string]*topic
	callers int
}

type topic struct {
	changed chan struct{}
	waiting int
}

func newHub() *hub { return &hub{topics: make(map[string]*topic)} }

// join returns a channel that is closed at the next change of the topic, and the function to leave it.
func (h *hub) join(id string) (changed <-chan struct{}, leave func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[id]
	if t == nil {
		t = &topic{changed: make(chan struct{})}
		h.topics[id] = t
	}
	t.waiting++
	h.callers++
	return t.changed, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.callers--
		if t.waiting--; t.waiting == 0 && h.topics[id] == t {
			delete(h.topics, id)
		}
	}
}

// waiting returns how many wait.
func (h *hub) waiting() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.callers
}

// notify wakes all who wait on the topic.
func (h *hub) notify(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.topics[id]; t != nil {
		close(t.changed)
		delete(h.topics, id)
	}
}

// notifyAll wakes everybody.
func (h *hub) notifyAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.topics {
		close(t.changed)
	}
	clear(h.topics)
}

// recheck is how long who waits relies on other processes to tell what they change. One that dies between a change
// and telling it is noticed so.
const recheck = 5 * time.Second

// patience returns how long to wait before looking again, most at most.
func (s *Service) patience(most time.Duration) time.Duration {
	if s.shared == nil {
		return most
	}
	return min(most, recheck+rand.N(recheck)) // not all at once
}

// WaitMessages returns true as soon as the inbox has another version than the given one, at once when
// it already has, and false when ctx ends first: a timeout of ctx is no error, and its end by
// cancellation is none either. NotFound: no such inbox, or it was deleted or expired meanwhile.
func (s *Service) WaitMessages(ctx context.Context, k Key, inboxID string, version uint64) (changed bool, err error) {
	for {
		woken, leave := s.hub.join(inboxID)
		var in Inbox
		var err error
		aside(func() { in, err = s.Inbox(ctx, k, inboxID) })
		if err != nil || in.Version != version {
			leave()
			return err == nil, ended(ctx, err)
		}
		again := time.NewTimer(s.patience(in.ExpiresAt.Sub(s.now())))
		select {
		case <-woken:
		case <-again.C:
		case <-ctx.Done():
		}
		again.Stop()
		leave()
		if ctx.Err() != nil {
			return false, nil
		}
	}
}

// WaitInboxes does for the key's list of inboxes what WaitMessages does for an inbox.
func (s *Service) WaitInboxes(ctx context.Context, k Key, version uint64) (changed bool, err error) {
	for {
		woken, leave := s.hub.join(k.ID)
		var current uint64
		var err error
		aside(func() { current, err = s.store.InboxesVersion(ctx, k.ID) })
		if err != nil || current != version {
			leave()
			return err == nil, ended(ctx, err)
		}
		again := time.NewTimer(s.patience(math.MaxInt64))
		select {
		case <-woken:
		case <-again.C:
		case <-ctx.Done():
		}
		again.Stop()
		leave()
		if ctx.Err() != nil {
			return false, nil
		}
	}
}

// aside calls f on a goroutine of its own. Who then waits for long keeps a small stack, not the one that f needs:
// that is half the memory of a held request.
func aside(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// ended hides an error that is only the end of ctx.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && ErrorCode(err) == Canceled {
		return nil
	}
	return err
}
