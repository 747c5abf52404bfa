package service_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/service"
)

type waited struct {
	changed bool
	err     error
	after   time.Duration
}

func wait(t *testing.T, timeout time.Duration, f func(context.Context) (bool, error)) <-chan waited {
	done := make(chan waited, 1)
	begin := time.Now()
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		changed, err := f(ctx)
		done <- waited{changed, err, time.Since(begin)}
	}()
	return done
}

func TestWaitMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := start(t, service.Dev, service.Options{})
		in, quiet := create(t, s, k, "ada"), create(t, s, k, "quiet")
		messages := func(in service.Inbox, version uint64) <-chan waited {
			return wait(t, 25*time.Second, func(ctx context.Context) (bool, error) { return s.WaitMessages(ctx, k, in.ID, version) })
		}
		first, second, other := messages(in, in.Version), messages(in, in.Version), messages(quiet, quiet.Version)
		synctest.Wait()
		time.Sleep(10 * time.Second)
		deliver(t, s, plainMail, in.Address)
		for _, done := range []<-chan waited{first, second} {
			if got := <-done; !got.changed || got.err != nil || got.after != 10*time.Second {
				t.Errorf("woken with %+v", got)
			}
		}
		if got := <-messages(in, in.Version); !got.changed || got.after != 0 {
			t.Errorf("an old version waits: %+v", got)
		}
		if got := <-other; got.changed || got.err != nil || got.after != 25*time.Second {
			t.Errorf("where nothing came: %+v", got)
		}

		deleted := messages(quiet, quiet.Version)
		synctest.Wait()
		must(t, s.DeleteInbox(t.Context(), k, quiet.ID))
		if got := <-deleted; service.ErrorCode(got.err) != service.NotFound {
			t.Errorf("after the deletion: %+v", got)
		}

		short, err := s.CreateInbox(t.Context(), k, service.NewInbox{TTL: time.Minute})
		must(t, err)
		time.Sleep(50 * time.Second)
		expired := messages(short, 0)
		if got := <-expired; service.ErrorCode(got.err) != service.NotFound || got.after != 10*time.Second {
			t.Errorf("at the expiry: %+v", got)
		}
	})
}

func TestWaitInboxes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := start(t, service.Dev, service.Options{})
		foreign := create(t, s, createKey(t, s), "foreign")
		stop := run(t, s)
		_, err := s.CreateInbox(t.Context(), k, service.NewInbox{TTL: 2 * time.Minute})
		must(t, err)
		list, err := s.Inboxes(t.Context(), k, service.Page{})
		must(t, err)
		done := wait(t, time.Hour, func(ctx context.Context) (bool, error) { return s.WaitInboxes(ctx, k, service.Page{}, list) })
		synctest.Wait()
		deliver(t, s, plainMail, foreign.Address)
		if got := <-done; !got.changed || got.after < time.Minute || got.after > 2*time.Minute+time.Second {
			t.Errorf("expiry: %+v", got)
		}
		stop()
	})
}

// A waiting page wakes for what changes on it, and the first one for a new inbox, and for nothing else.
func TestWaitInboxesOfAPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := start(t, service.Dev, service.Options{})
		var in []service.Inbox
		for _, name := range []string{"one", "two", "three", "four", "five"} {
			in = append(in, create(t, s, k, name))
			time.Sleep(time.Second)
		}
		pages := map[string]service.Page{"first": {Limit: 2}, "second": {Limit: 2, After: in[3].ID}}
		for _, change := range []struct {
			name  string
			wakes string // the page
			do    func()
		}{
			{"a delivery to the fifth", "first", func() { deliver(t, s, plainMail, in[4].Address) }},
			{"a delivery to the second", "second", func() { deliver(t, s, plainMail, in[1].Address) }},
			{"a delivery to the first", "", func() { deliver(t, s, plainMail, in[0].Address) }},
			{"deletion of the first", "", func() { must(t, s.DeleteInbox(t.Context(), k, in[0].ID)) }},
			{"deletion of the third", "second", func() { must(t, s.DeleteInbox(t.Context(), k, in[2].ID)) }},
			{"creation", "first", func() { create(t, s, k, "six") }},
		} {
			woken := map[string]<-chan waited{}
			for name, p := range pages {
				list, err := s.Inboxes(t.Context(), k, p)
				must(t, err)
				woken[name] = wait(t, 25*time.Second, func(ctx context.Context) (bool, error) { return s.WaitInboxes(ctx, k, p, list) })
			}
			synctest.Wait()
			change.do()
			for name, done := range woken {
				if got := <-done; got.changed != (name == change.wakes) || got.err != nil {
					t.Errorf("%s: the %s page is woken: %+v", change.name, name, got)
				}
			}
		}
		if n := s.Waiting(); n != 0 {
			t.Errorf("%d still wait", n)
		}
	})
}

// A change between reading a version and waiting for the next is not missed.
func TestWaitMissesNothing(t *testing.T) {
	t.Parallel()
	s, k := start(t, service.Enterprise, service.Options{})
	in := create(t, s, k, "ada")
	const messages = 300
	go func() {
		for range messages {
			r, err := s.Recipient(t.Context(), "", in.Address)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Deliver(t.Context(), service.Delivery{To: []service.Recipient{r}, Raw: []byte("x")}); err != nil {
				t.Error(err)
			}
		}
	}()
	version, total := in.Version, 0
	for total < messages {
		changed, err := s.WaitMessages(t.Context(), k, in.ID, version)
		if err != nil || !changed {
			t.Fatal(changed, err)
		}
		l := list(t, s, k, in.ID)
		if l.Total <= total || len(l.Messages) != l.Total {
			t.Fatalf("woken with %d messages after %d, listed %d", l.Total, total, len(l.Messages))
		}
		version, total = l.Version, l.Total
	}
}
