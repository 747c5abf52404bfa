//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// server is a running `mayfly serve`.
type server struct {
	t          testing.TB
	cmd        *exec.Cmd
	rest, smtp string
	pop3, ssh  string // "" without --pop3 and --ssh
	store      string
	stderr     *bytes.Buffer // complete when the process has ended
	ended      chan struct{}
}

var announcement = regexp.MustCompile(`^mayfly serves REST on (\S+) and SMTP on ([^ ,]+)(?:, POP3 on ([^ ,]+))?(?:, SSH on ([^ ,]+))?, store `)

// serve starts a service on free ports. It is stopped at the end of the test.
func (m *machine) serve(store string, args ...string) *server {
	m.t.Helper()
	args = append([]string{"serve", "--http", "127.0.0.1:0", "--smtp", "127.0.0.1:0", "--store", store, "--domains", "mail.test"}, args...)
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = m.environ, m.home
	return m.startServer(cmd, store)
}

// serveUser starts a service, and returns it and the machine with a key of it.
func (m *machine) serveUser(plan string, args ...string) (*server, *machine) {
	m.t.Helper()
	s := m.serve(filepath.Join(m.home, "store"), args...)
	return s, m.using(s, m.key(s.store, plan))
}

// startServer starts a service with a command.
func (m *machine) startServer(cmd *exec.Cmd, store string) *server {
	m.t.Helper()
	pipe, err := cmd.StderrPipe()
	must(m.t, err)
	must(m.t, cmd.Start())
	s := &server{t: m.t, cmd: cmd, store: store, stderr: &bytes.Buffer{}, ended: make(chan struct{})}
	lines := bufio.NewReader(pipe)
	found := make(chan error, 1)
	go func() {
		defer close(s.ended)
		found <- s.readAddresses(lines)
		_, _ = io.Copy(s.stderr, lines)
		_ = cmd.Wait() // the status is in the process state
	}()
	m.t.Cleanup(func() { s.stop(syscall.SIGTERM) })
	select {
	case err := <-found:
		if err != nil {
			<-s.ended
			m.t.Fatalf("mayfly serve: %v: %s", err, s.stderr)
		}
	case <-time.After(conditionTimeout):
		m.t.Fatal("mayfly serve did not announce its addresses")
	}
	return s
}

func (s *server) readAddresses(lines *bufio.Reader) error {
	for {
		line, err := lines.ReadString('\n')
		s.stderr.WriteString(line)
		if err != nil {
			return err
		}
		if found := announcement.FindStringSubmatch(line); found != nil {
			s.rest, s.smtp, s.pop3, s.ssh = found[1], found[2], found[3], found[4]
			return nil
		}
	}
}

// stop ends the service with a signal and waits for it. It may have ended before.
func (s *server) stop(signal syscall.Signal) {
	s.t.Helper()
	_ = s.cmd.Process.Signal(signal)
	select {
	case <-s.ended:
	case <-time.After(conditionTimeout):
		_ = s.cmd.Process.Kill()
		<-s.ended
		s.t.Errorf("mayfly serve did not end after %v: %s", signal, s.stderr)
	}
}

// key creates an API key.
func (m *machine) key(store, plan string) string {
	m.t.Helper()
	if !strings.Contains(store, "://") {
		must(m.t, os.MkdirAll(store, 0o700))
	}
	return m.mustRun("admin", "key", "create", "--plan", plan, "--name", "test", "--store", store)
}

// using returns the machine, configured for a service.
func (m *machine) using(s *server, key string) *machine {
	return m.with("MAYFLY_BASE_URL="+s.rest, "MAYFLY_API_KEY="+key)
}
