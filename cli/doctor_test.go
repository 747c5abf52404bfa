package cli

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mayfly/api/apitest"
	"mayfly/internal/sockets"
)

// finding returns what doctor says of something.
func finding(t *testing.T, r result, name string) string {
	t.Helper()
	for line := range strings.Lines(r.stdout) {
		if said, ok := strings.CutPrefix(line, name+strings.Repeat(" ", nameWidth-len(name))); ok {
			return strings.TrimSpace(said)
		}
	}
	t.Errorf("doctor says nothing of %s: %s%s", name, r.stdout, r.stderr)
	return ""
}

// The user learns what the keyring can do before it is needed.
func TestDoctorTriesTheKeyringWhereverTheKeyIsFrom(t *testing.T) {
	s := newHarness(t, apitest.Options{})
	hosted := s.run("doctor")
	for name, r := range map[string]result{"hosted": hosted, "local": run(t, machine(t), "", "doctor")} {
		if got := finding(t, r, "keyring"); runtime.GOOS == "windows" {
			if r.status != statusDone || !strings.Contains(got, "works") {
				t.Errorf("%s: status %d, %q", name, r.status, got)
			}
		} else if r.status != statusDone || !strings.Contains(got, "no session bus") || !strings.Contains(got, "mayfly key set --file") {
			t.Errorf("%s: status %d, %q", name, r.status, got)
		}
	}
	if got := finding(t, hosted, "key"); !strings.HasSuffix(got, "ends in "+apitest.Key[len(apitest.Key)-4:]) {
		t.Errorf("the key: %q", got)
	}
	short := s.with("MAYFLY_API_KEY=short")
	for _, command := range [][]string{{"doctor"}, {"key", "status"}} {
		if r := short.run(command...); !strings.Contains(r.stdout, "too short to show its end") || strings.Contains(r.stdout, "ends in") {
			t.Errorf("%q says %s%s", command, r.stdout, r.stderr)
		}
	}
}

func TestDoctorLeavesNothingBehind(t *testing.T) {
	environ := machine(t)
	if r := run(t, environ, "", "doctor"); r.status != statusDone {
		t.Errorf("%+v", r)
	}
	_, config, _ := strings.Cut(environ[0], "=")
	if left, err := os.ReadDir(filepath.Dir(config)); err != nil || len(left) > 0 {
		t.Errorf("there is %v, %v", left, err)
	}
}

// silent is a network without an answer.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestDoctorDoesNotWaitForASlowService(t *testing.T) {
	offline(t, apitest.Options{}, func(t *testing.T, s *harness) {
		s.transport = silent{}
		begin := time.Now()
		r := s.run("doctor")
		if got := finding(t, r, "answer"); r.status != statusError || !strings.HasSuffix(got, "no answer within 5s") {
			t.Errorf("status %d, %q", r.status, got)
		}
		if took := time.Since(begin); took > doctorTimeout {
			t.Errorf("it took %v", took)
		}
	})
}

func TestDoctorSaysWhatATerminalGets(t *testing.T) {
	environ := machine(t)
	for name, test := range map[string]struct {
		args []string
		want map[string]string
	}{
		"a pipe": {[]string{"doctor"}, map[string]string{"terminal": "none on stdout", "colours": "none", "images": "none"}},
		"a pipe with colours": {[]string{"doctor", "--color", "always"},
			map[string]string{"terminal": "none on stdout", "colours": "256", "images": "half blocks"}},
	} {
		r := run(t, environ, "", test.args...)
		for what, want := range test.want {
			if got := finding(t, r, what); got != want {
				t.Errorf("%s: %s %q, want %q", name, what, got, want)
			}
		}
	}
}

func TestDoctorComparesClocks(t *testing.T) {
	for ahead, want := range map[time.Duration]string{0: "agrees with the service's", 7 * time.Minute: "behind the service's", -7 * time.Minute: "ahead of the service's"} {
		if got := finding(t, newHarness(t, apitest.Options{Ahead: ahead}).run("doctor"), "clock"); !strings.Contains(got, want) {
			t.Errorf("%v ahead: %q", ahead, got)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	closed, err := sockets.FreePort()
	must(t, err)
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
