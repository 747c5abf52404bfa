package rest_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"mayfly/api"
	"mayfly/assets"
	"mayfly/internal/fortest"
	"mayfly/service"
	"mayfly/service/pebble"
	"mayfly/service/rest"
)

// testServer is the REST API of a fresh service, on a listener of its own.
type testServer struct {
	base    string
	service *service.Service
	server  *rest.Server
	log     *fortest.Log
}

func newTestServer(t testing.TB, o rest.Options) *testServer {
	t.Helper()
	return newTestServerFor(t, o, func(s *service.Service) rest.Service { return s })
}

func newServerAndKey(t testing.TB, plan service.Plan) (srv *testServer, key string) {
	t.Helper()
	srv = newTestServer(t, rest.Options{})
	return srv, srv.key(t, plan)
}

// newTestServerFor serves what between makes of a fresh service.
func newTestServerFor(t testing.TB, o rest.Options, between func(*service.Service) rest.Service) *testServer {
	t.Helper()
	store, err := pebble.Open(t.TempDir(), pebble.Options{Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	srv := &testServer{log: &fortest.Log{}}
	srv.service = service.New(store, service.Options{Domains: []string{"one.test", "two.test"}, Log: slog.New(slog.DiscardHandler)})
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(srv.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	o.Sessions = func(context.Context, service.Key) (api.SessionList, error) {
		return api.SessionList{Sessions: []api.Session{}}, nil
	}
	srv.server = rest.New(between(srv.service), o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	srv.base = "http://" + l.Addr().String()
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := srv.server.Serve(l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		if err := srv.server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return srv
}

var must = fortest.Must

func (srv *testServer) key(t testing.TB, plan service.Plan) string {
	t.Helper()
	secret, _, err := srv.service.CreateKey(t.Context(), t.Name(), plan)
	must(t, err)
	return secret
}

func (srv *testServer) deliver(t testing.TB, address, raw string) {
	t.Helper()
	to, err := srv.service.Recipient(t.Context(), "", address)
	must(t, err)
	err = srv.service.Deliver(t.Context(), service.Delivery{From: "envelope@sender.example", To: []service.Recipient{to}, Raw: []byte(raw), Refused: []service.Recipient{
		{Address: "typo@x.test", Refused: "550 5.1.1 No such inbox"}, {Refused: "452 4.5.3 Too many recipients"},
	}, Session: service.Session{
		Client: "192.0.2.7:40000", Connected: time.Now(), Hello: "EHLO app.example", TLS: "TLS 1.3", Login: "ad<a>", Messages: map[string]int{to.KeyID: 2}, Parameters: "SIZE=2048 BODY=8BITMIME",
	}})
	must(t, err)
}

// newMessage lets a message arrive in an inbox of its own, and returns the inbox and the path of the message.
func (srv *testServer) newMessage(t testing.TB, key, raw string) (in inbox, path string) {
	t.Helper()
	in = srv.newInbox(t, key)
	srv.deliver(t, in.Email, raw)
	list := get[messages](t, srv, key, in.path()+"/messages")
	return in, in.path() + "/messages/" + list.Messages[0].ID
}

type answer struct {
	status int
	header http.Header
	body   string
}

// call makes a request and checks the answer against the description of the API. Header fields are
// given as "Name: value"; one without a value is left out.
func (srv *testServer) call(t testing.TB, key, method, path, body string, fields ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, srv.base+path, strings.NewReader(body))
	must(t, err)
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ":")
		if value = strings.TrimSpace(value); value == "" {
			req.Header.Del(name)
			continue
		}
		req.Header.Add(name, value)
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	must(t, err)
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	must(t, err)
	a := answer{resp.StatusCode, resp.Header, string(content)}
	checkDescribed(t, method, path, a)
	return a
}

func (srv *testServer) wants(t testing.TB, status int, key, method, path, body string, fields ...string) {
	t.Helper()
	if a := srv.call(t, key, method, path, body, fields...); a.status != status {
		t.Errorf("%s %s %q: %d %s, want %d", method, path, fields, a.status, a.body, status)
	}
}

// get is call with GET, and decodes what must be a success.
func get[T any](t testing.TB, srv *testServer, key, path string) T {
	t.Helper()
	return decode[T](t, srv.call(t, key, "GET", path, ""), http.StatusOK)
}

func decode[T any](t testing.TB, a answer, status int) (v T) {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return v
}

type inbox struct {
	ID    string `json:"id"`
	Email string `json:"email"`
}

func (i inbox) path() string { return "/v1/inboxes/" + i.ID }

func (srv *testServer) newInbox(t testing.TB, key string) inbox {
	t.Helper()
	return decode[inbox](t, srv.call(t, key, "POST", "/v1/inboxes", ""), http.StatusCreated)
}

type messages struct {
	Messages []struct {
		ID      string `json:"id"`
		Subject string `json:"subject"`
	} `json:"messages"`
	Total int `json:"total"`
}

var description = sync.OnceValues(func() (routers.Router, error) {
	for _, contentType := range []string{"message/rfc822"} {
		openapi3filter.RegisterBodyDecoder(contentType, openapi3filter.FileBodyDecoder)
	}
	doc, err := openapi3.NewLoader().LoadFromData(assets.OpenAPI)
	if err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(doc)
})

// checkDescribed checks an answer against assets/openapi.yaml. An answer to a path or method that
// is not described must be an error in the envelope.
func checkDescribed(t testing.TB, method, path string, a answer) {
	t.Helper()
	router, err := description()
	must(t, err)
	if method == http.MethodHead {
		method = http.MethodGet
		if a.body != "" {
			t.Errorf("HEAD %s has a body: %s", path, a.body)
		}
		return
	}
	if got := a.header.Get("X-Content-Type-Options"); got != "nosniff" {
		t.Errorf("%s %s: X-Content-Type-Options: %q", method, path, got)
	}
	if a.status == http.StatusNotModified {
		if a.body != "" || a.header.Get("ETag") == "" {
			t.Errorf("%s %s: 304 with body %q and ETag %q", method, path, a.body, a.header.Get("ETag"))
		}
		return
	}
	if path == "/mcp" { // is JSON-RPC
		return
	}
	req := httptest.NewRequest(method, path, nil)
	route, params, err := router.FindRoute(req)
	if err != nil {
		// An answer to a path or a method that is not described: the description of readiness has
		// the plain error.
		route, params, err = router.FindRoute(httptest.NewRequest("GET", "/readyz", nil))
		must(t, err)
		if a.status < 401 || a.status > 405 && a.status != http.StatusTooManyRequests {
			t.Errorf("%s %s is not described and answers %d", method, path, a.status)
		}
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route},
		Status:                 a.status,
		Header:                 a.header,
		Options:                &openapi3filter.Options{IncludeResponseStatus: true},
	}
	input.SetBodyBytes([]byte(a.body))
	if err := openapi3filter.ValidateResponse(context.Background(), input); err != nil {
		t.Errorf("%s %s is not as described: %v", method, path, err)
	}
	if a.status >= 400 {
		var e struct{ Error struct{ Code int } }
		if err := json.Unmarshal([]byte(a.body), &e); err != nil || e.Error.Code != a.status {
			t.Errorf("%s %s: status %d with %s", method, path, a.status, a.body)
		}
	}
}
