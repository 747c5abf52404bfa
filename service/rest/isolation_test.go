package rest_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"mayfly/service"
	"mayfly/service/rest"
)

// To another key, an inbox answers byte for byte as one that never existed.
func TestInboxesOfOtherKeysDoNotExist(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	mine, theirs := srv.key(t, service.Startup), srv.key(t, service.Startup)
	in, never := srv.newInbox(t, theirs), srv.newInbox(t, theirs)
	srv.deliver(t, in.Email, sampleMail)
	message := get[messages](t, srv, theirs, in.path()+"/messages").Messages[0].ID
	etag := srv.call(t, theirs, "GET", in.path()+"/messages", "").header.Get("ETag")
	srv.wants(t, http.StatusOK, theirs, "DELETE", never.path(), "")

	for _, test := range []struct{ method, path string }{
		{"GET", ""},
		{"HEAD", ""},
		{"DELETE", ""},
		{"DELETE", "/messages"},
		{"DELETE", "/messages/" + message},
		{"GET", "/messages"},
		{"GET", "/messages?limit=1&after=" + message},
		{"GET", "/messages/" + message},
		{"HEAD", "/messages/" + message},
		{"GET", "/messages/" + message + "/attachments/1"},
		{"GET", "/messages/" + message + "/delivery"},
	} {
		for _, fields := range [][]string{nil, {"If-None-Match: *"}, {"If-None-Match: " + etag, "Prefer: wait=5"}, {"Accept: message/rfc822"}} {
			there := srv.call(t, mine, test.method, in.path()+test.path, "", fields...)
			not := srv.call(t, mine, test.method, never.path()+test.path, "", fields...)
			for _, a := range []answer{there, not} {
				a.header.Del("Date")
				a.header.Del("RateLimit")
			}
			if there.status != http.StatusNotFound || there.status != not.status || there.body != not.body || !reflect.DeepEqual(there.header, not.header) {
				t.Errorf("%s %s %v: %+v, but %+v for one that does not exist", test.method, test.path, fields, there, not)
			}
		}
	}
	there := srv.call(t, mine, "PATCH", in.path(), `{"ttl":600}`)
	if not := srv.call(t, mine, "PATCH", never.path(), `{"ttl":600}`); there.status != http.StatusNotFound || there.body != not.body {
		t.Errorf("PATCH: %+v, but %+v for one that does not exist", there, not)
	}
	srv.wants(t, http.StatusOK, theirs, "PUT", in.path()+"/state", `{"before":null,"after":"e30="}`)
	there = srv.call(t, mine, "PUT", in.path()+"/state", `{"before":"e30=","after":"e30="}`)
	if not := srv.call(t, mine, "PUT", never.path()+"/state", `{"before":"e30=","after":"e30="}`); there.status != http.StatusNotFound || there.body != not.body {
		t.Errorf("PUT: %+v, but %+v for one that does not exist", there, not)
	}
	if states := srv.call(t, mine, "GET", "/v1/states", "").body; strings.Contains(states, in.ID) {
		t.Errorf("what another key keeps: %s", states)
	}
	if list := get[map[string]any](t, srv, mine, "/v1/inboxes"); list["total"] != 0.0 {
		t.Errorf("inboxes %v", list)
	}
	srv.wants(t, http.StatusOK, theirs, "GET", in.path(), "")

	// The cache of answers makes no difference.
	get[map[string]any](t, srv, theirs, in.path()+"/messages/"+message)
	srv.wants(t, http.StatusNotFound, mine, "GET", in.path()+"/messages/"+message, "")
	// Nor can a message be read through another inbox.
	own := srv.newInbox(t, mine)
	srv.deliver(t, own.Email, sampleMail)
	srv.wants(t, http.StatusNotFound, mine, "GET", own.path()+"/messages/"+message, "")
	srv.wants(t, http.StatusNotFound, mine, "GET", own.path()+"/messages/"+message+"/delivery", "")
}
