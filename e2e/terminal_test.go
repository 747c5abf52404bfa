//go:build unix

package e2e

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal of 120 columns and 30 rows, the program that runs in it, and what
// that shows.
type terminal struct {
	t     testing.TB
	cmd   *exec.Cmd
	pty   *os.File
	exit  chan error
	mu    sync.Mutex
	term  vt10x.Terminal
	raw   strings.Builder
	drawn chan struct{} // closed and replaced when something was drawn
	ended bool
}

// hangUpTimeout is how long programs may take to end when their terminal has hung up.
const hangUpTimeout = 5 * time.Second

// startInTerminal runs cmd in a pseudo-terminal, with more variables in its environment. It is killed at the end of the test.
func startInTerminal(t testing.TB, cmd *exec.Cmd, variables ...string) *terminal {
	t.Helper()
	return startInTerminalOf(t, 120, cmd, variables...)
}

func startInTerminalOf(t testing.TB, columns uint16, cmd *exec.Cmd, variables ...string) *terminal {
	t.Helper()
	const rows = 30
	cmd.Env = append(append(cmd.Env, "TERM=xterm-256color"), variables...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		t.Fatalf("starting %s in a pseudo-terminal: %v", cmd, err)
	}
	tty, err = pollable(tty)
	must(t, err)
	s := &terminal{
		t: t, cmd: cmd, pty: tty, exit: make(chan error, 1), drawn: make(chan struct{}),
		term: vt10x.New(vt10x.WithSize(int(columns), rows), vt10x.WithWriter(tty)),
	}
	read := make(chan struct{})
	go func() {
		s.read()
		close(read)
		s.exit <- cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		select {
		case <-read: // by all who have the terminal, which may write to the home until then
		case <-time.After(hangUpTimeout):
		}
		_ = tty.Close()
		<-read
	})
	return s
}

// pollable returns another file for a terminal, and closes this one, whose Close would not end a Read. A program that
// outlives the one that was started may have the terminal open for as long as it likes.
func pollable(terminal *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(terminal.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	err = errors.Join(unix.SetNonblock(fd, true), terminal.Close())
	return os.NewFile(uintptr(fd), terminal.Name()), err
}

// read draws what the program writes until it ends.
func (s *terminal) read() {
	const attributes = "\x1b[c" // asks for the primary device attributes (ECMA-48 DA), which vt10x does not answer
	buffer := make([]byte, 32<<10)
	for answered := 0; ; {
		n, err := s.pty.Read(buffer)
		s.mu.Lock()
		s.raw.Write(buffer[:n])
		_, _ = s.term.Write(buffer[:n])
		for asked := strings.Count(s.raw.String(), attributes); answered < asked; answered++ {
			_, _ = io.WriteString(s.pty, "\x1b[?6c") // VT102; the program may have ended
		}
		s.ended = err != nil
		close(s.drawn)
		s.drawn = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// text returns what the terminal shows now.
func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return trimmed(s.term.String())
}

// trimmed returns a screen without the spaces at the ends of its lines and without the empty lines
// at its end.
func trimmed(screen string) string {
	lines := strings.Split(screen, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// output returns everything that the program has written, escape sequences included.
func (s *terminal) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// waitUntil waits until a condition holds for the text on the screen, and returns that text.
func (s *terminal) waitUntil(what string, holds func(text string) bool) string {
	s.t.Helper()
	deadline := time.NewTimer(conditionTimeout)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		text, drawn, ended := trimmed(s.term.String()), s.drawn, s.ended
		s.mu.Unlock()
		if holds(text) {
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

// waitFor waits until the screen shows all texts, and returns what it shows then.
func (s *terminal) waitFor(texts ...string) string {
	s.t.Helper()
	return s.waitUntil(strings.Join(texts, ", "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// typeKeys types keys.
func (s *terminal) typeKeys(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.pty, keys); err != nil {
		s.t.Fatalf("typing %q: %v", keys, err)
	}
}

// step types keys, and waits until the screen shows all texts.
func (s *terminal) step(keys string, texts ...string) {
	s.t.Helper()
	s.typeKeys(keys)
	s.waitFor(texts...)
}

func (s *terminal) interrupt() {
	s.t.Helper()
	must(s.t, s.cmd.Process.Signal(syscall.SIGINT))
}

// exitStatus waits until the program has ended, and returns its exit status.
func (s *terminal) exitStatus() int {
	s.t.Helper()
	select {
	case err := <-s.exit:
		s.exit <- err
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(conditionTimeout):
		s.t.Fatalf("the program did not end:\n%s", s.text())
		return -1
	}
}

// A program that was started in the terminal, and ignores that it hangs up, does not keep a test from ending.
func TestATerminalEndsBeforeItsPrograms(t *testing.T) {
	t.Parallel()
	var s *terminal
	t.Run("started", func(t *testing.T) {
		s = startInTerminal(t, exec.Command("sh", "-c", `trap '' HUP; sleep 600 & echo "$! sleeps"; wait`))
		s.waitFor("sleeps")
	})
	pid, err := strconv.Atoi(strings.Fields(s.text())[0])
	must(t, err)
	must(t, syscall.Kill(pid, syscall.SIGKILL))
}
