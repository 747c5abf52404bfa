package watch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/api/watch"
	"mayfly/internal/fortest"
)

// screen is a watcher on a service, and what came of it.
type screen struct {
	t       *testing.T
	server  *apitest.Server
	client  *api.Client
	watcher *watch.Watcher
	inboxes []api.Inbox

	mu     sync.Mutex
	events []seen
}

func (s *screen) all() []seen {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

type seen struct {
	watch.Event
	at time.Time
}

// run runs a test in a bubble, with a watcher of n inboxes.
func run(t *testing.T, server apitest.Options, o watch.Options, n int, test func(*screen)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &screen{t: t, server: apitest.New(t, server)}
		s.client = s.server.Client(api.Options{})
		s.watcher = watch.New(s.client, o)
		for i := range n {
			s.create(fmt.Sprintf("box-%03d", i))
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for events := range s.watcher.Events() {
				s.mu.Lock()
				for _, e := range events {
					s.events = append(s.events, seen{e, time.Now()})
				}
				s.mu.Unlock()
			}
		}()
		ended := make(chan error, 1)
		go func() { ended <- s.watcher.Run(ctx) }()
		test(s)
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		<-done
	})
}

var must = fortest.Must

func (s *screen) create(username string) api.Inbox {
	s.t.Helper()
	inbox, err := s.server.Create(username, 100*time.Hour)
	must(s.t, err)
	s.inboxes = append(s.inboxes, inbox)
	s.watcher.Add(inbox.ID)
	return inbox
}

func (s *screen) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (s *screen) deliver(n int, subject string) {
	s.t.Helper()
	must(s.t, fortest.Failure(s.server.Deliver(s.inboxes[n].Email, apitest.Mail{From: "a@acme.example", Subject: subject})))
}

// find returns the events of a kind about an inbox, any when n is negative.
func (s *screen) find(kind watch.Kind, n int) []seen {
	var found []seen
	for _, e := range s.all() {
		if e.Kind == kind && (n < 0 || e.InboxID == s.inboxes[n].ID) {
			found = append(found, e)
		}
	}
	return found
}

// wants fails unless there are count events of a kind about an inbox, any when n is negative.
func (s *screen) wants(count int, kind watch.Kind, n int) {
	s.t.Helper()
	if found := s.find(kind, n); len(found) != count {
		s.t.Errorf("%d events %v, want %d: %v", len(found), kind, count, found)
	}
}

// delivers delivers a message, which must arrive within a time.
func (s *screen) delivers(n int, within time.Duration) {
	s.t.Helper()
	before, began := len(s.find(watch.Arrived, n)), time.Now()
	s.deliver(n, "hello")
	for time.Since(began) < within {
		s.pass(50 * time.Millisecond)
		if arrived := s.find(watch.Arrived, n); len(arrived) > before {
			if arrived[before].Messages[0].Subject != "hello" {
				s.t.Error("the newest message is not the first")
			}
			return
		}
	}
	s.t.Errorf("nothing arrived in inbox %d within %v", n, within)
}

// checkBudget fails when there are more requests than the limit in any minute,
// or when the service refused one.
func (s *screen) checkBudget(limit int) {
	s.t.Helper()
	requests := s.server.Requests()
	for i := limit; i < len(requests); i++ {
		if d := requests[i].Time.Sub(requests[i-limit].Time); d < time.Minute {
			s.t.Fatalf("%d requests in %v", limit+1, d)
		}
	}
	for _, r := range requests {
		if r.Status == http.StatusTooManyRequests {
			s.t.Fatal("the service refused a request")
		}
	}
}

var (
	contract = apitest.Options{RequestsPerMinute: 60}
	extended = apitest.Options{RequestsPerMinute: 60, Extensions: true}
)

