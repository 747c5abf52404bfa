package rest_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"mayfly/service"
	"mayfly/service/rest"
)

// held makes a request that is held, and returns once it waits.
func (srv *testServer) held(t *testing.T, key, path, etag string) <-chan answer {
	t.Helper()
	before := srv.server.LongPolls()
	c := make(chan answer, 1)
	go func() { c <- srv.call(t, key, "GET", path, "", "If-None-Match: "+etag, "Prefer: wait=50") }()
	for srv.server.LongPolls() == before {
		select {
		case a := <-c:
			t.Fatalf("not held: %d %s", a.status, a.body)
		case <-time.After(time.Millisecond):
		}
	}
	return c
}

func TestHeldListAnswersADelivery(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
	in, other := srv.newInbox(t, key), srv.newInbox(t, key)
	path := in.path() + "/messages"
	etag := srv.call(t, key, "GET", path, "").header.Get("ETag")

	c := srv.held(t, key, path, etag)
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

func TestHeldInboxesAnswerEveryChange(t *testing.T) {
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
		c := srv.held(t, key, "/v1/inboxes", etag)
		change()
		a := <-c
		if a.status != http.StatusOK || a.header.Get("Preference-Applied") != "wait" || a.header.Get("ETag") == etag {
			t.Errorf("%s: %d %v", name, a.status, a.header)
		}
		etag = a.header.Get("ETag")
	}
	c := srv.held(t, key, "/v1/inboxes", etag)
	srv.call(t, key, "DELETE", made.path(), "")
	if a := <-c; a.status != http.StatusOK || a.header.Get("ETag") == etag {
		t.Errorf("deletion: %d", a.status)
	}
}

func TestHeldListEndsWithItsInbox(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
	in := srv.newInbox(t, key)
	etag := srv.call(t, key, "GET", in.path()+"/messages", "").header.Get("ETag")
	c := srv.held(t, key, in.path()+"/messages", etag)
	srv.call(t, key, "DELETE", in.path(), "")
	if a := <-c; a.status != http.StatusNotFound {
		t.Errorf("status %d", a.status)
	}
}

func TestHeldListEndsWhenTheTimeIsUp(t *testing.T) {
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
	// A request that does not ask for it is not held.
	a = srv.call(t, key, "GET", path, "", "If-None-Match: "+first.header.Get("ETag"))
	if a.status != http.StatusNotModified || a.header.Get("Preference-Applied") != "" {
		t.Errorf("%d %v", a.status, a.header)
	}
}

func TestBoundOfHeldRequests(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{MaxLongPolls: 1})
	key := srv.key(t, service.Dev)
	in := srv.newInbox(t, key)
	path := in.path() + "/messages"
	etag := srv.call(t, key, "GET", path, "").header.Get("ETag")
	c := srv.held(t, key, path, etag)
	a := srv.call(t, key, "GET", path, "", "If-None-Match: "+etag, "Prefer: wait=50")
	if a.status != http.StatusNotModified || a.header.Get("Preference-Applied") != "" {
		t.Errorf("%d %v: the client must know that it has to poll", a.status, a.header)
	}
	srv.deliver(t, in.Email, sampleMail)
	if a := <-c; a.status != http.StatusOK {
		t.Errorf("the held one: %d", a.status)
	}
}

func TestBoundOfHeldRequestsPerKey(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{MaxLongPolls: 2, MaxLongPollsPerKey: 1})
	one, other := srv.key(t, service.Dev), srv.key(t, service.Dev)
	in := srv.newInbox(t, one)
	path := in.path() + "/messages"
	etag := srv.call(t, one, "GET", path, "").header.Get("ETag")
	c := srv.held(t, one, path, etag)
	a := srv.call(t, one, "GET", path, "", "If-None-Match: "+etag, "Prefer: wait=50")
	if a.status != http.StatusNotModified || a.header.Get("Preference-Applied") != "" {
		t.Errorf("the second of a key: %d %v", a.status, a.header)
	}
	foreign := srv.held(t, other, "/v1/inboxes", srv.call(t, other, "GET", "/v1/inboxes", "").header.Get("ETag"))
	srv.deliver(t, in.Email, sampleMail)
	srv.newInbox(t, other)
	<-c
	<-foreign
	c = srv.held(t, one, path, srv.call(t, one, "GET", path, "").header.Get("ETag"))
	srv.deliver(t, in.Email, sampleMail)
	if a := <-c; a.status != http.StatusOK {
		t.Errorf("once the first was answered: %d", a.status)
	}
}

// A client that leaves while its body is still coming would go unnoticed.
func TestRequestWithABodyIsNotHeld(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
	a := srv.call(t, key, "GET", "/v1/inboxes", "{}", "If-None-Match: *", "Prefer: wait=50")
	if a.status != http.StatusNotModified || a.header.Get("Preference-Applied") != "" {
		t.Errorf("%d %v", a.status, a.header)
	}
}

