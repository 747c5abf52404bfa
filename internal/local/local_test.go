package local_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/internal/fortest"
	"mayfly/internal/local"
	"mayfly/internal/sockets"
)

// The test binary is also the service, when its first argument is serve, and another client, when it
// is client. The second is the options as JSON.
const serve, client = "mayfly-serve", "mayfly-client"

func TestMain(m *testing.M) {
	if len(os.Args) != 3 || os.Args[1] != serve && os.Args[1] != client {
		if len(os.TempDir()) > 30 {
			os.Setenv("TMPDIR", "/tmp") // the names of sockets have a bound
		}
		os.Exit(m.Run())
	}
	var o local.Options
	err := json.Unmarshal([]byte(os.Args[2]), &o)
	switch {
	case err != nil:
	case os.Args[1] == serve:
		err = local.Serve(context.Background(), o, os.Stdout)
	default:
		err = beClient(o)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// beClient opens the service, says what it is attached to, and ends when its input does.
func beClient(o local.Options) error {
	s, err := local.AttachOrStart(context.Background(), o)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(s.State); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

var must = fortest.Must

// withArgs sets the arguments that start the service with these options.
func withArgs(t *testing.T, o local.Options) local.Options {
	t.Helper()
	o.Args = nil
	o.Args = []string{serve, asJSON(t, o)}
	return o
}

func asJSON(t *testing.T, o local.Options) string {
	t.Helper()
	text, err := json.Marshal(o)
	must(t, err)
	return string(text)
}

// options are of a service of the test's own, which ends with it. Its usual ports are taken by no
// other.
func options(t *testing.T) local.Options {
	t.Helper()
	dir := t.TempDir()
	o := local.Options{
		DataDir: filepath.Join(dir, "data"), LogFile: filepath.Join(dir, "state", "local.log"), Version: "v1",
		HTTP: freeAddress(t), SMTP: freeAddress(t),
	}
	t.Cleanup(func() {
		if err := local.Stop(context.Background(), o); err != nil && !errors.Is(err, local.ErrNotRunning) {
			t.Error(err)
		}
		if t.Failed() {
			log, _ := os.ReadFile(o.LogFile) // there may be none
			t.Logf("the log of the service:\n%s", log)
		}
	})
	return withArgs(t, o)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	port, err := sockets.FreePort()
	must(t, err)
	return sockets.Address(port)
}

type process struct {
	local.State
	cmd *exec.Cmd
}

func startClient(t *testing.T, program string, o local.Options) *process {
	t.Helper()
	cmd := exec.Command(program, client, asJSON(t, o))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	p := &process{cmd: cmd}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &p.State)
	}
	if err != nil {
		t.Fatalf("the other process said %q: %v", line, err)
	}
	return p
}

func (p *process) kill(t *testing.T) {
	t.Helper()
	must(t, p.cmd.Process.Kill())
	_ = p.cmd.Wait() // it was killed
}

func open(t *testing.T, o local.Options) *local.Session {
	t.Helper()
	s, err := local.AttachOrStart(t.Context(), o)
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

// now returns the state of the service, with the session among its clients unless it is closed.
func now(t *testing.T, s *local.Session) local.State {
	t.Helper()
	state, err := s.Now(t.Context())
	must(t, err)
	return state
}

func waitForClients(t *testing.T, s *local.Session, n int) {
	t.Helper()
	for now(t, s).Clients != n {
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
		runtime.Gosched()
	}
}

func killService(t *testing.T, s *local.Session) {
	t.Helper()
	p, err := os.FindProcess(s.PID)
	if err == nil {
		err = p.Kill()
	}
	must(t, err)
	<-s.Done()
	if s.Err() != nil {
		t.Errorf("after it was killed: %v", s.Err())
	}
}

func subjects(t *testing.T, s local.State) string {
	t.Helper()
	c, err := api.New(s.BaseURL, s.Key, api.Options{})
	must(t, err)
	inboxes, err := c.Inboxes(t.Context())
	must(t, err)
	var all []string
	for _, in := range inboxes.Inboxes {
		list, err := c.Messages(t.Context(), in.ID)
		must(t, err)
		for _, m := range list.Messages {
			all = append(all, m.Subject)
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func send(t *testing.T, s local.State, to, subject string) {
	t.Helper()
	auth := smtp.PlainAuth("", "any", "login", "127.0.0.1")
	must(t, smtp.SendMail(s.SMTPAddr, auth, "app@test.example", []string{to}, []byte("Subject: "+subject+"\r\n\r\nhello\r\n")))
}

func TestTheFirstStartsItAndAllAttach(t *testing.T) {
	t.Parallel()
	o := options(t)
	first := open(t, o)
	if first.PID == os.Getpid() || first.Clients != 1 || first.Kept || first.Version != "v1" || first.LogFile != o.LogFile ||
		first.BaseURL != "http://"+o.HTTP || first.SMTPAddr != o.SMTP || first.SMTPTaken+first.HTTPTaken != "" {
		t.Errorf("state %+v", first.State)
	}
	second := startClient(t, os.Args[0], o)
	if second.PID != first.PID || second.BaseURL != first.BaseURL || second.Key != first.Key || second.Clients != 2 {
		t.Errorf("the second is attached to %+v, the first to %+v", second.State, first.State)
	}
	found, err := local.Attach(t.Context(), local.Options{DataDir: o.DataDir})
	if err != nil || found.PID != first.PID || found.Clients != 3 {
		t.Fatalf("found %+v, %v", found, err)
	}
	found.Close()
	send(t, second.State, "anyone@anywhere.example", "hello")
	if got := subjects(t, first.State); got != "hello" {
		t.Errorf("arrived: %q", got)
	}
	waitForClients(t, first, 2)
}

func TestItEndsWhenNobodyNeedsIt(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Linger = time.Millisecond
	o = withArgs(t, o)
	open(t, o).Close()
	for log := ""; !strings.Contains(log, "no client is left") || !strings.Contains(log, "msg=stopped"); {
		text, err := os.ReadFile(o.LogFile)
		must(t, err)
		log = string(text)
		runtime.Gosched()
	}
}

func TestKilled(t *testing.T) {
	t.Parallel()
	o := options(t)
	first := open(t, o)
	other := open(t, o)
	send(t, first.State, "a@b.example", "before")
	killService(t, first)
	<-other.Done()
	if _, err := local.Attach(t.Context(), o); !errors.Is(err, local.ErrNotRunning) {
		t.Errorf("found a service whose process was killed: %v", err)
	}
	again := openMany(t, o, 2)
	if again.PID == first.PID || again.SMTPAddr != first.SMTPAddr || again.BaseURL != first.BaseURL || again.Key == first.Key {
		t.Errorf("it was %+v, and is %+v", first.State, again.State)
	}
	if old, err := api.New(again.BaseURL, first.Key, api.Options{}); err != nil {
		t.Error(err)
	} else if _, err := old.Inboxes(t.Context()); !errors.Is(err, api.ErrUnauthorized) {
		t.Errorf("with the key of before: %v", err)
	}
	send(t, again.State, "a@b.example", "later")
	if got := subjects(t, again.State); got != "before later" {
		t.Errorf("it has %q", got)
	}
}

// openMany opens the service n times at once, and returns one of the sessions after checking that
// all are with the same process.
func openMany(t *testing.T, o local.Options, n int) *local.Session {
	t.Helper()
	sessions := make([]*local.Session, n)
	var opening sync.WaitGroup
	for i := range n {
		opening.Go(func() {
			s, err := local.AttachOrStart(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(s.Close)
			sessions[i] = s
		})
	}
	opening.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, s := range sessions {
		if s.PID != sessions[0].PID || s.SMTPAddr != sessions[0].SMTPAddr {
			t.Fatalf("one is with %+v, another with %+v", sessions[0].State, s.State)
		}
	}
	return sessions[0]
}

func TestManyStartItAtOnce(t *testing.T) {
	t.Parallel()
	o := options(t)
	if s := openMany(t, o, 8); s.SMTPTaken+s.HTTPTaken != "" {
		t.Errorf("its ports were taken: %s, %s", s.SMTP(), s.API())
	}
}

// What a session asks goes neither to who takes the port after the service, nor to the next service.
func TestASessionIsWithOneService(t *testing.T) {
	t.Parallel()
	o := options(t)
	s := open(t, o)
	c, err := api.New("http://127.0.0.1:1", "any", api.Options{Transport: s, Retries: -1})
	must(t, err)
	_, err = c.Inboxes(t.Context())
	must(t, err)
	killService(t, s)
	for range 2 {
		if _, err := c.Inboxes(t.Context()); !errors.Is(err, local.ErrNotRunning) || !errors.Is(err, api.ErrUnavailable) {
			t.Error(err)
		}
		open(t, o)
	}
}

// Other clients of the REST API have a file, as long as the service runs.
func TestEnvFile(t *testing.T) {
	t.Parallel()
	o := options(t)
	s := open(t, o)
	want := fmt.Sprintf("MAYFLY_BASE_URL=%s\nMAYFLY_API_KEY=%s\nMAYFLY_SMTP=%s\n", s.BaseURL, s.Key, s.SMTPAddr)
	if text, err := os.ReadFile(o.EnvFile()); err != nil || string(text) != want {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
	must(t, local.Stop(t.Context(), o))
	if _, err := os.Stat(o.EnvFile()); err == nil {
		t.Error("it is left behind")
	}
}

// As that of `go run` is.
func TestItsProgramIsRemoved(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes no program that runs")
	}
	o := options(t)
	program := filepath.Join(t.TempDir(), "copy")
	must(t, exec.Command("cp", os.Args[0], program).Run()) // a file that this process writes may be inherited by a child, and is busy then
	startClient(t, program, o).kill(t)
	must(t, os.Remove(program))
	s := open(t, o)
	send(t, s.State, "a@b.example", "hello")
	if got := subjects(t, s.State); got != "hello" {
		t.Errorf("arrived: %q", got)
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits: the user's folder protects the files")
	}
	o := options(t)
	open(t, o)
	for name, want := range map[string]os.FileMode{
		"": 0o700, "store": 0o700, "lock": 0o600, "store/service.env": 0o600, "store/admin": 0o700, "store/admin/sock": 0o600,
		"../state": 0o700, "../state/local.log": 0o600,
	} {
		info, err := os.Stat(filepath.Join(o.DataDir, name))
		if err != nil {
			t.Error(err)
		} else if got := info.Mode().Perm(); got != want {
			t.Errorf("%q has mode %o, want %o", name, got, want)
		}
	}
}

// failure is the error of opening the service, which must be one line.
func failure(t *testing.T, o local.Options) string {
	t.Helper()
	s, err := local.AttachOrStart(t.Context(), o)
	if err == nil {
		s.Close()
		t.Fatalf("opened %+v", s.State)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %v", err)
	}
	return err.Error()
}

func TestALogThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.LogFile = filepath.Join(os.Args[0], "local.log")
	if s := open(t, withArgs(t, o)); s.LogFile != "" {
		t.Errorf("it logs to %q", s.LogFile)
	}
}

// What the process says that cannot start is the error of those who started it.
func TestLoopbackOnly(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.HTTP = "0.0.0.0:0"
	if err := failure(t, withArgs(t, o)); err != "the local service listens on loopback only, not on 0.0.0.0:0" {
		t.Error(err)
	}
}

// A web page cannot reach the service by a name of its own, key or not.
func TestRequestsOfWebPages(t *testing.T) {
	t.Parallel()
	s := open(t, options(t)).State
	_, port, _ := strings.Cut(strings.TrimPrefix(s.BaseURL, "http://"), ":")
	for _, test := range []struct {
		host, origin string
		status       int
	}{
		{"127.0.0.1:" + port, "", 200},
		{"localhost:" + port, "", 200},
		{"LocalHost", "", 200},
		{"[::1]:" + port, "", 200},
		{"app.localhost:" + port, "", 200},
		{"localhost:" + port, "http://localhost:3000", 200},
		{"localhost:" + port, "http://127.0.0.1:" + port, 200},
		{"evil.example:" + port, "", 403},
		{"localhost.evil.example", "", 403},
		{"127.0.0.1.evil.example", "", 403},
		{"192.0.2.1", "", 403},
		{"localhost:" + port, "https://evil.example", 403},
		{"localhost:" + port, "null", 403},
		{"localhost:" + port, "file://", 403},
	} {
		for _, path := range []string{"/v1/inboxes", "/healthz"} {
			r, err := http.NewRequestWithContext(t.Context(), "GET", s.BaseURL+path, nil)
			must(t, err)
			r.Host = test.host
			r.Header.Set("X-API-Key", s.Key)
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
			answer, err := http.DefaultClient.Do(r)
			must(t, err)
			answer.Body.Close()
			if answer.StatusCode != test.status {
				t.Errorf("%s of host %q and origin %q: %d, want %d", path, test.host, test.origin, answer.StatusCode, test.status)
			}
		}
	}
}

func TestAProgramThatCrashesAtOnce(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Args = []string{"-test.run=^$", "-test.v=false", "-test.unknown"}
	if err := failure(t, o); !strings.Contains(err, o.LogFile) {
		t.Error(err)
	}
}

// A client that trusts the certificate alone sends mail over TLS, also after a new start, which makes no other one.
func TestTLS(t *testing.T) {
	o := options(t)
	o.TLS = true
	o = withArgs(t, o)
	var first []byte
	for range 2 {
		s := open(t, o)
		pem, err := os.ReadFile(s.CertFile)
		must(t, err)
		if first != nil && !bytes.Equal(pem, first) {
			t.Error("another certificate")
		}
		first = pem
		trusted := x509.NewCertPool()
		trusted.AppendCertsFromPEM(pem)
		for _, name := range []string{"localhost", "127.0.0.1"} {
			c, err := smtp.Dial(s.SMTPAddr)
			must(t, err)
			must(t, c.StartTLS(&tls.Config{RootCAs: trusted, ServerName: name}))
			must(t, c.Quit())
		}
		must(t, local.Stop(t.Context(), o))
		s.Close()
	}
}
