package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// defaultLimit is the requests a minute that the lowest paid plan allows.
	defaultLimit = 60
	// window is a little longer than the minute in which the service counts, since requests do not
	// all take the same time to arrive.
	window = 61 * time.Second
	// leastLimit is the limit below which 429 never shrinks the budget.
	leastLimit = 6
	// quiet is how long there must be no 429 before the budget grows by a step.
	quiet = time.Minute
	// unlimited stands for any number of requests a minute.
	unlimited = 1_000_000
)

// Budget counts the requests made with a client and with those derived from it by
// [Client.Background]. No minute has more than its limit: a request for which there is no room
// waits or fails.
//
// The limit is the one in the service's RateLimit-Policy header field. A service that announces none is
// taken to have the lowest of the plans, 60, unless it has the extensions of Mayfly's own, which
// announces every limit: then there is none. Since others may use the same key, an answer 429 halves
// the limit, and each quiet minute gives a tenth back.
//
// A fifth of the limit, and all of it while another request waits, is reserved from background
// requests; those are also paced, so that they do not use up a minute in its first second.
type Budget struct {
	mu      sync.Mutex
	ceiling int         // the limit without 429s; 0 for none
	stated  int         // requests a minute that the service states; 0 while it has stated none
	limit   int         // of the requests in any window; 0 for none
	changed time.Time   // when limit was last shrunk or grown
	sent    []time.Time // the requests of the last window, the oldest first
	blocked time.Time   // no requests before
	scarce  time.Time   // no background requests before
	strikes int         // 429s without Retry-After in a row
	waiting int         // foreground requests that are waiting
	paced   time.Time   // the theoretical time of the next background request
}

func newBudget() *Budget { return &Budget{ceiling: defaultLimit, limit: defaultLimit} }

// Usage is how much of a budget is used.
type Usage struct {
	Used   int  // requests of the last minute, 0 without a limit
	Limit  int  // the most there may be; 0 for no limit
	Stated int  // the most there may be by what the service states; 0 while it has stated none
	Tight  bool // more than half is used, or the limit is reduced after an answer 429
}

// Usage returns how much of the budget is used.
func (b *Budget) Usage() Usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.update(now)
	used := 0
	for i := len(b.sent) - 1; i >= 0 && now.Sub(b.sent[i]) < time.Minute; i-- {
		used++
	}
	return Usage{used, b.limit, b.stated, 2*used > b.limit || b.limit < b.ceiling}
}

// Background returns how many background requests may be made in a minute, a million without a
// limit, and how long it is until the next one may be made, 0 if it may be made now.
func (b *Budget) Background() (perMinute int, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.update(now)
	return b.background(), b.backgroundWait(now)
}

// reserve is the part of the limit that background requests leave to others.
func (b *Budget) reserve() int { return max(0, min(max(1, b.limit/5), b.limit-1)) }

// background is the part of the limit that background requests may use.
func (b *Budget) background() int {
	if b.limit == 0 {
		return unlimited
	}
	return b.limit - b.reserve()
}

// count notes that a request is sent.
func (b *Budget) count(now time.Time) {
	if b.limit > 0 {
		b.sent = append(b.sent, now)
	}
}

// update forgets the requests before the window, and grows the limit after quiet minutes.
func (b *Budget) update(now time.Time) {
	old := 0
	for old < len(b.sent) && now.Sub(b.sent[old]) >= window {
		old++
	}
	b.sent = append(b.sent[:0], b.sent[old:]...)
	if b.limit >= b.ceiling {
		return
	}
	if steps := int(now.Sub(b.changed) / quiet); steps > 0 {
		b.limit = min(b.ceiling, b.limit+steps*max(1, b.ceiling/10))
		b.changed = b.changed.Add(time.Duration(steps) * quiet)
	}
}

// roomWait is the time until fewer than n requests are in the window.
func (b *Budget) roomWait(now time.Time, n int) time.Duration {
	if b.limit == 0 || len(b.sent) < n {
		return 0
	}
	return b.sent[len(b.sent)-n].Add(window).Sub(now)
}

func (b *Budget) backgroundWait(now time.Time) time.Duration {
	wait := max(b.blocked.Sub(now), b.scarce.Sub(now), b.roomWait(now, b.background()))
	if b.waiting > 0 {
		wait = max(wait, b.roomWait(now, b.limit), 100*time.Millisecond)
	}
	burst := b.pace() * time.Duration(max(2, b.background()/4)-1)
	return max(0, wait, max(0, b.paced.Sub(now))-burst)
}

// pace is the time between background requests when they use all that they may.
func (b *Budget) pace() time.Duration { return window / time.Duration(b.background()) }

// takeBackground counts a background request, or returns how long to wait until one is allowed.
func (b *Budget) takeBackground() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.update(now)
	if wait := b.backgroundWait(now); wait > 0 {
		return wait
	}
	if b.paced.Before(now) {
		b.paced = now
	}
	b.paced = b.paced.Add(b.pace())
	b.count(now)
	return 0
}

