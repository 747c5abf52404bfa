//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// withProgram returns the machine with a shell script that is found before any other program of its
// name.
func (m *machine) withProgram(name, script string) *machine {
	m.t.Helper()
	dir := m.t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		m.t.Fatal(err)
	}
	return m.with("PATH=" + dir + string(os.PathListSeparator) + m.getenv("PATH"))
}

// openSignup opens the application with a sign-up mail on the screen.
func (m *machine) openSignup() *application {
	m.t.Helper()
	app := m.openApplication()
	send(m.t, app.smtp, app.address, signup(app.address))
	app.waitFor("Confirm your e-mail address")
	app.typeKeys("\r")
	app.waitFor("Welcome to Acme, Ada")
	return app
}

func TestALinkThatCannotBeOpenedIsCopied(t *testing.T) {
	t.Parallel()
	app := newMachine(t).withProgram("xdg-open", "exit 3").openSignup()
	app.typeKeys("o")
	app.waitFor("acme.example/confirm")
	app.typeKeys("o")
	app.waitFor("xdg-open", "status 3", "copied")
}

func TestTheThemeIsKeptForTheNextRun(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	app := m.openApplication()
	app.typeKeys("T")
	theme := regexp.MustCompile(`Theme (\w+)`)
	chosen := theme.FindStringSubmatch(app.waitUntil("the theme", theme.MatchString))[1]
	app.typeKeys("q")
	app.exitStatus()
	app = m.openApplication()
	app.typeKeys("T")
	if next := theme.FindStringSubmatch(app.waitUntil("the theme", theme.MatchString))[1]; next == chosen {
		t.Errorf("the next run does not begin with the theme %s", chosen)
	}
}
