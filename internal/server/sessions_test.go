package server_test

import (
	"fmt"
	"net"
	"net/textproto"
	"strings"
	"testing"

	"mayfly/api"
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
