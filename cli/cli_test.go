package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/internal/fortest"
)

// harness is a service and the environment in which commands use it.
type harness struct {
	t       *testing.T
	service *apitest.Server
	url     string
	environ []string

	transport http.RoundTripper // nil for the network
}

// newHarness starts a service, by default without extensions, and an environment that names it.
func newHarness(t *testing.T, o apitest.Options) *harness {
	t.Helper()
	s := &harness{t: t, service: apitest.New(t, o)}
	web := httptest.NewServer(s.service)
	t.Cleanup(web.Close)
	s.uses(web.URL)
	return s
}

// offline runs a test on a service without a network, in a bubble of testing/synctest.
func offline(t *testing.T, o apitest.Options, test func(t *testing.T, s *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &harness{t: t, service: apitest.New(t, o)}
		s.transport = s.service.Transport()
		t.Cleanup(s.service.Close)
		s.uses("http://127.0.0.1:1")
		test(t, s)
	})
}

// uses makes the environment in which the service at url is used.
func (s *harness) uses(url string) {
	s.url, s.environ = url, append(machine(s.t), "MAYFLY_BASE_URL="+url, "MAYFLY_API_KEY="+apitest.Key)
}

// with is s with more environment variables.
func (s *harness) with(variables ...string) *harness {
	other := *s
	other.environ = append(slices.Clone(s.environ), variables...)
	return &other
}

// machine returns the environment of a machine on which nothing is configured.
func machine(t *testing.T) []string {
	dir := t.TempDir()
	var environ []string
	for _, name := range []string{"CONFIG", "DATA", "STATE", "CACHE"} {
		environ = append(environ, "XDG_"+name+"_HOME="+filepath.Join(dir, strings.ToLower(name)))
	}
	return environ
}

// result is the outcome of a run.
type result struct {
	status         int
	stdout, stderr string
}

func run(t *testing.T, environ []string, stdin string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := Run(t.Context(), args, Env{strings.NewReader(stdin), &stdout, &stderr, environ})
	return result{status, stdout.String(), stderr.String()}
}

func (s *harness) run(args ...string) result {
	s.t.Helper()
	if s.transport == nil {
		return run(s.t, s.environ, "", args...)
	}
	var stdout, stderr bytes.Buffer
	a := &app{env: Env{strings.NewReader(""), &stdout, &stderr, s.environ}, transport: s.transport}
	return result{a.run(s.t.Context(), args), stdout.String(), stderr.String()}
}

// does runs a command that must succeed and returns what it printed.
func (s *harness) does(args ...string) string {
	s.t.Helper()
	r := s.run(args...)
	if r.status != 0 {
		s.t.Fatalf("mayfly %s: status %d: %s", strings.Join(args, " "), r.status, r.stderr)
	}
	return r.stdout
}

// prints runs a command that must succeed and print want.
func (s *harness) prints(want string, args ...string) {
	s.t.Helper()
	if got := s.does(args...); got != want {
		s.t.Errorf("mayfly %s printed %q, want %q", strings.Join(args, " "), got, want)
	}
}

// fails runs a command that must end with status and an error line that has all of parts.
func (s *harness) fails(status int, parts []string, args ...string) {
	s.t.Helper()
	expectFailure(s.t, s.run(args...), status, parts, args)
}

func expectFailure(t *testing.T, r result, status int, parts, args []string) {
	t.Helper()
	command := "mayfly " + strings.Join(args, " ")
	if r.status != status {
		t.Errorf("%s: status %d, want %d: %s", command, r.status, status, r.stderr)
	}
	if strings.Count(r.stderr, "\n") != 1 || !strings.HasPrefix(r.stderr, "mayfly: ") {
		t.Errorf("%s: stderr is not one line: %q", command, r.stderr)
	}
	for _, part := range parts {
		if !strings.Contains(r.stderr, part) {
			t.Errorf("%s: %q is not in %q", command, part, r.stderr)
		}
	}
	if r.stdout != "" {
		t.Errorf("%s: stdout has %q", command, r.stdout)
	}
}

// inbox makes an inbox.
func (s *harness) inbox(username string) api.Inbox {
	s.t.Helper()
	var inbox api.Inbox
	parse(s.t, s.does("new", "--json", "--username", username), &inbox)
	return inbox
}

func (s *harness) deliver(address string, m apitest.Mail) api.Message {
	s.t.Helper()
	message, err := s.service.Deliver(address, m)
	must(s.t, err)
	return message
}

var must = fortest.Must

// parse reads one line of JSON.
func parse(t *testing.T, line string, into any) {
	t.Helper()
	if strings.Count(line, "\n") != 1 {
		t.Fatalf("not one line: %q", line)
	}
	if err := json.Unmarshal([]byte(line), into); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
}

func TestVersionOfABuild(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	clone := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: commit}, {Key: "vcs.time", Value: "2026-11-22T10:00:00Z"}, {Key: "vcs.modified", Value: modified}}
	}
	for _, test := range []struct {
		name, version string
		settings      []debug.BuildSetting
		want          string
	}{
		{"go install of a release", "v0.1.0", nil, "v0.1.0"},
		{"go install of a commit", "v0.0.0-20261122100000-0123456789ab", nil, "v0.0.0-20261122100000-0123456789ab"},
		{"a clone at a tag", "v0.1.0", clone("false"), "v0.1.0"},
		{"a clone between tags", "v0.1.1-0.20261122100000-0123456789ab", clone("false"), "devel-0123456789ab"},
		{"a clone with changes", "v0.1.0+dirty", clone("true"), "devel-0123456789ab+modified"},
		{"a clone, as older Go records it", "(devel)", clone("false"), "devel-0123456789ab"},
		{"sources without a repository", "(devel)", nil, "devel"},
		{"nothing recorded", "", nil, "devel"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := buildOf(&debug.BuildInfo{Main: debug.Module{Version: test.version}, Settings: test.settings}, true)
			if got.Version != test.want {
				t.Errorf("version %q, want %q", got.Version, test.want)
			}
			if len(test.settings) > 0 && (got.Commit != commit || got.Date != "2026-11-22T10:00:00Z") {
				t.Errorf("commit %q of %q", got.Commit, got.Date)
			}
		})
	}
	if got := buildOf(nil, false).Version; got != "devel" {
		t.Errorf("without build information: %q", got)
	}
}

func TestVersionCommand(t *testing.T) {
	var got build
	out := run(t, machine(t), "", "version", "--json")
	if err := json.Unmarshal([]byte(out.stdout), &got); err != nil {
		t.Fatalf("%v: %+v", err, out)
	}
	if got.Version != version() || got.Go != runtime.Version() || got.System != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("%+v", got)
	}
	plain := run(t, machine(t), "", "version").stdout
	if !strings.HasPrefix(plain, "mayfly  "+version()+"\n") || !strings.HasSuffix(plain, "system  "+got.System+"\n") {
		t.Errorf("it prints %q", plain)
	}
	if out := run(t, machine(t), "", "--version"); out.stdout != "mayfly version "+version()+"\n" {
		t.Errorf("--version prints %+v", out)
	}
}
