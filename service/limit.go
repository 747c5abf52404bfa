package service

import (
	"context"
	"sync"
	"time"
)

// Quota is what a key has left of its requests.
type Quota struct {
	Limit     int           // requests in any 60 seconds
	Remaining int           // requests that would be allowed now
	Reset     time.Duration // until another one is; 0 when none was made
}

// limitWindow is the time in which a key makes no more requests than its plan allows.
const limitWindow = time.Minute

// limiter counts the requests of each key, by the elapsed time, so that setting the clock changes nothing.
type limiter interface {
	// take counts a request of the key unless the limit is reached. With an error it is not known whether it is.
	take(ctx context.Context, keyID string, limit int) (Quota, bool, error)
	// run gives back what is not needed until ctx ends.
	run(ctx context.Context)
}

// localLimiter is the limiter of the only process there is. It keeps the times of each key's requests of the last minute: the one way to promise that no
// 60 seconds, wherever they start, see more than the limit. A token bucket would let twice the limit
// through in a minute that starts with a full bucket. It costs 8 bytes a request, for a minute.
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
	// The next request is free when so many have left the window that one fits in.
	next := made[max(0, len(made)-limit)]
	return Quota{Limit: limit, Remaining: max(0, limit-len(made)), Reset: next + limitWindow - now}, ok, nil
}

// recent drops what has left the window. The front of the array is given back when append copies it.
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

// forget drops the keys that made no request in the last minute.
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
