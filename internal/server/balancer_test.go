package server_test

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/pires/go-proxyproto"

	"mayfly/internal/fortest"
)

// behind connects through a balancer that names a client.
func behind(t *testing.T, addr, client string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	header := proxyproto.HeaderProxyFromAddrs(2, &net.TCPAddr{IP: net.ParseIP(client), Port: 4000}, conn.RemoteAddr())
	must(t, fortest.Failure(header.WriteTo(conn)))
	return conn, bufio.NewReader(conn)
}

// wantLine reads a line that begins with want.
func wantLine(t *testing.T, r *bufio.Reader, want string) {
	t.Helper()
	if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, want) {
		t.Errorf("got %q, %v, want %q", line, err, want)
	}
}

// Behind a balancer, the limits of an address are those of the client's.
func TestLimitsBehindABalancer(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Balancers = []string{"192.0.2.0/24", "127.0.0.1"}
	c.MaxConnectionsPerAddress = 1
	var log fortest.Log
	c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := start(t, c)
	_, one := behind(t, s.SMTPAddr(), "203.0.113.1")
	wantLine(t, one, "220 ")
	_, two := behind(t, s.SMTPAddr(), "203.0.113.2")
	wantLine(t, two, "220 ")
	_, again := behind(t, s.SMTPAddr(), "203.0.113.1")
	wantLine(t, again, "421 ")

	// A client that gets past the balancer is not served.
	conn, err := net.Dial("tcp", s.SMTPAddr())
	must(t, err)
	defer conn.Close()
	must(t, fortest.Failure(io.WriteString(conn, "EHLO me\r\n")))
	if answer, err := io.ReadAll(conn); len(answer) > 0 {
		t.Errorf("without the protocol: %q, %v", answer, err)
	}

	web, answer := behind(t, s.HTTPAddr(), "203.0.113.9")
	must(t, fortest.Failure(io.WriteString(web, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")))
	wantLine(t, answer, "HTTP/1.1 200")
	must(t, fortest.Failure(io.Copy(io.Discard, answer)))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.HTTPAddr()+"/healthz", nil)
	must(t, err)
	req.Header["X-Forwarded-For"] = []string{"203.0.113.66, 203.0.113.8", "192.0.2.5"} // what the client wrote, and what balancers added
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	must(t, resp.Body.Close())
	// The balancer's own checks need no header.
	if status, _ := get(t, http.DefaultClient, "http://"+s.HTTPAddr()+"/readyz"); status != 200 {
		t.Errorf("ready: %d", status)
	}
	if !strings.Contains(log.String(), "peer=203.0.113.9:4000") || !strings.Contains(log.String(), "peer=203.0.113.8:0") {
		t.Errorf("the log does not name the client:\n%s", log.String())
	}
	if !strings.Contains(log.String(), "does not begin with the PROXY protocol") {
		t.Errorf("the log does not name the balancer that names no client:\n%s", log.String())
	}
}

// Nobody but a balancer can say who it is.
func TestOnlyBalancersNameClients(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Balancers = []string{"192.0.2.0/24"}
	s := start(t, c)
	_, mail := behind(t, s.SMTPAddr(), "203.0.113.1")
	wantLine(t, mail, "220 ")
	wantLine(t, mail, "500 ")
	_, web := behind(t, s.HTTPAddr(), "203.0.113.1")
	wantLine(t, web, "HTTP/1.1 400")
}

// One address cannot have all connections to the REST API.
func TestHTTPConnectionsOfAnAddress(t *testing.T) {
	t.Parallel()
	c := config(t)
	c.Balancers = []string{"127.0.0.0/8"}
	c.MaxHTTPConnectionsPerAddress = 2
	s := start(t, c)
	ask := func(client string) (net.Conn, error) {
		t.Helper()
		conn, answer := behind(t, s.HTTPAddr(), client)
		must(t, fortest.Failure(io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")))
		resp, err := http.ReadResponse(answer, nil)
		if err != nil {
			return conn, err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return conn, err
	}
	first, err := ask("203.0.113.1")
	must(t, err)
	must(t, fortest.Failure(ask("203.0.113.1")))
	if _, err := ask("203.0.113.1"); err == nil {
		t.Error("a third connection from an address is served")
	}
	must(t, fortest.Failure(ask("203.0.113.2")))
	must(t, first.Close())
	for { // the server learns of the end a moment later
		if _, err := ask("203.0.113.1"); err == nil {
			break
		}
		runtime.Gosched()
	}
}
