package rest_test

import (
	"net/http"
	"testing"
	"time"

	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/rest"
)

// longPoll makes a long poll, and returns once it waits.
func (srv *testServer) longPoll(t *testing.T, key, path, etag string) <-chan answer {
	t.Helper()
	before := srv.server.LongPolls()
	c := make(chan answer, 1)
	go func() { c <- srv.call(t, key, "GET", path, "", "If-None-Match: "+etag, "Prefer: wait=50") }()
	for srv.server.LongPolls() == before {
		select {
		case a := <-c:
			t.Fatalf("no long poll: %d %s", a.status, a.body)
		case <-time.After(time.Millisecond):
		}
	}
	return c
}

func TestBoundsOfLongPolls(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{MaxLongPolls: 2, MaxLongPollsPerKey: 1})
	one, other, third := srv.key(t, service.Dev), srv.key(t, service.Dev), srv.key(t, service.Dev)
	refused := func(key string) {
		t.Helper()
		a := srv.call(t, key, "GET", "/v1/inboxes", "", "If-None-Match: *", "Prefer: wait=50")
		if a.status != http.StatusNotModified || a.header.Get("Preference-Applied") != "" {
			t.Errorf("%d %v: the client must know that it has to poll", a.status, a.header)
		}
	}
	first := srv.longPoll(t, one, "/v1/inboxes", "*")
	refused(one)
	second := srv.longPoll(t, other, "/v1/inboxes", "*")
	refused(third)
	srv.newInbox(t, one)
	srv.newInbox(t, other)
	if a, b := <-first, <-second; a.status != http.StatusOK || b.status != http.StatusOK {
		t.Errorf("those that waited: %d, %d", a.status, b.status)
	}
	first = srv.longPoll(t, one, "/v1/inboxes", "*")
	srv.newInbox(t, one)
	<-first
}

// A client that leaves while its body is still coming would go unnoticed.
func TestRequestWithABodyDoesNotWait(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Dev)
	a := srv.call(t, key, "GET", "/v1/inboxes", "{}", "If-None-Match: *", "Prefer: wait=50")
	if a.status != http.StatusNotModified || a.header.Get("Preference-Applied") != "" {
		t.Errorf("%d %v", a.status, a.header)
	}
}

// A key that is revoked during the wait sees nothing more.
func TestLongPollOfARevokedKey(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	secret, k, err := srv.service.CreateKey(t.Context(), "", service.Dev)
	must(t, err)
	in := srv.newInbox(t, secret)
	path := in.path() + "/messages"
	c := srv.longPoll(t, secret, path, srv.call(t, secret, "GET", path, "").header.Get("ETag"))
	to, err := srv.service.Recipient(t.Context(), "", in.Email)
	must(t, err)
	must(t, fortest.Failure(srv.service.RevokeKey(t.Context(), k.ID)))
	if err := srv.service.Deliver(t.Context(), service.Delivery{To: []service.Recipient{to}, Raw: []byte(sampleMail)}); err != nil {
		t.Skip("nothing arrives for a revoked key, so that nothing can be seen")
	}
	if a := <-c; a.status != http.StatusUnauthorized {
		t.Errorf("%d %s", a.status, a.body)
	}
}
