package watch_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/api/watch"
)

// behind returns since when the watcher says that what is in view is out of date.
func (s *screen) behind() (since time.Time) {
	for _, e := range s.find(watch.Behind, -1) {
		since = e.Since
	}
	return since
}

// missing returns when the oldest of the messages of an inbox was delivered that the watcher has not
// told of, of those delivered at these times.
func (s *screen) missing(n int, sent []time.Time) time.Time {
	told := 0
	for _, e := range s.all() {
		if e.InboxID == s.inboxes[n].ID && e.Messages != nil {
			told = len(e.Messages)
		}
	}
	if told < len(sent) {
		return sent[told]
	}
	return time.Time{}
}

// A service says how many requests may be made, and more mail comes than they can tell of.
func TestMoreMailThanTheBudgetTellsOfIsNotLive(t *testing.T) {
	run(t, extended, watch.Options{}, 20, func(s *screen) {
		s.watcher.SetView([]string{s.inboxes[0].ID})
		s.pass(time.Minute)
		var sent []time.Time
		claimed, said := time.Duration(0), 0
		for tick := range 10 * 120 {
			if tick%5 == 0 && tick < 10*60 {
				s.deliver(0, "hello")
				sent = append(sent, time.Now())
			}
			s.pass(100 * time.Millisecond)
			missing, since := s.missing(0, sent), s.behind()
			switch lag := time.Since(missing); {
			case missing.IsZero():
			case since.IsZero():
				claimed = max(claimed, lag)
			default:
				said++
				if since.After(missing) {
					t.Fatalf("it says %v behind, and is %v behind", time.Since(since), lag)
				}
			}
		}
		if claimed > 1100*time.Millisecond {
			t.Errorf("it claims to be live, and is %v behind", claimed)
		}
		if said == 0 {
			t.Error("it is never behind: the test has too little mail")
		}
		if missing, since := s.missing(0, sent), s.behind(); !missing.IsZero() || !since.IsZero() {
			t.Errorf("a minute after the last mail one of %v is missing, and it says behind since %v", missing, since)
		}
		s.checkBudget(60)
	})
}

func TestASlowServiceIsNotLive(t *testing.T) {
	for _, server := range []apitest.Options{{}, {Extensions: true}} {
		run(t, server, watch.Options{}, 5, func(s *screen) {
			s.watcher.SetView([]string{s.inboxes[0].ID})
			s.pass(time.Minute)
			s.wants(0, watch.Behind, -1)
			s.server.SetDelay(20 * time.Second)
			s.watcher.Refresh(s.inboxes[0].ID)
			s.pass(15 * time.Second)
			// A list that is polled is behind from the time of the next poll on.
			if lag := time.Since(s.behind()); lag < 10*time.Second || server.Extensions && lag != 15*time.Second {
				t.Errorf("extensions %v: %v behind", server.Extensions, lag)
			}
			s.server.SetDelay(0)
			s.pass(10 * time.Second)
			if since := s.behind(); !since.IsZero() {
				t.Errorf("extensions %v: behind since %v at the end", server.Extensions, since)
			}
		})
	}
}

func TestAnInboxOutOfViewIsNotBehind(t *testing.T) {
	run(t, extended, watch.Options{}, 5, func(s *screen) {
		s.watcher.SetView([]string{s.inboxes[0].ID})
		s.pass(time.Minute)
		s.server.FailIf(apitest.Silent, -1, func(r *http.Request) bool {
			return strings.Contains(r.URL.Path, s.inboxes[3].ID)
		})
		s.deliver(3, "hello")
		s.pass(10 * time.Second)
		if !s.behind().IsZero() {
			t.Error("what is in view is behind because of what is not")
		}
		s.watcher.SetView([]string{s.inboxes[3].ID})
		s.pass(3 * time.Second)
		if lag := time.Since(s.behind()); lag != 3*time.Second {
			t.Errorf("%v behind three seconds after it came into view", lag)
		}
	})
}

// After a burst, what is in view is told of with the next request that the budget allows, whatever
// else has changed.
func TestWhatIsInViewComesFirst(t *testing.T) {
	for _, c := range []struct {
		server apitest.Options
		within time.Duration
	}{{extended, 1400 * time.Millisecond}, {apitest.Options{Extensions: true}, 50 * time.Millisecond}} {
		run(t, c.server, watch.Options{}, 40, func(s *screen) {
			s.server.SetDelay(20 * time.Millisecond)
			inView := len(s.inboxes) - 1
			s.watcher.SetView([]string{s.inboxes[inView].ID})
			s.pass(2 * time.Minute)
			for n := range 6 {
				before, began := len(s.find(watch.Arrived, inView)), time.Now()
				for i := range s.inboxes {
					s.deliver(i, fmt.Sprint("burst ", n))
				}
				s.pass(5 * time.Second)
				arrived := s.find(watch.Arrived, inView)[before:]
				if len(arrived) == 0 || arrived[0].at.Sub(began) > c.within {
					t.Errorf("%d a minute, burst %d: %v", c.server.RequestsPerMinute, n, arrived)
				}
			}
		})
	}
}

// A burst for many inboxes costs few requests, and comes as few events at a time.
func TestABurstIsToldTogether(t *testing.T) {
	run(t, apitest.Options{Extensions: true}, watch.Options{}, 100, func(s *screen) {
		s.watcher.SetView([]string{s.inboxes[0].ID})
		s.pass(time.Minute)
		requests, events := len(s.server.Requests()), len(s.all())
		for n := range 1500 {
			s.deliver(1+n%99, fmt.Sprint(n))
			s.pass(time.Millisecond)
		}
		s.pass(2 * time.Second)
		told := 0
		for _, i := range s.inboxes {
			for _, e := range slices.Backward(s.all()) {
				if e.InboxID == i.ID {
					told += len(e.Messages)
					break
				}
			}
		}
		if told != 1500 {
			t.Errorf("%d of 1500 messages are told of", told)
		}
		if n := len(s.server.Requests()) - requests; n > 400 {
			t.Errorf("%d requests", n)
		}
		times := map[time.Time]bool{}
		for _, e := range s.all()[events:] {
			times[e.at] = true
		}
		if n := len(times); n > 40 {
			t.Errorf("the events came at %d times", n)
		}
	})
}

// An answer to a long poll from before the limit was reached says nothing about the limit.
func TestALimitIsOverWithTheNextGoodAnswer(t *testing.T) {
	run(t, apitest.Options{Extensions: true}, watch.Options{}, 3, func(s *screen) {
		s.watcher.SetView([]string{s.inboxes[0].ID})
		s.pass(time.Minute)
		s.watcher.Report(fmt.Errorf("create an inbox: %w", api.ErrRateLimited))
		s.pass(0)
		failed := s.find(watch.Failed, -1)
		if len(failed) != 1 {
			t.Fatalf("Failed: %v", failed)
		}
		s.pass(time.Until(failed[0].RetryAt) / 2)
		s.deliver(0, "hello")
		s.pass(0)
		s.wants(1, watch.Arrived, 0)
		s.wants(0, watch.Recovered, -1)
		s.pass(time.Until(failed[0].RetryAt))
		s.wants(1, watch.Recovered, -1)
	})
}
