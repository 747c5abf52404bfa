package server_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/textproto"
	"strings"
	"testing"

	"mayfly/api"
	"mayfly/internal/server"
	"mayfly/service"
)

// talk is an SMTP session: it sends each line and reads its reply, the greeting first.
func talk(t *testing.T, addr string, lines ...string) {
	t.Helper()
	nc, err := net.Dial("tcp", addr)
	must(t, err)
	defer nc.Close()
	c := textproto.NewConn(nc)
	for _, line := range append([]string{""}, lines...) {
		if line != "" {
			must(t, c.PrintfLine("%s", line))
		}
		if _, _, err := c.ReadResponse(0); err != nil && line != "QUIT" {
			t.Fatalf("after %q: %v", line, err)
		}
	}
}

// told writes what a key is told of the sessions, the newest first, without clients and times.
func told(t *testing.T, c *api.Client) string {
	t.Helper()
	list, err := c.Sessions(t.Context())
	must(t, err)
	var all []string
	for _, s := range list.Sessions {
		line := fmt.Sprintf("%s %s %q %q", s.Hello, s.Command, s.Reply, s.End)
		for _, m := range s.Messages {
			line += fmt.Sprintf(" / %v %q", m.Recipients, m.Reply)
		}
		all = append(all, line)
	}
	return strings.Join(all, "\n")
}

func TestAKeyReadsTheSessionsThatConcernIt(t *testing.T) {
	c := config(t)
	c.Domains = []string{"mail.example"}
	s := start(t, c)
	ada, bob := newClient(t, s), newClient(t, s)
	for client, name := range map[*api.Client]string{ada: "adalovelace", bob: "bob"} {
		_, err := client.CreateInbox(t.Context(), api.CreateInbox{Username: name})
		must(t, err)
	}
	smtp := s.SMTPAddr()
	talk(t, smtp, "EHLO one", "MAIL FROM:<x@y.example>", "RCPT TO:<adalovelace@mail.example>", "RCPT TO:<bob@mail.example>", "DATA", ".", "QUIT")
	talk(t, smtp, "EHLO two", "MAIL FROM:<x@y.example>", "RCPT TO:<AdaLovelaec@mail.example>", "RCPT TO:<secret@mail.example>", "QUIT")
	talk(t, smtp, "EHLO three", "MAIL FROM:<x@y.example>", "RCPT TO:<somebody@mail.example>", "QUIT")
	talk(t, smtp, "EHLO four", "NOOP")

	two := `EHLO two RCPT "550 5.1.1 No such inbox" "" / [{adalovelaec@mail.example 550 5.1.1 No such inbox}] ""`
	one := `EHLO one DATA "250 2.0.0 Stored" "" / [{%s@mail.example }] "250 2.0.0 Stored"`
	if got, want := told(t, ada), two+"\n"+fmt.Sprintf(one, "adalovelace"); got != want {
		t.Errorf("ada is told\n%s\nnot\n%s", got, want)
	}
	if got, want := told(t, bob), fmt.Sprintf(one, "bob"); got != want {
		t.Errorf("bob is told\n%s\nnot\n%s", got, want)
	}
	list, err := bob.Sessions(t.Context())
	if must(t, err); list.AllKeys || !list.AllProcesses {
		t.Errorf("%+v", list)
	}
}

// However much one key's clients do, and whatever they say, each other key keeps its own, and all of it is bounded.
func TestSessionsAreBounded(t *testing.T) {
	s := start(t, server.InMemoryConfig())
	c := client(t, s, s.Key())
	long := strings.Repeat("é", 300)
	log := s.Service().SessionLog()
	for n := range 6000 {
		r := log.Open("192.0.2.1:1")
		r.Begin(long)
		r.Add(service.Recipient{Address: long, KeyID: fmt.Sprint(n % 300), Refused: long})
	}
	r := log.Open("192.0.2.1:1")
	for range 7 {
		r.Begin(long)
		for range 20 {
			r.Add(service.Recipient{Address: long, Refused: long})
		}
	}
	r.Update(func(s *service.SMTPSession) { s.Hello, s.Reply, s.End = long, long, long })
	talk(t, s.SMTPAddr(), "EHLO last", "QUIT")
	list, err := c.Sessions(t.Context())
	must(t, err)
	if len(list.Sessions) != 200 || !list.AllKeys || list.Sessions[0].Hello != "EHLO last" || list.Sessions[0].Command != "EHLO" {
		t.Fatalf("%d sessions, all: %v, the last of %q", len(list.Sessions), list.AllKeys, list.Sessions[0].Hello)
	}
	old := list.Sessions[1]
	if n := len(old.Messages); n != 5 || old.Earlier != 2 || len(old.Messages[0].Recipients) != 10 || !old.Messages[0].More {
		t.Errorf("%d messages of %d, %d recipients", n, n+old.Earlier, len(old.Messages[0].Recipients))
	}
	if b, err := json.Marshal(old); err != nil || len(b) > 14<<10 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	of, err := s.Service().Sessions(t.Context(), service.Key{ID: "7"})
	if must(t, err); len(of.Sessions) == 0 || len(of.Sessions) > 50 {
		t.Errorf("a key is told of %d sessions", len(of.Sessions))
	}
}
