package rest_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"mayfly/service"
	"mayfly/service/rest"
)

// waits matches a field that asks for a long poll.
var waits = regexp.MustCompile(`(?i)wait\W*0*[1-9]`)

// FuzzRequest sends requests with a valid key. Each is answered as assets/openapi.yaml describes,
// and none is an error of the service.
func FuzzRequest(f *testing.F) {
	srv := newTestServerFor(f, rest.Options{Log: slog.New(slog.DiscardHandler)}, func(s *service.Service) rest.Service { return unlimited{s} })
	key := srv.key(f, service.Enterprise)
	in := srv.newInbox(f, key)
	srv.deliver(f, in.Email, "Subject: x\r\n\r\nx\r\n")
	message := get[messages](f, srv, key, in.path()+"/messages").Messages[0].ID
	for _, seed := range []struct{ method, path, body, field string }{
		{"POST", "/v1/inboxes", `{"username":"ada","domain":"one.test","ttl":60}`, ""},
		{"POST", "/v1/inboxes", `{"ttl":1e3,"ttl":"60"}{}`, "application/json; charset=latin1"},
		{"POST", "/v1/inboxes", "{\"username\":\"\\ud800\x00\xff\"}", "text/plain"},
		{"GET", "/v1/inboxes", "", `W/"1", "2"`},
		{"GET", in.path(), "", "*"},
		{"GET", in.path() + "/messages?limit=1&after=" + message, "", "wait=0; a=\"b\\\"\", respond-async"},
		{"GET", in.path() + "/messages/" + message, "", "message/rfc822;q=0.9, */*;q=0"},
		{"GET", in.path() + "/messages/" + message + "/attachments/1", "", "bytes=0-1"},
		{"DELETE", "/v1/inboxes/inbox_0", "{}", ""},
		{"PATCH", "//v1/../inboxes/%2e%2e?a=%zz;b", "[", ""},
	} {
		f.Add(seed.method, seed.path, seed.body, seed.field)
	}
	f.Fuzz(func(t *testing.T, method, path, body, field string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || u.Host != "" || !strings.HasPrefix(path, "/") || !regexp.MustCompile(`^[A-Z]+$`).MatchString(method) || waits.MatchString(field) {
			t.Skip("not a request that is answered at once")
		}
		path = u.RequestURI() // as a client writes it
		if method == http.MethodDelete && u.Path == in.path() || method == http.MethodHead {
			t.Skip("the inbox is needed")
		}
		r := (&http.Request{Method: method, URL: u, RequestURI: path, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: "mail.test",
			Header: http.Header{"X-Api-Key": {key}}, Body: http.NoBody, RemoteAddr: "127.0.0.1:1"}).WithContext(t.Context())
		if body != "" {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		}
		for _, name := range []string{"Content-Type", "If-None-Match", "Accept", "Prefer", "Range"} {
			if field != "" {
				r.Header.Set(name, field)
			}
		}
		w := httptest.NewRecorder()
		srv.server.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		checkDescribed(t, method, path, answer{w.Code, w.Header(), w.Body.String()})
	})
}
