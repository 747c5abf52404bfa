package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mayfly/service"
	"mayfly/service/postgres/pgtest"
)

// lease leases a lot for the key "k" with a limit.
func lease(t *testing.T, s *Store, limit int, settled service.Returned) service.Lot {
	t.Helper()
	lot, err := s.Lease(t.Context(), "k", limit, settled)
	if err != nil {
		t.Fatal(err)
	}
	return lot
}

func wantLot(t *testing.T, got service.Lot, tokens, charged, open int) {
	t.Helper()
	if got.Tokens != tokens || got.Charged != charged || got.Open != open || (got.ID != "") != (tokens > 0) {
		t.Errorf("got %+v, want %d tokens, %d charged, %d of others", got, tokens, charged, open)
	}
}

func TestLotsAreASmallPartOfWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t), Options{})
	first := lease(t, s, 60, service.Returned{})
	wantLot(t, first, 7, 7, 0)
	if first.Free != 0 {
		t.Errorf("before the first request, the next is free in %v", first.Free)
	}
	second := lease(t, s, 60, service.Returned{})
	wantLot(t, second, 6, 13, 7)

	// Used tokens count until they are a minute old, the rest are available again.
	ages := []time.Duration{59 * time.Second, 20 * time.Second, 10 * time.Second}
	third := lease(t, s, 60, service.Returned{Lot: first.ID, Uses: ages})
	wantLot(t, third, 6, 15, 6)
	if third.Free <= 0 || third.Free > time.Second {
		t.Errorf("a request 59 s old leaves the window in %v", third.Free)
	}
	// Returning it again, as after a lost answer, makes no difference.
	wantLot(t, lease(t, s, 0, service.Returned{Lot: first.ID, Uses: ages}), 0, 0, 0)
	for _, unused := range []string{second.ID, third.ID, third.ID} {
		lease(t, s, 0, service.Returned{Lot: unused})
	}
	last := lease(t, s, 60, service.Returned{Lot: first.ID, Uses: []time.Duration{time.Minute, 20 * time.Second}})
	wantLot(t, last, 7, 8, 0)

	// With a smaller limit, earlier requests still count.
	lease(t, s, 0, service.Returned{Lot: last.ID, Uses: make([]time.Duration, 7)})
	full := lease(t, s, 5, service.Returned{})
	wantLot(t, full, 0, 8, 0)
	if full.Free <= 0 || full.Free > 40*time.Second {
		t.Errorf("a request 20 s old leaves the window in %v", full.Free)
	}
	wantLot(t, lease(t, s, 9, service.Returned{}), 1, 9, 0)
	wantLot(t, lease(t, s, 9, service.Returned{}), 0, 9, 1)
}

func TestLostLotExpires(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t), Options{})
	lost := lease(t, s, 8, service.Returned{})
	wantLot(t, lost, 1, 1, 0)
	age := func(d time.Duration) {
		t.Helper()
		if _, err := s.pool.Exec(t.Context(), "UPDATE lots SET ends_at = ends_at - make_interval(secs => $1)", d.Seconds()); err != nil {
			t.Fatal(err)
		}
	}
	age(window + service.LotLease - 5*time.Second)
	got := lease(t, s, 8, service.Returned{})
	wantLot(t, got, 1, 2, 1)
	if got.Free <= 0 || got.Free > 5*time.Second {
		t.Errorf("the lot ends in %v", got.Free)
	}
	lease(t, s, 0, service.Returned{Lot: got.ID})
	age(5 * time.Second)
	wantLot(t, lease(t, s, 8, service.Returned{}), 1, 1, 0)
	// Its process, if it still runs, cannot return it any more.
	wantLot(t, lease(t, s, 8, service.Returned{Lot: lost.ID, Uses: []time.Duration{70 * time.Second}}), 1, 2, 1)
}

func TestLotsOfUnusedKeysAreForgotten(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t), Options{})
	for i := range 3 {
		if _, err := s.Lease(t.Context(), fmt.Sprint("key_", i), 60, service.Returned{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.pool.Exec(t.Context(), "UPDATE lots SET ends_at = clock_timestamp() WHERE key_id <> 'key_1'"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sweep(t.Context(), time.Now(), 10); err != nil {
		t.Fatal(err)
	}
	if n := count(t, s, "SELECT count(*) FROM lots"); n != 1 {
		t.Errorf("%d lots are left, want the 1 that counts", n)
	}
}

// Of a burst of three times the limit at several processes, exactly the limit is granted. A process
// returns what it does not need to the others, as does one that ends.
func TestBurstAtSeveralProcesses(t *testing.T) {
	t.Parallel()
	services, url := serve(t, 2)
	for _, plan := range []service.Plan{service.Dev, service.Enterprise} {
		limit := plan.Limits().RequestsPerMinute
		for _, test := range []struct {
			name string
			idle func(k service.Key) // takes one request
		}{
			{"fresh", nil},
			{"one idle", func(k service.Key) {
				if _, err := services[0].Allow(t.Context(), k); err != nil {
					t.Fatal(err)
				}
			}},
			{"one ended", func(k service.Key) {
				v := service.New(open(t, url, Options{}), service.Options{})
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() {
					if err := v.Run(ctx); err != nil {
						t.Error(err)
					}
				})
				if _, err := v.Allow(t.Context(), k); err != nil {
					t.Fatal(err)
				}
				cancel()
				running.Wait()
			}},
		} {
			t.Run(fmt.Sprintf("%s %s", plan, test.name), func(t *testing.T) {
				_, k, err := services[0].CreateKey(t.Context(), "", plan)
				if err != nil {
					t.Fatal(err)
				}
				asking, want := services, limit
				begun := time.Now()
				if test.idle != nil {
					test.idle(k)
					asking, want = services[1:], limit-1
				}
				var granted atomic.Int64
				var wg sync.WaitGroup
				for i := range 3 * limit {
					wg.Go(func() {
						q, err := asking[i%len(asking)].Allow(t.Context(), k)
						switch {
						case err == nil:
							granted.Add(1)
						case service.ErrorCode(err) != service.RateLimited:
							t.Error(err)
						case q.Remaining != 0:
							t.Errorf("refused with %+v", q)
						}
						if q.Limit != limit || q.Remaining < 0 || q.Remaining >= limit || q.Reset < 0 || q.Reset > time.Minute {
							t.Errorf("a quota of %+v", q)
						}
					})
				}
				wg.Wait()
				if time.Since(begun) > time.Minute {
					t.Skip("it took so long that the first requests count no more")
				}
				if n := granted.Load(); n != int64(want) {
					t.Errorf("%d requests were granted, want %d", n, want)
				}
			})
		}
	}
}
