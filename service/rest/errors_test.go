package rest_test

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"mayfly/service"
	"mayfly/service/limits"
	"mayfly/service/rest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Every error has the envelope. Its text is for people, who review it in the golden file.
func TestErrors(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key, free := srv.key(t, service.Startup), srv.key(t, service.Free)
	decode[inbox](t, srv.call(t, key, "POST", "/v1/inboxes", `{"username":"taken"}`), http.StatusCreated)
	mine := srv.newInbox(t, key)

	big := `{"username":"` + strings.Repeat("a", 64<<10) + `"}`
	var got strings.Builder
	for _, test := range []struct{ key, method, path, body, field string }{
		{"", "GET", "/v1/inboxes", "", ""},
		{"nonsense", "GET", "/v1/inboxes", "", ""},
		{"", "GET", "/v1/no/such/path", "", ""},
		{"", "PATCH", "/v1/inboxes", "", ""},
		{"", "GET", "/v1", "", ""},
		{free, "GET", "/v1/inboxes", "", ""},
		{free, "GET", "/v1/no/such/path", "", ""},

		{key, "GET", "/", "", ""},
		{key, "GET", "/no/such/path", "", ""},
		{key, "GET", "/v1", "", ""},
		{key, "GET", "/v1/inboxes/", "", ""},
		{key, "GET", "/v1//inboxes", "", ""},
		{key, "GET", "/v1/../healthz", "", ""},
		{key, "GET", "/v1/inboxes/inbox_none", "", ""},
		{key, "GET", "/v1/inboxes/%2e%2e%2f%00", "", ""},
		{key, "GET", "/v1/inboxes/inbox_none/messages", "", ""},
		{key, "GET", "/v1/inboxes/inbox_none/messages/msg_none", "", ""},
		{key, "GET", mine.path() + "/messages/msg_none", "", ""},
		{key, "GET", mine.path() + "/messages/msg_none/attachments/1", "", ""},
		{key, "DELETE", "/v1/inboxes/inbox_none", "", ""},
		{key, "DELETE", "/v1/inboxes/inbox_none/messages", "", ""},
		{key, "DELETE", mine.path() + "/messages/", "", ""},
		{key, "DELETE", mine.path() + "/messages/msg_none", "", ""},
		{key, "PATCH", "/v1/inboxes/inbox_none", `{"ttl":600}`, ""},
		{key, "PATCH", mine.path(), "", ""},
		{key, "PATCH", mine.path(), "{", ""},
		{key, "PATCH", mine.path(), `{"ttl":null}`, ""},
		{key, "PATCH", mine.path(), `{"ttl":"600"}`, ""},
		{key, "PATCH", mine.path(), `{"ttl":59}`, ""},
		{key, "PATCH", mine.path(), `{"ttl":604801}`, ""},
		{key, "PATCH", mine.path(), `{"ttl":600,"username":"a"}`, ""},

		{key, "POST", mine.path() + "/messages/msg_none/release", "", ""},
		{key, "PUT", "/v1/inboxes", "", ""},
		{key, "PUT", mine.path() + "/state", `{"before":null}`, ""},
		{key, "PUT", mine.path() + "/state", `{"before":"e30=","after":"e30="}`, ""},
		{key, "OPTIONS", mine.path(), "", ""},
		{key, "POST", mine.path() + "/messages", "", ""},
		{key, "PATCH", mine.path() + "/messages", "", ""},
		{"", "POST", "/healthz", "", ""},

		{key, "GET", mine.path() + "/messages?limit=1%zz", "", ""},
		{key, "GET", mine.path() + "/messages?limit=0", "", ""},
		{key, "GET", mine.path() + "/messages?limit=1001", "", ""},
		{key, "GET", mine.path() + "/messages?limit=x", "", ""},
		{key, "GET", mine.path() + "/messages?limit=", "", ""},
		{key, "GET", mine.path() + "/messages?after=", "", ""},
		{key, "GET", mine.path() + "/messages?after=msg_none", "", ""},

		{key, "POST", "/v1/inboxes", "{", ""},
		{key, "POST", "/v1/inboxes", "[]", ""},
		{key, "POST", "/v1/inboxes", "null", ""},
		{key, "POST", "/v1/inboxes", `{}{}`, ""},
		{key, "POST", "/v1/inboxes", `{} x`, ""},
		{key, "POST", "/v1/inboxes", `{}`, "Content-Type: text/plain"},
		{key, "POST", "/v1/inboxes", `username=a`, "Content-Type: application/x-www-form-urlencoded"},
		{key, "POST", "/v1/inboxes", `{}`, "Content-Encoding: gzip"},
		{key, "POST", "/v1/inboxes", `{"user":"a"}`, ""},
		{key, "POST", "/v1/inboxes", `{"Username":"a"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":7}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":null}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":""}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":"TAKEN"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":"Postmaster"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":"a..b"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":".a"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":"a-"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":"a b"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":"a@one.test"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":"a\nb"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":"ädä"}`, ""},
		{key, "POST", "/v1/inboxes", "{\"username\":\"\u212aey\"}", ""},
		{key, "POST", "/v1/inboxes", `{"username":"` + strings.Repeat("a", 65) + `"}`, ""},
		{key, "POST", "/v1/inboxes", `{"domain":"elsewhere.test"}`, ""},
		{key, "POST", "/v1/inboxes", `{"domain":["one.test"]}`, ""},
		{key, "POST", "/v1/inboxes", `{"ttl":"600"}`, ""},
		{key, "POST", "/v1/inboxes", `{"ttl":600.5}`, ""},
		{key, "POST", "/v1/inboxes", `{"ttl":true}`, ""},
		{key, "POST", "/v1/inboxes", `{"ttl":null}`, ""},
		{key, "POST", "/v1/inboxes", `{"ttl":0}`, ""},
		{key, "POST", "/v1/inboxes", `{"ttl":-60}`, ""},
		{key, "POST", "/v1/inboxes", `{"ttl":59}`, ""},
		{key, "POST", "/v1/inboxes", `{"ttl":604801}`, ""},
		{key, "POST", "/v1/inboxes", `{"ttl":9223372036854775807}`, ""},
		{key, "POST", "/v1/inboxes", `{"ttl":1e400}`, ""},
		{key, "POST", "/v1/inboxes", big, ""},
	} {
		fields := []string{}
		if test.field != "" {
			fields = append(fields, "Content-Type:", test.field)
		}
		a := srv.call(t, test.key, test.method, test.path, test.body, fields...)
		if a.status < 400 {
			t.Errorf("%s %s %s: %d", test.method, test.path, test.body, a.status)
		}
		who := map[string]string{"": "no key", key: "key", free: "free key"}[test.key]
		if who == "" {
			who = test.key
		}
		request := strings.ReplaceAll(test.path, mine.ID, "inbox_mine")
		if test.body != "" {
			request += " " + test.field + test.body[:min(len(test.body), 80)]
		}
		fmt.Fprintf(&got, "%s: %s %s\n  %d %s", who, test.method, request, a.status, a.body)
		for _, name := range []string{"Allow", "Www-Authenticate"} {
			if value := a.header.Get(name); value != "" {
				fmt.Fprintf(&got, "  %s: %s\n", name, value)
			}
		}
	}

	const golden = "testdata/errors.golden"
	if *update {
		must(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if got.String() != string(want) {
		t.Errorf("the errors are not those of %s (-update writes it):\n%s", golden, got.String())
	}
}

// A body of exactly the limit is accepted, one byte more is refused.
func TestBodyAtItsLimit(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Dev)
	body := `{"ttl":600` + strings.Repeat(" ", 64<<10-11) + `}`
	srv.wants(t, http.StatusCreated, key, "POST", "/v1/inboxes", body)
	srv.wants(t, http.StatusBadRequest, key, "POST", "/v1/inboxes", " "+body)
}

// What follows a body with two lengths is not taken for a request: to a proxy it may be part of the
// body.
func TestNoRequestIsSmuggledInABody(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Dev)
	c, err := net.Dial("tcp", strings.TrimPrefix(srv.base, "http://"))
	must(t, err)
	defer c.Close()
	const hidden = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	fmt.Fprintf(c, "POST /v1/inboxes HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%s",
		key, len("0\r\n\r\n"+hidden), hidden)
	got, _ := io.ReadAll(c) // the connection may be reset after the answer
	if n := strings.Count(string(got), "HTTP/1.1 "); n != 1 || !strings.HasPrefix(string(got), "HTTP/1.1 201 ") {
		t.Errorf("%d answers: %q", n, got)
	}
}

