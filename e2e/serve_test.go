//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
)

// acknowledged are the messages for which a 250 came.
type acknowledged struct {
	mu       sync.Mutex
	subjects map[string]bool
	enough   chan struct{} // closed when there are as many as wanted
	wanted   int
}

func (a *acknowledged) add(subject string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.subjects[subject] = true
	if len(a.subjects) == a.wanted {
		close(a.enough)
	}
}

// sendUntilItEnds sends one message after another on one connection until the service is gone.
func (a *acknowledged) sendUntilItEnds(addr, to, sender string) {
	client, err := smtp.Dial(addr)
	if err != nil {
		return
	}
	defer client.Close()
	for n := 0; ; n++ {
		subject := fmt.Sprintf("message %s-%d", sender, n)
		if client.Mail("a@acme.example") != nil || client.Rcpt(to) != nil {
			return
		}
		data, err := client.Data()
		if err != nil {
			return
		}
		fmt.Fprintf(data, "Subject: %s\r\n\r\n%s\r\n", subject, strings.Repeat("x", 2000))
		if data.Close() != nil { // nil is the 250
			return
		}
		a.add(subject)
	}
}

func TestNothingAcknowledgedIsLostWhenTheServiceIsKilled(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	store := filepath.Join(m.home, "store")
	s := m.serve(store)
	key := m.key(store, "enterprise")
	m.using(s, key).does("new", "--username", "crash")

	var sending sync.WaitGroup
	for round := range 3 {
		sent := &acknowledged{subjects: map[string]bool{}, enough: make(chan struct{}), wanted: 300}
		for n := range 8 {
			sending.Go(func() { sent.sendUntilItEnds(s.smtp, "crash@mail.test", fmt.Sprintf("%d-%d", round, n)) })
		}
		select {
		case <-sent.enough:
		case <-time.After(patience):
			t.Fatalf("only %d messages were accepted", len(sent.subjects))
		}
		s.stop(syscall.SIGKILL)
		sending.Wait()

		s = m.serve(store)
		var list api.List
		if err := json.Unmarshal([]byte(m.using(s, key).does("messages", "crash", "--json")), &list); err != nil {
			t.Fatal(err)
		}
		for _, message := range list.Messages {
			delete(sent.subjects, message.Subject)
		}
		if len(sent.subjects) > 0 {
			t.Errorf("round %d: %d messages were acknowledged and are lost", round, len(sent.subjects))
		}
	}
}

func TestServeStopsInOrder(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		m := newMachine(t)
		store := filepath.Join(m.home, "store")
		s := m.serve(store)
		user := m.using(s, m.key(store, "dev"))
		address := user.does("new")
		send(t, s.smtp, address, signup(address))
		held := user.command("wait", address, "--subject", "never") // ends with the service, not after its minute
		if err := held.Start(); err != nil {
			t.Fatal(err)
		}
		s.stop(signal)
		if status := s.cmd.ProcessState.ExitCode(); status != 0 {
			t.Errorf("%v: status %d: %s", signal, status, s.stderr)
		}
		if strings.Count(s.stderr.String(), "mayfly serves") != 1 {
			t.Errorf("stderr has %q", s.stderr)
		}
		_ = held.Process.Kill()
		_ = held.Wait() // killed
		s = m.serve(store)
		if got := m.using(s, user.getenv("MAYFLY_API_KEY")).does("messages", address); !strings.Contains(got, "Confirm your e-mail address") {
			t.Errorf("after a stop in order there is %q", got)
		}
	}
}