func TestLongPollsTellWithinASecond(t *testing.T) {
	for n, limit := range map[int]int{1: 60, 12: 60, 60: 60, 500: 300} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			run(t, apitest.Options{RequestsPerMinute: limit, Extensions: true}, watch.Options{}, n, func(s *screen) {
				s.watcher.SetView([]string{s.inboxes[0].ID})
				s.pass(2 * time.Minute)
				before := len(s.server.Requests())
				s.pass(10 * time.Minute)
				if n := len(s.server.Requests()) - before; n > 60 {
					t.Errorf("%d requests in ten minutes without mail", n)
				}
				for i := 0; i < n; i += 1 + n/60 {
					s.delivers(i, time.Second)
					s.pass(20 * time.Second)
				}
				if modes := s.find(watch.ModeChanged, -1); len(modes) != 1 || modes[0].Mode != watch.Live {
					t.Errorf("modes: %v", modes)
				}
				if n := s.unanswered(); n > 20 {
					t.Errorf("%d requests in flight", n)
				}
				s.wants(0, watch.Failed, -1)
				s.checkBudget(limit)
			})
		})
	}
}

func (s *screen) unanswered() (n int) {
	for _, r := range s.server.Requests() {
		if r.Status == 0 {
			n++
		}
	}
	return n
}

func TestNeverOverTheBudget(t *testing.T) {
	for _, extensions := range []bool{false, true} {
		for _, n := range []int{1, 5, 40, 500} {
			if testing.Short() && n > 40 {
				break
			}
			t.Run(fmt.Sprintf("%d extensions %v", n, extensions), func(t *testing.T) {
				t.Parallel()
				run(t, apitest.Options{RequestsPerMinute: 60, Extensions: extensions}, watch.Options{}, n, func(s *screen) {
					s.server.SetDelay(120 * time.Millisecond)
					s.watcher.SetView([]string{s.inboxes[0].ID})
					for minute := range 60 {
						box := minute * 7 % n
						s.deliver(box, "x")
						switch minute % 6 {
						case 0:
							s.watcher.Touch(s.inboxes[box].ID)
						case 1:
							s.watcher.SetFocused(minute%12 == 1)
						case 2: // a person does a lot
							for range 15 {
								must(t, fortest.Failure(s.client.Inbox(s.t.Context(), s.inboxes[0].ID)))
							}
						case 3:
							s.watcher.Refresh("")
						case 4:
							s.watcher.SetView([]string{s.inboxes[box].ID, s.inboxes[0].ID})
						}
						s.pass(time.Minute)
					}
					s.checkBudget(60)
					if s.client.Budget().Usage().Limit != 60 {
						t.Errorf("budget: %v", s.client.Budget().Usage())
					}
				})
			})
		}
	}
}

func TestPollingIsFair(t *testing.T) {
	const n = 40
	run(t, contract, watch.Options{}, n, func(s *screen) {
		s.watcher.SetView([]string{s.inboxes[0].ID})
		s.watcher.Touch(s.inboxes[0].ID)
		s.pass(2 * time.Minute)
		before := len(s.server.Requests())
		s.pass(30 * time.Minute)
		polls := map[string]int{}
		for _, r := range s.server.Requests()[before:] {
			polls[strings.Split(r.Path, "/")[3]]++
		}
		least, most := 1<<30, 0
		for _, inbox := range s.inboxes[1:] {
			least, most = min(least, polls[inbox.ID]), max(most, polls[inbox.ID])
		}
		if least < 10 || most > least+2 {
			t.Errorf("the inboxes out of view were polled %d to %d times in half an hour", least, most)
		}
		if inView := polls[s.inboxes[0].ID]; inView < 4*most {
			t.Errorf("the inbox in view was polled %d times, the others up to %d", inView, most)
		}
		s.checkBudget(60)
	})
}

func TestWithoutFocusThereAreFewerPolls(t *testing.T) {
	run(t, contract, watch.Options{}, 1, func(s *screen) {
		s.watcher.SetView([]string{s.inboxes[0].ID})
		count := func() int {
			before := len(s.server.Requests())
			s.pass(10 * time.Minute)
			return len(s.server.Requests()) - before
		}
		focused := count()
		s.watcher.SetFocused(false)
		if unfocused := count(); unfocused*3 > focused {
			t.Errorf("%d requests with the focus, %d without", focused, unfocused)
		}
		s.watcher.Touch(s.inboxes[0].ID)
		s.pass(30 * time.Second)
		s.delivers(0, 3*time.Second)
		if modes := s.find(watch.ModeChanged, -1); len(modes) != 1 || modes[0].Mode != watch.Polling {
			t.Errorf("modes: %v", modes)
		}
		s.wants(1, watch.Listed, 0)
	})
}

