package rest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"mayfly/service"
	"mayfly/service/limits"
	"mayfly/service/rest"
)

type failing struct {
	*service.Service
	fail func() error
}

func (f failing) Inbox(ctx context.Context, k service.Key, id string) (service.Inbox, error) {
	return service.Inbox{}, f.fail()
}

func (f failing) Ready(ctx context.Context) error { return f.fail() }

// An internal failure is logged for the operator, not shown to the client.
func TestFailures(t *testing.T) {
	t.Parallel()
	const inside = "disk 7 has left the building"
	for name, test := range map[string]struct {
		fail   func() error
		status int
	}{
		"panic":    {func() error { panic(inside) }, http.StatusInternalServerError},
		"plain":    {func() error { return errors.New(inside) }, http.StatusInternalServerError},
		"internal": {func() error { return &service.Error{Code: service.Internal, Message: inside} }, http.StatusInternalServerError},
		"damaged": {func() error {
			return &service.Error{Code: service.Damaged, Message: "damaged", Err: errors.New(inside)}
		}, http.StatusInternalServerError},
		"unavailable": {func() error {
			return &service.Error{Code: service.Unavailable, Message: "away", Err: errors.New(inside)}
		}, http.StatusServiceUnavailable},
		"full": {func() error { return &service.Error{Code: service.Full, Message: "full", Err: errors.New(inside)} }, http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			srv := newTestServerFor(t, rest.Options{}, func(s *service.Service) rest.Service { return failing{s, test.fail} })
			key := srv.key(t, service.Dev)
			a := srv.call(t, key, "GET", "/v1/inboxes/inbox_any", "")
			if a.status != test.status || strings.Contains(a.body, inside) || strings.Contains(a.body, "goroutine") {
				t.Errorf("%d %s", a.status, a.body)
			}
			if !strings.Contains(srv.log.String(), inside) {
				t.Errorf("the failure is not logged: %s", srv.log)
			}
			if a.header.Get("RateLimit") == "" || (a.status == http.StatusServiceUnavailable) != (a.header.Get("Retry-After") != "") {
				t.Errorf("header %v", a.header)
			}
			// The next request is answered. A fault that all clients meet is not logged for each of their requests.
			srv.wants(t, http.StatusOK, key, "GET", "/healthz", "")
			srv.wants(t, test.status, key, "GET", "/v1/inboxes/inbox_any", "")
			if n := strings.Count(srv.log.String(), "request failed"); test.status == http.StatusServiceUnavailable && n != 1 {
				t.Errorf("logged %d times", n)
			}
		})
	}
}

// Why a service is not ready is said as far as anyone may know, and logged.
func TestReadinessFails(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err          error
		says, logged string
	}{
		{&service.Error{Code: service.Unavailable, Message: "The store cannot be reached", Err: errors.New("at 10.0.0.1")}, "The store cannot be reached", "at 10.0.0.1"},
		{errors.New("read-only"), "The service is not ready", `msg="not ready" error=read-only`},
	} {
		srv := newTestServerFor(t, rest.Options{}, func(s *service.Service) rest.Service {
			return failing{s, func() error { return test.err }}
		})
		a := srv.call(t, "", "GET", "/readyz", "")
		if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, test.says) || strings.Contains(a.body, "10.0.0.1") {
			t.Errorf("%+v", a)
		}
		if log := srv.log.String(); !strings.Contains(log, test.logged) {
			t.Errorf("the log does not say why: %s", log)
		}
		srv.wants(t, http.StatusOK, "", "GET", "/healthz", "")
	}
}

// halfway fails after the first part of a long list has been sent.
type halfway struct{ *service.Service }

func (h halfway) Messages(ctx context.Context, k service.Key, id string, p service.Page) (service.List, error) {
	if p.After == "msg_2" {
		return service.List{}, errors.New("broken")
	}
	list := service.List{Messages: make([]service.Summary, p.Limit), Total: 3 * p.Limit}
	for i := range list.Messages {
		list.Messages[i].ID = map[string]string{"": "msg_1", "msg_1": "msg_2"}[p.After]
	}
	return list, nil
}

// Half a list must not look complete.
func TestListThatFailsHalfwayIsCutOff(t *testing.T) {
	t.Parallel()
	srv := newTestServerFor(t, rest.Options{}, func(s *service.Service) rest.Service { return halfway{s} })
	key := srv.key(t, service.Dev)
	in := srv.newInbox(t, key)
	req, err := http.NewRequestWithContext(t.Context(), "GET", srv.base+in.path()+"/messages", nil)
	must(t, err)
	req.Header.Set("X-API-Key", key)
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
	}
	if err == nil {
		t.Error("the answer ended as if it were complete")
	}
}

// Large answers together take no more memory than allowed, and a request that waits too long for it
// is refused.
func TestLargeMessagesWaitForMemory(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	entered, leave := make(chan struct{}), make(chan struct{})
	srv := newTestServerFor(t, rest.Options{Large: limits.NewMemory(3 * size)}, func(s *service.Service) rest.Service {
		return slowStore{s, func() { entered <- struct{}{}; <-leave }}
	})
	key := srv.key(t, service.Dev)
	_, path := srv.newMessage(t, key, "Subject: large\r\n\r\n"+strings.Repeat("x", size))

	answers := make(chan answer)
	for range 2 {
		go func() { answers <- srv.call(t, key, "GET", path, "") }()
	}
	<-entered
	select {
	case <-entered:
		t.Error("two are read at once")
	case <-time.After(20 * time.Millisecond):
	}
	leave <- struct{}{}
	if a := <-answers; a.status != http.StatusOK || len(a.body) < size {
		t.Errorf("%d with %d bytes", a.status, len(a.body))
	}
	<-entered
	leave <- struct{}{}
	if a := <-answers; a.status != http.StatusOK {
		t.Errorf("the second: %d", a.status)
	}
}

type slowStore struct {
	*service.Service
	before func()
}

func (s slowStore) Message(ctx context.Context, k service.Key, inboxID, id string) (service.Message, error) {
	s.before()
	return s.Service.Message(ctx, k, inboxID, id)
}
