//go:build unix

package e2e

import (
	"os"
	"strings"
	"testing"
)

const bashCompletion = "/usr/share/bash-completion/bash_completion"

// needPackage skips a test where the tests do not run the program of a package.
func needPackage(t *testing.T) {
	t.Helper()
	if program != "/usr/bin/mayfly" {
		t.Skip("needs the package of a release: install it, and set MAYFLY_BIN=/usr/bin/mayfly")
	}
}

// The shells find the completions of the package, in sessions that are set up as those of Debian are.
func TestPackageCompletes(t *testing.T) {
	needPackage(t)
	inEachShell(t, func(t *testing.T, name string) {
		m, _ := machineWithService(t)
		m.mustRun("new", "--username", "quiet-otter+sign.up")
		s := m.shell(name)
		switch name {
		case "bash":
			if _, err := os.Stat(bashCompletion); err != nil {
				t.Skip("needs the package bash-completion")
			}
			s.mustRun(". " + bashCompletion)
		case "zsh":
			s.mustRun("autoload -U compinit; compinit -u")
		}
		s.completes("mayfly mess", "mayfly messages ")
		s.completesAll()
	})
}

func TestPackageHasManualPages(t *testing.T) {
	needPackage(t)
	m := newMachine(t).with("MANPAGER=cat", "MANWIDTH=80")
	for page, want := range map[string]string{"mayfly": "MAYFLY(1)", "mayfly-admin-key-create": "--secret-file", "mayfly-serve": "--store"} {
		if got := m.mustExec(m.home, "man", page); !strings.Contains(got, want) {
			t.Errorf("man %s has no %s: %s", page, want, got)
		}
	}
}

// The package is set up as docs/service.md says, but for what systemd does.
func TestPackageIsSetUp(t *testing.T) {
	needPackage(t)
	if os.Getuid() != 0 {
		t.Skip("needs root: run the tests of this package with `go test -exec sudo`")
	}
	m := newMachine(t).withProgram("editor", `test -w "$1"`)
	ran := 0
	for _, b := range readBlocks(t, "service.md") {
		for _, c := range b.commands {
			if name, _, _ := strings.Cut(c.name, " "); name == "editor" || name == "runuser" {
				m.mustExec(m.home, "sh", "-euc", c.name)
				ran++
			}
		}
	}
	if ran != 2 {
		t.Errorf("docs/service.md has %d of the commands that set up a package", ran)
	}
}
