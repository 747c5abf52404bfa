//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// withProgram returns the machine with a shell script that is found before any other program of its
// name.
func (m *machine) withProgram(name, script string) *machine {
	m.t.Helper()
	dir := m.t.TempDir()
	must(m.t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	return m.with("PATH=" + dir + string(os.PathListSeparator) + m.getenv("PATH"))
}

// openSignup opens the application with a sign-up mail on the screen.
func (m *machine) openSignup() *application {
	m.t.Helper()
	app := m.openApplication()
	send(m.t, app.smtp, app.address, signup(app.address))
	app.waitFor("Confirm your e-mail address")
	app.step("\r", "Welcome to Acme, Ada")
	return app
}

func TestALinkThatCannotBeOpenedIsCopied(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		environ []string
		copied  string // what is said of it
	}{
		{[]string{"DISPLAY=:99"}, "! xdg-open could not open it: exit status 3; the link is copied instead"},
		{nil, "✓ copied the link: nothing here can open it (no display)"},
		{[]string{"DISPLAY=:99", "SSH_CONNECTION=x"}, "✓ copied the link: nothing here can open it (over SSH)"},
		{[]string{"BROWSER=xdg-open", "SSH_CONNECTION=x"}, "! xdg-open could not open it: exit status 3"},
	} {
		app := newMachine(t).withProgram("xdg-open", "exit 3").with(c.environ...).openSignup()
		app.step("o", "acme.example/confirm")
		app.step("o", c.copied)
		app.typeKeys("q")
		app.exitStatus()
	}
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

func TestAMessageIsPipedToACommand(t *testing.T) {
	t.Parallel()
	app := newMachine(t).openSignup()
	for _, c := range []struct{ choose, command, want string }{
		{"text\r", "grep -c code", "✓ 1"},
		{"html\r", "grep -o 'font-size:[0-9]*px'", "✓ font-size:32px"},
		{"raw\r", "exit 3", "! exit 3: exit status 3"},
		{"raw\r", "true", "✓ ran true"},
		{"raw\r", `grep Message-ID; echo "$MAYFLY_CODE from $MAYFLY_FROM"`, "482913 from no-reply@acme.example"},
	} {
		app.step("|", "Pipe to a command")
		app.typeKeys("\x15" + c.command + "\r") // ctrl+u empties the line of the command before
		app.waitFor("Pipe to " + c.command)
		app.step(c.choose, c.want)
	}
	app.waitFor("Message-ID: <1@acme.example>", "esc closes")
	app.typeKeys("\x1b")
	app.waitUntil("the message alone", func(text string) bool { return !strings.Contains(text, "esc closes") })
}

func TestACommandGetsTheTerminal(t *testing.T) {
	t.Parallel()
	app := newMachine(t).openSignup()
	app.step("|", "Pipe to a command")
	app.step("!wc -w; stty -a </dev/tty | grep -o ' icanon'\r", "Pipe to !wc -w")
	app.step("\r", " icanon", "press a key to return")
	if out := app.output(); strings.LastIndex(out, "\x1b[?1049l") < strings.LastIndex(out, "\x1b[?1049h") {
		t.Error("the command is on the screen of the application")
	}
	app.typeKeys("\x03") // in front of a command that has ended, and so no interrupt
	app.waitFor("Welcome to Acme, Ada", "n new")
}

func TestTheEditorGetsTheMessageAsAFile(t *testing.T) {
	t.Parallel()
	m := newMachine(t).withProgram("editor", `
		echo "editing $1" | sed 's/.*message/editing message/'
		ls -l "$1" | cut -c1-10
		cp "$1" "$HOME/copy"; printf %s "$1" >"$HOME/path"
		trap : INT; kill -INT 0 # as ctrl+c does
		echo run >>"$HOME/runs"; echo "interrupted $(($(wc -l <"$HOME/runs")))"
		read answer; exit "$answer"`).with("EDITOR=editor")
	app := m.openSignup()
	for n, c := range []struct{ view, file, content string }{
		{"1", "message.txt", "Your verification code is 482913"}, {"3", "message.html", "<h1>Welcome to Acme, Ada</h1>"}, {"5", "message.eml", "Message-ID: <1@acme.example>"},
	} {
		app.step(c.view+"e", "editing "+c.file, "-r--------", fmt.Sprint("interrupted ", n+1))
		app.step("0\r", "n new", "482913")
		if copied, err := os.ReadFile(filepath.Join(m.home, "copy")); err != nil || !strings.Contains(string(copied), c.content) {
			t.Errorf("the editor got %q, %v", copied, err)
		}
		path, err := os.ReadFile(filepath.Join(m.home, "path"))
		must(t, err)
		eventually(t, "the file is removed", func() bool { _, err := os.Stat(filepath.Dir(string(path))); return os.IsNotExist(err) })
	}
	app.step("e", "interrupted 4")
	app.step("7\r", "! editor: exit status 7")
}

func TestATerminatedApplicationEndsTheEditor(t *testing.T) {
	t.Parallel()
	app := newMachine(t).withProgram("editor", "echo editing; exec sleep 600").with("EDITOR=editor").openSignup()
	app.step("e", "editing")
	must(t, app.cmd.Process.Signal(syscall.SIGTERM))
	app.exitStatus()
	app.checkRestored(syscall.SIGTERM)
}

func TestKeysRunCommandsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	config := filepath.Join(m.home, ".config", "mayfly", "config.toml")
	must(t, os.MkdirAll(filepath.Dir(config), 0o700))
	if err := os.WriteFile(config, []byte(`
[commands]
B = "echo \"$MAYFLY_CODE|$MAYFLY_LINK|$MAYFLY_SUBJECT\""
X = "echo to $MAYFLY_ADDRESS"
"ctrl+x" = "grep -c '^Message-ID'"
Q = "echo $MAYFLY_CODE"
y = "echo never"
`), 0o600); err != nil {
		t.Fatal(err)
	}
	if stdout, stderr, _ := m.run("doctor"); !strings.Contains(stdout+stderr, `config.toml:7: "y" is already the key of copy-address`) {
		t.Errorf("the key of an action is given to a command: %s%s", stdout, stderr)
	}
	app := m.openApplication()
	app.step("X", "✓ to "+app.address)
	app.step("Q", "Select a message first")
	mail := strings.Replace(signup(app.address), "Subject: Confirm your e-mail address", "Subject: Confirm $(touch pwned) `touch pwned` \"; touch pwned", 1)
	send(t, app.smtp, app.address, mail)
	app.waitFor("482913")
	app.step("B", "✓ 482913|https://acme.example/confirm?token=abc|Confirm $(touch pwned) `touch pwned` \"; touch pwned")
	app.step("\x18", "✓ 1")
	app.step(":", "Actions")
	app.step("echo to", "Run echo to $MAYFLY_ADDRESS")
	if _, err := os.Stat(filepath.Join(m.home, "pwned")); !os.IsNotExist(err) {
		t.Error("a mail ran a command")
	}
}
