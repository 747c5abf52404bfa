package rest

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"mayfly/api"
)

// What is no request, net/http answers itself, in plain text and in one write. These connections put such an answer
// into the envelope that every error of this API has.

// plainHeader follows the status line of such an answer. No other begins with these fields.
const plainHeader = "Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// failedExpectation is what an Expect field other than 100-continue is answered with, without a body.
const failedExpectation = "HTTP/1.1 417 "

type envelopeListener struct{ net.Listener }

// Accept implements net.Listener.
func (l envelopeListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &envelopeConn{c}, nil
}

type envelopeConn struct{ net.Conn }

// Write implements net.Conn.
func (c *envelopeConn) Write(b []byte) (int, error) {
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

// plainError reads an answer that net/http gives by itself.
func plainError(b []byte) (status int, message string, ok bool) {
	const version = "HTTP/1.1 "
	if len(b) < len(version) || b[len(version)] < '4' { // nearly all
		return 0, "", false
	}
	line, rest, _ := bytes.Cut(b, []byte("\r\n"))
	if !bytes.HasPrefix(rest, []byte(plainHeader)) && !bytes.HasPrefix(b, []byte(failedExpectation)) {
		return 0, "", false
	}
	code, reason, _ := strings.Cut(strings.TrimPrefix(string(line), version), " ")
	status, err := strconv.Atoi(code)
	return status, reason, err == nil
}

// CloseWrite lets net/http wait until the client has read the answer, before the connection is reset.
func (c *envelopeConn) CloseWrite() error {
	if inner, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return inner.CloseWrite()
	}
	return nil
}

// NetConn returns the connection below.
func (c *envelopeConn) NetConn() net.Conn { return c.Conn }
