//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"slices"
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

// A store that does not read well is refused in one line that says what to do, as often as it is
// started. One with a table that cannot be read ends, and says that, too.
func TestDamagedStore(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	damaged := func(pattern string, change func(name string) error) (store string) {
		store = filepath.Join(m.home, strings.Trim(pattern, "*."))
		for range 2 { // the second time it writes a table
			m.key(store, "dev")
		}
		files, err := filepath.Glob(filepath.Join(store, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has %q, %v", store, files, err)
		}
		must(t, change(slices.Max(files)))
		return store
	}
	for want, store := range map[string]string{
		"marker.manifest.* is missing": damaged("marker.manifest.*", os.Remove),
		"invalid table": damaged("*.sst", func(name string) error {
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			b[len(b)-9] ^= 0xff
			return os.WriteFile(name, b, 0o600)
		}),
	} {
		for range 2 {
			_, stderr, status := m.run("serve", "--store", store, "--domains", "x.test", "--smtp", "127.0.0.1:0", "--http", "127.0.0.1:0")
			// A table is read at the start, or as soon as it serves.
			if status != 1 || !strings.Contains(stderr, want) || !strings.Contains(stderr, "restore a backup, or name a new directory\n") {
				t.Errorf("serve: status %d: %s", status, stderr)
			}
		}
	}
}
