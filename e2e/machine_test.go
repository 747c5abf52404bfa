//go:build unix

package e2e

import (
	"bytes"
	"context"
	"errors"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mayfly/internal/fortest"
	"mayfly/internal/local"
	"mayfly/internal/sockets"
)

// machine is a computer on which nothing is configured: it has a home and an environment of its
// own.
type machine struct {
	t       testing.TB
	home    string
	environ []string
}

func newMachine(t testing.TB) *machine {
	home := t.TempDir()
	m := &machine{t, home, []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "LANG=C.UTF-8",
		"GORACE=atexit_sleep_ms=0", // else a program that detects races waits for a second before it exits
	}}
	t.Cleanup(func() {
		if err := local.Stop(context.Background(), m.localOptions()); err != nil && !errors.Is(err, local.ErrNotRunning) {
			t.Error(err)
		}
	})
	return m
}

// localOptions find the local service of the machine.
func (m *machine) localOptions() local.Options {
	return local.Options{DataDir: filepath.Join(m.home, ".local", "share", "mayfly", "local")}
}

// freePort returns a port that no other test takes.
func freePort(t testing.TB) int {
	t.Helper()
	port, err := sockets.FreePort()
	must(t, err)
	return port
}

var must = fortest.Must

// failure returns the error of a call whose value does not matter.
func failure[T any](_ T, err error) error { return err }

// with returns the machine with more variables in its environment.
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

// write writes a file, which may be a program, in the home and returns its path.
func (m *machine) write(name, text string) string {
	m.t.Helper()
	path := filepath.Join(m.home, name)
	must(m.t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)))
	return path
}

// script returns a run of a shell script, in which $0 is the program.
func (m *machine) script(text string, args ...string) *exec.Cmd {
	cmd := m.command()
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", text, program}, args...)
	return cmd
}

// command returns a run of the program on the machine. It is killed when it takes longer than any
// condition may.
func (m *machine) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(m.t.Context(), conditionTimeout)
	m.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = m.environ, m.home
	return cmd
}

// run runs the program without a terminal.
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

// mustRun runs the program, which must succeed, and returns its output without the last newline.
func (m *machine) mustRun(args ...string) string {
	m.t.Helper()
	stdout, stderr, status := m.run(args...)
	if status != 0 {
		m.t.Fatalf("mayfly %s: status %d: %s", strings.Join(args, " "), status, stderr)
	}
	return strings.TrimSuffix(stdout, "\n")
}

// prints runs the program, which must print want and a newline.
func (m *machine) prints(want string, args ...string) {
	m.t.Helper()
	if got := m.mustRun(args...); got != want {
		m.t.Errorf("mayfly %s: %q, want %q", strings.Join(args, " "), got, want)
	}
}

// fails runs the program, which must end with a status and say why in one line, with a part in it.
func (m *machine) fails(status int, part string, args ...string) {
	m.t.Helper()
	if stdout, stderr, got := m.run(args...); got != status || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, part) {
		m.t.Errorf("mayfly %s: status %d, want %d: %q, %q, want %q", strings.Join(args, " "), got, status, stdout, stderr, part)
	}
}

// need skips a test where programs are missing, and says what to install.
func need(t *testing.T, install string, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("needs %s (%v): install %s", name, err, install)
		}
	}
}

// send sends a message by SMTP.
func send(t testing.TB, addr, to, message string) {
	t.Helper()
	if err := smtp.SendMail(addr, nil, "no-reply@acme.example", []string{to}, []byte(strings.ReplaceAll(message, "\n", "\r\n"))); err != nil {
		t.Fatalf("sending mail to %s: %v", to, err)
	}
}

// signup returns a sign-up mail with a text and an HTML part and an attachment.
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
