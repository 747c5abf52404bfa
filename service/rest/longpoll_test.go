package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

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

func TestLongPollAnswersADelivery(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
	in, other := srv.newInbox(t, key), srv.newInbox(t, key)
	path := in.path() + "/messages"
	etag := srv.call(t, key, "GET", path, "").header.Get("ETag")

	c := srv.longPoll(t, key, path, etag)
	srv.deliver(t, other.Email, "Subject: elsewhere\r\n\r\n")
	srv.deliver(t, in.Email, "Subject: here\r\n\r\n")
	a := <-c
	if list := decode[messages](t, a, http.StatusOK); list.Total != 1 || list.Messages[0].Subject != "here" {
		t.Errorf("got %s", a.body)
	}
	if a.header.Get("Preference-Applied") != "wait" || a.header.Get("ETag") == etag {
		t.Errorf("header %v", a.header)
	}
}

func TestLongPollOfInboxesAnswersEveryChange(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Startup)
	in := srv.newInbox(t, key)
	etag := srv.call(t, key, "GET", "/v1/inboxes", "").header.Get("ETag")
	var made inbox
	for name, change := range map[string]func(){
		"delivery": func() { srv.deliver(t, in.Email, sampleMail) },
		"creation": func() { made = srv.newInbox(t, key) },
	} {
		c := srv.longPoll(t, key, "/v1/inboxes", etag)
		change()
		a := <-c
		if a.status != http.StatusOK || a.header.Get("Preference-Applied") != "wait" || a.header.Get("ETag") == etag {
			t.Errorf("%s: %d %v", name, a.status, a.header)
		}
		etag = a.header.Get("ETag")
	}
	c := srv.longPoll(t, key, "/v1/inboxes", etag)
	srv.call(t, key, "DELETE", made.path(), "")
	if a := <-c; a.status != http.StatusOK || a.header.Get("ETag") == etag {
		t.Errorf("deletion: %d", a.status)
	}
}

func TestLongPollEndsWithItsInbox(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
	in := srv.newInbox(t, key)
	etag := srv.call(t, key, "GET", in.path()+"/messages", "").header.Get("ETag")
	c := srv.longPoll(t, key, in.path()+"/messages", etag)
	srv.call(t, key, "DELETE", in.path(), "")
	if a := <-c; a.status != http.StatusNotFound {
		t.Errorf("status %d", a.status)
	}
}

func TestLongPollEndsWhenTheTimeIsUp(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{MaxWait: time.Millisecond})
	key := srv.key(t, service.Dev)
	path := srv.newInbox(t, key).path() + "/messages"
	first := srv.call(t, key, "GET", path, "", "Prefer: wait=50")
	if first.status != http.StatusOK || first.header.Get("Preference-Applied") != "wait" {
		t.Errorf("without a tag: %d %v", first.status, first.header)
	}
	// The service's longest wait counts, not the client's.
	a := srv.call(t, key, "GET", path, "", "If-None-Match: "+first.header.Get("ETag"), "Prefer: wait=50")
	if a.status != http.StatusNotModified || a.header.Get("Preference-Applied") != "wait" {
		t.Errorf("%d %v", a.status, a.header)
	}
	// A request that does not ask for it does not wait.
	a = srv.call(t, key, "GET", path, "", "If-None-Match: "+first.header.Get("ETag"))
	if a.status != http.StatusNotModified || a.header.Get("Preference-Applied") != "" {
		t.Errorf("%d %v", a.status, a.header)
	}
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
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
	a := srv.call(t, key, "GET", "/v1/inboxes", "{}", "If-None-Match: *", "Prefer: wait=50")
	if a.status != http.StatusNotModified || a.header.Get("Preference-Applied") != "" {
		t.Errorf("%d %v", a.status, a.header)
	}
}

func TestShutdownAnswersLongPolls(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Startup)
	var answers []<-chan answer
	for range 10 {
		path := srv.newInbox(t, key).path() + "/messages"
		answers = append(answers, srv.longPoll(t, key, path, srv.call(t, key, "GET", path, "").header.Get("ETag")))
	}
	answers = append(answers, srv.longPoll(t, key, "/v1/inboxes", srv.call(t, key, "GET", "/v1/inboxes", "").header.Get("ETag")))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	must(t, srv.server.Shutdown(ctx))
	for _, c := range answers {
		if a := <-c; a.status != http.StatusNotModified {
			t.Errorf("status %d", a.status)
		}
	}
}

// A long poll is counted once.
func TestLongPollCountsOnce(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
	in := srv.newInbox(t, key)
	path := in.path() + "/messages"
	c := srv.longPoll(t, key, path, srv.call(t, key, "GET", path, "").header.Get("ETag"))
	srv.deliver(t, in.Email, sampleMail)
	// Of 60, the creation, the list and the long poll are used.
	if got := (<-c).header.Get("RateLimit"); !strings.HasPrefix(got, `"minute";r=57;`) {
		t.Errorf("left after three requests: %s", got)
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
	to, err := srv.service.Recipient(t.Context(), in.Email)
	must(t, err)
	if _, err := srv.service.RevokeKey(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	if err := srv.service.Deliver(t.Context(), service.Delivery{To: []service.Recipient{to}, Raw: []byte(sampleMail)}); err != nil {
		t.Skip("nothing arrives for a revoked key, so that nothing can be seen")
	}
	if a := <-c; a.status != http.StatusUnauthorized {
		t.Errorf("%d %s", a.status, a.body)
	}
}
