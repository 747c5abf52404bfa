package rest_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mayfly/service"
	"mayfly/service/rest"
)

// For another key an inbox answers, byte for byte, what one that never was does.
func TestOneKeySeesNothingOfAnothers(t *testing.T) {
	d := newDoor(t, rest.Options{})
	mine, theirs := d.key(t, service.Startup), d.key(t, service.Startup)
	in, never := d.newInbox(t, theirs), d.newInbox(t, theirs)
	d.deliver(t, in.Email, letter)
	message := get[messages](t, d, theirs, in.path()+"/messages").Messages[0].ID
	etag := d.call(t, theirs, "GET", in.path()+"/messages", "").header.Get("ETag")
	if a := d.call(t, theirs, "DELETE", never.path(), ""); a.status != http.StatusOK {
		t.Fatal(a.status)
	}

	for _, test := range []struct{ method, path string }{
		{"GET", ""},
		{"HEAD", ""},
		{"DELETE", ""},
		{"GET", "/messages"},
		{"GET", "/messages?limit=1&after=" + message},
		{"GET", "/messages/" + message},
		{"HEAD", "/messages/" + message},
		{"GET", "/messages/" + message + "/attachments/1"},
	} {
		for _, fields := range [][]string{nil, {"If-None-Match: *"}, {"If-None-Match: " + etag, "Prefer: wait=5"}, {"Accept: message/rfc822"}} {
			there := d.call(t, mine, test.method, in.path()+test.path, "", fields...)
			not := d.call(t, mine, test.method, never.path()+test.path, "", fields...)
			for _, a := range []answer{there, not} {
				a.header.Del("Date")
				a.header.Del("RateLimit")
			}
			if there.status != http.StatusNotFound || there.status != not.status || there.body != not.body || !sameHeader(there.header, not.header) {
				t.Errorf("%s %s %v: %+v, but %+v for one that does not exist", test.method, test.path, fields, there, not)
			}
		}
	}
	if list := get[map[string]any](t, d, mine, "/v1/inboxes"); list["total"] != 0.0 {
		t.Errorf("inboxes %v", list)
	}
	if a := d.call(t, theirs, "GET", in.path(), ""); a.status != http.StatusOK {
		t.Errorf("its owner gets %d", a.status)
	}

	// What is cached for its owner is not for others either.
	get[map[string]any](t, d, theirs, in.path()+"/messages/"+message)
	if a := d.call(t, mine, "GET", in.path()+"/messages/"+message, ""); a.status != http.StatusNotFound {
		t.Errorf("after its owner read it: %d", a.status)
	}
	// Nor is a message to be had through another inbox.
	own := d.newInbox(t, mine)
	d.deliver(t, own.Email, letter)
	if a := d.call(t, mine, "GET", own.path()+"/messages/"+message, ""); a.status != http.StatusNotFound {
		t.Errorf("through an inbox of its own: %d", a.status)
	}
}

func sameHeader(a, b http.Header) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if strings.Join(a[name], "\n") != strings.Join(b[name], "\n") {
			return false
		}
	}
	return true
}

// What is held for one key is not woken by another's mail, nor is its list.
func TestHeldRequestsOfOthersSleepOn(t *testing.T) {
	d := newDoor(t, rest.Options{})
	mine, theirs := d.key(t, service.Startup), d.key(t, service.Startup)
	in := d.newInbox(t, theirs)
	c := d.held(t, mine, "/v1/inboxes", d.call(t, mine, "GET", "/v1/inboxes", "").header.Get("ETag"))
	d.deliver(t, in.Email, letter)
	d.newInbox(t, theirs)
	own := d.newInbox(t, mine)
	a := <-c
	if list := decode[map[string]any](t, a, http.StatusOK); list["total"] != 1.0 || !strings.Contains(a.body, own.ID) {
		t.Errorf("got %s", a.body)
	}
}

func TestRateLimitIsExact(t *testing.T) {
	d := newDoor(t, rest.Options{})
	key := d.key(t, service.Dev)
	const limit = 60
	var ok, limited atomic.Int64
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			for range 10 {
				a := d.call(t, key, "GET", "/v1/no/such/path", "")
				switch a.status {
				case http.StatusNotFound:
					ok.Add(1)
				case http.StatusTooManyRequests:
					limited.Add(1)
					if a.header.Get("RateLimit-Policy") != `"minute";q=60;w=60` || !strings.HasPrefix(a.header.Get("RateLimit"), `"minute";r=0;t=`) || a.header.Get("Retry-After") == "" {
						t.Errorf("header %v", a.header)
					}
				default:
					t.Errorf("status %d", a.status)
				}
			}
		})
	}
	clients.Wait()
	if ok.Load() != limit || limited.Load() != 200-limit {
		t.Errorf("%d requests were let through and %d refused", ok.Load(), limited.Load())
	}
	// Another key has its own.
	if a := d.call(t, d.key(t, service.Startup), "GET", "/v1/inboxes", ""); a.header.Get("RateLimit") == "" || a.status != http.StatusOK {
		t.Errorf("another key: %d", a.status)
	}
	// Without a valid key nothing is counted or told.
	if a := d.call(t, "wrong", "GET", "/v1/inboxes", ""); a.header.Get("RateLimit") != "" || a.status != http.StatusUnauthorized {
		t.Errorf("a wrong key: %d %v", a.status, a.header)
	}
}

// A key that is revoked, rotated or sold another plan counts so from the next request on.
func TestKeyChangesCountAtOnce(t *testing.T) {
	d := newDoor(t, rest.Options{})
	secret, k, err := d.service.CreateKey(t.Context(), "", service.Dev)
	if err != nil {
		t.Fatal(err)
	}
	in := d.newInbox(t, secret)
	if _, err := d.service.SetPlan(t.Context(), k.ID, service.Startup); err != nil {
		t.Fatal(err)
	}
	if a := d.call(t, secret, "GET", in.path(), ""); a.header.Get("RateLimit-Policy") != `"minute";q=300;w=60` {
		t.Errorf("policy %s", a.header.Get("RateLimit-Policy"))
	}
	rotated, _, err := d.service.RotateKey(t.Context(), k.ID)
	if err != nil {
		t.Fatal(err)
	}
	if a := d.call(t, secret, "GET", in.path(), ""); a.status != http.StatusUnauthorized {
		t.Errorf("the old secret: %d", a.status)
	}
	if a := d.call(t, rotated, "GET", in.path(), ""); a.status != http.StatusOK {
		t.Errorf("the new secret: %d", a.status)
	}
	if _, err := d.service.RevokeKey(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	if a := d.call(t, rotated, "GET", in.path(), ""); a.status != http.StatusUnauthorized {
		t.Errorf("a revoked key: %d", a.status)
	}
}
