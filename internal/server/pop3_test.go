package server_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mayfly/internal/fortest"
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

	// login connects over TLS and tries keys, each of which is answered as wanted.
	login := func(client string, keysAndReplies ...string) {
		t.Helper()
		conn, plain := behind(t, s.Addr("POP3"), client)
		wantLine(t, plain, "+OK ")
		_, another := behind(t, s.Addr("POP3"), client)
		wantLine(t, another, "-ERR [SYS/TEMP] Too many connections")
		must(t, fortest.Failure(io.WriteString(conn, "STLS\r\n")))
		wantLine(t, plain, "+OK ")
		secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
		defer secure.Close()
		replies := bufio.NewReader(secure)
		for pair := range slices.Chunk(keysAndReplies, 2) {
			must(t, fortest.Failure(io.WriteString(secure, "USER "+in.Address+"\r\n")))
			wantLine(t, replies, "+OK ")
			must(t, fortest.Failure(io.WriteString(secure, "PASS "+pair[0]+"\r\n")))
			wantLine(t, replies, pair[1])
		}
	}
	login("203.0.113.1", "wrong", "-ERR [AUTH]", secret, "-ERR [SYS/TEMP] Too many wrong keys")
	login("203.0.113.2", secret, "+OK 0 messages")
	conn, web := behind(t, s.HTTPAddr(), "203.0.113.1")
	must(t, fortest.Failure(io.WriteString(conn, "GET /v1/inboxes HTTP/1.1\r\nHost: localhost\r\nX-API-Key: "+secret+"\r\n\r\n")))
	wantLine(t, web, "HTTP/1.1 429 ") // wrong keys count in one place

	_, metrics := get(t, http.DefaultClient, "http://"+s.Addr("metrics")+"/metrics")
	for _, want := range []string{"mayfly_pop3_logins_total 1", "mayfly_pop3_logins_refused_total 2", "mayfly_pop3_messages_total 0", "mayfly_pop3_connections "} {
		if !strings.Contains(metrics, "\n"+want) {
			t.Errorf("there is no %q in\n%s", want, metrics)
		}
	}
}
