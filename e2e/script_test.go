//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestScriptWorkflow(t *testing.T) {
	t.Parallel()
	s, u := newMachine(t).serveUser("enterprise")

	address := u.mustRun("new", "--ttl", "10m")
	waiting := u.start("wait", address, "--code")
	send(t, s.smtp, address, strings.Replace(signup(address), "482913", "no code yet", -1))
	send(t, s.smtp, address, signup(address))
	if got := waiting.output(); got != "482913\n" {
		t.Fatalf("wait --code printed %q", got)
	}
	u.prints("https://acme.example/confirm?token=abc", "wait", address, "--link", "--from", "ACME", "--subject", "confirm")
	var report struct {
		Message    struct{ Subject, Text, HTML string }
		Rendered   string
		Code, Link *string
		Links      []struct{ URL string }
	}
	for _, command := range [][]string{{"wait", address, "--json"}, {"read", address, "--json"}} {
		must(t, json.Unmarshal([]byte(u.mustRun(command...)), &report))
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
		if _, err := os.Stat(filepath.Join(u.home, path)); err != nil {
			t.Error(err)
		}
	}
	u.fails(5, "no mail to "+address, "wait", address, "--subject", "never", "--timeout", "100ms")
	u.mustRun("rm", "--yes", address)
	u.fails(3, "", "messages", address)
}

func TestSendmailInAPipe(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	stdout, stderr, status := output(t, m.script(`"$0" exec -- sh -c '
		to=$("$0" new) && printf "To: %s\nSubject: Hello\n\nYour verification code is 482913.\n" "$to" | "$0" sendmail -t -oi -fapp@acme.example &&
		"$0" wait "$to" --code && echo x | "$0" sendmail no..dots@acme.example' "$0"`))
	if stdout != "482913\n" || status != 1 || !strings.HasPrefix(stderr, "mayfly: sending to no..dots@acme.example: SMTP error 5") {
		t.Errorf("status %d: %q, %q", status, stdout, stderr)
	}
}

func TestWatchPrintsEvents(t *testing.T) {
	t.Parallel()
	s, u := newMachine(t).serveUser("enterprise")
	old := u.mustRun("new", "--username", "old")
	send(t, s.smtp, old, signup(old))
	ready := u.mustRun("new", "--username", "ready")

	watching := u.command("watch", "--json")
	pipe, err := watching.StdoutPipe()
	must(t, err)
	must(t, watching.Start())
	decoder := json.NewDecoder(pipe)
	type event struct {
		Event   string
		Inbox   struct{ ID, Email string }
		Message struct{ ID, Subject string }

		Code, Link string
	}
	// What is there when it starts is no event. It follows all inboxes once it has printed the
	// first.
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
	if err := decoder.Decode(&first); err != nil || first.Inbox.Email != ready || first.Code != "482913" || first.Link != "https://acme.example/confirm?token=abc" {
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
	must(t, watching.Process.Signal(syscall.SIGINT))
	if err := watching.Wait(); watching.ProcessState.ExitCode() != 130 {
		t.Errorf("interrupted, watch ended with %v", err)
	}
}
