package service_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/service"
	"mayfly/service/pebble"
)

// cluster is several processes on one store: a store in memory, to which it adds announcements and
// lots as a database would do them.
type cluster struct {
	t         *testing.T
	store     *pebble.Store
	processes []*service.Service

	mu      sync.Mutex
	changed []func(topic string) // of the processes that listen
	lots    map[string]map[string]*lot
	leases  int
	failed  error // of Lease
}

type lot struct {
	open int
	uses []time.Time // when each leaves the window
	ends time.Time
}

// process is the store as one of the processes sees it.
type process struct {
	*pebble.Store
	cluster *cluster
	number  int
}

func (p process) Listen(ctx context.Context, changed func(string)) error {
	c := p.cluster
	c.mu.Lock()
	c.changed[p.number] = changed
	c.mu.Unlock()
	<-ctx.Done()
	return nil
}

func (p process) Announce(topic string) {
	c := p.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, changed := range c.changed {
		if i != p.number && changed != nil {
			changed(topic)
		}
	}
}

func (p process) Lease(_ context.Context, keyID string, limit int, s service.Returned) (service.Lot, error) {
	c := p.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return service.Lot{}, c.failed
	}
	c.leases++
	now := time.Now()
	lots := c.lots[keyID]
	if lots == nil {
		lots = make(map[string]*lot)
		c.lots[keyID] = lots
	}
	for id, l := range lots {
		if !l.ends.After(now) {
			delete(lots, id)
		}
	}
	if l := lots[s.Lot]; l != nil {
		l.open, l.uses = 0, nil // as often as it is reported
		for _, age := range s.Uses {
			l.uses = append(l.uses, now.Add(time.Minute-age))
		}
		l.ends = slices.MaxFunc(append(l.uses, now), time.Time.Compare)
	}
	if limit == 0 {
		return service.Lot{}, nil
	}
	var out service.Lot
	used, first := 0, time.Time{}
	for _, l := range lots {
		leaves := l.uses
		if l.open > 0 {
			leaves = []time.Time{l.ends}
		}
		out.Open += l.open
		for _, at := range leaves {
			if at.After(now) {
				if l.open == 0 {
					used++
				}
				if first.IsZero() || at.Before(first) {
					first = at
				}
			}
		}
	}
	if !first.IsZero() {
		out.Free = first.Sub(now)
	}
	if left := limit - out.Open - used; left > 0 {
		out.ID = fmt.Sprint("lot ", c.leases)
		out.Tokens = max(1, left/8)
		lots[out.ID] = &lot{open: out.Tokens, ends: now.Add(time.Minute + service.LotLease)}
	}
	out.Charged = out.Open + used + out.Tokens
	return out, nil
}

