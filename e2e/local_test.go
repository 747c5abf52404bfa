//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"mayfly/internal/local"
	"mayfly/internal/sockets"
)

// localService attaches to the local service of the machine until the test ends.
func (m *machine) localService() *local.Session {
	m.t.Helper()
	s, err := local.Attach(m.t.Context(), m.localOptions())
	must(m.t, err)
	m.t.Cleanup(s.Close)
	return s
}

// setLocal writes the settings of the local service.
func (m *machine) setLocal(settings string) {
	m.t.Helper()
	m.write(".config/mayfly/config.toml", "[local]\n"+settings)
}

// useFreePorts gives the local service ports that no other test takes, and returns them.
func (m *machine) useFreePorts() (smtp, http string) {
	m.t.Helper()
	smtp, http = sockets.Address(freePort(m.t)), sockets.Address(freePort(m.t))
	m.setLocal(fmt.Sprintf("smtp = %q\nhttp = %q\n", smtp, http))
	return smtp, http
}

func TestQuittingTheFirstOfTwoApplications(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	first := m.openApplication()
	service := m.localService()
	second := m.openApplication()
	if second.smtp != first.smtp {
		t.Fatalf("the first is on %s, the second on %s", first.smtp, second.smtp)
	}
	address := m.mustRun("new", "--username", "shared")
	for _, app := range []*application{first, second} {
		app.waitFor("shared")
	}
	first.typeKeys("q")
	first.exitStatus()
	if !strings.Contains(first.output(), "2 inboxes kept; still running: mayfly down") {
		t.Error("the first does not say that the service runs on")
	}
	send(t, first.smtp, address, signup(address))
	second.waitFor("Confirm your e-mail address")
	m.prints("482913", "wait", address, "--code")
	if now := m.localService(); now.PID != service.PID || now.SMTPAddr != first.smtp {
		t.Errorf("the service was %+v, and is %+v", service.State, now.State)
	}
}

func TestTheLastApplicationSaysWhatIsKept(t *testing.T) {
	t.Parallel()
	app := newMachine(t).openApplication()
	app.typeKeys("q")
	app.exitStatus()
	if !strings.Contains(app.output(), "1 inbox kept; SMTP stops in 10 seconds") {
		t.Errorf("it left with %q", app.output()[max(0, len(app.output())-300):])
	}
}

func TestSuspendingTheApplicationStopsNoMail(t *testing.T) {
	t.Parallel()
	need(t, "it, for job control", "bash")
	m := newMachine(t)
	shell := m.command()
	shell.Path, shell.Args = "", []string{"bash", "--norc", "-c", `set -m; "$0"; echo was suspended; read; fg`, program}
	shell.Path, _ = exec.LookPath("bash")
	s := startInTerminal(t, shell)
	text := s.waitUntil("an address and the SMTP port", func(text string) bool {
		return shownAddress.MatchString(text) && shownSMTP.MatchString(text)
	})
	address, smtp := shownAddress.FindString(text), shownSMTP.FindStringSubmatch(text)[1]
	s.step("\x1a", "was suspended")
	send(t, smtp, address, signup(address))
	m.prints("482913", "wait", address, "--code")
	s.step("\r", "Confirm your e-mail address", smtp)
	s.typeKeys("q")
	s.exitStatus()
}

// No shell continues the first process of a container or of a terminal's window.
func TestTheApplicationIsNotSuspendedWhereNothingContinuesIt(t *testing.T) {
	t.Parallel()
	app := newMachine(t).openApplication()
	app.typeKeys("\x1a")
	app.waitUntil("the application again", func(string) bool { return strings.Count(app.output(), "\x1b[?1049h") == 2 })
	app.typeKeys("q")
	if status := app.exitStatus(); status != 0 {
		t.Errorf("status %d", status)
	}
}

