//go:build unix

package e2e

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mayfly/api/apitest"
)

// machineWithService returns a machine that is configured for a service without our extensions.
func machineWithService(t *testing.T) (*machine, *apitest.Server) {
	return machineWith(t, apitest.Options{})
}

// deliver puts a message into an inbox of that service.
func deliver(t *testing.T, double *apitest.Server, address string, m apitest.Mail) {
	t.Helper()
	must(t, failure(double.Deliver(address, m)))
}

func TestInterruptEndsWaitingCommands(t *testing.T) {
	t.Parallel()
	m, _ := machineWithService(t)
	address := m.mustRun("new")
	for _, args := range [][]string{{"wait", address, "waiting for mail to " + address}, {"watch", address, "watching 1 inbox"}} {
		s := startInTerminal(t, m.command(args[:2]...))
		s.waitFor(args[2])
		s.interrupt()
		if status := s.exitStatus(); status != 130 {
			t.Errorf("mayfly %s: status %d", args[0], status)
		}
	}
}

func TestKeyPromptDoesNotEcho(t *testing.T) {
	t.Parallel()
	m, _ := machineWithService(t)
	m = m.with("MAYFLY_API_KEY=")
	s := startInTerminal(t, m.command("key", "set", "--file"))
	s.waitFor("API key for")
	s.typeKeys(apitest.Key + "\r")
	if status := s.exitStatus(); status != 0 {
		t.Fatalf("status %d: %s", status, s.text())
	}
	if strings.Contains(s.output(), apitest.Key) {
		t.Error("the key is on the screen")
	}
	m.mustRun("new")
}

func TestNewCopiesTheAddress(t *testing.T) {
	t.Parallel()
	m, _ := machineWithService(t)
	s := startInTerminal(t, m.command("new", "--username", "ada", "--copy"))
	s.waitFor("ada@"+apitest.Domain, "copied (OSC 52)")
	s.exitStatus()
	if want := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte("ada@"+apitest.Domain)); !strings.Contains(s.output(), want) {
		t.Errorf("the terminal was not told to copy: %q", s.output())
	}
	if stdout, stderr, status := m.run("new", "--username", "bob", "--copy"); status != 0 || stdout != "bob@"+apitest.Domain+"\n" || !strings.Contains(stderr, "not copied") {
		t.Errorf("without a terminal: status %d, %q, %q", status, stdout, stderr)
	}
}

func TestDeletingAsksForConfirmation(t *testing.T) {
	t.Parallel()
	m, _ := machineWithService(t)
	address := m.mustRun("new")
	for _, c := range []struct {
		answer string
		status int
		left   bool
	}{{"n", 1, true}, {"", 1, true}, {"y", 0, false}} {
		s := startInTerminal(t, m.command("rm", address))
		s.waitFor("Delete "+address, "[y/N]")
		s.typeKeys(c.answer + "\r")
		if status := s.exitStatus(); status != c.status {
			t.Errorf("the answer %q ended with %d", c.answer, status)
		}
		if left := m.mustRun("ls") != ""; left != c.left {
			t.Errorf("after the answer %q the inbox is there: %v", c.answer, left)
		}
	}
}

func TestLongOutputGoesThroughThePager(t *testing.T) {
	t.Parallel()
	m, double := machineWithService(t)
	address := m.mustRun("new")
	deliver(t, double, address, apitest.Mail{From: "x@acme.example", Subject: "Hello", Text: "the text of the mail"})
	pager := m.write("pager", "#!/bin/sh\necho \"pager $1\"; cat\n")
	m = m.with("PAGER=" + pager + " option")
	for _, c := range [][]string{{"read", "the text of the mail"}, {"messages", "Hello"}} {
		s := startInTerminal(t, m.command(c[0]))
		s.waitFor("pager option", c[1])
		if status := s.exitStatus(); status != 0 {
			t.Errorf("%s ended with %d", c[0], status)
		}
		if got := m.mustRun(c[0]); strings.Contains(got, "pager") || !strings.Contains(got, c[1]) {
			t.Errorf("in a pipe %s printed %q", c[0], got)
		}
	}
	m.write("pager", "#!/bin/sh\nexec head -n 1\n")
	deliver(t, double, address, apitest.Mail{From: "x@acme.example", Subject: "Long", Text: strings.Repeat("a line\n", 100_000)})
	s := startInTerminal(t, m.command("read", "--view", "text"))
	if status := s.exitStatus(); status != 0 {
		t.Errorf("a reader who leaves early is status %d: %s", status, s.text())
	}
}

func TestABrokenPipeIsQuiet(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	file := m.write("mail.txt", strings.Repeat("a line\n\n", 100_000))
	if stdout, stderr, _ := output(t, m.script(`"$0" preview "$1" | head -n 1`, file)); stdout != "a line\n" || stderr != "" {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
}

func TestMachineWithoutAHome(t *testing.T) {
	t.Parallel()
	m, _ := machineWithService(t)
	bare := func(variables ...string) *machine {
		return &machine{t, m.home, append(variables, "MAYFLY_BASE_URL="+m.getenv("MAYFLY_BASE_URL"), "MAYFLY_API_KEY="+apitest.Key)}
	}
	for name, m := range map[string]*machine{
		"no HOME":          bare(),
		"HOME is a file":   bare("HOME=/dev/null"),
		"HOME not there":   bare("HOME=/nonexistent/home"),
		"HOME is relative": bare("HOME=somewhere"),
	} {
		stdout, stderr, status := m.run("new", "--username", "ada"+strings.NewReplacer(" ", "-", "HOME", "home").Replace(name))
		if status != 0 || !strings.HasSuffix(stdout, "@"+apitest.Domain+"\n") || strings.Count(stderr, "\n") > 1 {
			t.Errorf("%s: new ended with %d: %q, %q", name, status, stdout, stderr)
		}
		m.mustRun("key", "status")
		m.mustRun("doctor")
	}
}

func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	m, _ := machineWithService(t)
	for dir, mode := range map[string]os.FileMode{m.home: 0o555, filepath.Dir(m.home): 0o755} {
		must(t, os.Chmod(dir, mode))
	}
	t.Cleanup(func() { _ = os.Chmod(m.home, 0o755) }) // so that it can be removed
	cmd := m.command("new")
	if os.Geteuid() == 0 { // who may write everywhere
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	stdout, stderr, status := output(t, cmd)
	if status != 0 || !strings.HasSuffix(stdout, "@"+apitest.Domain+"\n") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("new ended with %d: %q, %q", status, stdout, stderr)
	}
}