func TestServeSaysWhyItCannotStart(t *testing.T) {
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

func TestAdministeringARunningAndAStoppedService(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	store := filepath.Join(m.home, "store")
	first := m.key(store, "dev") // before there is a service
	s := m.serve(store)
	second := m.key(store, "startup") // through its socket
	for _, key := range []string{first, second} {
		m.using(s, key).does("ls")
	}
	var secondID string
	for line := range strings.Lines(m.does("admin", "key", "list", "--store", store)) {
		if cells := strings.Split(line, "\t"); len(cells) > 1 && cells[1] == "startup" {
			secondID = cells[0]
		}
	}
	rotated := m.does("admin", "key", "rotate", secondID, "--store", store)
	if _, _, status := m.using(s, second).run("ls"); status != 4 {
		t.Errorf("with a secret that was rotated away ls ends with %d", status)
	}
	m.using(s, rotated).does("ls")
	m.does("admin", "key", "plan", secondID, "free", "--store", store)
	if _, stderr, status := m.using(s, rotated).run("ls"); status != 4 {
		t.Errorf("with the plan free ls ends with %d: %s", status, stderr)
	}
	m.does("admin", "key", "revoke", secondID, "--store", store)
	s.stop(syscall.SIGTERM)
	m.does("admin", "key", "list", "--store", store)
	if _, stderr, status := m.run("admin", "key", "revoke", "key_nobody", "--store", store); status != 3 {
		t.Errorf("revoking what is not there ends with %d: %s", status, stderr)
	}
}

func TestABackupOfALiveStoreIsRestored(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	store, backup, restored := filepath.Join(m.home, "store"), filepath.Join(m.home, "backup"), filepath.Join(m.home, "restored")
	s := m.serve(store)
	key := m.key(store, "dev")
	address := m.using(s, key).does("new", "--username", "kept")
	send(t, s.smtp, address, signup(address))
	m.does("admin", "backup", backup, "--store", store)
	m.using(s, key).does("rm", "--yes", address)
	if _, stderr, status := m.run("admin", "restore", backup, "--store", store); status != 1 || strings.Count(stderr, "\n") != 1 {
		t.Errorf("restoring over a store ended with %d: %q", status, stderr)
	}
	m.does("admin", "restore", backup, "--store", restored)
	again := m.serve(restored)
	if got := m.using(again, key).does("messages", address); !strings.Contains(got, "Confirm your e-mail address") {
		t.Errorf("the restored store has %q", got)
	}
}

func TestTheWorkOfAScript(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	store := filepath.Join(m.home, "store")
	s := m.serve(store)
	u := m.using(s, m.key(store, "enterprise"))

	address := u.does("new", "--ttl", "10m")
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
	if got := u.does("wait", address, "--link", "--from", "ACME", "--subject", "confirm"); got != "https://acme.example/confirm?token=abc" {
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
		if err := json.Unmarshal([]byte(u.does(command...)), &report); err != nil {
			t.Fatal(err)
		}
		if report.Message.Subject != "Confirm your e-mail address" || report.Code == nil || *report.Code != "482913" ||
			report.Link == nil || len(report.Links) == 0 || !strings.Contains(report.Rendered, "Welcome to Acme, Ada") {
			t.Errorf("%q printed %+v", command, report)
		}
	}
	if got := u.does("read", address, "--view", "raw"); !strings.HasSuffix(got, strings.TrimSuffix(strings.ReplaceAll(signup(address), "\n", "\r\n"), "\n")) {
		t.Errorf("the raw view in a pipe is not the message as received: %q", got)
	}
	paths := strings.Split(u.does("save", address, "--dir", "saved"), "\n")
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
	u.does("rm", "--yes", address)
	if _, _, status := u.run("messages", address); status != 3 {
		t.Errorf("messages of a deleted inbox end with %d", status)
	}
}

func TestAgentsUseTheServiceOverHTTP(t *testing.T) {
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
	if got := m.using(s, key).does("ls"); !strings.HasPrefix(got, "agent@mail.test") {
		t.Errorf("ls printed %q", got)
	}
}

func TestWatchTellsEvents(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	store := filepath.Join(m.home, "store")
	s := m.serve(store)
	u := m.using(s, m.key(store, "enterprise"))
	old := u.does("new", "--username", "old")
	send(t, s.smtp, old, signup(old))
	ready := u.does("new", "--username", "ready")

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
	fresh := u.does("new", "--username", "fresh")
	send(t, s.smtp, fresh, signup(fresh))
	expect("arrived", fresh, "Confirm your e-mail address")
	send(t, s.smtp, old, "Subject: second\n\nbody\n")
	expect("arrived", old, "second")
	u.does("rm", "--yes", fresh)
	expect("deleted", fresh, "")
	if err := watching.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := watching.Wait(); watching.ProcessState.ExitCode() != 130 {
		t.Errorf("interrupted, watch ended with %v", err)
	}
}

func TestAServiceWithTheContractAlone(t *testing.T) {
	t.Parallel()
	double := apitest.New(apitest.Options{})
	web := httptest.NewServer(double)
	defer web.Close()
	m := newMachine(t).with("MAYFLY_BASE_URL="+web.URL, "MAYFLY_API_KEY="+apitest.Key)
	address := m.does("new")
	if _, err := double.Deliver(address, apitest.Mail{
		From: "no-reply@acme.example", FromName: "Acme", Subject: "Your code",
		Text: "Your verification code is 482913.", ReceivedAt: time.Now(),
	}); err != nil {
		t.Fatal(err)
	}
	if got := m.does("wait", "--code"); got != "482913" {
		t.Errorf("wait --code printed %q", got)
	}
	if got, stderr, status := m.run("read", "--view", "raw"); status != 0 || !strings.Contains(got, "482913") || !strings.Contains(stderr, "raw") {
		t.Errorf("read --view raw ended with %d: %q, %q", status, got, stderr)
	}
	if got := m.does("save", "--dir", "saved"); got != filepath.Join("saved", "Your code.txt") {
		t.Errorf("save printed %q", got)
	}
	m.does("rm", "--yes", "--all")
	if status, _ := get(t, web.URL, apitest.Key, "/v1/inboxes"); status == http.StatusOK {
		t.Error("the double has a list of inboxes")
	}
	if got := m.does("ls"); got != "" {
		t.Errorf("ls printed %q", got)
	}
}
