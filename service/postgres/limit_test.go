package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

func take(t *testing.T, s *Store, limit int) (service.Quota, bool) {
	t.Helper()
	q, ok, err := s.Take(t.Context(), "k", limit)
	check(t, err)
	return q, ok
}

// onEach runs a test with stores of three processes.
func onEach(t *testing.T, test func(t *testing.T, stores []*Store)) {
	t.Parallel()
	everywhere(t, func(t *testing.T, urls []string) {
		var stores []*Store
		for _, url := range urls {
			stores = append(stores, open(t, url, Options{}))
		}
		test(t, stores)
	})
}

// age makes all that was counted older by some seconds, and forgets what was refused.
func age(t *testing.T, stores []*Store, seconds int) {
	t.Helper()
	execute(t, stores[0].pool, "UPDATE requests SET second = second - $1", seconds)
	for _, s := range stores {
		s.refusals.clear()
	}
}

func TestQuotaOfSharedLimit(t *testing.T) {
	onEach(t, func(t *testing.T, stores []*Store) {
		s := stores[1]
		want := func(limit, remaining int, wantOK bool, most time.Duration) {
			t.Helper()
			q, ok := take(t, s, limit)
			if q.Limit != limit || q.Remaining != remaining || ok != wantOK || q.Reset <= most-10*time.Second || q.Reset > most {
				t.Errorf("%v with %+v, want %v with %d remaining and a reset after %v", ok, q, wantOK, remaining, most)
			}
		}
		want(3, 2, true, 61*time.Second)
		age(t, stores, 20)
		want(3, 1, true, 41*time.Second)
		want(3, 0, true, 41*time.Second)
		want(3, 0, false, 41*time.Second)
		// The first leaves the window.
		age(t, stores, 41)
		want(3, 0, true, 20*time.Second)
		want(3, 0, false, 20*time.Second)
		// With a larger plan more are allowed, with a smaller one those made still count.
		want(5, 1, true, 20*time.Second)
		want(2, 0, false, 20*time.Second)
		age(t, stores, 61)
		want(2, 1, true, 61*time.Second)
		// A key may make requests for years.
		execute(t, stores[0].pool, "UPDATE requests SET before = before + $1, total = total + $1, totals = array_fill(total + $1, ARRAY[61])", math.MaxInt32-1)
		want(2, 1, true, 61*time.Second)
		want(2, 0, true, 61*time.Second)
	})
}

// A process asks the database no more for a key that is over its limit, unless the limit is raised.
func TestRefusalIsRemembered(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	s := open(t, pgtest.Database(t), Options{tracer: r})
	want := func(limit int, wantOK, asks bool) {
		t.Helper()
		r.take()
		q, ok := take(t, s, limit)
		if ok != wantOK || q.Limit != limit || q.Remaining != 0 || q.Reset <= 0 || q.Reset > 61*time.Second {
			t.Errorf("%v with %+v", ok, q)
		}
		if n := len(r.take()); n != 0 != asks {
			t.Errorf("%d statements for a limit of %d", n, limit)
		}
	}
	want(1, true, true)
	want(1, false, true)
	want(1, false, false)
	want(2, true, true)
	want(2, false, true)
	want(1, false, false)
	want(2, false, false)
	s.refusals.put("k", refusal{2, time.Now()})
	want(2, false, true)
}

// A clock that is set back leaves nobody with more requests, and nobody without any until it has reached the time again.
func TestSharedLimitWhenTheClockIsSetBack(t *testing.T) {
	onEach(t, func(t *testing.T, stores []*Store) {
		for range 5 {
			take(t, stores[1], 5)
			age(t, stores, -20)
		}
		if q, ok := take(t, stores[1], 5); ok {
			t.Errorf("a sixth request was allowed, %+v", q)
		}
		age(t, stores, -7200)
		if _, ok := take(t, stores[1], 5); ok {
			t.Error("a request was allowed since the clock was set back")
		}
		age(t, stores, 61)
		if q, ok := take(t, stores[1], 5); !ok {
			t.Errorf("a minute later a request was refused, %+v", q)
		}
	})
}

// asked is a request and its answer; times are since the beginning of the test.
type asked struct {
	from, to time.Duration
	ok       bool
	unknown  bool // the caller left
}

// However many processes count a key's requests, and whoever leaves meanwhile, no minute sees more
// than the limit, and nothing is refused unless 61 seconds have seen as many.
func TestSharedLimitHoldsInEveryMinute(t *testing.T) {
	onEach(t, func(t *testing.T, stores []*Store) {
		holdsInEveryMinute(t, stores, 30, 80)
		holdsInEveryMinute(t, stores, 200, 40)
	})
}

func holdsInEveryMinute(t *testing.T, stores []*Store, limit, rounds int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var all []asked
	var aged time.Duration
	begun := time.Now()
	for range rounds {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range r.IntN(limit) {
			s, leaves, other := stores[r.IntN(len(stores))], r.IntN(8) == 0, fmt.Sprint("other_", r.IntN(3))
			wg.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if leaves {
					time.AfterFunc(time.Duration(rand.IntN(3))*time.Millisecond, cancel)
				}
				a := asked{from: time.Since(begun) + aged}
				_, ok, err := s.Take(ctx, fmt.Sprint("k", limit), limit)
				a.to, a.ok, a.unknown = time.Since(begun)+aged, ok, err != nil
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				if _, _, err := s.Take(t.Context(), other, limit); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				all = append(all, a)
			})
		}
		wg.Wait()
		seconds := r.IntN(20)
		age(t, stores, seconds)
		aged += time.Duration(seconds) * time.Second
	}
	granted := 0
	const late = 61 * time.Second
	for _, a := range all {
		within, possible := 0, 0
		for _, b := range all {
			if b.ok && b.from >= a.from && b.to < a.from+time.Minute {
				within++
			}
			if (b.ok || b.unknown) && b.to > a.from-late && b.from < a.to {
				possible++
			}
		}
		if within > limit {
			t.Fatalf("%d requests were granted in the minute from %v", within, a.from)
		}
		if !a.ok && !a.unknown && possible < limit {
			t.Fatalf("a request was refused at %v after %d in a minute", a.from, possible)
		}
		if a.ok {
			granted++
		}
	}
	if granted < limit || granted == len(all) {
		t.Errorf("%d of %d requests were granted", granted, len(all))
	}
}