func TestAKilledServiceIsStartedAgain(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.useFreePorts()
	first, second := m.openApplication(), m.openApplication()
	send(t, first.smtp, "before@app.example", signup("before@app.example"))
	first.waitFor("before")
	service := m.localService()
	eventually(t, "the service has run for a moment", func() bool { return time.Since(serviceStart(t, service)) > time.Second })
	must(t, syscall.Kill(service.PID, syscall.SIGKILL))
	eventually(t, "the service is started again", func() bool {
		s, err := local.Attach(t.Context(), m.localOptions())
		if err == nil {
			s.Close()
		}
		return err == nil && s.PID != service.PID
	})
	for _, app := range []*application{first, second} {
		app.waitFor("● live", first.smtp, "before")
	}
	if now := m.localService(); now.PID == service.PID || now.SMTPAddr != first.smtp || now.BaseURL != service.BaseURL {
		t.Errorf("the service was %+v, and is %+v", service.State, now.State)
	}
	send(t, first.smtp, "after@app.example", signup("after@app.example"))
	for _, app := range []*application{first, second} {
		app.waitFor("before", "after")
	}
}

// Another user of the machine may take the port of a service that has ended.
func TestWhoTakesThePortGetsNoKey(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*machine, *local.Session){
		"killed":  func(m *machine, s *local.Session) { must(m.t, syscall.Kill(s.PID, syscall.SIGKILL)) },
		"stopped": func(m *machine, _ *local.Session) { m.mustRun("down") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			_, port := m.useFreePorts()
			m.mustRun("up")
			service := m.localService()
			address := m.mustRun("new")
			clients := func(n int) {
				eventually(t, "the service has its clients", func() bool {
					state, err := service.Now(t.Context())
					return err == nil && state.Clients == n
				})
			}
			clients(1)
			wait := m.command("wait", address, "--code", "--count", "2")
			var complaints bytes.Buffer
			wait.Stderr = &complaints
			stdout, err := wait.StdoutPipe()
			must(t, err)
			must(t, wait.Start())
			clients(2)
			send(t, service.SMTPAddr, address, coded(address, "111111"))
			printed := bufio.NewReader(stdout)
			if line, err := printed.ReadString('\n'); err != nil || line != "111111\n" { // then it waits on
				t.Errorf("wait printed %q, %v", line, err)
			}
			var app *application
			if name == "stopped" { // by which nobody starts it again
				app = m.openApplication()
			}
			end(m, service)
			<-service.Done()

			keys := make(chan string, 1000)
			thief := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				keys <- r.Header.Get("X-API-Key")
				io.WriteString(w, "{}")
			}))
			eventually(t, "the port is free", func() bool {
				l, err := net.Listen("tcp", port)
				if err == nil {
					thief.Listener.Close()
					thief.Listener = l
				}
				return err == nil
			})
			thief.Start()
			defer thief.Close()
			m.fails(1, "mayfly: no local service is running: start it with `mayfly up`", "ls")
			if app != nil {
				app.waitFor("stopped: r starts it")
			}
			m.mustRun("up")
			now := m.localService()
			if now.Key == service.Key || now.BaseURL == service.BaseURL {
				t.Errorf("it was %+v, and is %+v", service.State, now.State)
			}
			send(t, now.SMTPAddr, address, signup(address))
			second, _ := io.ReadAll(printed) // its end is that of the wait
			if err := wait.Wait(); err != nil || string(second) != "482913\n" {
				t.Errorf("wait printed %q, %v: %s", second, err, &complaints)
			}
			if app != nil {
				app.waitFor("● live", "Confirm your e-mail address")
			}
			if len(keys) > 0 {
				t.Errorf("%d requests came to who took the port, the first with the key %q; the service had %q", len(keys), <-keys, service.Key)
			}
			m.with("MAYFLY_BASE_URL="+now.BaseURL, "MAYFLY_API_KEY="+service.Key).fails(4, "Invalid API key", "ls")
		})
	}
}

// serviceStart returns when the service was started.
func serviceStart(t *testing.T, s *local.Session) time.Time {
	t.Helper()
	info, err := os.Stat(s.LogFile)
	must(t, err)
	return info.ModTime() // it logs nothing after that
}

