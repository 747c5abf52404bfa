package api_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/internal/fortest"
)

func TestBudgetIsNeverExceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _, box := inbox(t, apitest.Options{RequestsPerMinute: 60})
		c := server.Client(api.Options{MaxWait: time.Hour})
		var people sync.WaitGroup
		for range 5 {
			people.Go(func() {
				for range 100 {
					if _, err := c.Inbox(t.Context(), box.ID); err != nil {
						t.Error(err)
					}
					time.Sleep(rand.N(time.Second))
				}
			})
		}
		people.Wait()
		requests := server.Requests()
		if len(requests) != 500 {
			t.Errorf("%d requests", len(requests))
		}
		for _, r := range requests {
			if r.Status != 200 {
				t.Fatal("the service refused a request")
			}
		}
		if u := c.Budget().Usage(); u.Used > 60 || u.Limit != 60 {
			t.Errorf("usage: %+v", u)
		}
	})
}

func TestUsedUpBudgetFailsAtOnceWhenTheWaitIsLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c, box := inbox(t, apitest.Options{})
		for range 60 {
			must(t, fortest.Failure(c.Inbox(t.Context(), box.ID)))
		}
		_, err := c.Inbox(t.Context(), box.ID)
		var e *api.Error
		if !errors.Is(err, api.ErrRateLimited) || !errors.As(err, &e) || e.Status != 0 || e.RetryAfter <= 0 || e.RetryAfter > 61*time.Second {
			t.Fatalf("%v", err)
		}
		time.Sleep(e.RetryAfter)
		if _, err := c.Inbox(t.Context(), box.ID); err != nil {
			t.Errorf("after the time it said: %v", err)
		}
	})
}

func TestBackgroundLeavesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, box := inbox(t, apitest.Options{})
		b := c.Background()
		end := time.Now().Add(time.Minute)
		for time.Now().Before(end) {
			if _, err := b.Inbox(t.Context(), box.ID); err != nil && !errors.Is(err, api.ErrRateLimited) {
				t.Fatal(err)
			}
			_, wait := c.Budget().Background()
			time.Sleep(wait)
		}
		if n := len(server.Requests()); n < 45 || n > 49 {
			t.Errorf("%d background requests in a minute", n)
		}
		for range 12 {
			must(t, fortest.Failure(c.Inbox(t.Context(), box.ID)))
		}
		if time.Now().After(end.Add(time.Second)) {
			t.Error("a person had to wait")
		}
		server.Fail(apitest.Cut, -1)
		time.Sleep(time.Hour)
		before := len(server.Requests())
		if _, err := b.Inbox(t.Context(), box.ID); err == nil || len(server.Requests()) != before+1 {
			t.Errorf("a background request is repeated: %v", err)
		}
	})
}

func TestBudgetOfAService(t *testing.T) {
	for service, want := range map[int]int{0: 60, 300: 300, 30: 30, 1: 1, 3: 3} {
		synctest.Test(t, func(t *testing.T) {
			_, client, box := inbox(t, apitest.Options{Extensions: service > 0, RequestsPerMinute: service})
			must(t, fortest.Failure(client.Inbox(t.Context(), box.ID)))
			if limit := client.Budget().Usage().Limit; limit != want {
				t.Errorf("service %d: the limit is %d", service, limit)
			}
			client.Budget().Background()
		})
	}
}

// A service with the extensions of Mayfly's own announces its limits, so none means none.
func TestNoLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, c, box := inbox(t, apitest.Options{Extensions: true})
		must(t, fortest.Failure(c.PollMessages(t.Context(), box.ID, api.Poll{Wait: time.Second})))
		for range 2000 {
			must(t, fortest.Failure(c.Background().Inbox(t.Context(), box.ID)))
		}
		if u := c.Budget().Usage(); u != (api.Usage{}) {
			t.Errorf("usage: %+v", u)
		}
		server.Fail(apitest.Limited, 1)
		wantError(t, fortest.Failure(c.Background().Inbox(t.Context(), box.ID)), api.ErrRateLimited)
		if _, wait := c.Budget().Background(); wait < time.Second {
			t.Errorf("after a 429 the next request is made in %v", wait)
		}
		time.Sleep(time.Hour)
		if u := c.Budget().Usage(); u != (api.Usage{}) {
			t.Errorf("an hour after a 429: %+v", u)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		_, c, box := inbox(t, apitest.Options{})
		for range 10 { // by 404 the service says that it has no list of inboxes
			_, _ = c.Inboxes(t.Context())
			_, _ = c.Inbox(t.Context(), box.ID)
		}
		if u := c.Budget().Usage(); u.Limit != 60 || u.Tight {
			t.Errorf("a service that announces nothing: %+v", u)
		}
		for range 25 {
			_, _ = c.Inbox(t.Context(), box.ID)
		}
		if u := c.Budget().Usage(); !u.Tight {
			t.Errorf("more than half is used: %+v", u)
		}
	})
}
