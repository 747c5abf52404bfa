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

// age makes all that was counted older.
func age(t *testing.T, s *Store, d time.Duration) {
	t.Helper()
	type row struct {
		KeyID, ID string
		Uses      []time.Time
		EndsAt    time.Time
	}
	rows, err := query(t.Context(), s.pool, pgx.RowToStructByPos[row], "SELECT key_id, id, uses, ends_at FROM lots WHERE id <> '' AND uses <> '{}'")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		for i := range r.Uses {
			r.Uses[i] = r.Uses[i].Add(-d)
		}
		exec(t, s, "UPDATE lots SET uses = $3, ends_at = $4 WHERE key_id = $1 AND id = $2", r.KeyID, r.ID, r.Uses, r.EndsAt.Add(-d))
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
		age(t, s, 20*time.Second)
		want(3, 1, true, 0, 40*time.Second)
		want(3, 0, true, 0, 40*time.Second)
		want(3, 0, false, 0, 40*time.Second)
		// The first leaves the window.
		age(t, s, 40*time.Second)
		want(3, 0, true, 0, 20*time.Second)
		want(3, 0, false, 0, 20*time.Second)
		// With a larger plan more are allowed, with a smaller one those made still count.
		want(5, 1, true, 0, 20*time.Second)
		want(2, 0, false, 0, 20*time.Second)
		age(t, s, window)
		want(2, 1, true, 59*time.Second, window)
	})
}

// A key's requests are in several rows, and processes of earlier versions have their own.
func TestAllRowsOfSharedLimitCount(t *testing.T) {
	onEach(t, func(t *testing.T, stores []*Store) {
		s := stores[1]
		take(t, s, 100)
		exec(t, s, "UPDATE lots SET uses = ARRAY[now(), now() + interval '30 s', now() + interval '50 s'], ends_at = now() + interval '50 s' WHERE id <> ''")
		if q, _ := take(t, s, 100); q.Remaining != 100-16*2-1 {
			t.Errorf("%d remain after 16 times 2 requests and one more", q.Remaining)
		}
		// The query by which the previous version counts.
		if n := count(t, s, `SELECT coalesce(sum(open), 0) + coalesce(sum(u.used), 0) FROM lots,
			LATERAL (SELECT count(*) AS used FROM unnest(uses) leaves WHERE leaves > clock_timestamp()) u WHERE key_id = 'k'`); n != 33 {
			t.Errorf("the previous version counts %d requests", n)
		}
		exec(t, s, `INSERT INTO lots VALUES ('k', 'leased', 7, '{}', now() + interval '30 s'), ('k', 'over', 8, '{}', now()),
			('k', 'returned', 0, ARRAY[now(), now() + interval '1 s', now() + interval '9 s'], now() + interval '9 s'), ('j', 'leased', 9, '{}', 'infinity')`)
		if q, _ := take(t, s, 100); q.Remaining != 100-16*2-2-7-2 || q.Reset > time.Second {
			t.Errorf("beside lots: %+v", q)
		}
		// The previous version deletes rows that are over, but never the one that is locked.
		exec(t, s, "DELETE FROM lots WHERE key_id = 'k' AND ends_at < 'infinity'")
		if n := count(t, s, "SELECT count(*) FROM lots WHERE key_id = 'k'"); n != 1 {
			t.Errorf("%d rows are left", n)
		}
		if q, ok := take(t, s, 100); !ok || q.Remaining != 99 {
			t.Errorf("without rows: %v, %+v", ok, q)
		}
	})
}

// A clock that is set back leaves nobody with more requests.
func TestSharedLimitWhenTheClockIsSetBack(t *testing.T) {
	onEach(t, func(t *testing.T, stores []*Store) {
		s := stores[1]
		for range 4 {
			take(t, s, 5)
			age(t, s, -20*time.Second)
		}
		take(t, s, 5)
		if q, ok := take(t, s, 5); ok {
			t.Errorf("a sixth request was allowed, %+v", q)
		}
		if n := count(t, s, "SELECT count(*) FROM lots WHERE uses <> ARRAY(SELECT leaves FROM unnest(uses) leaves ORDER BY 1)"); n != 0 {
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
		exec(t, s, "UPDATE lots SET ends_at = now() - interval '2 hours' WHERE id <> '' AND key_id <> 'key_1'")
		if _, err := s.Sweep(t.Context(), time.Now(), 10); err != nil {
			t.Fatal(err)
		}
		if n := count(t, s, "SELECT count(*) FROM lots WHERE key_id <> 'key_1'"); n != 2 {
			t.Errorf("%d rows are left, want those that are locked", n)
		}
		if n := count(t, s, "SELECT count(*) FROM lots WHERE key_id = 'key_1'"); n != 17 {
			t.Errorf("%d rows are left of a key in use", n)
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
		const limit = 30
		r := rand.New(rand.NewPCG(1, 2))
		var all []asked
		var aged time.Duration
		begun := time.Now()
		for range 80 {
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
					_, ok, err := s.Take(ctx, "k", limit)
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
			age(t, stores[0], d)
			aged += d
		}
		granted := 0
		for _, a := range all {
			within, possible := 0, 0
			for _, b := range all {
				if b.ok && b.from >= a.from && b.to < a.from+window {
					within++
				}
				if (b.ok || b.unknown) && b.to > a.from-window && b.from < a.to {
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
	})
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
