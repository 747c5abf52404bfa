package rest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"mayfly/api"
)

// plainHeader follows the status line of an answer that net/http sends by itself.
const plainHeader = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// failedExpectation begins the answer of net/http, without a body, to an Expect field other than
// 100-continue.
const failedExpectation = "HTTP/1.1 417 "

// envelopeListener accepts connections as envelopeConn.
type envelopeListener struct{ net.Listener }

// Accept implements net.Listener.
func (l envelopeListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &envelopeConn{Conn: c}, nil
}

// envelopeConn is a connection of net/http. A malformed request is answered by net/http itself, in
// plain text and a single write; the connection replaces such an answer by one in the envelope of
// the API.
type envelopeConn struct {
	net.Conn
	ours atomic.Bool // whether what is written answers a request that reached the handler
}

type connKey struct{}

// withConn makes the connection known to the handler of its requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// answersItself says that the answer to a request is the handler's, and may be anything: a mail can
// have in it what net/http answers to a malformed request.
func answersItself(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*envelopeConn); ok {
		c.ours.Store(true)
	}
}

// Write implements net.Conn.
func (c *envelopeConn) Write(b []byte) (int, error) {
	if c.ours.Load() {
		return c.Conn.Write(b)
	}
	status, message, ok := plainError(b)
	if !ok {
		return c.Conn.Write(b)
	}
	body, err := encode(api.ErrorBody{Error: api.ErrorDetail{Code: status, Message: message}})
	if err != nil {
		return 0, err
	}
	_, err = fmt.Fprintf(c.Conn, "HTTP/1.1 %d %s\r\nCache-Control: %s\r\nContent-Type: application/json\r\nX-Content-Type-Options: %s\r\n"+
		"Connection: close\r\nContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), noCache[0], noSniff[0], len(body), body)
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// plainError parses an answer that net/http sends by itself; ok is false for any other.
func plainError(b []byte) (status int, message string, ok bool) {
	const version = "HTTP/1.1 "
	line, rest, _ := bytes.Cut(b, []byte("\r\n"))
	if !bytes.HasPrefix(rest, []byte(plainHeader)) && !bytes.HasPrefix(b, []byte(failedExpectation)) {
		return 0, "", false
	}
	code, reason, _ := strings.Cut(strings.TrimPrefix(string(line), version), " ")
	status, err := strconv.Atoi(code)
	return status, reason, err == nil
}

// CloseWrite lets net/http send the end of the stream while it waits for the client to read the
// answer.
func (c *envelopeConn) CloseWrite() error {
	if inner, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return inner.CloseWrite()
	}
	return nil
}
