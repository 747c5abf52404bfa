package service_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/service"
)

// faulty is a process whose calls of Lease fail.
type faulty struct {
	process
	before func(ctx context.Context, keyID string) error // fails before the store has done anything
	after  func(ctx context.Context) error               // fails after it has: the answer is lost
}

func (f faulty) Lease(ctx context.Context, keyID string, limit int, s service.Returned) (service.Lot, error) {
	if f.before != nil {
		if err := f.before(ctx, keyID); err != nil {
			return service.Lot{}, err
		}
	}
	lot, err := f.process.Lease(ctx, keyID, limit, s)
	if err == nil && f.after != nil {
		err = f.after(ctx)
	}
	if err != nil {
		return service.Lot{}, err
	}
	return lot, nil
}

// start replaces the process with the number by another one, and returns a function that stops it.
func (c *cluster) start(number int, s service.Store) (*service.Service, func()) {
	c.t.Helper()
	v := service.New(s, service.Options{Domains: []string{"x.test"}})
	c.processes[number] = v
	stop := run(c.t, v)
	synctest.Wait() // until it listens
	return v, stop
}

// takes returns a function that takes a time, or returns ctx's error if that ends first.
func takes(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func wantMinutes(t *testing.T, granted []time.Time, limit int) {
	t.Helper()
	for i := limit; i < len(granted); i++ {
		if d := granted[i].Sub(granted[i-limit]); d < time.Minute {
			t.Fatalf("%d requests were granted in %v", limit+1, d)
		}
	}
}

// No minute sees more than the limit, whatever gets lost between a process and the store.
func TestSharedLimitHoldsWhenAnswersAreLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		runCluster(t, 3, func(t *testing.T, c *cluster) {
			var mu sync.Mutex
			r := rand.New(rand.NewPCG(seed, 3))
			random := func(n int) int {
				mu.Lock()
				defer mu.Unlock()
				return r.IntN(n)
			}
			fails := func(one int) error {
				time.Sleep(5 * time.Millisecond)
				if random(one) == 0 {
					return &service.Error{Code: service.Unavailable, Message: "away"}
				}
				return nil
			}
			for i := range c.processes {
				_, stop := c.start(i, faulty{process{c.store, c, i},
					func(context.Context, string) error { return fails(8) },
					func(context.Context) error { return fails(4) },
				})
				defer stop()
			}
			k := c.key(service.Dev)
			var granted []time.Time
			var wg sync.WaitGroup
			for begun := time.Now(); time.Since(begun) < 5*time.Minute; {
				s := c.processes[random(3)]
				for range 1 + random(20) {
					wg.Go(func() {
						_, err := s.Allow(t.Context(), k)
						mu.Lock()
						defer mu.Unlock()
						switch service.ErrorCode(err) {
						case "":
							granted = append(granted, time.Now())
						case service.RateLimited, service.Unavailable:
						default:
							t.Error(err)
						}
					})
				}
				time.Sleep(time.Duration(random(3000)) * time.Millisecond)
			}
			wg.Wait()
			wantMinutes(t, granted, 60)
			if len(granted) < 60 {
				t.Errorf("seed %d: %d requests were granted in five minutes", seed, len(granted))
			}
		})
	}
}

// A lot that a process has returned is available to others, even if the answer to the return was
// lost.
func TestLotIsReturnedOnce(t *testing.T) {
	t.Parallel()
	runCluster(t, 2, func(t *testing.T, c *cluster) {
		var lost atomic.Bool
		s, stop := c.start(0, faulty{process: process{c.store, c, 0}, after: func(context.Context) error {
			if lost.Load() {
				return &service.Error{Code: service.Unavailable, Message: "away"}
			}
			return nil
		}})
		defer stop()
		k := c.key(service.Dev)
		c.burst(k, 1, s)
		lost.Store(true)
		if n := c.burst(k, 60, c.processes[1]); n != 59 {
			t.Errorf("%d were granted, want the 59 that were left", n)
		}
		lost.Store(false)
		if n := c.burst(k, 10, s); n != 0 {
			t.Errorf("%d more were granted", n)
		}
		time.Sleep(time.Minute)
		if n := c.burst(k, 61, s); n != 60 {
			t.Errorf("%d were granted a minute later, want 60", n)
		}
	})
}

