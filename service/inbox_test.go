package service_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/internal/fortest"
	"mayfly/service"
)

func TestMaxTTLOfPlans(t *testing.T) {
	t.Parallel()
	for plan, seconds := range map[service.Plan]int{service.Dev: 86_400, service.Startup: 604_800, service.Enterprise: 2_592_000} {
		s, k := start(t, plan, service.Options{})
		ttl := time.Duration(seconds) * time.Second
		in, err := s.CreateInbox(t.Context(), k, service.NewInbox{Username: strings.Repeat("A", 64), Domain: "Y.Test", TTL: ttl})
		if err != nil || in.Address != strings.Repeat("a", 64)+"@y.test" || in.ExpiresAt.Sub(in.CreatedAt) != ttl || in.KeyID != k.ID {
			t.Errorf("%+v, %v", in, err)
		}
		wantCode(t, fortest.Failure(s.CreateInbox(t.Context(), k, service.NewInbox{TTL: ttl + time.Second})), service.Invalid)
	}
}

func TestRandomAddress(t *testing.T) {
	t.Parallel()
	s, k := start(t, service.Enterprise, service.Options{})
	want := regexp.MustCompile(`^[a-z]{3,5}-[a-z]{3,5}-[2-9b-z]{4}@x\.test$`)
	id := regexp.MustCompile(`^inbox_[0-9a-v]{35}$`)
	for range 50 {
		in := create(t, s, k, "")
		if !want.MatchString(in.Address) || !id.MatchString(in.ID) {
			t.Errorf("inbox %s has the address %s", in.ID, in.Address)
		}
	}
}

// Pages have the newest first, and none that has expired, swept or not.
func TestInboxesInPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := start(t, service.Dev, service.Options{})
		foreign := create(t, s, createKey(t, s), "foreign")
		ids := map[string]string{"foreign": foreign.ID}
		time.Sleep(time.Second)
		for n, name := range []string{"one", "two", "three", "four", "five", "six"} {
			in, err := s.CreateInbox(t.Context(), k, service.NewInbox{Username: name, TTL: []time.Duration{time.Hour, time.Minute}[n/2%2]})
			must(t, err)
			ids[name] = in.ID
			time.Sleep(time.Second)
		}
		pages := func(limit int, after, want string, total int) {
			t.Helper()
			list, err := s.Inboxes(t.Context(), k, service.Page{Limit: limit, After: ids[after]})
			must(t, err)
			var got []string
			for _, in := range list.Inboxes {
				got = append(got, strings.TrimSuffix(in.Address, "@x.test"))
			}
			if strings.Join(got, " ") != want || list.Total != total {
				t.Errorf("%d after %q: %v of %d, want %q of %d", limit, after, got, list.Total, want, total)
			}
		}
		pages(0, "", "six five four three two one", 6)
		pages(4, "", "six five four three", 6)
		pages(4, "three", "two one", 6)
		pages(4, "one", "", 6)
		time.Sleep(time.Minute) // nothing is swept
		pages(0, "", "six five two one", 4)
		pages(3, "", "six five two", 6)
		pages(2, "", "six five", 6)
		pages(9, "five", "two one", 6)
		// One that has expired or is deleted keeps its place. That of another key says nothing of it.
		pages(9, "three", "two one", 6)
		must(t, s.DeleteInbox(t.Context(), k, ids["two"]))
		pages(9, "two", "one", 5)
		pages(9, "foreign", "", 5)
		for _, after := range []string{"inbox_none", foreign.ID[:len(foreign.ID)-9], foreign.ID + "0", "msg" + strings.TrimPrefix(foreign.ID, "inbox")} {
			wantCode(t, fortest.Failure(s.Inboxes(t.Context(), k, service.Page{After: after})), service.NotFound)
		}
	})
}

// A key has at most ten inboxes for each message that its plan allows on a day.
func TestTooManyInboxes(t *testing.T) {
	t.Parallel()
	s, k := start(t, service.Dev, service.Options{CatchAll: "new"})
	in := create(t, s, k, "first")
	for range 10*service.Dev.Limits().EmailsPerDay - 1 {
		create(t, s, k, "")
	}
	_, err := s.CreateInbox(t.Context(), k, service.NewInbox{})
	if wantCode(t, err, service.Forbidden); !strings.Contains(err.Error(), "10000 inboxes") {
		t.Error(err)
	}
	if page, err := s.Inboxes(t.Context(), k, service.Page{}); err != nil || len(page.Inboxes) != 1000 || page.Total != 10_000 {
		t.Errorf("a page has %d inboxes of %d, %v", len(page.Inboxes), page.Total, err)
	}
	r, err := s.Recipient(t.Context(), "", "unknown@anywhere.test")
	if err == nil {
		err = s.Deliver(t.Context(), service.Delivery{To: []service.Recipient{r}, Raw: []byte(plainMail)})
	}
	wantCode(t, err, service.OverQuota)
	deliver(t, s, plainMail, in.Address)
	must(t, s.DeleteInbox(t.Context(), k, in.ID))
	create(t, s, k, "")
	create(t, s, createKey(t, s), "another")
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := start(t, service.Dev, service.Options{})
		in, err := s.CreateInbox(t.Context(), k, service.NewInbox{Username: "ada", TTL: time.Minute})
		must(t, err)
		deliver(t, s, plainMail, in.Address)
		r, err := s.Recipient(t.Context(), "", in.Address)
		must(t, err)
		id := list(t, s, k, in.ID).Messages[0].ID

		time.Sleep(time.Until(in.ExpiresAt) - time.Millisecond)
		_, err = s.Inbox(t.Context(), k, in.ID)
		must(t, err)
		_, err = s.Message(t.Context(), k, in.ID, id)
		must(t, err)

		time.Sleep(time.Millisecond)
		gone := func() {
			t.Helper()
			wantCode(t, fortest.Failure(s.Inbox(t.Context(), k, in.ID)), service.NotFound)
			wantCode(t, fortest.Failure(s.Messages(t.Context(), k, in.ID, service.Page{})), service.NotFound)
			wantCode(t, fortest.Failure(s.Message(t.Context(), k, in.ID, id)), service.NotFound)
			wantCode(t, s.DeleteInbox(t.Context(), k, in.ID), service.NotFound)
			wantCode(t, fortest.Failure(s.Recipient(t.Context(), "", in.Address)), service.NotFound)
			wantCode(t, s.Deliver(t.Context(), service.Delivery{To: []service.Recipient{r}, Raw: []byte(plainMail)}), service.NotFound)
			all, err := s.Inboxes(t.Context(), k, service.Page{})
			must(t, err)
			if len(all.Inboxes) != 0 {
				t.Errorf("the list has %v", all)
			}
		}
		gone() // not swept: nothing runs yet
		stop := run(t, s)
		synctest.Wait()
		gone()
		stop()
	})
}

// run calls Service.Run until the returned function is called.
func run(t *testing.T, s *service.Service) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
