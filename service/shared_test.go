package service_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/service"
	"mayfly/service/pebble"
)

// shared is a store in memory as a process sees it that shares it with others. It sends the function to call for changes.
type shared struct {
	*pebble.Store
	listens chan func(id string)
}

func (s shared) Listen(ctx context.Context, changed func(string)) error {
	s.listens <- changed
	<-ctx.Done()
	return nil
}

func (shared) Take(context.Context, string, int) (service.Quota, bool, error) {
	return service.Quota{}, true, nil
}

func (shared) Now() time.Time { return time.Now() }

var _ service.Shared = shared{}

// A change made by one process wakes a caller that waits at another.
func TestChangesByAnotherProcessWake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		st, err := pebble.OpenMemory(pebble.Options{Log: log})
		must(t, err)
		defer func() { must(t, st.Close()) }()
		s, o := shared{st, make(chan func(string))}, service.Options{Domains: []string{"x.test"}, Log: log}
		here, there := service.New(s, o), service.New(st, o)
		defer run(t, here)()
		changed := <-s.listens
		k := createKey(t, here)
		in := create(t, here, k, "ada")
		for _, test := range []struct {
			name     string
			announce func() // what a real store does by itself
			within   time.Duration
		}{
			{"announced", func() { changed(in.ID) }, 0},
			{"not announced, as by a process that dies before it does", func() {}, 10 * time.Second},
			{"announced to everybody, as when announcements may have been missed", func() { changed("") }, 0},
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
