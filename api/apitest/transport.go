package apitest

import (
	"context"
	"io"
	"net"
	"net/http"
)

// Transport returns a transport that calls the server without a network, for bubbles of
// testing/synctest.
func (s *Server) Transport() http.RoundTripper { return Transport(s) }

// Transport returns a transport that calls a handler without a network. Each request has a connection of
// its own, which ends with it.
func Transport(h http.Handler) http.RoundTripper {
	dial := func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go (&http.Server{Handler: h}).Serve(&listener{server})
		return client, nil
	}
	return &http.Transport{DialContext: dial, DialTLSContext: dial, DisableKeepAlives: true, DisableCompression: true}
}

// listener has one connection.
type listener struct{ net.Conn }

func (l *listener) Accept() (c net.Conn, err error) {
	if c, l.Conn = l.Conn, nil; c == nil {
		err = io.EOF
	}
	return c, err
}

func (l *listener) Close() error { return nil }

func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "apitest"} }