func TestPeopleComeFirst(t *testing.T) {
	run(t, contract, watch.Options{}, 100, func(s *screen) {
		s.pass(10 * time.Minute)
		for range 10 {
			began := time.Now()
			must(t, fortest.Failure(s.client.CreateInbox(s.t.Context(), api.CreateInbox{})))
			if d := time.Since(began); d > 0 {
				t.Errorf("a person waited %v", d)
			}
		}
		s.checkBudget(60)
	})
}

func TestGone(t *testing.T) {
	for _, server := range []apitest.Options{contract, extended} {
		run(t, server, watch.Options{}, 3, func(s *screen) {
			s.watcher.SetView([]string{s.inboxes[0].ID})
			s.pass(time.Minute)
			s.server.Delete(s.inboxes[0].ID)
			s.server.Delete(s.inboxes[1].ID)
			s.pass(time.Minute)
			for n, want := range []int{1, 1, 0} {
				if gone := s.find(watch.Gone, n); len(gone) != want {
					t.Errorf("inbox %d: %d Gone", n, len(gone))
				}
			}
			before := len(s.server.Requests())
			s.pass(10 * time.Minute)
			for _, r := range s.server.Requests()[before:] {
				if strings.Contains(r.Path, s.inboxes[0].ID) || strings.Contains(r.Path, s.inboxes[1].ID) {
					t.Fatal("an inbox that is gone is still asked for")
				}
			}
			old := s.all()[0].Generation
			if again := s.watcher.Add(s.inboxes[0].ID); again <= old {
				t.Errorf("generation %d after %d", again, old)
			}
		})
	}
}

// Whatever is deleted elsewhere while mail arrives, what the watcher tells ends up as what there is.
func TestMessagesDeletedElsewhere(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		run(t, apitest.Options{Extensions: true}, watch.Options{}, 11, func(s *screen) {
			random := rand.New(rand.NewPCG(seed, 1))
			elsewhere := s.server.Client(api.Options{})
			must(t, fortest.Failure(elsewhere.Inboxes(context.Background()))) // after which there is no budget
			listed := func(n int) []api.Summary {
				list, err := elsewhere.Messages(context.Background(), s.inboxes[n].ID)
				must(t, err)
				return list.Messages
			}
			s.watcher.SetView([]string{s.inboxes[0].ID, s.inboxes[1].ID})
			s.server.SetDelay(time.Duration(seed%3) * 50 * time.Millisecond)
			for range 300 {
				n := random.IntN(len(s.inboxes))
				switch all := listed(n); {
				case len(all) > 0 && random.IntN(3) == 0:
					must(t, elsewhere.DeleteMessage(context.Background(), s.inboxes[n].ID, all[random.IntN(len(all))].ID))
				case len(all) > 2 && random.IntN(3) == 0:
					must(t, elsewhere.EmptyInbox(context.Background(), s.inboxes[n].ID))
				default:
					s.deliver(n, "x")
				}
				s.pass(time.Duration(random.IntN(60)) * time.Millisecond)
			}
			s.pass(3 * time.Second)
			for n := range s.inboxes {
				var told []api.Summary
				for _, e := range s.all() {
					if e.InboxID == s.inboxes[n].ID && (e.Kind == watch.Listed || e.Kind == watch.Arrived) {
						told = e.Messages
					}
				}
				if want := listed(n); !slices.EqualFunc(told, want, func(a, b api.Summary) bool { return a.ID == b.ID }) {
					t.Errorf("seed %d, inbox %d: %d messages told, %d are there", seed, n, len(told), len(want))
				}
			}
		})
	}
}

