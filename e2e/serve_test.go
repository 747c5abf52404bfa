//go:build unix

package e2e

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mayfly/api/apitest"
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
		m := newMachine(t)
		store := filepath.Join(m.home, "store")
		s := m.serve(store)
		user := m.using(s, m.key(store, "dev"))
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
		s = m.serve(store)
		if got := m.using(s, user.getenv("MAYFLY_API_KEY")).mustRun("messages", address); !strings.Contains(got, "Confirm your e-mail address") {
			t.Errorf("after a graceful shutdown there is %q", got)
		}
	}
}

func TestServeReportsWhyItCannotStart(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, args := range map[string][]string{
		"a port that is taken": {"--smtp", taken.Addr().String(), "--http", "127.0.0.1:0", "--store", filepath.Join(m.home, "a")},
		"no folder":            {"--smtp", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store", "/dev/null/store"},
	} {
		_, stderr, status := m.run(append([]string{"serve"}, args...)...)
		if status != 1 || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d: %q", name, status, stderr)
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
	if _, _, status := m.using(s, second).run("ls"); status != 4 {
		t.Errorf("with a secret that was rotated away ls ends with %d", status)
	}
	m.using(s, rotated).mustRun("ls")
	m.mustRun("admin", "key", "plan", secondID, "free", "--store", store)
	if _, stderr, status := m.using(s, rotated).run("ls"); status != 4 {
		t.Errorf("with the plan free ls ends with %d: %s", status, stderr)
	}
	m.mustRun("admin", "key", "revoke", secondID, "--store", store)
	s.stop(syscall.SIGTERM)
	m.mustRun("admin", "key", "list", "--store", store)
	if _, stderr, status := m.run("admin", "key", "revoke", "key_nobody", "--store", store); status != 3 {
		t.Errorf("revoking an unknown key ends with %d: %s", status, stderr)
	}
}

func TestBackupOfALiveStore(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	store, backup, restored := filepath.Join(m.home, "store"), filepath.Join(m.home, "backup"), filepath.Join(m.home, "restored")
	s := m.serve(store)
	key := m.key(store, "dev")
	address := m.using(s, key).mustRun("new", "--username", "kept")
	send(t, s.smtp, address, signup(address))
	m.mustRun("admin", "backup", backup, "--store", store)
	m.using(s, key).mustRun("rm", "--yes", address)
	if _, stderr, status := m.run("admin", "restore", backup, "--store", store); status != 1 || strings.Count(stderr, "\n") != 1 {
		t.Errorf("restoring over a store ended with %d: %q", status, stderr)
	}
	m.mustRun("admin", "restore", backup, "--store", restored)
	again := m.serve(restored)
	if got := m.using(again, key).mustRun("messages", address); !strings.Contains(got, "Confirm your e-mail address") {
		t.Errorf("the restored store has %q", got)
	}
}

func TestScriptWorkflow(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	store := filepath.Join(m.home, "store")
	s := m.serve(store)
	u := m.using(s, m.key(store, "enterprise"))

	address := u.mustRun("new", "--ttl", "10m")
	waiting := u.command("wait", address, "--code")
	var code strings.Builder
	waiting.Stdout = &code
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	send(t, s.smtp, address, strings.Replace(signup(address), "482913", "no code yet", -1))
	send(t, s.smtp, address, signup(address))
	if err := waiting.Wait(); err != nil || code.String() != "482913\n" {
		t.Fatalf("wait --code printed %q: %v", &code, err)
	}
	if got := u.mustRun("wait", address, "--link", "--from", "ACME", "--subject", "confirm"); got != "https://acme.example/confirm?token=abc" {
		t.Errorf("wait --link printed %q", got)
	}
	var report struct {
		Message struct {
			Subject     string
			Attachments []struct{ Filename string }
		}
		Rendered   string
		Code, Link *string
		Links      []struct{ URL string }
		Checks     []struct{ ID, Level, Message, Where string }
	}
	for _, command := range [][]string{{"wait", address, "--json"}, {"read", address, "--json"}} {
		if err := json.Unmarshal([]byte(u.mustRun(command...)), &report); err != nil {
			t.Fatal(err)
		}
		if report.Message.Subject != "Confirm your e-mail address" || report.Code == nil || *report.Code != "482913" ||
			report.Link == nil || len(report.Links) == 0 || !strings.Contains(report.Rendered, "Welcome to Acme, Ada") {
			t.Errorf("%q printed %+v", command, report)
		}
	}
	if got := u.mustRun("read", address, "--view", "raw"); !strings.HasSuffix(got, strings.TrimSuffix(strings.ReplaceAll(signup(address), "\n", "\r\n"), "\n")) {
		t.Errorf("the raw view in a pipe is not the message as received: %q", got)
	}
	paths := strings.Split(u.mustRun("save", address, "--dir", "saved"), "\n")
	if len(paths) != 2 {
		t.Fatalf("save printed %q", paths)
	}
	for _, path := range paths {
		if dir := filepath.Dir(path); dir != "saved" {
			t.Errorf("saved to %s", path)
		}
		if _, err := os.Stat(filepath.Join(m.home, path)); err != nil {
			t.Error(err)
		}
	}
	started := time.Now()
	if _, stderr, status := u.run("wait", address, "--subject", "never", "--timeout", "1"); status != 5 || strings.Count(stderr, "\n") != 1 {
		t.Errorf("wait ended with %d after %v: %q", status, time.Since(started), stderr)
	}
	u.mustRun("rm", "--yes", address)
	if _, _, status := u.run("messages", address); status != 3 {
		t.Errorf("messages of a deleted inbox end with %d", status)
	}
}

func TestMCPOverHTTP(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := m.serve(filepath.Join(m.home, "store"), "--mcp")
	key := m.key(s.store, "dev")
	call := func(key, session, body string) (int, string, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.rest+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"X-API-Key": key, "Mcp-Session-Id": session, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		} {
			if value != "" {
				request.Header.Set(name, value)
			}
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, answer.Header.Get("Mcp-Session-Id"), string(text)
	}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	if status, _, body := call("mf_wrong", "", hello); status != http.StatusUnauthorized {
		t.Errorf("a wrong key gets %d: %s", status, body)
	}
	status, session, body := call(key, "", hello)
	if status != http.StatusOK || session == "" {
		t.Fatalf("status %d: %s", status, body)
	}
	call(key, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	status, _, body = call(key, session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_inbox","arguments":{"username":"agent"}}}`)
	if status != http.StatusOK || !strings.Contains(body, "agent@mail.test") {
		t.Errorf("status %d: %s", status, body)
	}
	if got := m.using(s, key).mustRun("ls"); !strings.HasPrefix(got, "agent@mail.test") {
		t.Errorf("ls printed %q", got)
	}
}

func TestWatchPrintsEvents(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	store := filepath.Join(m.home, "store")
	s := m.serve(store)
	u := m.using(s, m.key(store, "enterprise"))
	old := u.mustRun("new", "--username", "old")
	send(t, s.smtp, old, signup(old))
	ready := u.mustRun("new", "--username", "ready")

	watching := u.command("watch", "--json")
	pipe, err := watching.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watching.Start(); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(pipe)
	type event struct {
		Event   string
		Inbox   struct{ ID, Email string }
		Message struct{ ID, Subject string }
	}
	// What is there when it starts is no event: it follows from the first mail on that it tells of.
	following := make(chan struct{})
	var mailing sync.WaitGroup
	mailing.Go(func() {
		for {
			send(t, s.smtp, ready, signup(ready))
			select {
			case <-following:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	var first event
	if err := decoder.Decode(&first); err != nil || first.Inbox.Email != ready {
		t.Errorf("%+v, %v", first, err)
	}
	close(following)
	mailing.Wait()
	expect := func(name, email, subject string) {
		t.Helper()
		e := first
		var err error
		for err == nil && e.Inbox.Email == ready {
			e = event{}
			err = decoder.Decode(&e)
		}
		if err != nil || e.Event != name || e.Inbox.Email != email || e.Message.Subject != subject {
			t.Fatalf("%+v, %v; want %s of %s", e, err, name, email)
		}
	}
	fresh := u.mustRun("new", "--username", "fresh")
	send(t, s.smtp, fresh, signup(fresh))
	expect("arrived", fresh, "Confirm your e-mail address")
	send(t, s.smtp, old, "Subject: second\n\nbody\n")
	expect("arrived", old, "second")
	u.mustRun("rm", "--yes", fresh)
	expect("deleted", fresh, "")
	if err := watching.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := watching.Wait(); watching.ProcessState.ExitCode() != 130 {
		t.Errorf("interrupted, watch ended with %v", err)
	}
}

func TestServiceWithoutExtensions(t *testing.T) {
	t.Parallel()
	double := apitest.New(apitest.Options{})
	web := httptest.NewServer(double)
	defer web.Close()
	m := newMachine(t).with("MAYFLY_BASE_URL="+web.URL, "MAYFLY_API_KEY="+apitest.Key)
	address := m.mustRun("new")
	if _, err := double.Deliver(address, apitest.Mail{
		From: "no-reply@acme.example", FromName: "Acme", Subject: "Your code",
		Text: "Your verification code is 482913.", ReceivedAt: time.Now(),
	}); err != nil {
		t.Fatal(err)
	}
	if got := m.mustRun("wait", "--code"); got != "482913" {
		t.Errorf("wait --code printed %q", got)
	}
	if got, stderr, status := m.run("read", "--view", "raw"); status != 0 || !strings.Contains(got, "482913") || !strings.Contains(stderr, "raw") {
		t.Errorf("read --view raw ended with %d: %q, %q", status, got, stderr)
	}
	if got := m.mustRun("save", "--dir", "saved"); got != filepath.Join("saved", "Your code.txt") {
		t.Errorf("save printed %q", got)
	}
	m.mustRun("rm", "--yes", "--all")
	if a := newClient(t, web.URL, apitest.Key).request(http.MethodGet, "/v1/inboxes", ""); a.status == http.StatusOK {
		t.Error("the double has a list of inboxes")
	}
	if got := m.mustRun("ls"); got != "" {
		t.Errorf("ls printed %q", got)
	}
}
