package cli

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mayfly/internal/sockets"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	closed, err := sockets.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + sockets.Address(closed)

	environ := machine(t)
	serve := func(status int, contentType, body string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/base/readyz" || r.Header.Get("X-API-Key") != "" {
				status = http.StatusTeapot
			}
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			io.WriteString(w, body)
		}))
		t.Cleanup(s.Close)
		return s
	}
	for name, test := range map[string]struct {
		status            int
		contentType, body string
		want              string // "" when it is ready
	}{
		"ready":      {200, "application/json", `{"status":"ok"}`, ""},
		"not ready":  {503, "application/json", `{"error":{"code":503,"message":"The store cannot be reached"}}`, "not ready: The store cannot be reached"},
		"hostile":    {503, "application/json", `{"error":{"message":"a\u001b[31mb\n\u202ec"}}`, "not ready: a"},
		"a proxy":    {502, "text/html", "<h1>Bad gateway</h1>", "not ready: it answered 502 Bad Gateway"},
		"a web page": {200, "text/html", "<h1>Hello</h1>", "is the URL right?"},
		"no path":    {404, "application/json", `{}`, "is the URL right?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := serve(test.status, test.contentType, test.body).URL + "/base"
			r := run(t, append(environ, "MAYFLY_BASE_URL="+url, "MAYFLY_API_KEY=never-sent-anywhere"), "", "health")
			if test.want != "" {
				expectFailure(t, r, statusError, []string{test.want}, []string{"health"})
			} else if r.status != statusDone || r.stdout != "ready\n" || r.stderr != "" {
				t.Errorf("%+v", r)
			}
			if strings.ContainsAny(r.stderr, "\x1b\u202e") {
				t.Errorf("%q", r.stderr)
			}
		})
	}
	fails := func(status int, want string, args ...string) {
		t.Helper()
		args = append([]string{"health"}, args...)
		expectFailure(t, run(t, environ, "", args...), status, []string{want}, args)
	}
	fails(statusError, "refused the connection", nobody)
	fails(statusError, "does not speak TLS", strings.Replace(serve(200, "", "").URL, "http:", "https:", 1))
	fails(statusError, "there is no host nobody.invalid", "http://nobody.invalid")
	fails(statusUsage, "must start with https://", "127.0.0.1:8425")
	fails(statusUsage, "takes at most 1 argument", "a", "b")

	// Without a URL it is what `mayfly serve` would listen on with the same environment.
	ready := serve(200, "application/json", `{}`)
	_, port, _ := net.SplitHostPort(ready.Listener.Addr().String())
	ready.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "application/json") })
	for _, addr := range []string{":" + port, "127.0.0.1:" + port, "0.0.0.0:" + port} {
		if r := run(t, append(environ, "MAYFLY_SERVE_HTTP="+addr), "", "health"); r.status != statusDone {
			t.Errorf("%s: %+v", addr, r)
		}
	}
}