func TestFailuresAndRecovery(t *testing.T) {
	faults := map[string]struct {
		fault apitest.Fault
		is    error
	}{
		"cut":        {apitest.Cut, api.ErrUnavailable},
		"502":        {apitest.BadGateway, api.ErrUnavailable},
		"500":        {apitest.InternalError, api.ErrUnavailable},
		"HTML":       {apitest.HTML, api.ErrUnexpected},
		"404 HTML":   {apitest.NotFoundHTML, api.ErrUnexpected},
		"broken":     {apitest.BrokenJSON, api.ErrUnexpected},
		"truncated":  {apitest.Truncated, api.ErrUnavailable},
		"forbidden":  {apitest.Forbidden, api.ErrForbidden},
		"rate limit": {apitest.LimitedNoTime, api.ErrRateLimited},
	}
	for name, c := range faults {
		for _, server := range []apitest.Options{contract, extended} {
			t.Run(fmt.Sprintf("%s extensions %v", name, server.Extensions), func(t *testing.T) {
				run(t, server, watch.Options{}, 4, func(s *screen) {
					s.watcher.SetView([]string{s.inboxes[0].ID})
					s.pass(time.Minute)
					s.server.Fail(c.fault, -1)
					s.pass(10 * time.Minute)
					failed := s.find(watch.Failed, -1)
					if len(failed) == 0 {
						t.Fatal("nothing failed")
					}
					for i, e := range failed {
						if !errors.Is(e.Err, c.is) {
							t.Fatalf("error: %v", e.Err)
						}
						if wait := e.RetryAt.Sub(e.at); wait <= 0 || wait > 90*time.Second {
							t.Fatalf("attempt %d: the next one in %v", i, wait)
						}
					}
					last := failed[len(failed)-1]
					if !last.RetryAt.After(time.Now()) {
						t.Error("the countdown is over and nothing was tried")
					}
					if n := len(failed); n > 80 {
						t.Errorf("%d failures in ten minutes", n)
					}
					if gone := s.find(watch.Gone, -1); len(gone) > 0 {
						t.Error("a failure was taken for an inbox that is gone")
					}
					s.deliver(0, "late")
					s.server.Fail(apitest.None, 0)
					s.pass(2 * time.Minute)
					if arrived := s.find(watch.Arrived, 0); len(arrived) != 1 {
						t.Errorf("%d Arrived after the failure", len(arrived))
					}
					open := map[string]bool{}
					for _, e := range s.all() {
						switch e.Kind {
						case watch.Failed:
							open[e.InboxID] = true
						case watch.Recovered:
							delete(open, e.InboxID)
						}
					}
					if len(open) > 0 {
						t.Errorf("not recovered: %v", open)
					}
				})
			})
		}
	}
}

// Only the inbox's own 404 is its end, not one of its list.
func TestNotFoundIsAskedOfTheInbox(t *testing.T) {
	for _, server := range []apitest.Options{contract, extended} {
		run(t, server, watch.Options{}, 2, func(s *screen) {
			s.watcher.SetView([]string{s.inboxes[0].ID})
			s.pass(time.Minute)
			s.server.FailIf(apitest.NotFound, 3, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, s.inboxes[0].ID+"/messages") })
			s.deliver(0, "during the failures")
			s.pass(2 * time.Minute)
			s.wants(0, watch.Gone, -1)
			s.wants(1, watch.Arrived, 0)
			if len(s.find(watch.Failed, 0)) == 0 || len(s.find(watch.Recovered, 0)) != 1 {
				t.Error("the failures do not show")
			}
		})
	}
}

func TestRefreshRecoversAtOnce(t *testing.T) {
	run(t, contract, watch.Options{}, 1, func(s *screen) {
		s.pass(time.Minute)
		s.server.Fail(apitest.Cut, -1)
		s.pass(10 * time.Minute)
		s.server.Fail(apitest.None, 0)
		s.watcher.Refresh(s.inboxes[0].ID)
		s.pass(0)
		s.wants(1, watch.Recovered, -1)
		s.wants(2, watch.Listed, 0)
	})
}

