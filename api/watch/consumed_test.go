package watch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/api/watch"
)

// waiter waits for mail to an inbox as a command or a session does.
type waiter struct {
	t         *testing.T
	service   *apitest.Server
	client    *api.Client
	inbox     api.Inbox
	delivered watch.Consumed
}

func newWaiter(t *testing.T, o apitest.Options) *waiter {
	service := apitest.New(t, o)
	inbox, err := service.Create("ada", 24*time.Hour)
	must(t, err)
	return &waiter{t: t, service: service, client: service.Client(api.Options{}), inbox: inbox}
}

// deliver puts a message into the inbox that says what it has: "message", "code", "link".
func (w *waiter) deliver(has string) api.Message {
	w.t.Helper()
	return w.deliverAt(has, time.Time{})
}

func (w *waiter) deliverAt(has string, received time.Time) api.Message {
	w.t.Helper()
	m, err := w.service.Deliver(w.inbox.Email, apitest.Mail{From: "a@acme.example", Subject: has, ReceivedAt: received})
	must(w.t, err)
	return m
}

// wait returns the ID of the message that is delivered for a target, "" if there is none.
func (w *waiter) wait(q watch.Target, after watch.Cursor) string {
	w.t.Helper()
	// It is kept between two waits.
	kept, err := json.Marshal(w.delivered)
	must(w.t, err)
	w.delivered = watch.Consumed{}
	must(w.t, json.Unmarshal(kept, &w.delivered))
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Minute) // the requests of a minute may be used up
	defer cancel()
	m, err := watch.WaitForMessage(ctx, w.client, w.inbox.ID, after, watch.Match{
		Fits: func(m api.Message) bool { return q == watch.Message || strings.Contains(m.Subject, string(q)) },
		Take: func(f watch.Found) bool {
			if after.Newest > 0 {
				w.delivered.Add(q, f)
				return true
			}
			return w.delivered.Take(q, f)
		},
	})
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		w.t.Fatal(err)
	}
	return m.ID
}

func (w *waiter) next(q watch.Target) string {
	w.t.Helper()
	return w.wait(q, w.delivered.Cursor(q))
}

// Whatever arrives and whatever is asked, a wait does what the rule says, which here is computed
// from everything that ever happened.
func TestTheRuleOfWaiting(t *testing.T) {
	for seed := range uint64(16) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			w := newWaiter(t, apitest.Options{Extensions: seed%2 == 0})
			var mail []api.Message // in order
			handed := map[string]bool{}
			last := -1
			has := func(m api.Message, q watch.Target) bool {
				return q == watch.Message || strings.Contains(m.Subject, string(q))
			}
			oldest := func(q watch.Target, includes func(n int, m api.Message) bool) int {
				return slices.IndexFunc(mail, func(m api.Message) bool {
					return has(m, q) && !handed[string(q)+m.ID] && includes(slices.IndexFunc(mail, func(o api.Message) bool { return o.ID == m.ID }), m)
				})
			}
			newest := func(q watch.Target) int {
				for n := range slices.Backward(mail) {
					if has(mail[n], q) {
						return n
					}
				}
				return -1
			}
			for step := range 36 {
				if random.IntN(2) == 0 {
					// Services may tell the time in whole seconds.
					m := w.deliverAt([]string{"message", "code", "link", "code link"}[random.IntN(4)], time.Now().Truncate(time.Second))
					mail = append(mail, m)
					time.Sleep(time.Duration(random.IntN(700)) * time.Millisecond)
					continue
				}
				q := []watch.Target{watch.Message, watch.Code, watch.Link}[random.IntN(3)]
				var got string
				var want int
				var asked string
				switch random.IntN(6) {
				case 0:
					asked, want = "again", newest(q)
					got = w.wait(q, watch.Newest(1))
				case 1:
					moment := time.Now().Add(-time.Duration(random.IntN(30)) * time.Second)
					asked, want = "since", oldest(q, func(_ int, m api.Message) bool { return !m.ReceivedAt.Before(moment) })
					got = w.wait(q, w.delivered.Since(q, moment))
				default:
					asked = "next"
					if want = newest(q); len(handed) > 0 {
						want = oldest(q, func(n int, _ api.Message) bool { return n >= last })
					}
					got = w.next(q)
				}
				id := ""
				if want >= 0 {
					id, last = mail[want].ID, want
					handed[string(q)+id] = true
				}
				if got != id {
					t.Fatalf("seed %d, step %d, %s %s: got %q, want %q", seed, step, asked, q, got, id)
				}
			}
		})
	}
}

