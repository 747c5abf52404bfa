//go:build unix

package e2e

import (
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
)

// patience is how long a test waits for something that must happen before it fails. Nothing waits for it to pass.
const patience = 20 * time.Second

// screen is a program that runs in a pseudo-terminal, and what it shows there.
type screen struct {
	t     testing.TB
	cmd   *exec.Cmd
	pty   io.ReadWriteCloser
	exit  chan error
	mu    sync.Mutex
	term  vt10x.Terminal
	raw   strings.Builder
	drawn chan struct{} // closed, and made anew, when something was drawn
	ended bool
}

// show runs cmd in a pseudo-terminal of 120 columns and 30 rows. It is killed at the end of the test.
func show(t testing.TB, cmd *exec.Cmd) *screen {
	t.Helper()
	return showSized(t, cmd, 120, 30)
}

func showSized(t testing.TB, cmd *exec.Cmd, columns, rows int) *screen {
	t.Helper()
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
	if err != nil {
		t.Fatalf("starting %s in a pseudo-terminal: %v", cmd, err)
	}
	s := &screen{
		t: t, cmd: cmd, pty: tty, exit: make(chan error, 1), drawn: make(chan struct{}),
		term: vt10x.New(vt10x.WithSize(columns, rows), vt10x.WithWriter(tty)),
	}
	var reading sync.WaitGroup
	reading.Go(s.read)
	go func() { reading.Wait(); s.exit <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = tty.Close()
		reading.Wait()
	})
	return s
}

// read draws what the program writes until it ends.
func (s *screen) read() {
	buffer := make([]byte, 32<<10)
	for {
		n, err := s.pty.Read(buffer)
		s.mu.Lock()
		s.raw.Write(buffer[:n])
		_, _ = s.term.Write(buffer[:n])
		s.ended = err != nil
		close(s.drawn)
		s.drawn = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// text is what the screen shows now.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return trimmed(s.term.String())
}

// trimmed is a screen without the empty space at the ends.
func trimmed(screen string) string {
	lines := strings.Split(screen, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// output is everything that the program has written, escape sequences included.
func (s *screen) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// until waits until the screen shows what want tells, and returns the screen.
func (s *screen) until(what string, want func(text string) bool) string {
	s.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		text, drawn, ended := trimmed(s.term.String()), s.drawn, s.ended
		s.mu.Unlock()
		if want(text) {
			return text
		}
		if ended {
			s.t.Fatalf("the program ended before the screen showed %s:\n%s", what, text)
		}
		select {
		case <-drawn:
		case <-deadline.C:
			s.t.Fatalf("the screen never showed %s:\n%s", what, text)
		}
	}
}

// sees waits until the screen shows all of texts.
func (s *screen) sees(texts ...string) string {
	s.t.Helper()
	return s.until(strings.Join(texts, ", "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// loses waits until the screen no longer shows text.
func (s *screen) loses(text string) string {
	s.t.Helper()
	return s.until("no more "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// press types keys.
func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.pty, keys); err != nil {
		s.t.Fatalf("typing %q: %v", keys, err)
	}
}

func (s *screen) interrupt() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits until the program has ended, and returns its exit status.
func (s *screen) ends() int {
	s.t.Helper()
	select {
	case err := <-s.exit:
		s.exit <- err
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		s.t.Fatalf("the program did not end:\n%s", s.text())
		return -1
	}
}
