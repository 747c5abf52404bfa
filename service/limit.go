package service

import (
	"context"
	"sync"
	"time"
)

// Quota is what is left of a key's rate limit.
type Quota struct {
	Limit     int           // requests allowed in any 60 seconds
	Remaining int           // requests allowed now
	Reset     time.Duration // until one more is allowed; 0 if none was made
}

// limitWindow is the period of the rate limit: no period of this length sees more requests.
const limitWindow = time.Minute

// limiter is a rate limiter for each key. It uses the elapsed time, so that setting the clock makes
// no difference.
type limiter interface {
	// take counts a request of the key, or returns false if the limit is reached. With an error it
	// is unknown whether it is.
	take(ctx context.Context, keyID string, limit int) (Quota, bool, error)
	// run frees what is no longer needed, until ctx ends.
	run(ctx context.Context)
}

// localLimiter is the limiter of a process that has the store to itself. It is a sliding-window
// log: it keeps the times of each key's requests of the last minute, 8 bytes each. Nothing cheaper
// can promise that no 60 seconds, whenever they start, see more than the limit; a token bucket
// would allow twice the limit in a minute that starts with a full bucket.
type localLimiter struct {
	start time.Time
	mu    sync.Mutex
	keys  map[string][]time.Duration // since start, ascending
}

func newLocalLimiter() *localLimiter {
	return &localLimiter{start: time.Now(), keys: make(map[string][]time.Duration)}
}

func (l *localLimiter) take(_ context.Context, keyID string, limit int) (Quota, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Since(l.start)
	made := recent(l.keys[keyID], now)
	ok := len(made) < limit
	if ok {
		made = append(made, now)
	}
	l.keys[keyID] = made
	// One more is allowed when enough have left the window.
	next := made[max(0, len(made)-limit)]
	return Quota{Limit: limit, Remaining: max(0, limit-len(made)), Reset: next + limitWindow - now}, ok, nil
}

// recent drops what has left the window. The front of the array is freed when append copies the
// rest.
func recent(made []time.Duration, now time.Duration) []time.Duration {
	n := 0
	for n < len(made) && now-made[n] >= limitWindow {
		n++
	}
	return made[n:]
}

func (l *localLimiter) run(ctx context.Context) {
	ticker := time.NewTicker(limitWindow)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.forget()
		}
	}
}

// forget drops the keys that have made no request in the last minute.
func (l *localLimiter) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Since(l.start)
	for id, made := range l.keys {
		if len(recent(made, now)) == 0 {
			delete(l.keys, id)
		}
	}
}
