package service_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/service"
	"mayfly/service/pebble"
)

// cluster is two processes on one store: a store in memory, to which it adds announcements.
type cluster struct {
	t         *testing.T
	store     *pebble.Store
	processes []*service.Service

	mu      sync.Mutex
	changed []func(id string) // of the processes that listen
}

// process is the store as one of the processes sees it.
type process struct {
	*pebble.Store
	cluster *cluster
}

func (p process) Listen(ctx context.Context, changed func(string)) error {
	c := p.cluster
	c.mu.Lock()
	c.changed = append(c.changed, changed)
	c.mu.Unlock()
	<-ctx.Done()
	return nil
}

func (process) Take(context.Context, string, int) (service.Quota, bool, error) {
	return service.Quota{}, true, nil
}

func (c *cluster) announce(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, changed := range c.changed {
		changed(id)
	}
}

// runCluster runs a test with its processes in fake time.
func runCluster(t *testing.T, test func(t *testing.T, c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		st, err := pebble.OpenMemory(pebble.Options{Log: log})
		must(t, err)
		c := &cluster{t: t, store: st}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for range 2 {
			s := service.New(process{st, c}, service.Options{Domains: []string{"x.test"}, Log: log})
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

// A change made by one process wakes a caller that waits at another.
func TestChangesByAnotherProcessWake(t *testing.T) {
	t.Parallel()
	runCluster(t, func(t *testing.T, c *cluster) {
		k := c.key(service.Dev)
		here, there := c.processes[0], c.processes[1]
		in, err := here.CreateInbox(t.Context(), k, service.NewInbox{})
		must(t, err)
		for _, test := range []struct {
			name     string
			announce func() // what a real store does by itself
			within   time.Duration
		}{
			{"announced", func() { c.announce(in.ID) }, 0},
			{"not announced, as by a process that dies before it does", func() {}, 10 * time.Second},
			{"announced to everybody, as when announcements may have been missed", func() { c.announce("") }, 0},
		} {
			in, err := here.Inbox(t.Context(), k, in.ID)
			must(t, err)
			done := wait(t, time.Minute, func(ctx context.Context) (bool, error) { return here.WaitMessages(ctx, k, in.ID, in.Version) })
			synctest.Wait()
			deliver(t, there, plainMail, in.Address)
			test.announce()
			if got := <-done; !got.changed || got.after > test.within {
				t.Errorf("%s: %+v", test.name, got)
			}
		}
	})
}

func (process) Now() time.Time { return time.Now() }

var _ service.Shared = process{}
