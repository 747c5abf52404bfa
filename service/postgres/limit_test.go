package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

func take(t *testing.T, s *Store, limit int) (service.Quota, bool) {
	t.Helper()
	q, ok, err := s.Take(t.Context(), "k", limit)
	if err != nil {
		t.Fatal(err)
	}
	return q, ok
}

// onEach runs a test with a store of each node of a cluster, and with three on one server.
func onEach(t *testing.T, test func(t *testing.T, stores []*Store)) {
	t.Parallel()
	run := func(t *testing.T, urls ...string) {
		var stores []*Store
		for _, url := range urls {
			stores = append(stores, open(t, url, Options{}))
		}
		test(t, stores)
	}
	t.Run("server", func(t *testing.T) {
		url := pgtest.Database(t)
		run(t, url, url, url)
	})
	t.Run("cluster", func(t *testing.T) {
		run(t, distributed(t)...)
	})
}

// exec makes a change in the database.
func exec(t *testing.T, s *Store, sql string, args ...any) {
	t.Helper()
	if _, err := s.pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// age makes all that was counted older, and forgets what was refused.
func age(t *testing.T, stores []*Store, d time.Duration) {
	t.Helper()
	type row struct {
		KeyID string
		Made  []float64
		At    float64
	}
	rows, err := query(t.Context(), stores[0].pool, pgx.RowToStructByPos[row], "SELECT key_id, made, at FROM requests")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		for i := range r.Made {
			r.Made[i] -= d.Seconds()
		}
		exec(t, stores[0], "UPDATE requests SET made = $2, at = $3 WHERE key_id = $1", r.KeyID, r.Made, r.At-d.Seconds())
	}
	for _, s := range stores {
		s.refusals.clear()
	}
}

func TestQuotaOfSharedLimit(t *testing.T) {
	onEach(t, func(t *testing.T, stores []*Store) {
		s := stores[1]
		want := func(limit, remaining int, wantOK bool, least, most time.Duration) {
			t.Helper()
			q, ok := take(t, s, limit)
			if q.Limit != limit || q.Remaining != remaining || ok != wantOK || q.Reset <= least || q.Reset > most {
				t.Errorf("%v with %+v, want %v with %d remaining and a reset after %v to %v", ok, q, wantOK, remaining, least, most)
			}
		}
		want(3, 2, true, 59*time.Second, window)
		age(t, stores, 20*time.Second)
		want(3, 1, true, 0, 40*time.Second)
		want(3, 0, true, 0, 40*time.Second)
		want(3, 0, false, 0, 40*time.Second)
		// The first leaves the window.
		age(t, stores, 40*time.Second)
		want(3, 0, true, 0, 20*time.Second)
		want(3, 0, false, 0, 20*time.Second)
		// With a larger plan more are allowed, with a smaller one those made still count.
		want(5, 1, true, 0, 20*time.Second)
		want(2, 0, false, 0, 20*time.Second)
		age(t, stores, window)
		want(2, 1, true, 59*time.Second, window)
	})
}

// A row is small enough to be written for each request: those in the same second are one entry, which
// leaves with the last of them.
func TestRowOfManyRequestsIsSmall(t *testing.T) {
	onEach(t, func(t *testing.T, stores []*Store) {
		const perSecond, seconds, limit = 10, 50, 1000
		for n := range seconds {
			for i := range perSecond {
				if q, ok := take(t, stores[n%len(stores)], limit); !ok || q.Remaining != limit-n*perSecond-i-1 {
					t.Fatalf("request %d after %d s: %v, %+v", i, n, ok, q)
				}
			}
			age(t, stores, 999*time.Millisecond)
		}
		if n := count(t, stores[0], "SELECT cardinality(made) FROM requests WHERE key_id = 'k'"); n > 61+seconds {
			t.Errorf("a row of %d entries", n)
		}
		if n := count(t, stores[0], "SELECT pg_column_size(made) + pg_column_size(totals) FROM requests WHERE key_id = 'k'"); n > 2000 {
			t.Errorf("a row of %d bytes", n)
		}
		age(t, stores, window/2)
		if q, ok := take(t, stores[0], limit); !ok || q.Remaining < limit/2+perSecond*seconds/10 {
			t.Errorf("when half of them have left: %v, %+v", ok, q)
		}
	})
}