func TestUpAndDown(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	smtp, http := m.useFreePorts()
	m.fails(1, "mayfly: no local service is running: start it with `mayfly up`\n", "new")
	m.prints("not running", "down")
	want := "SMTP  " + smtp + "\nAPI   http://" + http
	for range 2 {
		m.prints(want, "up")
	}
	address := m.mustRun("new")
	out := m.mustRun("doctor")
	for _, want := range []string{smtp, http, "runs until `mayfly down`", "limit        none", fmt.Sprintf("process      %d, version ", m.localService().PID), "local.log"} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor does not say %q:\n%s", want, out)
		}
	}

	app := m.openApplication()
	m.prints("stopped", "down")
	if c, err := net.Dial("tcp", smtp); err == nil {
		c.Close()
		t.Error("after down, SMTP is open")
	}
	app.waitFor("stopped: r starts it")
	app.step("r", "● live")
	send(t, smtp, address, signup(address))
	app.waitFor("Confirm your e-mail address")

	m.mustRun("down")
	app.waitFor("stopped: r starts it")
	smtp, _ = m.useFreePorts()
	m.mustRun("up")
	app.waitFor("● live", smtp)
}

func TestKeepInTheConfiguration(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.openApplication()
	if m.localService().Kept {
		t.Fatal("kept without being asked to")
	}
	m.setLocal("keep = true\n")
	m.openApplication()
	if !m.localService().Kept {
		t.Error("an application with keep = true does not keep the service that runs")
	}
	m.mustRun("down")
	m.openApplication()
	if !m.localService().Kept {
		t.Error("a service with keep = true is not kept")
	}
}

func TestTwoUsersOfAMachine(t *testing.T) {
	t.Parallel()
	ada, bob := newMachine(t), newMachine(t)
	smtp, http := ada.useFreePorts()
	ada.mustRun("up")
	bob.setLocal(fmt.Sprintf("smtp = %q\nhttp = %q\n[ui]\nmouse = 5\n", smtp, http))
	address := ada.mustRun("new")
	_, stderr, _ := bob.run("up")
	moved := bob.localService().SMTPAddr
	note := moved + " (" + smtp[strings.LastIndex(smtp, ":")+1:] + " was taken)"
	if !strings.HasPrefix(stderr, "mayfly: SMTP is at "+note+", the API at http://127.0.0.1:") || strings.Count(stderr, "was taken") != 2 {
		t.Errorf("up says %q", stderr)
	}
	port, above := netip.MustParseAddrPort(smtp), netip.MustParseAddrPort(moved).Port()
	for next := port.Port() + 1; next != above; next++ {
		if l, err := net.Listen("tcp", sockets.Address(int(next))); err == nil {
			l.Close()
			t.Fatalf("it is at %s, and %d is free", moved, next)
		}
	}
	if got := bob.mustRun("ls"); strings.Contains(got, address) {
		t.Errorf("bob sees %q", got)
	}
	if _, stderr, _ := bob.run("new"); stderr != "SMTP "+note+"\n" {
		t.Errorf("new says %q", stderr)
	}
	bob.fails(5, "SMTP "+note, "wait", "--timeout", "10ms")
	if got, _, _ := bob.run("doctor"); !strings.Contains(got, "SMTP "+note) {
		t.Errorf("doctor says %q", got)
	}
	bob.openApplication().waitFor("SMTP "+note, "config.toml:5: mouse takes true or false")
	agent := bob.mcp(t)
	for _, said := range []string{agent.session.InitializeResult().Instructions, "SMTP " + agent.call("create_inbox", nil)["smtp"]} {
		if !strings.Contains(said, "SMTP "+note) {
			t.Errorf("the agent is told %q", said)
		}
	}

	for _, m := range []*machine{ada, bob} {
		m.mustRun("down")
	}
	stdout, stderr, _ := bob.run("up")
	if stdout != "SMTP  "+smtp+"\nAPI   http://"+http+"\n" || stderr != "" {
		t.Errorf("with its ports free again: %s%s", stdout, stderr)
	}
}

func TestAFolderThatTheServiceCannotWrite(t *testing.T) {
	t.Parallel()
	m := newMachine(t).with("XDG_DATA_HOME=/dev/null/data")
	m.fails(1, "cannot keep its data in /dev/null/data/mayfly/local", "up")
	s := startInTerminal(t, m.command())
	s.waitFor("✕ Offline", "cannot keep its")
}
