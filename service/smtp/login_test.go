package smtp

import (
	"crypto/tls"
	"encoding/base64"
	"log/slog"
	"net"
	"strings"
	"testing"

	"mayfly/internal/fortest"
	"mayfly/service/limits"
)

type far struct{ net.Listener }

type farConn struct{ net.Conn }

func (l far) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	return farConn{nc}, err
}

func (farConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4711} }

func plain(name, secret string) string {
	return "AUTH PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00"+name+"\x00"+secret))
}

// All mail of a session that an API key logged in to is that key's, whatever its address.
func TestLoginWithAKey(t *testing.T) {
	t.Parallel()
	svc := &inboxes{}
	_, address := serve(t, svc, Options{Keys: limits.NewGuesses(4, slog.New(slog.DiscardHandler), "keys")})
	c := dial(t, address)
	c.expect("220")
	c.run("EHLO app → 250\n" + plain("app", "wrong") + " → 535 5.7.8\n" + plain("app", "free") + " → 535 5.7.8 The plan\n" + plain("app", "broken") + ` → 454 4.3.0
		AUTH PLAIN cmlnaHQ= → 535
		AUTH LOGIN → 334
		c3RhZ2luZw== → 334
		cmlnaHQ= → 235
		MAIL FROM:<x@y.test> AUTH=<> → 250
		RCPT TO:<ann@gmail.com> → 250
		RCPT TO:<revoked@gmail.com> → 530 5.7.0
		DATA → 354
		.
		→ 250`)
	svc.mails() // locks
	if d := svc.deliveries[0]; d.Login != "staging" || len(d.To) != 1 || d.Messages["key_right"] != 1 {
		t.Errorf("%+v", d)
	}
	// Wrong keys are guesses, of which an address has a few a minute; a right key is none.
	c = dial(t, address)
	c.expect("220")
	c.run("EHLO app → 250\n" + plain("app", "a") + " → 535\n" + plain("app", "b") + " → 535\n" + plain("app", "never seen") + " → 454 4.7.0\n" +
		plain("app", "right") + " → 235")
}

// A key is not sent in the clear from another machine, and a login does not outlive STARTTLS.
func TestLoginNeedsTLS(t *testing.T) {
	t.Parallel()
	certificate, _ := fortest.Certificate()
	for _, test := range []struct {
		name    string
		options Options
		script  string
	}{
		{"no certificate", Options{}, plain("x", "right") + " → 502 5.5.1\nMAIL FROM:<x@y.test> AUTH=<> → 555 5.5.4"},
		{"a certificate", Options{TLS: certificate}, plain("x", "right") + " → 538 5.7.11"},
		{"insecure", Options{InsecureLogins: true}, plain("x", "right") + " → 235"},
		{"any login", Options{AuthAny: true}, plain("x", "y") + " → 235\nMAIL FROM:<x@y.test> → 250\nRCPT TO:<nobody@box.test> → 550"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, err)
			serveOn(t, far{l}, &inboxes{}, test.options)
			c := dial(t, l.Addr().String())
			c.expect("220")
			c.send("EHLO me\r\n")
			offered := false
			for line := "250-"; strings.HasPrefix(line, "250-"); {
				line, err = c.r.ReadString('\n')
				must(t, err)
				offered = offered || strings.Contains(line, "AUTH PLAIN LOGIN")
			}
			if want := strings.Contains(test.script, "235"); offered != want {
				t.Errorf("offers a login: %v", offered)
			}
			c.run(test.script)
			if test.options.TLS == nil {
				return
			}
			c.run("STARTTLS → 220")
			c = newClient(t, tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true}))
			c.run("EHLO me → 250\n" + plain("x", "right") + " → 235")
		})
	}
}
