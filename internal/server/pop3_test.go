package server_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"mayfly/service"
)

// POP3 has the certificate, the balancers, the limits and the metrics of the others.
func TestPOP3(t *testing.T) {
	t.Parallel()
	c := config(t)
	dir := t.TempDir()
	c.SMTPCert, c.SMTPKey = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificate(t, c.SMTPCert, c.SMTPKey, "mx.test")
	c.POP3, c.Metrics = "127.0.0.1:0", "127.0.0.1:0"
	c.Balancers = []string{"127.0.0.1"}
	c.MaxConnectionsPerAddress, c.MaxGuesses = 1, 1
	s := start(t, c)
	secret, key, err := s.Service().CreateKey(t.Context(), "", service.Dev)
	must(t, err)
	in, err := s.Service().CreateInbox(t.Context(), key, service.NewInbox{})
	must(t, err)

	conn, plain := behind(t, s.POP3Addr(), "203.0.113.1")
	wantLine(t, plain, "+OK ")
	_, another := behind(t, s.POP3Addr(), "203.0.113.1")
	wantLine(t, another, "-ERR [SYS/TEMP] Too many connections")
	_, err = io.WriteString(conn, "STLS\r\n")
	must(t, err)
	wantLine(t, plain, "+OK ")
	secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	replies := bufio.NewReader(secure)
	say := func(line, want string) {
		t.Helper()
		_, err := io.WriteString(secure, line+"\r\n")
		must(t, err)
		wantLine(t, replies, want)
	}
	login := func(key, want string) {
		t.Helper()
		say("USER "+in.Address, "+OK ")
		say("PASS "+key, want)
	}
	login("wrong", "-ERR [AUTH]")
	login(secret, "-ERR [SYS/TEMP] Too many wrong keys")
	must(t, secure.Close())

	conn, plain = behind(t, s.POP3Addr(), "203.0.113.2")
	wantLine(t, plain, "+OK ")
	_, err = io.WriteString(conn, "STLS\r\n")
	must(t, err)
	wantLine(t, plain, "+OK ")
	secure = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	replies = bufio.NewReader(secure)
	login(secret, "+OK 0 messages")

	_, metrics := get(t, http.DefaultClient, "http://"+s.MetricsAddr()+"/metrics")
	for _, want := range []string{"mayfly_pop3_logins_total 1", "mayfly_pop3_logins_refused_total 2", "mayfly_pop3_messages_total 0", "mayfly_pop3_connections "} {
		if !strings.Contains(metrics, "\n"+want) {
			t.Errorf("there is no %q in\n%s", want, metrics)
		}
	}
}
