package cli

import (
	"io/fs"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api/apitest"
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
	err := filepath.WalkDir(filepath.Dir(config), func(path string, _ fs.DirEntry, err error) error {
		if path != filepath.Dir(config) {
			t.Errorf("there is %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// silent is a network without an answer.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestDoctorDoesNotWaitForASlowService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newOfflineHarness(t, apitest.Options{})
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
		"a pipe": {[]string{"doctor"}, map[string]string{"terminal": "none on stdout", "colours": "none", "hyperlinks": "not written", "images": "none"}},
		"a pipe with colours": {[]string{"doctor", "--color", "always"},
			map[string]string{"terminal": "none on stdout", "colours": "256", "hyperlinks": "written (OSC 8)", "images": "half blocks"}},
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
