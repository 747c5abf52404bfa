// Package fortest has what the tests of many packages need.
package fortest

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"sync"
	"testing"
)

// Must ends a test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Failure returns the error of a call that also returns a value.
func Failure[T any](_ T, err error) error { return err }

// Certificate returns the configuration of a server at 127.0.0.1 and what its clients trust.
func Certificate() (server *tls.Config, roots *x509.CertPool) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	roots = x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, roots
}

// Log keeps what several goroutines write.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Pipes listens for connections in memory, whose deadlines follow fake time.
type Pipes struct {
	conns chan net.Conn
	done  chan struct{}
	close func()
}

// NewPipes returns a listener without connections.
func NewPipes() *Pipes {
	done := make(chan struct{})
	return &Pipes{make(chan net.Conn), done, sync.OnceFunc(func() { close(done) })}
}

// Dial connects to the server, and returns once it has accepted.
func (p *Pipes) Dial() net.Conn {
	here, there := net.Pipe()
	p.Connect(there)
	return here
}

// Connect gives the server its end of a connection.
func (p *Pipes) Connect(there net.Conn) { p.conns <- there }

func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *Pipes) Close() error {
	p.close()
	return nil
}

func (p *Pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }
