package service_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/pebble"
)

// start returns a service on a store in memory, which works with fake time, and a key with the
// plan.
func start(t *testing.T, plan service.Plan, o service.Options) (*service.Service, service.Key) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	st, err := pebble.OpenMemory(pebble.Options{Log: log})
	must(t, err)
	t.Cleanup(func() { must(t, st.Close()) })
	if o.Domains == nil {
		o.Domains = []string{"x.test", "y.test"}
	}
	o.Log = log
	if o.CatchAll == "new" || o.Unlimited == "new" {
		_, k, err := service.New(st, o).CreateKey(t.Context(), "all", plan)
		must(t, err)
		for _, id := range []*string{&o.CatchAll, &o.Unlimited} {
			if *id == "new" {
				*id = k.ID
			}
		}
		return service.New(st, o), k
	}
	s := service.New(st, o)
	_, k, err := s.CreateKey(t.Context(), "test", plan)
	must(t, err)
	return s, k
}

var must = fortest.Must

func wantCode(t *testing.T, err error, code service.Code) {
	t.Helper()
	if got := service.ErrorCode(err); got != code {
		t.Fatalf("error %v has code %q, want %q", err, got, code)
	}
}

func createKey(t *testing.T, s *service.Service) service.Key {
	t.Helper()
	_, k, err := s.CreateKey(t.Context(), "other", service.Dev)
	must(t, err)
	return k
}

func create(t *testing.T, s *service.Service, k service.Key, username string) service.Inbox {
	t.Helper()
	in, err := s.CreateInbox(t.Context(), k, service.NewInbox{Username: username})
	must(t, err)
	return in
}

func deliver(t *testing.T, s *service.Service, raw string, addresses ...string) {
	t.Helper()
	d := service.Delivery{From: "envelope@sender.example", Raw: []byte(raw)}
	for _, a := range addresses {
		r, err := s.Recipient(t.Context(), "", a)
		must(t, err)
		d.To = append(d.To, r)
	}
	must(t, s.Deliver(t.Context(), d))
}

func list(t *testing.T, s *service.Service, k service.Key, inboxID string) service.List {
	t.Helper()
	l, err := s.Messages(t.Context(), k, inboxID, service.Page{})
	must(t, err)
	return l
}

const plainMail = "From: Ada <ada@acme.example>\r\nSubject: Hello\r\n\r\nHi\r\n"

func retryAfter(err error) time.Duration {
	var e *service.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.RetryAfter
}

// asked counts how often a store is asked whether it can be written, and says that it cannot.
type asked struct {
	service.Store
	times atomic.Int64
}

func (a *asked) Ready(ctx context.Context) error {
	a.times.Add(1)
	<-ctx.Done() // of the service: the caller's does not matter to others
	return errors.New("it does not answer")
}

// However many ask, the store writes once a second, and a store that does not answer is not waited for.
func TestReadyAsksOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := &asked{}
		s := service.New(st, service.Options{})
		soon, cancel := context.WithTimeout(t.Context(), time.Second) // before the store has answered
		defer cancel()
		var asking sync.WaitGroup
		for range 100 {
			asking.Go(func() {
				if s.Ready(soon) == nil {
					t.Error("it is ready")
				}
			})
		}
		asking.Wait()
		if s.Ready(t.Context()) == nil || st.times.Load() != 1 {
			t.Errorf("asked %d times", st.times.Load())
		}
		time.Sleep(time.Second)
		if s.Ready(t.Context()) == nil || st.times.Load() != 2 {
			t.Errorf("a second later it was asked %d times", st.times.Load())
		}
	})
}
