//go:build unix

package e2e

import (
	"fmt"
	"net/http"
	"net/smtp"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mayfly/service/postgres/pgtest"
)

// bound is how long any answer may take, whatever happens to the database.
const bound = 15 * time.Second

// pair is two processes that serve one database, and a user of them.
type pair struct {
	m     *machine
	one   *serving
	other *serving
	user  *user // asks the one
}

// serveTwo starts two processes on a database.
func serveTwo(t *testing.T, database string, args ...string) *pair {
	t.Helper()
	m := newMachine(t)
	p := &pair{m: m, one: m.serve(database, args...), other: m.serve(database, args...)}
	p.user = &user{t, p.one.rest, m.key(database, "enterprise"), map[string]string{}}
	return p
}

// parameter adds a parameter to the URL of a database.
func parameter(t *testing.T, database, name, value string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// ready tells whether a process says that it can serve.
func ready(u *user) bool { return u.ask(http.MethodGet, "/readyz", "").status == http.StatusOK }

func TestTwoProcessesServeOneDatabase(t *testing.T) {
	p := serveTwo(t, pgtest.Database(t))
	here, there := p.user, p.user.at(p.other.rest)
	address := here.makes("shared")
	path := "/v1/inboxes/" + here.inboxes[address]

	send(t, p.other.smtp, address, signup(address))
	for _, u := range []*user{here, there} {
		var list struct {
			Messages []struct{ ID, Subject string }
		}
		u.gets(path+"/messages", &list)
		if len(list.Messages) != 1 || list.Messages[0].Subject != "Confirm your e-mail address" {
			t.Fatalf("%s lists %+v", u.base, list)
		}
		var message struct{ Text string }
		u.gets(path+"/messages/"+list.Messages[0].ID, &message)
		if !strings.Contains(message.Text, "482913") {
			t.Errorf("%s has %q", u.base, message.Text)
		}
	}

	stranger := &user{t, p.other.rest, p.m.key(p.one.store, "dev"), map[string]string{}}
	taken := `{"username":"shared"}`
	if a := stranger.ask(http.MethodPost, "/v1/inboxes", taken); a.status != http.StatusBadRequest {
		t.Errorf("another key gets the address: %d %s", a.status, a.body)
	}
	if a := stranger.ask(http.MethodGet, path, ""); a.status != http.StatusNotFound {
		t.Errorf("another key sees the inbox: %d %s", a.status, a.body)
	}

	// Deleted on the one, it is gone on the other with the next request, to readers and senders.
	for n := range 20 {
		username := fmt.Sprintf("short-%d", n)
		address := here.makes(username)
		path := "/v1/inboxes/" + here.inboxes[address]
		if a := there.ask(http.MethodGet, path, ""); a.status != http.StatusOK {
			t.Fatalf("made on the one, the other says %d %s", a.status, a.body)
		}
		if a := here.ask(http.MethodDelete, path, ""); a.status != http.StatusOK {
			t.Fatalf("deleting: %d %s", a.status, a.body)
		}
		if a := there.ask(http.MethodGet, path, ""); a.status != http.StatusNotFound {
			t.Errorf("deleted on the one, the other says %d %s", a.status, a.body)
		}
		if err := smtp.SendMail(p.other.smtp, nil, "a@acme.example", []string{address}, []byte("x\r\n")); refusal(err) != "550 5.1.1" {
			t.Errorf("deleted on the one, mail to the other ends with %v", err)
		}
		if a := stranger.ask(http.MethodPost, "/v1/inboxes", `{"username":"`+username+`"}`); a.status != http.StatusBadRequest {
			t.Errorf("another key gets an address that was deleted: %d %s", a.status, a.body)
		}
	}

	// Of many who want one address, on both, one key gets it.
	made := make(chan string, 20)
	var wanting sync.WaitGroup
	for n := range cap(made) {
		u := []*user{here, there, stranger, stranger.at(p.one.rest)}[n%4]
		wanting.Go(func() {
			if a := u.ask(http.MethodPost, "/v1/inboxes", `{"username":"wanted"}`); a.status == http.StatusCreated {
				made <- u.key
			}
		})
	}
	wanting.Wait()
	if len(made) != 1 {
		t.Errorf("one address was given %d times", len(made))
	}
}

func TestAProcessOfTwoIsKilledUnderLoad(t *testing.T) {
	t.Parallel() // it waits
	c := pgtest.Start(t)
	p := serveTwo(t, c.URL())
	l := startLoad(t, []string{p.user.makes("a"), p.user.makes("b")}, p.one.smtp, p.other.smtp)
	l.arrives(500)
	p.other.stop(syscall.SIGKILL)
	l.arrives(500)
	l.nothingIsLost(p.user)
}

func TestTheDatabaseIsRestartedUnderLoad(t *testing.T) {
	t.Parallel() // it waits
	c := pgtest.Start(t)
	p := serveTwo(t, c.URL())
	l := startLoad(t, []string{p.user.makes("a"), p.user.makes("b")}, p.one.smtp, p.other.smtp)
	users := []*user{p.user, p.user.at(p.other.rest)}
	for _, mode := range []pgtest.Mode{pgtest.Immediate, pgtest.Kill, pgtest.Fast} {
		l.arrives(200)
		c.Stop(mode)
		l.refusedWith("452 4.3.2")
		for _, u := range users {
			u.isAway()
			if ready(u) {
				t.Error("ready without a database")
			}
		}
		c.Start()
		started := time.Now()
		l.arrives(1)
		t.Logf("mail is taken %v after the database is back", time.Since(started).Round(time.Millisecond))
		for _, u := range users {
			eventually(t, "it is ready again", func() bool { return ready(u) })
		}
	}
	l.answersWithin(bound)
	l.nothingIsLost(p.user)
}

// Each of very many requests is answered, with few connections to the database.
func TestMoreRequestsThanConnections(t *testing.T) {
	database := pgtest.Database(t)
	p := serveTwo(t, parameter(t, database, "pool_max_conns", "2"))
	address := p.user.makes("busy")
	path := "/v1/inboxes/" + p.user.inboxes[address] + "/messages"
	var asking sync.WaitGroup
	for n := range 300 {
		s := []*serving{p.one, p.other}[n%2]
		asking.Go(func() {
			if a := p.user.at(s.rest).ask(http.MethodGet, path, ""); a.status != http.StatusOK || a.took > bound {
				t.Errorf("%d after %v: %s", a.status, a.took, a.body)
			}
		})
		asking.Go(func() {
			if err := smtp.SendMail(s.smtp, nil, "a@acme.example", []string{address}, []byte("Subject: x\r\n\r\nx\r\n")); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	var list struct{ Messages []struct{ ID string } }
	p.user.gets(path, &list)
	if len(list.Messages) != 300 {
		t.Errorf("300 messages were taken, %d are there", len(list.Messages))
	}
}
