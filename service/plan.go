package service

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// Plan is the set of limits that a key has.
type Plan string

const (
	Free       Plan = "free" // no access
	Dev        Plan = "dev"
	Startup    Plan = "startup"
	Enterprise Plan = "enterprise"
)

// Plans returns all plans, smallest first.
func Plans() []Plan { return []Plan{Free, Dev, Startup, Enterprise} }

// Limits are the limits of a plan. They are zero for Free and for an unknown plan.
type Limits struct {
	RequestsPerMinute int           // in any 60 seconds
	EmailsPerDay      int           // messages accepted in a UTC day
	MaxTTL            time.Duration // of an inbox
}

// Limits returns the limits of the plan.
func (p Plan) Limits() Limits {
	switch p {
	case Dev:
		return Limits{60, 1_000, 24 * time.Hour}
	case Startup:
		return Limits{300, 10_000, 7 * 24 * time.Hour}
	case Enterprise:
		return Limits{1_000, 100_000, 30 * 24 * time.Hour}
	}
	return Limits{}
}

// ParsePlan returns the plan with the name, or an error of code Invalid.
func ParsePlan(name string) (Plan, error) {
	if slices.Contains(Plans(), Plan(name)) {
		return Plan(name), nil
	}
	return "", Errorf(Invalid, "unknown plan %q: want free, dev, startup or enterprise", name)
}

// Quota is what is left of a key's rate limit.
type Quota struct {
	Limit     int           // requests allowed in any 60 seconds
	Remaining int           // requests allowed now
	Reset     time.Duration // until one more is allowed; 0 if none was made
}

// limitWindow is the period of the rate limit: no period of this length sees more requests.
const limitWindow = time.Minute

// Limiter is a rate limiter for each key.
type Limiter interface {
	// Take counts a request of the key, or returns false if it made limit requests in the last
	// minute. With an error it is unknown whether it is counted.
	Take(ctx context.Context, keyID string, limit int) (Quota, bool, error)
}

// localLimiter is the limiter of a process that has the store to itself. It is a sliding-window
// log: it keeps the times of each key's requests of the last minute, 8 bytes each. Nothing cheaper
// can promise that no 60 seconds, whenever they start, see more than the limit; a token bucket
// would allow twice the limit in a minute that starts with a full bucket. It uses the elapsed time,
// so that setting the clock makes no difference.
type localLimiter struct {
	start     time.Time
	mu        sync.Mutex
	keys      map[string][]time.Duration // since start, ascending
	forgotten time.Duration              // when keys without requests were dropped
}

func newLocalLimiter() *localLimiter {
	return &localLimiter{start: time.Now(), keys: make(map[string][]time.Duration)}
}

// Take implements Limiter.
func (l *localLimiter) Take(_ context.Context, keyID string, limit int) (Quota, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Since(l.start)
	if now-l.forgotten >= limitWindow {
		l.forgotten = now
		maps.DeleteFunc(l.keys, func(_ string, made []time.Duration) bool { return len(recent(made, now)) == 0 })
	}
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
