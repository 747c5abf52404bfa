package service

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// sharedLimiter is the limiter of a process that shares the store with others. The store counts the
// requests of all processes. To spare it most requests, a process leases tokens in small lots, and
// when it returns a lot says which tokens it used and when. A lot is a part of what is left, so
// that near the limit there is next to nothing in the lots of other processes; what there is, they
// are asked to return. Thus a key never makes more requests in any 60 seconds than its plan allows,
// and is not refused before.
type sharedLimiter struct {
	store    Shared
	start    time.Time
	recalled chan string // IDs of keys whose lots are to be returned

	mu      sync.Mutex
	keys    map[string]*share
	pending map[string]bool // sent to recalled and not returned yet
}

// share is this process's part of a key's rate limit. Times are since the limiter's start.
type share struct {
	lock chan struct{} // full while a caller has the share; guards the rest

	limit        int
	lot          Lot
	leasedAt     time.Duration
	uses         []time.Duration // of the lot's tokens
	refusedUntil time.Duration   // the store need not be asked before
}

const (
	// recallTopic and a key's ID make the topic by which other processes are asked to return their
	// lots.
	recallTopic = "lots/"

	recallAttempts = 5
	recallWait     = 20 * time.Millisecond // after the first attempt; doubles with each
	returnTimeout  = 2 * time.Second       // for returning a lot
	acquireTimeout = 5 * time.Second       // for the requests ahead of one
)

func newSharedLimiter(store Shared) *sharedLimiter {
	return &sharedLimiter{
		store:    store,
		start:    time.Now(),
		recalled: make(chan string, 100),
		keys:     make(map[string]*share),
		pending:  make(map[string]bool),
	}
}

func (l *sharedLimiter) now() time.Duration { return time.Since(l.start) }

// acquire locks and returns the key's share, which the caller releases.
func (l *sharedLimiter) acquire(ctx context.Context, keyID string) (*share, error) {
	for {
		l.mu.Lock()
		h := l.keys[keyID]
		if h == nil {
			h = &share{lock: make(chan struct{}, 1)}
			l.keys[keyID] = h
		}
		l.mu.Unlock()
		if err := h.acquire(ctx); err != nil {
			return nil, err
		}
		l.mu.Lock()
		current := l.keys[keyID] == h
		l.mu.Unlock()
		if current { // it was not forgotten meanwhile
			return h, nil
		}
		h.release()
	}
}

