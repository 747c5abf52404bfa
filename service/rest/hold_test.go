package rest_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"mayfly/service"
	"mayfly/service/rest"
)

// held makes a request that is held, and returns once it waits.
func (d *door) held(t *testing.T, key, path, etag string) <-chan answer {
	t.Helper()
	before := d.server.Held()
	c := make(chan answer, 1)
	go func() { c <- d.call(t, key, "GET", path, "", "If-None-Match: "+etag, "Prefer: wait=50") }()
	for d.server.Held() == before {
		select {
		case a := <-c:
			t.Fatalf("not held: %d %s", a.status, a.body)
		case <-time.After(time.Millisecond):
		}
	}
	return c
}

func TestHeldListAnswersADelivery(t *testing.T) {
	d := newDoor(t, rest.Options{})
	key := d.key(t, service.Dev)
	in, other := d.newInbox(t, key), d.newInbox(t, key)
	path := in.path() + "/messages"
	etag := d.call(t, key, "GET", path, "").header.Get("ETag")

	c := d.held(t, key, path, etag)
	d.deliver(t, other.Email, "Subject: elsewhere\r\n\r\n")
	d.deliver(t, in.Email, "Subject: here\r\n\r\n")
	a := <-c
	if list := decode[messages](t, a, http.StatusOK); list.Total != 1 || list.Messages[0].Subject != "here" {
		t.Errorf("got %s", a.body)
	}
	if a.header.Get("Preference-Applied") != "wait" || a.header.Get("ETag") == etag {
		t.Errorf("header %v", a.header)
	}
}

func TestHeldInboxesAnswerEveryChange(t *testing.T) {
	d := newDoor(t, rest.Options{})
	key := d.key(t, service.Startup)
	in := d.newInbox(t, key)
	etag := d.call(t, key, "GET", "/v1/inboxes", "").header.Get("ETag")
	var made inbox
	for name, change := range map[string]func(){
		"delivery": func() { d.deliver(t, in.Email, letter) },
		"creation": func() { made = d.newInbox(t, key) },
	} {
		c := d.held(t, key, "/v1/inboxes", etag)
		change()
		a := <-c
		if a.status != http.StatusOK || a.header.Get("Preference-Applied") != "wait" || a.header.Get("ETag") == etag {
			t.Errorf("%s: %d %v", name, a.status, a.header)
		}
		etag = a.header.Get("ETag")
	}
	c := d.held(t, key, "/v1/inboxes", etag)
	d.call(t, key, "DELETE", made.path(), "")
	if a := <-c; a.status != http.StatusOK || a.header.Get("ETag") == etag {
		t.Errorf("deletion: %d", a.status)
	}
}

func TestHeldListEndsWithItsInbox(t *testing.T) {
	d := newDoor(t, rest.Options{})
	key := d.key(t, service.Dev)
	in := d.newInbox(t, key)
	etag := d.call(t, key, "GET", in.path()+"/messages", "").header.Get("ETag")
	c := d.held(t, key, in.path()+"/messages", etag)
	d.call(t, key, "DELETE", in.path(), "")
	if a := <-c; a.status != http.StatusNotFound {
		t.Errorf("status %d", a.status)
	}
}

func TestHeldListEndsWhenTheTimeIsOver(t *testing.T) {
	d := newDoor(t, rest.Options{MaxWait: time.Millisecond})
	key := d.key(t, service.Dev)
	path := d.newInbox(t, key).path() + "/messages"
	first := d.call(t, key, "GET", path, "", "Prefer: wait=50")
	if first.status != http.StatusOK || first.header.Get("Preference-Applied") != "wait" {
		t.Errorf("without a tag: %d %v", first.status, first.header)
	}
	// The service's longest wait counts, not the client's.
	a := d.call(t, key, "GET", path, "", "If-None-Match: "+first.header.Get("ETag"), "Prefer: wait=50")
	if a.status != http.StatusNotModified || a.header.Get("Preference-Applied") != "wait" {
		t.Errorf("%d %v", a.status, a.header)
	}
	// And who does not ask is not held.
	a = d.call(t, key, "GET", path, "", "If-None-Match: "+first.header.Get("ETag"))
	if a.status != http.StatusNotModified || a.header.Get("Preference-Applied") != "" {
		t.Errorf("%d %v", a.status, a.header)
	}
}

func TestNoMoreRequestsAreHeldThanMayBe(t *testing.T) {
	d := newDoor(t, rest.Options{MaxHeld: 1})
	key := d.key(t, service.Dev)
	in := d.newInbox(t, key)
	path := in.path() + "/messages"
	etag := d.call(t, key, "GET", path, "").header.Get("ETag")
	c := d.held(t, key, path, etag)
	a := d.call(t, key, "GET", path, "", "If-None-Match: "+etag, "Prefer: wait=50")
	if a.status != http.StatusNotModified || a.header.Get("Preference-Applied") != "" {
		t.Errorf("%d %v: the client must know that it has to poll", a.status, a.header)
	}
	d.deliver(t, in.Email, letter)
	if a := <-c; a.status != http.StatusOK {
		t.Errorf("the held one: %d", a.status)
	}
}

func TestShutdownAnswersHeldRequests(t *testing.T) {
	d := newDoor(t, rest.Options{})
	key := d.key(t, service.Startup)
	var answers []<-chan answer
	for range 10 {
		path := d.newInbox(t, key).path() + "/messages"
		answers = append(answers, d.held(t, key, path, d.call(t, key, "GET", path, "").header.Get("ETag")))
	}
	answers = append(answers, d.held(t, key, "/v1/inboxes", d.call(t, key, "GET", "/v1/inboxes", "").header.Get("ETag")))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := d.server.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	for _, c := range answers {
		if a := <-c; a.status != http.StatusNotModified {
			t.Errorf("status %d", a.status)
		}
	}
}

// A client that leaves is not waited for.
func TestHeldRequestEndsWithItsClient(t *testing.T) {
	d := newDoor(t, rest.Options{})
	key := d.key(t, service.Dev)
	path := d.newInbox(t, key).path() + "/messages"
	etag := d.call(t, key, "GET", path, "").header.Get("ETag")
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", d.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", key)
	req.Header.Set("If-None-Match", etag)
	req.Header.Set("Prefer", "wait=50")
	var client sync.WaitGroup
	client.Go(func() {
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			t.Errorf("answered %d", resp.StatusCode)
		}
	})
	for d.server.Held() == 0 {
		time.Sleep(time.Millisecond)
	}
	leave()
	client.Wait()
	for d.server.Held() != 0 {
		time.Sleep(time.Millisecond)
	}
}