func TestShutdownAnswersHeldRequests(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Startup)
	var answers []<-chan answer
	for range 10 {
		path := srv.newInbox(t, key).path() + "/messages"
		answers = append(answers, srv.held(t, key, path, srv.call(t, key, "GET", path, "").header.Get("ETag")))
	}
	answers = append(answers, srv.held(t, key, "/v1/inboxes", srv.call(t, key, "GET", "/v1/inboxes", "").header.Get("ETag")))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := srv.server.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	for _, c := range answers {
		if a := <-c; a.status != http.StatusNotModified {
			t.Errorf("status %d", a.status)
		}
	}
}

// Requests that are pipelined behind a held one are answered in turn, unless the client leaves.
func TestRequestsBehindAHeldOne(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
	in := srv.newInbox(t, key)
	host := strings.TrimPrefix(srv.base, "http://")
	request := func(path string, fields ...string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + strings.Join(append(fields, "X-API-Key: "+key), "\r\n") + "\r\n\r\n"
	}
	hold := []string{"If-None-Match: *", "Prefer: wait=50"}
	dial := func() net.Conn {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}

	leaves, stays := dial(), dial()
	for i, c := range []net.Conn{leaves, stays} {
		// The next request comes with the one that is held, and another one while it is.
		if _, err := io.WriteString(c, request(in.path()+"/messages", hold...)+request("/healthz")); err != nil {
			t.Fatal(err)
		}
		for srv.server.LongPolls() != i+1 {
			runtime.Gosched()
		}
		if _, err := io.WriteString(c, request(in.path())); err != nil {
			t.Fatal(err)
		}
	}
	if err := leaves.Close(); err != nil {
		t.Fatal(err)
	}
	srv.deliver(t, in.Email, "Subject: here\r\n\r\n")

	r := bufio.NewReader(stays)
	for _, want := range []string{`"subject":"here"`, `{"status":"ok"}`, `"message_count":1`} {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s %s, %v; want %s", resp.Status, body, err, want)
		}
	}
	// It can be held again.
	for srv.server.LongPolls() != 0 { // the connection that was closed
		runtime.Gosched()
	}
	if _, err := io.WriteString(stays, request(in.path()+"/messages", hold...)); err != nil {
		t.Fatal(err)
	}
	for srv.server.LongPolls() != 1 {
		runtime.Gosched()
	}
	srv.deliver(t, in.Email, "Subject: again\r\n\r\n")
	if resp, err := http.ReadResponse(r, nil); err != nil || resp.Header.Get("Preference-Applied") != "wait" {
		t.Errorf("held again: %v, %v", resp, err)
	}
}

// A held request is counted once.
func TestHeldRequestCountsOnce(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
	in := srv.newInbox(t, key)
	path := in.path() + "/messages"
	c := srv.held(t, key, path, srv.call(t, key, "GET", path, "").header.Get("ETag"))
	srv.deliver(t, in.Email, sampleMail)
	// Of 60, the creation, the list and the held list are used.
	if got := (<-c).header.Get("RateLimit"); !strings.HasPrefix(got, `"minute";r=57;`) {
		t.Errorf("left after three requests: %s", got)
	}
}

// A key that is revoked during the wait sees nothing more.
func TestHeldRequestOfARevokedKey(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	secret, k, err := srv.service.CreateKey(t.Context(), "", service.Dev)
	if err != nil {
		t.Fatal(err)
	}
	in := srv.newInbox(t, secret)
	path := in.path() + "/messages"
	c := srv.held(t, secret, path, srv.call(t, secret, "GET", path, "").header.Get("ETag"))
	to, err := srv.service.Recipient(t.Context(), in.Email)
	if err != nil {
		t.Fatal(err)
	}
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

func TestAClientThatLeavesFreesItsPlace(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
	in := srv.newInbox(t, key)
	path := in.path() + "/messages"
	etag := srv.call(t, key, "GET", path, "").header.Get("ETag")
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", srv.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"X-Api-Key": {key}, "If-None-Match": {etag}, "Prefer": {"wait=50"}}
	left := make(chan struct{})
	go func() {
		defer close(left)
		if a, err := http.DefaultClient.Do(r); err == nil {
			a.Body.Close()
			t.Error("answered")
		}
	}()
	until := func(held int) {
		for srv.server.LongPolls() != held {
			select {
			case <-t.Context().Done():
			case <-time.After(time.Millisecond):
			}
		}
	}
	until(1)
	cancel()
	<-left
	until(0) // long before the wait is over, or the test hangs
}