// A process asks the database no more for a key that is over its limit, unless the limit is raised.
func TestRefusalIsRemembered(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	s := open(t, pgtest.Database(t), Options{tracer: r})
	want := func(limit int, wantOK, asks bool) {
		t.Helper()
		r.take()
		q, ok := take(t, s, limit)
		if ok != wantOK || q.Limit != limit || q.Remaining != 0 || q.Reset <= 0 || q.Reset > window {
			t.Errorf("%v with %+v", ok, q)
		}
		if n := len(r.take()); n != 0 != asks {
			t.Errorf("%d transactions for a limit of %d", n, limit)
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

// A clock that is set back leaves nobody with more requests.
func TestSharedLimitWhenTheClockIsSetBack(t *testing.T) {
	onEach(t, func(t *testing.T, stores []*Store) {
		s := stores[1]
		for range 4 {
			take(t, s, 5)
			age(t, stores, -20*time.Second)
		}
		take(t, s, 5)
		if q, ok := take(t, s, 5); ok {
			t.Errorf("a sixth request was allowed, %+v", q)
		}
		if n := count(t, s, "SELECT count(*) FROM requests WHERE made || at <> ARRAY(SELECT made FROM unnest(made || at) made ORDER BY 1)"); n != 0 {
			t.Errorf("%d rows are out of order", n)
		}
	})
}

func TestRowsOfUnusedKeysAreForgotten(t *testing.T) {
	onEach(t, func(t *testing.T, stores []*Store) {
		s := stores[1]
		for i := range 3 {
			if _, _, err := s.Take(t.Context(), fmt.Sprint("key_", i), 60); err != nil {
				t.Fatal(err)
			}
		}
		exec(t, s, "UPDATE requests SET at = at - 3601 WHERE key_id = 'key_0'")
		exec(t, s, "UPDATE requests SET at = at - 3590 WHERE key_id = 'key_1'")
		if _, err := s.Sweep(t.Context(), time.Now(), 10); err != nil {
			t.Fatal(err)
		}
		if n := count(t, s, "SELECT count(*) FROM requests WHERE key_id <> 'key_0'"); n != 2 {
			t.Errorf("%d rows are left of keys in use", n)
		}
		if n := count(t, s, "SELECT count(*) FROM requests"); n != 2 {
			t.Errorf("%d rows are left", n)
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
// than the limit, and nothing is refused in a minute that has seen less.
func TestSharedLimitHoldsInEveryMinute(t *testing.T) {
	onEach(t, func(t *testing.T, stores []*Store) {
		holdsInEveryMinute(t, stores, 30, 80, 0)
		holdsInEveryMinute(t, stores, 200, 40, time.Second) // some times in the same second become one
	})
}

func holdsInEveryMinute(t *testing.T, stores []*Store, limit, rounds int, late time.Duration) {
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
		d := time.Duration(r.IntN(20_000)) * time.Millisecond
		age(t, stores, d)
		aged += d
	}
	granted := 0
	for _, a := range all {
		within, possible := 0, 0
		for _, b := range all {
			if b.ok && b.from >= a.from && b.to < a.from+window {
				within++
			}
			if (b.ok || b.unknown) && b.to > a.from-window-late && b.from < a.to {
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

// Of a burst of three times the limit at several processes, exactly the limit is granted.
func TestBurstAtSeveralProcesses(t *testing.T) {
	t.Parallel()
	services, _ := serve(t, 2)
	for _, plan := range []service.Plan{service.Dev, service.Enterprise} {
		limit := plan.Limits().RequestsPerMinute
		_, k, err := services[0].CreateKey(t.Context(), "", plan)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		var granted atomic.Int64
		var wg sync.WaitGroup
		for i := range 3 * limit {
			wg.Go(func() {
				q, err := services[i%len(services)].Allow(t.Context(), k)
				switch {
				case err == nil:
					granted.Add(1)
				case service.ErrorCode(err) != service.RateLimited:
					t.Error(err)
				case q.Remaining != 0:
					t.Errorf("refused with %+v", q)
				}
				if q.Limit != limit || q.Remaining < 0 || q.Remaining >= limit || q.Reset <= 0 || q.Reset > time.Minute {
					t.Errorf("a quota of %+v", q)
				}
			})
		}
		wg.Wait()
		if time.Since(begun) > time.Minute {
			t.Skip("it took so long that the first requests count no more")
		}
		if n := granted.Load(); n != int64(limit) {
			t.Errorf("%s: %d requests were granted, want %d", plan, n, limit)
		}
	}
}