// acquire locks the share. Its timeout ends the queue that forms while the store does not answer.
func (h *share) acquire(ctx context.Context) error {
	select {
	case h.lock <- struct{}{}:
		return nil
	default:
	}
	ctx, cancel := context.WithTimeoutCause(ctx, acquireTimeout, &Error{Code: Unavailable, Message: "The store does not answer"})
	defer cancel()
	select {
	case h.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *share) release() { <-h.lock }

func (l *sharedLimiter) take(ctx context.Context, keyID string, limit int) (Quota, bool, error) {
	h, err := l.acquire(ctx, keyID)
	if err != nil {
		return Quota{}, false, err
	}
	defer h.release()
	changed := h.limit != limit
	if changed {
		h.limit, h.refusedUntil = limit, 0
	}
	if changed || h.left() == 0 || l.now() >= h.leasedAt+LotLease {
		if l.now() < h.refusedUntil {
			return h.quota(l.now()), false, nil
		}
		if err := l.lease(ctx, keyID, h); err != nil {
			return Quota{}, false, err
		}
		if h.left() == 0 {
			return h.quota(l.now()), false, nil
		}
	}
	h.uses = append(h.uses, l.now())
	return h.quota(l.now()), true, nil
}

// lease replaces the share's lot. If all that is left is in other processes' lots, it recalls them.
// The end of ctx does not interrupt a call of the store, since a lot whose ID got lost could not be
// returned.
func (l *sharedLimiter) lease(ctx context.Context, keyID string, h *share) error {
	wait := recallWait
	for range recallAttempts {
		if err := l.exchange(context.WithoutCancel(ctx), keyID, h, h.limit); err != nil {
			return err
		}
		if h.lot.Tokens > 0 {
			return nil
		}
		if h.lot.Open == 0 {
			h.refusedUntil = l.now() + h.lot.Free
			return nil
		}
		l.store.Announce(recallTopic + keyID)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		wait *= 2
	}
	h.refusedUntil = l.now() + wait
	return nil
}

// exchange returns the share's lot and leases a new one, or none if the limit is 0. After an error
// the store may have taken the lot back, so that its remaining tokens cannot be used; its uses can
// be reported again.
func (l *sharedLimiter) exchange(ctx context.Context, keyID string, h *share, limit int) error {
	h.lot.Tokens = len(h.uses)
	before := l.now()
	returned := Returned{Lot: h.lot.ID, Uses: make([]time.Duration, len(h.uses))}
	for i, used := range h.uses {
		returned.Uses[i] = before - used
	}
	lot, err := l.store.Lease(ctx, keyID, limit, returned)
	if err != nil {
		return err
	}
	h.lot, h.leasedAt, h.uses = lot, before, h.uses[:0]
	return nil
}

// left returns how many tokens of the lot are unused.
func (h *share) left() int { return h.lot.Tokens - len(h.uses) }

func (h *share) quota(now time.Duration) Quota {
	q := Quota{Limit: h.limit, Remaining: max(0, h.limit-h.lot.Charged+h.left()), Reset: limitWindow}
	switch {
	case h.lot.Free > 0: // longer than the window if another process may yet use a token
		q.Reset = min(max(0, h.leasedAt+h.lot.Free-now), limitWindow)
	case len(h.uses) > 0:
		q.Reset = h.uses[0] + limitWindow - now
	}
	if h.left() == 0 && q.Remaining == 0 {
		q.Reset = max(q.Reset, h.refusedUntil-now, time.Millisecond)
	}
	return q
}

// recall has run return the key's lot, which another process asks for.
func (l *sharedLimiter) recall(keyID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys[keyID] == nil || l.pending[keyID] {
		return
	}
	select {
	case l.recalled <- keyID:
		l.pending[keyID] = true
	default: // the other process asks again
	}
}

// returnLot returns the key's lot, if there is one. If it fails, the lot expires in the store.
func (l *sharedLimiter) returnLot(ctx context.Context, keyID string) {
	ctx, cancel := context.WithTimeout(ctx, returnTimeout)
	defer cancel()
	h, err := l.acquire(ctx, keyID)
	if err != nil {
		return
	}
	defer h.release()
	if h.lot.ID != "" {
		_ = l.exchange(ctx, keyID, h, 0)
	}
}

// run returns the lots that other processes ask for, those whose lease is over, and all of them
// when ctx ends.
func (l *sharedLimiter) run(ctx context.Context) {
	var returning sync.WaitGroup
	returning.Go(func() { l.returnOverdue(ctx) })
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case keyID := <-l.recalled:
			returning.Go(func() { // so that a share in use does not hold up others
				l.returnLot(ctx, keyID)
				l.mu.Lock()
				defer l.mu.Unlock()
				delete(l.pending, keyID)
			})
		}
	}
	returning.Wait()
	l.mu.Lock()
	all := slices.Collect(maps.Keys(l.keys))
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), returnTimeout) // for all of them
	defer cancel()
	for _, keyID := range all {
		l.returnLot(ctx, keyID)
	}
}

func (l *sharedLimiter) returnOverdue(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for _, keyID := range l.overdue() {
				l.returnLot(ctx, keyID)
			}
		}
	}
}

// overdue returns the keys whose lot's lease is over, and forgets those that have had none for a
// minute.
func (l *sharedLimiter) overdue() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	var keys []string
	for keyID, h := range l.keys {
		select {
		case h.lock <- struct{}{}:
		default:
			continue // it is in use
		}
		switch {
		case h.lot.ID != "" && now >= h.leasedAt+LotLease:
			keys = append(keys, keyID)
		case h.lot.ID == "" && now >= h.leasedAt+limitWindow:
			delete(l.keys, keyID)
		}
		h.release()
	}
	return keys
}