// A caller that leaves while the store is asked does not lose the lot.
func TestSharedLimitOfCallersThatLeave(t *testing.T) {
	t.Parallel()
	runCluster(t, 2, func(t *testing.T, c *cluster) {
		s, stop := c.start(0, faulty{process: process{c.store, c, 0}, after: takes(10 * time.Millisecond)})
		defer stop()
		k := c.key(service.Dev)
		used := 0
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
			if _, err := s.Allow(ctx, k); err == nil {
				used++
			}
			cancel()
			time.Sleep(service.LotLease)
		}
		if n := c.burst(k, 60, c.processes...); n != 60-used {
			t.Errorf("%d were granted after %d, want 60 together", n, used)
		}
	})
}

// A share that is in use for long does not hold up the recall of other keys.
func TestSharedLimitRecallsBesideABusyKey(t *testing.T) {
	t.Parallel()
	runCluster(t, 2, func(t *testing.T, c *cluster) {
		busy, k := c.key(service.Dev), c.key(service.Dev)
		s, stop := c.start(0, faulty{process: process{c.store, c, 0}, before: func(ctx context.Context, keyID string) error {
			if keyID == busy.ID {
				return takes(4 * time.Second)(ctx)
			}
			return nil
		}})
		defer stop()
		if n := c.burst(k, 1, s); n != 1 {
			t.Fatal("not granted")
		}
		var wg sync.WaitGroup
		wg.Go(func() { c.burst(busy, 1, s) })
		synctest.Wait() // until it asks the store
		process{c.store, c, 1}.Announce("lots/" + busy.ID)
		time.Sleep(time.Millisecond)
		if n := c.burst(k, 60, c.processes[1]); n != 59 {
			t.Errorf("%d were granted, want the 59 that were left", n)
		}
		wg.Wait()
	})
}

// A process that ends returns all its lots, even those that it is just leasing.
func TestLotsAreReturnedAtTheEnd(t *testing.T) {
	t.Parallel()
	runCluster(t, 2, func(t *testing.T, c *cluster) {
		s, stop := c.start(0, faulty{process: process{c.store, c, 0}, after: takes(10 * time.Millisecond)})
		var keys []service.Key
		var wg sync.WaitGroup
		for i := range 5 {
			k := c.key(service.Dev)
			wg.Go(func() { c.burst(k, 3, s) })
			if i < 3 {
				wg.Wait()
			}
			keys = append(keys, k)
		}
		synctest.Wait()
		stop()
		wg.Wait()
		for i, k := range keys {
			if n := c.burst(k, 60, c.processes[1]); n != 57 {
				t.Errorf("key %d: %d were granted when the other process had ended, want 57", i, n)
			}
		}
	})
}

// While there is demand, all that the plan allows is granted, wherever and whenever the requests
// are made.
func TestSharedLimitIsUsedUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		runCluster(t, 4, func(t *testing.T, c *cluster) {
			r := rand.New(rand.NewPCG(seed, 4))
			k := c.key(service.Startup)
			const limit = 300
			var mu sync.Mutex
			var granted []time.Time
			var wg sync.WaitGroup
			begun := time.Now()
			for time.Since(begun) < time.Minute-time.Second {
				s := c.processes[r.IntN(4)]
				wg.Go(func() {
					if _, err := s.Allow(t.Context(), k); err == nil {
						mu.Lock()
						granted = append(granted, time.Now())
						mu.Unlock()
					}
				})
				time.Sleep(time.Duration(r.IntN(50+50*int(seed))) * time.Millisecond)
			}
			wg.Wait()
			if time.Since(begun) >= time.Minute {
				t.Fatal("the last request took too long")
			}
			if len(granted) != limit {
				t.Errorf("seed %d: %d requests were granted in the first minute, want %d", seed, len(granted), limit)
			}
		})
	}
}
