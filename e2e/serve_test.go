//go:build unix

package e2e

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestKilledServiceKeepsAcknowledgedMail(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	store := filepath.Join(m.home, "store")
	s := m.serve(store)
	c := newClient(t, s.rest, m.key(store, "enterprise"))
	address := c.createInbox("crash")
	for range 3 {
		l := startPacedLoad(t, time.Millisecond, []string{address}, s.smtp)
		l.waitForMails(300)
		s.stop(syscall.SIGKILL)
		l.end()
		s = m.serve(store)
		l.checkNothingIsLost(c.at(s.rest))
	}
}

func TestServeShutsDownGracefully(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		s, user := newMachine(t).serveUser("dev")
		address := user.mustRun("new")
		send(t, s.smtp, address, signup(address))
		waiting := startInTerminal(t, user.command("wait", address, "--subject", "never")) // for longer than a service may take to end
		waiting.waitFor("waiting for mail to")
		s.stop(signal)
		if status := s.cmd.ProcessState.ExitCode(); status != 0 {
			t.Errorf("%v: status %d: %s", signal, status, s.stderr)
		}
		if strings.Count(s.stderr.String(), "mayfly serves") != 1 {
			t.Errorf("stderr has %q", s.stderr)
		}
		s = user.serve(s.store)
		if got := user.using(s, user.getenv("MAYFLY_API_KEY")).mustRun("messages", address); !strings.Contains(got, "Confirm your e-mail address") {
			t.Errorf("after a graceful shutdown there is %q", got)
		}
	}
}

func TestServeReportsWhyItCannotStart(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	for _, args := range [][]string{
		{"--smtp", taken.Addr().String(), "--http", "127.0.0.1:0", "--store", filepath.Join(m.home, "a")},
		{"--smtp", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store", "/dev/null/store"},
	} {
		m.fails(1, "", append([]string{"serve"}, args...)...)
	}
}

func TestAdminWithAndWithoutARunningService(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	store := filepath.Join(m.home, "store")
	first := m.key(store, "dev") // before there is a service
	s := m.serve(store)
	second := m.key(store, "startup") // through its socket
	for _, key := range []string{first, second} {
		m.using(s, key).mustRun("ls")
	}
	var secondID string
	for line := range strings.Lines(m.mustRun("admin", "key", "list", "--store", store)) {
		if cells := strings.Split(line, "\t"); len(cells) > 1 && cells[1] == "startup" {
			secondID = cells[0]
		}
	}
	rotated := m.mustRun("admin", "key", "rotate", secondID, "--store", store)
	m.using(s, second).fails(4, "", "ls")
	m.using(s, rotated).mustRun("ls")
	m.mustRun("admin", "key", "plan", secondID, "free", "--store", store)
	m.using(s, rotated).fails(4, "", "ls")
	m.mustRun("admin", "key", "revoke", secondID, "--store", store)
	s.stop(syscall.SIGTERM)
	m.mustRun("admin", "key", "list", "--store", store)
	m.fails(3, "", "admin", "key", "revoke", "key_nobody", "--store", store)
}
