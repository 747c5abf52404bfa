//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"mayfly/service/postgres/pgtest"
)

// program is the path of the built program.
var program string

func TestMain(m *testing.M) {
	if to := os.Getenv(signUpVariable); to != "" {
		os.Exit(mailCode(to))
	}
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mayfly-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // another user runs it in a test
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program = filepath.Join(dir, "mayfly")
	build := exec.Command("go", "build", "-o", program, "mayfly")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		return 1
	}
	return pgtest.Run(m)
}

// machine is a machine on which nothing is configured: a home of its own, and what is set for it.
type machine struct {
	t       testing.TB
	home    string
	environ []string
}

func newMachine(t testing.TB) *machine {
	home := t.TempDir()
	return &machine{t, home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "LANG=C.UTF-8"}}
}

// with is the machine with other variables.
func (m *machine) with(variables ...string) *machine {
	return &machine{m.t, m.home, append(m.environ[:len(m.environ):len(m.environ)], variables...)}
}

func (m *machine) getenv(name string) (value string) {
	for _, pair := range m.environ {
		if v, ok := strings.CutPrefix(pair, name+"="); ok {
			value = v
		}
	}
	return value
}

// command is a run of the program on the machine. It is killed when it takes longer than patience.
func (m *machine) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(m.t.Context(), 2*patience)
	m.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = m.environ, m.home
	return cmd
}

// run runs a command in pipes.
func (m *machine) run(args ...string) (stdout, stderr string, status int) {
	m.t.Helper()
	return output(m.t, m.command(args...))
}

func output(t testing.TB, cmd *exec.Cmd) (stdout, stderr string, status int) {
	t.Helper()
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if e := cmd.Run(); cmd.ProcessState == nil {
		t.Fatalf("%s: %v", cmd, e)
	}
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

// does runs a command that must succeed, and returns its output without the newline at the end.
func (m *machine) does(args ...string) string {
	m.t.Helper()
	stdout, stderr, status := m.run(args...)
	if status != 0 {
		m.t.Fatalf("mayfly %s: status %d: %s", strings.Join(args, " "), status, stderr)
	}
	return strings.TrimSuffix(stdout, "\n")
}

// serving is a running `mayfly serve`.
type serving struct {
	cmd        *exec.Cmd
	rest, smtp string
	store      string
	stderr     *bytes.Buffer // complete when the process has ended
	ended      chan struct{}
}

var announcement = regexp.MustCompile(`^mayfly serves REST on (\S+) and SMTP on (\S+), store `)

// serve starts a service on free ports. It is stopped at the end of the test.
func (m *machine) serve(store string, args ...string) *serving {
	m.t.Helper()
	return m.serveBy(program, store, args...)
}

// serveBy starts another build of the program as a service.
func (m *machine) serveBy(program, store string, args ...string) *serving {
	m.t.Helper()
	args = append([]string{"serve", "--http", "127.0.0.1:0", "--smtp", "127.0.0.1:0", "--store", store, "--domains", "mail.test"}, args...)
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = m.environ, m.home
	pipe, err := cmd.StderrPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	s := &serving{cmd: cmd, store: store, stderr: &bytes.Buffer{}, ended: make(chan struct{})}
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
	case <-time.After(patience):
		m.t.Fatal("mayfly serve did not tell its addresses")
	}
	return s
}

func (s *serving) readAddresses(lines *bufio.Reader) error {
	for {
		line, err := lines.ReadString('\n')
		s.stderr.WriteString(line)
		if err != nil {
			return err
		}
		if found := announcement.FindStringSubmatch(line); found != nil {
			s.rest, s.smtp = found[1], found[2]
			return nil
		}
	}
}

// stop ends the service with a signal and waits for it.
func (s *serving) stop(signal syscall.Signal) {
	_ = s.cmd.Process.Signal(signal) // it may have ended
	<-s.ended
}

// key makes an API key.
func (m *machine) key(store, plan string) string {
	m.t.Helper()
	return m.does("admin", "key", "create", "--plan", plan, "--name", "test", "--store", store)
}

// using is the machine set to use a service.
func (m *machine) using(s *serving, key string) *machine {
	return m.with("MAYFLY_BASE_URL="+s.rest, "MAYFLY_API_KEY="+key)
}

// get asks the API, with nothing of Mayfly's client between.
func get(t testing.TB, baseURL, key, path string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, baseURL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-API-Key", key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// send sends a message by SMTP, as any program would.
func send(t testing.TB, addr, to, message string) {
	t.Helper()
	if err := smtp.SendMail(addr, nil, "no-reply@acme.example", []string{to}, []byte(strings.ReplaceAll(message, "\n", "\r\n"))); err != nil {
		t.Fatalf("sending mail to %s: %v", to, err)
	}
}

// signup is a signup mail: text, HTML, an attachment.
func signup(to string) string {
	return `From: Acme <no-reply@acme.example>
To: ` + to + `
Subject: Confirm your e-mail address
Date: Sat, 21 Nov 2026 04:00:00 +0000
Message-ID: <1@acme.example>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/alternative; boundary=inner

--inner
Content-Type: text/plain; charset=utf-8

Welcome to Acme, Ada. Your verification code is 482913.

https://acme.example/confirm?token=abc
--inner
Content-Type: text/html; charset=utf-8

<html><body><h1>Welcome to Acme, Ada</h1>
<p>Enter this verification code to finish signing up:</p>
<p style="font-size:32px;letter-spacing:6px"><b>482913</b></p>
<p><a href="https://acme.example/confirm?token=abc" style="background:#06c;color:#fff;padding:12px 24px;display:inline-block">Confirm e-mail</a></p>
</body></html>
--inner--
--outer
Content-Type: text/plain; charset=utf-8
Content-Disposition: attachment; filename="../terms.txt"

the terms
--outer--
`
}