// A message that was passed over, since it came just before the one that was returned, was not returned itself.
func TestPassedOverIsNotReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiter(t, apitest.Options{})
		now := time.Now()
		w.deliverAt("older", now)
		newer := w.deliverAt("newer", now)
		w.next(watch.Message)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := watch.WaitForMessage(ctx, w.client, w.inbox.ID, w.delivered.Cursor(watch.Message), watch.Match{})
		inVain := &watch.NoMatchError{}
		if !errors.As(err, &inVain) || len(inVain.Consumed) != 1 || inVain.Consumed[0].ID != newer.ID {
			t.Errorf("%v: %d were returned before", err, len(inVain.Consumed))
		}
	})
}

func TestTheServicesClockCounts(t *testing.T) {
	for _, ahead := range []time.Duration{0, 7 * time.Minute, -7 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			w := newWaiter(t, apitest.Options{Ahead: ahead})
			w.deliver("too old")
			time.Sleep(time.Minute)
			want := w.deliver("recent")
			time.Sleep(time.Minute)
			w.deliver("the newest")
			if got := w.wait(watch.Message, w.delivered.Ago(watch.Message, 90*time.Second)); got != want.ID {
				t.Errorf("%v ahead: %q, want %q", ahead, got, want.ID)
			}
			time.Sleep(time.Minute)
			w.next(watch.Message)
			want = w.deliver("the next")
			if got := w.next(watch.Message); got != want.ID {
				t.Errorf("%v ahead: %q, want %q", ahead, got, want.ID)
			}
		})
	}
}

func TestDeliveredIsBounded(t *testing.T) {
	var h watch.Consumed
	long := strings.Repeat("x", 1000)
	for n := range 5000 {
		for _, q := range []watch.Target{watch.Message, watch.Code, watch.Link} {
			h.Add(q, watch.Found{Message: api.Message{ID: fmt.Sprint(long, n)}})
		}
	}
	if kept, err := json.Marshal(h); err != nil || len(kept) > 40_000 {
		t.Errorf("%d bytes, %v", len(kept), err)
	}
	if h.Take(watch.Code, watch.Found{Message: api.Message{ID: fmt.Sprint(long, 4999)}}) {
		t.Error("the last one is delivered again")
	}
}

func TestAwaitPassesOverAMessageThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := apitest.New(t, apitest.Options{})
		client := service.Client(api.Options{})
		inbox, err := service.Create("ada", time.Hour)
		must(t, err)
		older, err := service.Deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "older"})
		must(t, err)
		time.Sleep(time.Second)
		newer, err := service.Deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: "newer"})
		must(t, err)
		service.FailIf(apitest.HTML, -1, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, newer.ID) })
		if m, err := watch.WaitForMessage(t.Context(), client, inbox.ID, watch.Newest(1), watch.Match{}); err != nil || m.ID != older.ID {
			t.Errorf("%+v, %v", m, err)
		}

		before := len(service.Requests())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = watch.WaitForMessage(ctx, client, inbox.ID, watch.Newest(1), watch.Match{Subject: "newer"})
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, api.ErrUnexpected) {
			t.Errorf("it could not be read all the time: %v", err)
		}
		if n := len(service.Requests()) - before; n > 30 {
			t.Errorf("%d requests in a minute", n)
		}
	})
}

func TestAwaitAsksOnceWhetherAMessageIsAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := apitest.New(t, apitest.Options{})
		inbox, err := service.Create("ada", time.Hour)
		must(t, err)
		deliver := func(subject string) {
			if _, err := service.Deliver(inbox.Email, apitest.Mail{From: "a@acme.example", Subject: subject}); err != nil {
				t.Error(err)
			}
		}
		deliver("first")
		time.AfterFunc(time.Minute, func() { deliver("second") })
		asked := map[string]int{}
		m, err := watch.WaitForMessage(t.Context(), service.Client(api.Options{}), inbox.ID, watch.Newest(1), watch.Match{From: "ACME", Fits: func(m api.Message) bool {
			asked[m.Subject]++
			return m.Subject == "second"
		}})
		if err != nil || m.Subject != "second" || asked["first"] != 1 || asked["second"] != 1 {
			t.Errorf("%+v, %v; asked %v", m, err, asked)
		}
	})
}
