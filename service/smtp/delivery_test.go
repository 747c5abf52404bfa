package smtp

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"mayfly/internal/fortest"
	"mayfly/service"
)

func said(r []service.Recipient) string {
	var all []string
	for _, one := range r {
		all = append(all, one.Address+" "+one.Refused)
	}
	return strings.Join(all, "\n")
}

func TestADeliverySaysWhatTheClientSaid(t *testing.T) {
	t.Parallel()
	svc := &inboxes{}
	certificate, _ := fortest.Certificate()
	_, address := serve(t, svc, Options{AuthAny: true, TLS: certificate, Limits: Limits{MaxRecipients: 2}})
	c := dial(t, address)
	c.expect("220")
	c.run("HELO plain → 250\nMAIL FROM:<> → 250\nRCPT TO:<a@box.test> → 250\nDATA → 354\n.\n→ 250")
	c.run("EHLO before → 250\nAUTH PLAIN AG9sZABvbGQ= → 235\nSTARTTLS → 220")
	c = newClient(t, tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}))
	c.run(`
		EHLO app.test → 250
		AUTH LOGIN → 334
		YWRh → 334
		c2VjcmV0 → 235
		RCPT TO:<a@box.test> → 503
		MAIL FROM:<x@y.test> SIZE=20 body=8bitmime SMTPUTF8 → 250
		RCPT TO:<nobody@box.test> → 550
		RCPT TO:<a@@box.test> → 501
		RCPT TO:<a@box.test> NOTIFY=NEVER → 555
		RCPT TO:<full@box.test> → 452
		RCPT TO:<a@box.test> → 250
		RCPT TO:<d@box.test> → 250
		RCPT TO:<c@box.test> → 452
		DATA → 354
		.
		→ 250
		MAIL FROM:<"a> b"@y.test>  size=9 → 250
		RCPT TO:<a@box.test> → 250
		DATA → 354
		.
		→ 250`)
	svc.mails() // locks
	if len(svc.deliveries) != 3 {
		t.Fatalf("%d mails", len(svc.deliveries))
	}
	first, second, third := svc.deliveries[0], svc.deliveries[1], svc.deliveries[2]
	if first.Hello != "HELO plain" || first.TLS != "" || first.Login != "" || first.Messages[""] != 1 || first.Refused != nil || !strings.HasPrefix(first.Client, "127.0.0.1:") || first.Connected.IsZero() {
		t.Errorf("%+v", first)
	}
	if second.Hello != "EHLO app.test" || second.TLS != "TLS 1.2" || second.Login != "ada" || second.Messages[""] != 2 || second.Messages["key_d"] != 1 || second.Parameters != "SIZE=20 body=8bitmime SMTPUTF8" {
		t.Errorf("%+v", second)
	}
	if got, want := said(second.Refused), `nobody@box.test 550 5.1.1 No such inbox
 501 5.1.3 Not an address
 555 5.5.4 Unknown parameter: NOTIFY
 452 4.2.2 The plan allows no more messages today, or no more inboxes now
 452 4.5.3 Too many recipients`; got != want {
		t.Errorf("refused:\n%s", got)
	}
	if third.Messages[""] != 3 || third.Messages["key_d"] != 1 || third.Parameters != "size=9" || third.Refused != nil {
		t.Errorf("%+v", third)
	}
}

func TestADeliveryKeepsFewRefusals(t *testing.T) {
	t.Parallel()
	svc := &inboxes{}
	_, address := serve(t, svc, Options{Limits: Limits{MaxRecipients: 2}, Chaos: "rcpt=451:1x"})
	c := dial(t, address)
	c.expect("220")
	c.run("EHLO me → 250\nMAIL FROM:<x@y.test> → 250\nRCPT TO:<a@box.test> → 451\nRCPT TO:<a@box.test> → 250\nRCPT TO:<b@box.test> → 250")
	c.run(strings.TrimSpace(strings.Repeat("RCPT TO:<c@box.test> → 452\n", maxRefused)))
	c.run("DATA → 354\n.\n→ 250")
	svc.mails() // locks
	if got := svc.deliveries[0].Refused; len(got) != maxRefused || got[0].Refused != "451 4.3.0 On purpose (chaos)" {
		t.Error(said(got))
	}
}

// What was sent as a password is never taken for a name.
func FuzzLoginName(f *testing.F) {
	f.Add("ada", "secret")
	f.Add("a", "b")
	f.Add(strings.Repeat("n", 8000), "secret")
	f.Fuzz(func(t *testing.T, name, password string) {
		if strings.Contains(name, "\x00") || strings.Contains(password, "\x00") || name == "" {
			t.Skip()
		}
		kept := name[:min(len(name), 255)]
		for _, answers := range [][]string{{name, password}, {"\x00" + name + "\x00" + password}, {"as\x00" + name + "\x00" + password}} {
			if got, secret := credentials(answers); got != kept || secret != password {
				t.Errorf("%q has the name %q and the password %q", answers, got, secret)
			}
		}
		for _, answer := range []string{password, name + "\x00" + password, "\x00\x00" + name + "\x00" + password} {
			if got, _ := credentials([]string{answer}); got != "?" {
				t.Errorf("%q has the name %q", answer, got)
			}
		}
	})
}

// However much one key's clients do, and whatever they say, each other key keeps its own, and all of it is bounded.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	s, err := New(&inboxes{}, Options{})
	must(t, err)
	long := strings.Repeat("é", 300)
	client := func(keys ...string) {
		c := &conn{server: s, record: s.log.open("192.0.2.1:1"), last: "250 " + long, hello: long, tx: transaction{open: true, from: long}}
		c.logReply("EHLO")
		for range 7 {
			c.logReply("MAIL")
			for _, k := range keys {
				c.logRecipient(service.Recipient{Address: long, KeyID: k, Refused: long})
			}
		}
		c.logEnd(errQuit)
	}
	for range 10 {
		client("idle")
	}
	for n := range 6000 {
		client(fmt.Sprint(n % 30))
	}
	client(strings.Split(strings.Repeat("other ", 20), " ")...)
	for key, want := range map[string]int{"all": 200, "idle": 10, "7": 50} {
		list, err := s.Sessions(t.Context(), service.Key{ID: key})
		if must(t, err); len(list.Sessions) != want {
			t.Errorf("the key %q reads %d sessions, want %d", key, len(list.Sessions), want)
		}
	}
	list, err := s.Sessions(t.Context(), service.Key{ID: "all"})
	must(t, err)
	if m := list.Sessions[0].Messages; len(m) != 5 || list.Sessions[0].Earlier != 2 || len(m[0].Recipients) != 10 || !m[0].More {
		t.Errorf("%d messages, %d before", len(m), list.Sessions[0].Earlier)
	}
	if b, err := json.Marshal(list.Sessions[0]); err != nil || len(b) > 14<<10 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
