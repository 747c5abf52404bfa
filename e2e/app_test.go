//go:build unix

package e2e

import (
	"fmt"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"
)

var (
	shownAddress = regexp.MustCompile(`[a-z0-9-]+@mayfly\.test`)
	shownSMTP    = regexp.MustCompile(`SMTP (127\.0\.0\.1:\d+)`)
)

// application is the terminal application; its first inbox is on the screen.
type application struct {
	*terminal
	address, smtp string
}

// openApplication starts the application and waits for what it says at its start, then for its first inbox.
func (m *machine) openApplication(notices ...string) *application {
	m.t.Helper()
	cmd := exec.Command(program) // it is killed at the end of the test
	cmd.Env, cmd.Dir = m.environ, m.home
	s := startInTerminal(m.t, cmd)
	s.waitFor(notices...)
	text := s.waitUntil("an address and the SMTP port", func(text string) bool {
		return shownAddress.MatchString(text) && shownSMTP.MatchString(text)
	})
	return &application{s, shownAddress.FindString(text), shownSMTP.FindStringSubmatch(text)[1]}
}

func TestApplicationRefusesADumbTerminal(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"dumb", ""} {
		s := startInTerminal(t, newMachine(t).command(), "TERM="+name)
		if status := s.exitStatus(); status != 2 {
			t.Errorf("TERM=%s: status %d", name, status)
		}
		out := strings.ReplaceAll(s.output(), "\r\n", "\n")
		if !strings.Contains(out, "`mayfly watch`") || strings.Count(out, "\n") != 1 || strings.Contains(out, "\x1b") {
			t.Errorf("TERM=%s: %q", name, out)
		}
	}
}

func TestApplicationRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	for _, number := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT} {
		app := newMachine(t).openApplication()
		must(t, app.cmd.Process.Signal(number))
		app.exitStatus()
		app.checkRestored(number)
	}
}

// checkRestored fails unless the terminal is as it was before the program ran.
func (s *terminal) checkRestored(after syscall.Signal) {
	s.t.Helper()
	out := s.output()
	for what, mode := range map[string]string{
		"alternate screen": "1049", "mouse": "1002", "mouse coordinates": "1006", "focus reports": "1004", "bracketed paste": "2004",
	} {
		if on, off := strings.LastIndex(out, "\x1b[?"+mode+"h"), strings.LastIndex(out, "\x1b[?"+mode+"l"); on < 0 || off < on {
			s.t.Errorf("after %v the %s stays on", after, what)
		}
	}
	if on, off := strings.LastIndex(out, "\x1b[?25l"), strings.LastIndex(out, "\x1b[?25h"); off < on {
		s.t.Errorf("after %v the cursor stays hidden", after)
	}
	if strings.Contains(out, "SIGQUIT: ") || strings.Contains(out, "SIGABRT: ") { // Go's own handling
		s.t.Errorf("after %v its goroutines are on the screen", after)
	}
	fresh, tty, err := pty.Open()
	must(s.t, err)
	defer fresh.Close()
	defer tty.Close()
	want, err := term.GetState(int(fresh.Fd()))
	must(s.t, err)
	if got, err := term.GetState(int(s.pty.Fd())); err != nil || !reflect.DeepEqual(got, want) {
		s.t.Errorf("after %v the terminal's settings are %+v, %v, want %+v", after, got, err, want)
	}
}

// coded is a mail with a code.
func coded(to, code string) string {
	return fmt.Sprintf("From: Acme <no-reply@acme.example>\r\nTo: %s\r\nSubject: Your code\r\n\r\nYour verification code is %s.\r\n", to, code)
}
