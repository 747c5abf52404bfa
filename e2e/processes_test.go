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

// answerBound is how long any answer may take, whatever happens to the database.
const answerBound = 15 * time.Second

// pair is two processes that serve one database, and a client of the first.
type pair struct {
	m     *machine
	one   *server
	other *server
	user  *client
}

// serveTwice starts two processes on one database.
func serveTwice(t *testing.T, database string, args ...string) *pair {
	t.Helper()
	m := newMachine(t)
	p := &pair{m: m, one: m.serve(database, args...), other: m.serve(database, args...)}
	p.user = newClient(t, p.one.rest, m.key(database, "enterprise"))
	return p
}

// parameter adds a parameter to the URL of a database.
func parameter(t *testing.T, database, name, value string) string {
	t.Helper()
	u, err := url.Parse(database)
	must(t, err)
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// ready reports whether a process says that it can serve.
func ready(u *client) bool { return u.request(http.MethodGet, "/readyz", "").status == http.StatusOK }

func TestTwoProcessesServeOneDatabase(t *testing.T) {
	t.Parallel()
	p := serveTwice(t, pgtest.Database(t))
	here, there := p.user, p.user.at(p.other.rest)
	address := here.createInbox("shared")
	path := "/v1/inboxes/" + here.inboxes[address]

	send(t, p.other.smtp, address, signup(address))
	for _, u := range []*client{here, there} {
		var list struct {
			Messages []struct{ ID, Subject string }
		}
		u.getJSON(path+"/messages", &list)
		if len(list.Messages) != 1 || list.Messages[0].Subject != "Confirm your e-mail address" {
			t.Fatalf("%s lists %+v", u.base, list)
		}
		var message struct{ Text string }
		u.getJSON(path+"/messages/"+list.Messages[0].ID, &message)
		if !strings.Contains(message.Text, "482913") {
			t.Errorf("%s has %q", u.base, message.Text)
		}
	}

	stranger := newClient(t, p.other.rest, p.m.key(p.one.store, "dev"))
	taken := `{"username":"shared"}`
	stranger.wants(http.StatusBadRequest, http.MethodPost, "/v1/inboxes", taken)
	stranger.wants(http.StatusNotFound, http.MethodGet, path, "")

	// What one process deletes is gone on the other with the next request, for readers and for
	// senders.
	for n := range 5 {
		username := fmt.Sprintf("short-%d", n)
		address := here.createInbox(username)
		path := "/v1/inboxes/" + here.inboxes[address]
		there.wants(http.StatusOK, http.MethodGet, path, "")
		here.wants(http.StatusOK, http.MethodDelete, path, "")
		there.wants(http.StatusNotFound, http.MethodGet, path, "")
		if err := smtp.SendMail(p.other.smtp, nil, "a@acme.example", []string{address}, []byte("x\r\n")); refusal(err) != "550 5.1.1" {
			t.Errorf("deleted on one, mail to the other ends with %v", err)
		}
		stranger.wants(http.StatusBadRequest, http.MethodPost, "/v1/inboxes", `{"username":"`+username+`"}`)
	}
}

func TestKilledProcessUnderLoad(t *testing.T) {
	long(t)
	t.Parallel()
	c := pgtest.Start(t)
	p := serveTwice(t, c.URL())
	l := startLoad(t, []string{p.user.createInbox("a"), p.user.createInbox("b")}, p.one.smtp, p.other.smtp)
	l.waitForMails(500)
	p.other.stop(syscall.SIGKILL)
	l.waitForMails(500)
	l.checkNothingIsLost(p.user)
}

func TestDatabaseRestartUnderLoad(t *testing.T) {
	long(t)
	t.Parallel()
	c := pgtest.Start(t)
	p := serveTwice(t, c.URL())
	l := startLoad(t, []string{p.user.createInbox("a"), p.user.createInbox("b")}, p.one.smtp, p.other.smtp)
	users := []*client{p.user, p.user.at(p.other.rest)}
	for _, mode := range []pgtest.Mode{pgtest.Immediate, pgtest.Kill, pgtest.Fast} {
		l.waitForMails(200)
		c.Stop(mode)
		l.waitForRefusal("452 4.3.2")
		for _, u := range users {
			u.waitUntilUnavailable()
			eventually(t, "it is not ready", func() bool { return !ready(u) }) // it asks the database once a second
		}
		c.Start()
		started := time.Now()
		l.waitForMails(1)
		t.Logf("mail is taken %v after the database is back", time.Since(started).Round(time.Millisecond))
		for _, u := range users {
			eventually(t, "it is ready again", func() bool { return ready(u) })
		}
	}
	l.checkSlowestAnswer(answerBound)
	l.checkNothingIsLost(p.user)
}

// With few connections to the database, each of many more requests is answered.
func TestMoreRequestsThanConnections(t *testing.T) {
	long(t)
	t.Parallel()
	database := pgtest.Database(t)
	p := serveTwice(t, parameter(t, database, "pool_max_conns", "2"))
	address := p.user.createInbox("busy")
	path := "/v1/inboxes/" + p.user.inboxes[address] + "/messages"
	var asking sync.WaitGroup
	for n := range 300 {
		s := []*server{p.one, p.other}[n%2]
		asking.Go(func() {
			if a := p.user.at(s.rest).request(http.MethodGet, path, ""); a.status != http.StatusOK || a.took > answerBound {
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
	p.user.getJSON(path, &list)
	if len(list.Messages) != 300 {
		t.Errorf("300 messages were taken, %d are there", len(list.Messages))
	}
}
