package rest_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"mayfly/api"

	"mayfly/service"
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

		{key, "POST", mine.path() + "/messages/msg_none/release", "", ""},
		{key, "PUT", "/v1/inboxes", "", ""},
		{key, "OPTIONS", mine.path(), "", ""},
		{key, "POST", mine.path() + "/messages", "", ""},
		{key, "DELETE", mine.path() + "/messages/msg_none", "", ""},
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
		{key, "POST", "/v1/inboxes", `{"username":"a","username":"b"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":7}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":null}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":""}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":"taken"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":"postmaster"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":"a..b"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":".a"}`, ""},
		{key, "POST", "/v1/inboxes", `{"username":"a b"}`, ""},
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
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the errors are not those of %s (-update writes it):\n%s", golden, got.String())
	}
}

// A body of exactly the limit is accepted, one byte more is refused.
func TestBodyAtItsLimit(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
	body := `{"ttl":600` + strings.Repeat(" ", 64<<10-11) + `}`
	if a := srv.call(t, key, "POST", "/v1/inboxes", body); a.status != http.StatusCreated {
		t.Errorf("%d bytes: %d %s", len(body), a.status, a.body)
	}
	if a := srv.call(t, key, "POST", "/v1/inboxes", " "+body); a.status != http.StatusBadRequest {
		t.Errorf("%d bytes: %d", len(body)+1, a.status)
	}
}

// What is left of an answer after the buffer of net/http is written by itself, however short it is.
func TestEndsOfAnswers(t *testing.T) {
	t.Parallel()
	const buffer = 4 << 10
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Enterprise)
	in := srv.newInbox(t, key)
	read := func(length int) (answer int) {
		t.Helper()
		text := strings.Repeat("x", length)
		srv.deliver(t, in.Email, "Subject: a\r\n\r\n"+text)
		id := get[messages](t, srv, key, in.path()+"/messages?limit=1").Messages[0].ID
		c, err := net.Dial("tcp", strings.TrimPrefix(srv.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET %s/messages/%s HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nConnection: close\r\n\r\n", in.path(), id, key)
		all, err := io.ReadAll(c)
		if err != nil || !strings.Contains(string(all), text) || !strings.HasSuffix(string(all), "}\n") {
			t.Fatalf("%v, %d bytes", err, len(all))
		}
		return len(all)
	}
	none := 3000 - read(3000) + buffer // the text for which nothing is left
	for left := range 20 {
		if n := read(none + left); n != buffer+left {
			t.Errorf("the answer has %d bytes", n)
		}
	}
}

// A mail with an error of net/http in it is answered as it is, wherever the server divides the answer.
func TestAnErrorOfNetHTTPInAMail(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Enterprise)
	in := srv.newInbox(t, key)
	const answer = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	for shift := range len(answer) {
		raw := "Subject: a\r\n\r\n" + strings.Repeat("x", shift) + strings.Repeat(answer, 100)
		srv.deliver(t, in.Email, raw)
		id := get[messages](t, srv, key, in.path()+"/messages?limit=1").Messages[0].ID
		req, err := http.NewRequestWithContext(t.Context(), "GET", srv.base+in.path()+"/messages/"+id, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"X-Api-Key": {key}, "Accept": {"message/rfc822"}}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(got) != raw {
			t.Fatalf("moved by %d bytes: %v, %d of %d bytes, as sent: %v", shift, err, len(got), len(raw), string(got) == raw)
		}
	}
}

// A malformed request is answered in the envelope too, and its connection is closed.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	for _, test := range []struct {
		name, request string
		status        int
	}{
		{"no request", "hello\r\n\r\n", 400},
		{"no host", "GET /healthz HTTP/1.1\r\n\r\n", 400},
		{"two hosts", "GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
		{"a space in a field's name", "GET /healthz HTTP/1.1\r\nHost: x\r\nX Y: z\r\n\r\n", 400},
		{"a path that is none", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"two lengths", "POST /v1/inboxes HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400},
		{"a length below zero", "POST /v1/inboxes HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400},
		{"a header above the limit", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("a", 64<<10) + "\r\n\r\n", 431},
		{"a coding that is not known", "POST /v1/inboxes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
		{"a version that is not known", "GET /healthz HTTP/3.0\r\nHost: x\r\n\r\n", 505},
		{"an expectation that is not known", "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n", 417},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := net.Dial("tcp", strings.TrimPrefix(srv.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, test.request); err != nil {
				t.Log(err) // the server need not have read it all
			}
			r := bufio.NewReader(c)
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			var e api.ErrorBody
			if err := json.Unmarshal(body, &e); err != nil || e.Error.Code != test.status || e.Error.Message == "" {
				t.Errorf("no envelope of a %d: %v, %q", test.status, err, body)
			}
			if resp.StatusCode != test.status || resp.Header.Get("Content-Type") != "application/json" || !resp.Close {
				t.Errorf("%s, %s, closes: %v", resp.Status, resp.Header.Get("Content-Type"), resp.Close)
			}
			more, _ := io.ReadAll(r) // the connection may be reset after the answer
			if len(more) != 0 {
				t.Errorf("more: %q", more)
			}
		})
	}
}

// What follows a body with two lengths is not taken for a request: to a proxy it may be part of the
// body.
func TestNoRequestIsSmuggledInABody(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
	c, err := net.Dial("tcp", strings.TrimPrefix(srv.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
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
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
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
	srv := newTestServer(t, rest.Options{})
	key := srv.key(t, service.Dev)
	for _, second := range []string{key, "mf_other"} {
		if a := srv.call(t, key, "GET", "/v1/inboxes", "", "X-API-Key: "+second); a.status != http.StatusUnauthorized {
			t.Errorf("%d: %s", a.status, a.body)
		}
	}
}

// An address that tries many keys is told nothing more about any, except about those it had used before.
func TestGuessesOfKeys(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry()
	srv := newTestServer(t, rest.Options{MaxGuesses: 3, Metrics: metrics})
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
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "mayfly_http_guesses_refused_total" && f.GetMetric()[0].GetCounter().GetValue() != 2 {
			t.Errorf("the metric is %v", f)
		}
	}
}
