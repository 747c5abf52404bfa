//go:build unix

package e2e

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"mayfly/local"
)

var (
	shownAddress = regexp.MustCompile(`[a-z0-9-]+@mayfly\.test`)
	shownSMTP    = regexp.MustCompile(`SMTP (127\.0\.0\.1:\d+)`)
)

// opened is the terminal application on a machine, its first inbox on the screen.
type opened struct {
	*screen
	address, smtp string
}

func (m *machine) open() *opened {
	m.t.Helper()
	s := show(m.t, m.command())
	text := s.until("an address and the SMTP port", func(text string) bool {
		return shownAddress.MatchString(text) && shownSMTP.MatchString(text)
	})
	return &opened{s, shownAddress.FindString(text), shownSMTP.FindStringSubmatch(text)[1]}
}

// find finds the embedded service of the machine, as another process does.
func (m *machine) find() (*local.Session, error) {
	session, err := local.Find(m.t.Context(), local.Options{DataDir: filepath.Join(m.home, ".local", "share", "mayfly", "local")})
	if err == nil {
		m.t.Cleanup(func() { _ = session.Close(context.Background()) }) // its owner may have ended
	}
	return session, err
}

func TestWatchARealInboxInTheTerminal(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	app := m.open()
	service, err := m.find()
	if err != nil {
		t.Fatal(err)
	}
	inboxID := strings.Split(m.does("ls"), "\t")[3]
	if status, body := get(t, service.BaseURL, service.Key, "/v1/inboxes/"+inboxID); status != http.StatusOK || !strings.Contains(body, app.address) {
		t.Fatalf("the API answers %d for the inbox on the screen: %s", status, body)
	}

	send(t, app.smtp, app.address, signup(app.address))
	app.sees("Confirm your e-mail address", "Acme")
	app.press("\r")
	app.sees("Welcome to Acme, Ada", "482913")

	app.press("d")
	app.sees("Delete")
	app.press("y")
	app.loses(strings.Split(app.address, "@")[0])
	if status, body := get(t, service.BaseURL, service.Key, "/v1/inboxes/"+inboxID); status != http.StatusNotFound {
		t.Errorf("the API answers %d for the deleted inbox: %s", status, body)
	}

	app.press("q")
	if status := app.ends(); status != 0 {
		t.Errorf("status %d after q", status)
	}
	if _, err := m.find(); err == nil {
		t.Error("the embedded service runs on without the application")
	}
}

func TestEveryRecipientBecomesAnInboxOnTheScreen(t *testing.T) {
	t.Parallel()
	app := newMachine(t).open()
	send(t, app.smtp, "someone@any-domain.example", signup("someone@any-domain.example"))
	app.sees("someone")
}

func TestASecondMayflyAttachesToTheFirst(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	first := m.open()
	second := m.open()
	if second.smtp != first.smtp {
		t.Fatalf("the first is on %s, the second on %s", first.smtp, second.smtp)
	}
	address := m.does("new", "--username", "shared")
	for _, app := range []*opened{first, second} {
		app.sees("shared")
	}
	send(t, first.smtp, address, signup(address))
	first.press("q")
	first.ends()
	second.until("that it serves now", func(string) bool {
		session, err := m.find()
		return err == nil && session.PID == second.cmd.Process.Pid
	})
	if got := m.does("wait", address, "--code"); got != "482913" {
		t.Errorf("after the first has quit, wait --code printed %q", got)
	}
}

// It runs alone: another test's application would come and go on the same ports.
func TestPortsThatAreTakenAreLeftAlone(t *testing.T) {
	held := map[string]bool{}
	for _, addr := range []string{"127.0.0.1:2525", "127.0.0.1:8425"} {
		if l, err := net.Listen("tcp", addr); err == nil { // else another program has it, and may give it up
			defer l.Close()
			held[addr] = true
		}
	}
	app := newMachine(t).open()
	if held[app.smtp] {
		t.Fatal("the application shows a port that another program has")
	}
	send(t, app.smtp, app.address, signup(app.address))
	app.sees("Confirm your e-mail address")
}

func TestTheApplicationGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	handled := make(chan os.Signal, 1) // or the application would inherit that the tests ignore it, as under nohup
	signal.Notify(handled, syscall.SIGHUP)
	defer signal.Stop(handled)
	for _, number := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		app := newMachine(t).open()
		if err := app.cmd.Process.Signal(number); err != nil {
			t.Fatal(err)
		}
		app.ends()
		givenBack(t, number, app.output())
	}
}

func givenBack(t *testing.T, after syscall.Signal, out string) {
	t.Helper()
	if on, off := strings.LastIndex(out, "\x1b[?1049h"), strings.LastIndex(out, "\x1b[?1049l"); on < 0 || off < on {
		t.Errorf("after %v the alternate screen was not left", after)
	}
	if on, off := strings.LastIndex(out, "\x1b[?25l"), strings.LastIndex(out, "\x1b[?25h"); off < on {
		t.Errorf("after %v the cursor stays hidden", after)
	}
}