// take waits for room and counts a request. If the wait would be longer than maxWait it returns the
// wait at once.
func (b *Budget) take(ctx context.Context, maxWait time.Duration) (time.Duration, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting++
	defer func() { b.waiting-- }()
	for {
		now := time.Now()
		b.update(now)
		wait := max(b.blocked.Sub(now), b.roomWait(now, b.limit))
		if wait <= 0 {
			b.count(now)
			return 0, nil
		}
		if wait > maxWait {
			return wait, nil
		}
		maxWait -= wait
		b.mu.Unlock()
		err := sleep(ctx, wait)
		b.mu.Lock()
		if err != nil {
			return 0, err
		}
	}
}

// adopt takes over the limit that the service announces.
func (b *Budget) adopt(q Quota) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.update(now)
	if q.Limit > 0 && q.Window > 0 {
		ceiling := int(max(1, min(int64(q.Limit)*int64(time.Minute)/int64(q.Window), 100_000)))
		b.stated = ceiling
		if ceiling != b.ceiling {
			if b.limit == b.ceiling || b.limit > ceiling {
				b.limit = ceiling
			}
			b.ceiling = ceiling
		}
	}
	if q.Remaining >= 0 && q.Remaining < b.reserve() && q.Reset > 0 {
		// Somebody else uses the key, too. What is left is for the foreground, until part of the
		// minute has passed.
		b.scarce = now.Add(min(q.Reset, time.Minute) / 4)
	}
}

// removeLimit removes the limit, since the service announces none.
func (b *Budget) removeLimit() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ceiling, b.limit, b.stated, b.sent = 0, 0, 0, nil
}

// limited shrinks the budget after a 429 to a request that was sent at that time.
func (b *Budget) limited(sent time.Time, retryAfter time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.update(now)
	if retryAfter <= 0 {
		retryAfter = min(5*time.Second<<min(b.strikes, 4), time.Minute)
	}
	if until := now.Add(min(retryAfter, time.Hour)); until.After(b.blocked) {
		b.blocked = until
	}
	if !sent.After(b.changed) && b.limit < b.ceiling {
		return // it was in flight when another one shrank the budget
	}
	b.strikes++
	b.limit = max(min(leastLimit, b.ceiling), b.limit/2) // stays 0
	b.changed = now
}

// accepted ends a run of 429s.
func (b *Budget) accepted() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.strikes = 0
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Quota is the rate limit of a key as a service announces it in the header fields RateLimit and
// RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers).
type Quota struct {
	Limit     int           // requests; 0 if not announced
	Window    time.Duration // in this time; 0 if not announced
	Remaining int           // requests left; -1 if not announced
	Reset     time.Duration // until there are more, from the answer on; 0 if not announced
}

// parseQuota reads the first policy, or of several the one for a minute; false if the fields are
// absent or malformed.
func parseQuota(h http.Header) (Quota, bool) {
	q := Quota{Remaining: -1}
	policy, found := "", false
	for _, member := range members(h["Ratelimit-Policy"]) {
		limit, okLimit := parameter(member, "q")
		seconds, okWindow := parameter(member, "w")
		if !okLimit || !okWindow || seconds == 0 || found && seconds != 60 {
			continue
		}
		policy, found = member[0], true
		q.Limit, q.Window = limit, time.Duration(seconds)*time.Second
		if seconds == 60 {
			break
		}
	}
	for _, member := range members(h["Ratelimit"]) {
		remaining, ok := parameter(member, "r")
		if !ok || found && policy != member[0] {
			continue
		}
		reset, _ := parameter(member, "t")
		q.Remaining, q.Reset = remaining, time.Duration(reset)*time.Second
		return q, true
	}
	return q, found
}

// members returns the members of a structured field list (RFC 9651) of the simple kind that these fields
// have: a name with parameters.
func members(values []string) (list [][]string) {
	for member := range strings.SplitSeq(strings.Join(values, ","), ",") {
		parts := strings.Split(member, ";")
		parts[0] = strings.Trim(parts[0], `" `)
		list = append(list, parts)
	}
	return list
}

// parameter returns a parameter of a member, between 0 and a million.
func parameter(member []string, name string) (int, bool) {
	for _, p := range slices.Backward(member[1:]) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(p), name+"="); ok {
			n, err := strconv.Atoi(value)
			return n, err == nil && n >= 0 && n <= 1_000_000
		}
	}
	return 0, false
}

// RetryAfter reads the field Retry-After (RFC 9110, 10.2.3), in seconds or as a date; 0 without
// one, a day at most.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	var d time.Duration
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		d = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(value); err == nil {
		d = date.Sub(now)
	}
	return max(0, min(d, 24*time.Hour))
}