func TestTheOutcomeOfARequestOfOthersBeginsAndEndsAnOutage(t *testing.T) {
	for _, server := range []apitest.Options{contract, extended} {
		for _, end := range []string{"by a request of others", "by itself"} {
			run(t, server, watch.Options{}, 3, func(s *screen) {
				s.watcher.SetView([]string{s.inboxes[0].ID})
				s.pass(time.Minute)
				s.watcher.Report(fmt.Errorf("create an inbox: %w", api.ErrInvalid))
				s.pass(0)
				s.wants(0, watch.Failed, -1)
				s.watcher.Report(fmt.Errorf("create an inbox: %w", api.ErrUnavailable))
				s.pass(0)
				failed := s.find(watch.Failed, -1)
				if len(failed) != 1 || failed[0].InboxID != "" || !failed[0].RetryAt.After(time.Now()) {
					t.Fatalf("Failed: %v", failed)
				}
				if end == "by itself" {
					s.pass(time.Until(failed[0].RetryAt))
				} else {
					s.watcher.Report(nil)
				}
				s.pass(0)
				s.wants(1, watch.Recovered, -1)
				s.delivers(0, 6*time.Second)
			})
		}
	}
}

func TestRefreshIsAnsweredWithoutInboxes(t *testing.T) {
	run(t, extended, watch.Options{}, 0, func(s *screen) {
		s.pass(time.Minute)
		before := len(s.find(watch.Inboxes, -1))
		s.watcher.Refresh("")
		s.pass(0)
		s.wants(before+1, watch.Inboxes, -1)
	})
}

func TestOneBrokenInboxDoesNotStopTheOthers(t *testing.T) {
	for _, server := range []apitest.Options{contract, extended} {
		run(t, server, watch.Options{}, 5, func(s *screen) {
			s.server.FailIf(apitest.InternalError, -1, func(r *http.Request) bool {
				return strings.Contains(r.URL.Path, s.inboxes[2].ID)
			})
			s.watcher.SetView([]string{s.inboxes[0].ID, s.inboxes[2].ID})
			s.pass(5 * time.Minute)
			s.delivers(0, 10*time.Second)
			if len(s.find(watch.Failed, 2)) == 0 || len(s.find(watch.Failed, -1)) != len(s.find(watch.Failed, 2)) {
				t.Error("the failure is not about the one inbox")
			}
		})
	}
}

func TestRateLimitShrinksTheBudgetAndQuietGrowsIt(t *testing.T) {
	run(t, apitest.Options{}, watch.Options{}, 100, func(s *screen) {
		s.pass(5 * time.Minute)
		s.server.Fail(apitest.Limited, 1)
		s.pass(30 * time.Second)
		if limit := s.client.Budget().Usage().Limit; limit != 30 {
			t.Errorf("the limit is %d after a 429", limit)
		}
		s.pass(10 * time.Minute)
		if limit := s.client.Budget().Usage().Limit; limit != 60 {
			t.Errorf("the limit is %d after ten quiet minutes", limit)
		}
	})
}

func TestPauseAndRemove(t *testing.T) {
	for _, server := range []apitest.Options{contract, extended} {
		run(t, server, watch.Options{NoInboxes: true}, 2, func(s *screen) {
			s.pass(time.Minute)
			s.watcher.Pause(s.inboxes[0].ID, true)
			s.watcher.Remove(s.inboxes[1].ID)
			s.pass(time.Second)
			before, events := len(s.server.Requests()), len(s.all())
			s.deliver(0, "hello")
			s.deliver(1, "hello")
			s.pass(10 * time.Minute)
			if n := len(s.server.Requests()) - before; n != 0 {
				t.Errorf("%d requests while nothing is followed", n)
			}
			if n := len(s.all()) - events; n != 0 {
				t.Errorf("%d events", n)
			}
			s.watcher.Pause(s.inboxes[0].ID, false)
			s.pass(time.Second)
			s.wants(1, watch.Arrived, 0)
		})
	}
}

// Inboxes that are not on the first page of the list, or leave it, are followed as without a list.
func TestInboxesBeyondTheFirstPage(t *testing.T) {
	paged := extended
	paged.PageSize = 3
	run(t, paged, watch.Options{}, 12, func(s *screen) {
		s.pass(time.Minute)
		s.deliver(0, "beyond the page")
		s.deliver(11, "on the page")
		s.pass(time.Second)
		s.wants(1, watch.Arrived, 11)
		s.pass(2 * time.Minute)
		s.wants(1, watch.Arrived, 0)
		for n := range 3 {
			must(t, fortest.Failure(s.server.Create(fmt.Sprint("made-elsewhere", n), time.Hour)))
		}
		s.pass(time.Second)
		if lists := s.find(watch.Inboxes, -1); lists[len(lists)-1].Total != 15 || len(lists[len(lists)-1].Inboxes) != 3 {
			t.Errorf("the last list is %+v", lists[len(lists)-1])
		}
		s.deliver(10, "no longer on the page")
		s.pass(2 * time.Minute)
		s.wants(1, watch.Arrived, 10)
		s.wants(0, watch.Gone, -1)
		s.checkBudget(60)
	})
}

