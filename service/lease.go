package service

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// sharedLimiter is the limiter of a process among others. The store counts the requests of them all; to spare it the
// most of them, a process takes tokens in small lots and gives back which it used, and when. A lot is a part of what is
// left, so near the limit there is next to nothing in the lots of others; what there is, they are asked to give back.
// So a key never makes more requests in any 60 seconds than its plan allows, and is not refused before.
type sharedLimiter struct {
	store    Shared
	start    time.Time
	recalled chan string // IDs of keys

	mu      sync.Mutex
	keys    map[string]*share
	pending map[string]bool // what was sent to recalled and is not given back yet
}

// share is what this process has of a key's requests. Times are since start.
type share struct {
	turn chan struct{} // who has sent to it may use the rest

	limit   int
	lot     Lot
	leased  time.Duration   // when
	uses    []time.Duration // of the lot
	refused time.Duration   // until then, without asking again
}

const (
	// recallTopic and the ID of a key ask the others to give back their lots.
	recallTopic = "lots/"

	recalls    = 5                     // how often a recall is waited for
	recallWait = 20 * time.Millisecond // at first; then twice as long each time
	settleWait = 2 * time.Second       // how long giving back may take
	turnWait   = 5 * time.Second       // how long the requests before one may take
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

// hold returns the key's share, which is the caller's until let is called.
func (l *sharedLimiter) hold(ctx context.Context, keyID string) (h *share, let func(), err error) {
	for {
		l.mu.Lock()
		h = l.keys[keyID]
		if h == nil {
			h = &share{turn: make(chan struct{}, 1)}
			l.keys[keyID] = h
		}
		l.mu.Unlock()
		if err := h.wait(ctx); err != nil {
			return nil, nil, err
		}
		l.mu.Lock()
		current := l.keys[keyID] == h
		l.mu.Unlock()
		if current { // and not forgotten meanwhile
			return h, func() { <-h.turn }, nil
		}
		<-h.turn
	}
}

// wait waits for the turn. While the store does not answer, those who wait do not wait for each other's questions as well.
func (h *share) wait(ctx context.Context) error {
	select {
	case h.turn <- struct{}{}:
		return nil
	default: // somebody else has it
	}
	ctx, cancel := context.WithTimeoutCause(ctx, turnWait, &Error{Code: Unavailable, Message: "The store does not answer"})
	defer cancel()
	select {
	case h.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *sharedLimiter) take(ctx context.Context, keyID string, limit int) (Quota, bool, error) {
	h, let, err := l.hold(ctx, keyID)
	if err != nil {
		return Quota{}, false, err
	}
	defer let()
	changed := h.limit != limit
	if changed {
		h.limit, h.refused = limit, 0
	}
	if changed || h.left() == 0 || l.now() >= h.leased+LotHold {
		if l.now() < h.refused {
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

// lease takes another lot. When all that is left is in the lots of others, it has them asked for it. A caller that
// leaves does not take a lot with it of which nobody knows then.
func (l *sharedLimiter) lease(ctx context.Context, keyID string, h *share) error {
	wait := recallWait
	for range recalls {
		if err := l.exchange(context.WithoutCancel(ctx), keyID, h, h.limit); err != nil {
			return err
		}
		if h.lot.Tokens > 0 {
			return nil
		}
		if h.lot.Open == 0 {
			h.refused = l.now() + h.lot.Free // until then nothing can have become free
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
	h.refused = l.now() + wait
	return nil
}

// exchange gives the lot back for a new one, or for none if the limit is 0. With an error nobody knows whether the store
// has what is left of the lot, so it is not used any more; its uses can be told again.
func (l *sharedLimiter) exchange(ctx context.Context, keyID string, h *share, limit int) error {
	h.lot.Tokens = len(h.uses)
	before := l.now()
	settled := Settled{Lot: h.lot.ID, Uses: make([]time.Duration, len(h.uses))}
	for i, used := range h.uses {
		settled.Uses[i] = before - used
	}
	lot, err := l.store.Lease(ctx, keyID, limit, settled)
	if err != nil {
		return err
	}
	h.lot, h.leased, h.uses = lot, before, h.uses[:0]
	return nil
}

// left returns how many tokens of the lot are not used.
func (h *share) left() int { return h.lot.Tokens - len(h.uses) }

func (h *share) quota(now time.Duration) Quota {
	q := Quota{Limit: h.limit, Remaining: max(0, h.limit-h.lot.Charged+h.left()), Reset: limitWindow}
	switch {
	case h.lot.Free > 0: // more than the window when it is a lot whose last token may yet be used
		q.Reset = min(max(0, h.leased+h.lot.Free-now), limitWindow)
	case len(h.uses) > 0:
		q.Reset = h.uses[0] + limitWindow - now
	}
	if h.left() == 0 && q.Remaining == 0 {
		q.Reset = max(q.Reset, h.refused-now, time.Millisecond)
	}
	return q
}

// recall has what this process has of a key's requests given back, since another one needs it.
func (l *sharedLimiter) recall(keyID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys[keyID] == nil || l.pending[keyID] {
		return
	}
	select {
	case l.recalled <- keyID:
		l.pending[keyID] = true
	default: // it asks again
	}
}

// giveBack settles the key's lot, if there is one. One that cannot be is forgotten by the store in its time.
func (l *sharedLimiter) giveBack(ctx context.Context, keyID string) {
	ctx, cancel := context.WithTimeout(ctx, settleWait)
	defer cancel()
	h, let, err := l.hold(ctx, keyID)
	if err != nil {
		return
	}
	defer let()
	if h.lot.ID != "" {
		_ = l.exchange(ctx, keyID, h, 0)
	}
}

// run gives back what others ask for, the lots that were held long enough, and when ctx ends all of them.
func (l *sharedLimiter) run(ctx context.Context) {
	var giving sync.WaitGroup
	giving.Go(func() { l.giveBackOverdue(ctx) })
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case keyID := <-l.recalled:
			giving.Go(func() { // one that is in use holds up no other
				l.giveBack(ctx, keyID)
				l.mu.Lock()
				defer l.mu.Unlock()
				delete(l.pending, keyID)
			})
		}
	}
	giving.Wait()
	l.mu.Lock()
	all := slices.Collect(maps.Keys(l.keys))
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWait) // for all of them
	defer cancel()
	for _, keyID := range all {
		l.giveBack(ctx, keyID)
	}
}

func (l *sharedLimiter) giveBackOverdue(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for _, keyID := range l.overdue() {
				l.giveBack(ctx, keyID)
			}
		}
	}
}

// overdue returns the keys whose lot was held long enough, and forgets those that have had none for a minute.
func (l *sharedLimiter) overdue() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	var keys []string
	for keyID, h := range l.keys {
		select {
		case h.turn <- struct{}{}:
		default:
			continue // it is in use
		}
		switch {
		case h.lot.ID != "" && now >= h.leased+LotHold:
			keys = append(keys, keyID)
		case h.lot.ID == "" && now >= h.leased+limitWindow:
			delete(l.keys, keyID)
		}
		<-h.turn
	}
	return keys
}
