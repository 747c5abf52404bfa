package cli

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

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