func TestLongPollsThatAreCutAreAskedAgainQuietly(t *testing.T) {
	run(t, extended, watch.Options{}, 1, func(s *screen) {
		s.watcher.SetView([]string{s.inboxes[0].ID})
		s.pass(10 * time.Second)
		s.server.Close() // ends the long polls, and answers it all with 304 at once
		s.pass(time.Minute)
		s.wants(0, watch.Failed, -1)
		s.checkBudget(60)
	})
}

func TestSlowReadersGetTheNewestList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(t, extended)
		inbox, err := server.Create("box", time.Hour)
		must(t, err)
		w := watch.New(server.Client(api.Options{}), watch.Options{NoInboxes: true})
		w.Add(inbox.ID)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(time.Second)
		for range 5 {
			server.Deliver(inbox.Email, apitest.Mail{Subject: "x"})
			time.Sleep(10 * time.Second)
		}
		var lists []watch.Event
		for _, e := range <-w.Events() {
			if e.Kind == watch.Listed || e.Kind == watch.Arrived {
				lists = append(lists, e)
			}
		}
		if len(lists) != 1 || len(lists[0].Messages) != 5 {
			t.Errorf("events: %v", lists)
		}
		cancel()
		<-done
	})
}

// The list of inboxes tells of a message while an answer is on its way that does not have it yet.
func TestALateAnswerDoesNotHideNews(t *testing.T) {
	run(t, extended, watch.Options{}, 10, func(s *screen) { // more than have long polls
		s.pass(time.Second)
		last := len(s.inboxes) - 1
		s.server.FailIf(apitest.Late, 1, func(r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, s.inboxes[last].ID+"/messages")
		})
		s.deliver(last, "first")
		s.pass(time.Second)
		s.deliver(last, "second")
		s.pass(5 * time.Second)
		arrived := s.find(watch.Arrived, last)
		if len(arrived) == 0 || len(arrived[len(arrived)-1].Messages) != 2 {
			t.Errorf("after five seconds %d events, the last without both messages", len(arrived))
		}
	})
}

func TestLongListIsNotAskedForWholeAgain(t *testing.T) {
	run(t, apitest.Options{Extensions: true}, watch.Options{}, 1, func(s *screen) {
		fill := func(n int) {
			for i := range n {
				s.deliver(0, fmt.Sprint(i))
			}
			s.pass(2 * time.Second)
		}
		listed := func(want int) []seen {
			t.Helper()
			arrived := s.find(watch.Arrived, 0)
			if len(arrived) == 0 || len(arrived[len(arrived)-1].Messages) != want {
				t.Fatalf("%d events, the last list is not of %d messages", len(arrived), want)
			}
			return arrived
		}
		s.pass(time.Second)
		fill(250)
		listed(250)
		s.delivers(0, 2*time.Second)
		last := listed(251)
		if n := len(last[len(last)-1].New); n != 1 {
			t.Errorf("%d messages are new, want 1", n)
		}
		asked := func(from int) (whole int) {
			for _, r := range s.server.Requests()[from:] {
				if strings.HasSuffix(r.Path, "/messages") {
					whole++
				}
			}
			return whole
		}
		// The long poll when it arrived may have been for all.
		fill(1)
		before := len(s.server.Requests())
		fill(1)
		listed(253)
		if n := asked(before); n != 0 {
			t.Errorf("the whole list was asked for %d times more", n)
		}
		// More at once than the part has: the whole list tells.
		fill(150)
		seen := map[string]bool{}
		last = listed(403)
		for _, m := range last[len(last)-1].Messages {
			seen[m.ID] = true
		}
		if len(seen) != 403 {
			t.Errorf("%d different messages are listed, want 403", len(seen))
		}
	})
}