// runCluster runs a test with n processes in fake time.
func runCluster(t *testing.T, n int, test func(t *testing.T, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		st, err := pebble.OpenMemory(pebble.Options{Log: log})
		must(t, err)
		c := &cluster{t: t, store: st, changed: make([]func(string), n), lots: make(map[string]map[string]*lot)}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for i := range n {
			s := service.New(process{st, c, i}, service.Options{Domains: []string{"x.test"}, Log: log})
			c.processes = append(c.processes, s)
			running.Go(func() {
				if err := s.Run(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		test(t, c)
		cancel()
		running.Wait()
		must(t, st.Close())
	})
}

func (c *cluster) key(plan service.Plan) service.Key {
	c.t.Helper()
	_, k, err := c.processes[0].CreateKey(c.t.Context(), "", plan)
	must(c.t, err)
	return k
}

// burst makes n requests at once at each of the processes and returns how many were granted.
func (c *cluster) burst(k service.Key, n int, processes ...*service.Service) int {
	granted := make(chan int, n*len(processes))
	var wg sync.WaitGroup
	for _, s := range processes {
		for range n {
			wg.Go(func() {
				switch _, err := s.Allow(c.t.Context(), k); service.ErrorCode(err) {
				case "":
					granted <- 1
				case service.RateLimited:
					if retryAfter(err) <= 0 {
						c.t.Error("a refusal does not say when to try again")
					}
				default:
					c.t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	return len(granted)
}

func TestSharedLimitIsGrantedWhole(t *testing.T) {
	t.Parallel()
	for _, plan := range []service.Plan{service.Dev, service.Startup, service.Enterprise} {
		runCluster(t, 3, func(t *testing.T, c *cluster) {
			k := c.key(plan)
			limit := plan.Limits().RequestsPerMinute
			for range 3 {
				if n := c.burst(k, limit, c.processes...); n != limit {
					t.Errorf("%s: %d of %d requests were granted", plan, n, limit)
				}
				time.Sleep(time.Minute)
			}
			// A process returns what it does not need of its lot.
			if n := c.burst(k, 1, c.processes[0]) + c.burst(k, limit, c.processes[1]); n != limit {
				t.Errorf("%s: %d of %d requests were granted while a process had a lot", plan, n, limit)
			}
		})
	}
}

func TestSharedLimitHoldsInEveryMinute(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		runCluster(t, 3, func(t *testing.T, c *cluster) {
			r := rand.New(rand.NewPCG(seed, 1))
			k := c.key(service.Dev)
			const limit, minutes = 60, 6
			var mu sync.Mutex
			var granted []time.Time
			var wg sync.WaitGroup
			asked := 0
			for begun := time.Now(); time.Since(begun) < minutes*time.Minute; asked++ {
				s := c.processes[r.IntN(3)]
				wg.Go(func() {
					if _, err := s.Allow(t.Context(), k); err == nil {
						mu.Lock()
						granted = append(granted, time.Now())
						mu.Unlock()
					}
				})
				// Sometimes many at once, sometimes none for a while.
				if r.IntN(20) == 0 {
					time.Sleep(time.Duration(r.IntN(15_000)) * time.Millisecond)
				} else if r.IntN(3) == 0 {
					time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
				}
			}
			wg.Wait()
			for i := limit; i < len(granted); i++ {
				if d := granted[i].Sub(granted[i-limit]); d < time.Minute {
					t.Fatalf("seed %d: %d requests were granted in %v", seed, limit+1, d)
				}
			}
			// Demand exceeds the limit, except for pauses.
			if least := minutes * limit * 3 / 4; len(granted) < least {
				t.Errorf("seed %d: %d of %d requests were granted, want %d at least", seed, len(granted), asked, least)
			}
		})
	}
}

func TestSharedLimitOfAProcessThatDied(t *testing.T) {
	t.Parallel()
	runCluster(t, 2, func(t *testing.T, c *cluster) {
		k := c.key(service.Dev)
		// Without Run it returns no lot.
		lost := service.New(process{c.store, c, 1}, service.Options{})
		if n := c.burst(k, 1, lost); n != 1 {
			t.Fatal("not granted")
		}
		if n := c.burst(k, 60, c.processes[0]); n >= 60 || n < 60-60/8 {
			t.Errorf("%d were granted beside the lot of the dead process", n)
		}
		time.Sleep(time.Minute + service.LotLease)
		if n := c.burst(k, 61, c.processes[0]); n != 60 {
			t.Errorf("%d were granted when its lot was over, want 60", n)
		}
	})
}

func TestSharedLimitRarelyAsksTheStore(t *testing.T) {
	t.Parallel()
	runCluster(t, 2, func(t *testing.T, c *cluster) {
		k := c.key(service.Enterprise)
		requests := 0
		for begun := time.Now(); time.Since(begun) < 5*time.Minute; requests++ {
			if n := c.burst(k, 1, c.processes[requests%2]); n != 1 {
				t.Fatalf("request %d was refused", requests)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if c.leases > requests/8 {
			t.Errorf("%d requests asked the store %d times", requests, c.leases)
		}
	})
}

func TestSharedLimitWithoutTheStore(t *testing.T) {
	t.Parallel()
	runCluster(t, 1, func(t *testing.T, c *cluster) {
		k := c.key(service.Dev)
		c.mu.Lock()
		c.failed = &service.Error{Code: service.Unavailable, Message: "away"}
		c.mu.Unlock()
		if _, err := c.processes[0].Allow(t.Context(), k); service.ErrorCode(err) != service.Unavailable {
			t.Errorf("without the store: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.processes[0].Allow(ctx, k); err == nil {
			t.Error("granted without the store")
		}
		c.mu.Lock()
		c.failed = nil
		c.mu.Unlock()
		if n := c.burst(k, 61, c.processes[0]); n != 60 {
			t.Errorf("%d were granted when the store was back, want 60", n)
		}
	})
}

func TestSharedLimitFollowsThePlan(t *testing.T) {
	t.Parallel()
	runCluster(t, 2, func(t *testing.T, c *cluster) {
		k := c.key(service.Dev)
		if n := c.burst(k, 60, c.processes...); n != 60 {
			t.Fatalf("%d were granted, want 60", n)
		}
		k, err := c.processes[0].SetPlan(t.Context(), k.ID, service.Startup)
		must(t, err)
		if n := c.burst(k, 300, c.processes...); n != 240 {
			t.Errorf("%d more were granted with the larger plan, want 240", n)
		}
	})
}

func TestSharedQuotaCountsDown(t *testing.T) {
	t.Parallel()
	runCluster(t, 1, func(t *testing.T, c *cluster) {
		k := c.key(service.Dev)
		for i := range 60 {
			q, err := c.processes[0].Allow(t.Context(), k)
			must(t, err)
			if q.Limit != 60 || q.Remaining != 59-i || q.Reset <= 0 || q.Reset > time.Minute+service.LotLease {
				t.Errorf("request %d: %+v", i+1, q)
			}
			time.Sleep(time.Millisecond)
		}
		_, err := c.processes[0].Allow(t.Context(), k)
		wantCode(t, err, service.RateLimited)
		if after := retryAfter(err); after < 59*time.Second || after > time.Minute {
			t.Errorf("to be tried again after %v", after)
		}
	})
}

// A change made by one process wakes a caller that waits at another.
func TestChangesByAnotherProcessWake(t *testing.T) {
	t.Parallel()
	runCluster(t, 2, func(t *testing.T, c *cluster) {
		k := c.key(service.Dev)
		here, there := c.processes[0], c.processes[1]
		in, err := here.CreateInbox(t.Context(), k, service.NewInbox{})
		must(t, err)
		done := wait(t, time.Minute, func(ctx context.Context) (bool, error) { return here.WaitMessages(ctx, k, in.ID, in.Version) })
		synctest.Wait()
		time.Sleep(time.Second)
		deliver(t, there, plainMail, in.Address)
		process{c.store, c, 1}.Announce(in.ID) // a real store does so by itself
		if got := <-done; !got.changed || got.after != time.Second {
			t.Errorf("announced: %+v", got)
		}
		// A process that dies before it announces its change makes no difference but for the time.
		in, err = here.Inbox(t.Context(), k, in.ID)
		must(t, err)
		done = wait(t, time.Minute, func(ctx context.Context) (bool, error) { return here.WaitMessages(ctx, k, in.ID, in.Version) })
		synctest.Wait()
		deliver(t, there, plainMail, in.Address)
		if got := <-done; !got.changed || got.after > 10*time.Second {
			t.Errorf("not announced: %+v", got)
		}
		// When announcements may have been missed, everybody is woken.
		in, err = here.Inbox(t.Context(), k, in.ID)
		must(t, err)
		done = wait(t, time.Minute, func(ctx context.Context) (bool, error) { return here.WaitMessages(ctx, k, in.ID, in.Version) })
		synctest.Wait()
		deliver(t, there, plainMail, in.Address)
		process{c.store, c, 1}.Announce("")
		if got := <-done; !got.changed || got.after != 0 {
			t.Errorf("announced to everybody: %+v", got)
		}
	})
}

var _ service.Shared = process{}