// The log contains neither keys nor bodies.
func TestLogIsDiscreet(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Dev)
	in := srv.newInbox(t, key)
	srv.deliver(t, in.Email, sampleMail)
	id := get[messages](t, srv, key, in.path()+"/messages").Messages[0].ID
	srv.call(t, key, "GET", in.path()+"/messages/"+id, "")
	srv.call(t, key, "POST", "/v1/inboxes", `{"username":"secret-in-a-body","x":1}`)
	srv.call(t, "mf_wrong-key", "GET", in.path(), "")
	log := srv.log.String()
	for _, secret := range []string{key, "mf_wrong-key", "secret-in-a-body", "482913", "Grüße", "ada@engine.example"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log has %q:\n%s", secret, log)
		}
	}
	if got := strings.Count(log, "msg=request "); got != 5 {
		t.Errorf("%d lines for 5 requests:\n%s", got, log)
	}
}

// Two keys count as none, even if they are valid: a proxy may have checked either.
func TestTwoKeysAreNone(t *testing.T) {
	t.Parallel()
	srv, key := newServerAndKey(t, service.Dev)
	for _, second := range []string{key, "mf_other"} {
		srv.wants(t, http.StatusUnauthorized, key, "GET", "/v1/inboxes", "", "X-API-Key: "+second)
	}
}

// An address that tries many keys is told nothing more about any, except about those it had used before.
func TestGuessesOfKeys(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry()
	srv := newTestServer(t, rest.Options{Guesses: limits.NewGuesses(3, slog.New(slog.DiscardHandler), "keys"), Metrics: metrics})
	used, unused := srv.key(t, service.Dev), srv.key(t, service.Dev)
	want := func(key string, status int) {
		t.Helper()
		if a := srv.call(t, key, "GET", "/v1/inboxes", ""); a.status != status {
			t.Errorf("%d %s, want %d", a.status, a.body, status)
		} else if status == http.StatusTooManyRequests && a.header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", a.header)
		}
	}
	for range 5 { // a request without a key is no guess
		want("", http.StatusUnauthorized)
	}
	want("mf_guess", http.StatusUnauthorized)
	want(used, http.StatusOK)
	want("mf_guess", http.StatusUnauthorized)
	want("mf_guess", http.StatusUnauthorized)
	want("mf_guess", http.StatusTooManyRequests)
	want(unused, http.StatusTooManyRequests)
	want(used, http.StatusOK)
	families, err := metrics.Gather()
	must(t, err)
	for _, f := range families {
		if f.GetName() == "mayfly_http_guesses_refused_total" && f.GetMetric()[0].GetCounter().GetValue() != 2 {
			t.Errorf("the metric is %v", f)
		}
	}
}
