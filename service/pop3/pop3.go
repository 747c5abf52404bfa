// Package pop3 is the POP3 server of the service, for clients that can fetch mail by nothing else (RFC
// 1939, with CAPA, PIPELINING, RESP-CODES, AUTH-RESP-CODE, TOP, UIDL and STLS). The user is the address
// of an inbox, the password an API key that owns it.
//
// Each login, each message that is sent, and the removal at QUIT of all that DELE marked count as one request
// of the key, which is checked again. Whether an address has an inbox is told only to its key.
//
// A message is sent byte for byte as it was received, so that its size is what the store knows without
// reading it. Only one that does not end with CRLF gets that in addition. Lines that begin with a dot
// are stuffed after a bare LF too, which many clients take for the end of a line.
package pop3

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/time/rate"

	"mayfly/service"
	"mayfly/service/limits"
)

// Service is what the server needs of [service.Service]. Its errors carry a [service.Code].
type Service interface {
	Authenticate(ctx context.Context, secret string) (service.Key, error)
	Allow(ctx context.Context, k service.Key) (service.Quota, error)
	CatchesAll(k service.Key) bool
	InboxAt(ctx context.Context, k service.Key, address string) (service.Inbox, error)
	Messages(ctx context.Context, k service.Key, inboxID string, p service.Page) (service.List, error)
	Message(ctx context.Context, k service.Key, inboxID, messageID string) (service.Message, error)
	DeleteMessages(ctx context.Context, k service.Key, inboxID, messageID string) error
}

// Options are the settings of a Server. A zero field stands for its default.
type Options struct {
	TLS *tls.Config // for STLS, without which there is no login then; default: logins are in the clear

	MaxConnections           int           // at a time; default 2,048
	MaxConnectionsPerAddress int           // of an IPv4 address or IPv6 /64; default 256
	MaxErrors                int           // bad commands and logins in a session; default 20
	IdleTimeout              time.Duration // between two commands; default 10 min (RFC 1939, section 3)
	SessionTimeout           time.Duration // of a whole session; default 1 h

	Guesses *limits.Guesses       // of keys, which other servers count too; default: no limit
	Large   *limits.Memory        // memory for large messages; default: 256 MiB
	Metrics prometheus.Registerer // default: none
	Log     *slog.Logger          // a line per session at debug, and failures; default: none
}

// Server accepts connections and sends the messages of inboxes on them.
type Server struct {
	service  Service
	options  Options
	sessions *limits.Sessions

	logins, refused, sent prometheus.Counter

	failed rate.Sometimes // limits how often a failing store is logged
}

// New returns a server.
func New(svc Service, o Options) *Server {
	o.MaxConnections = cmp.Or(o.MaxConnections, 2048)
	o.MaxConnectionsPerAddress = cmp.Or(o.MaxConnectionsPerAddress, 256)
	o.MaxErrors = cmp.Or(o.MaxErrors, 20)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 10*time.Minute)
	o.SessionTimeout = cmp.Or(o.SessionTimeout, time.Hour)
	o.Large = cmp.Or(o.Large, limits.NewMemory(0))
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	counter := func(name, help string) prometheus.Counter {
		return promauto.With(o.Metrics).NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	s := &Server{
		service: svc,
		options: o,
		sessions: limits.NewSessions(limits.SessionOptions{
			Protocol:      "POP3",
			Max:           o.MaxConnections,
			MaxPerAddress: o.MaxConnectionsPerAddress,
			TooMany:       "-ERR [SYS/TEMP] Too many connections, try again later",
			Log:           o.Log,
		}),
		logins:  counter("mayfly_pop3_logins_total", "POP3 sessions that have logged in."),
		refused: counter("mayfly_pop3_logins_refused_total", "POP3 logins refused."),
		sent:    counter("mayfly_pop3_messages_total", "Messages sent by POP3, whole or in part."),
		failed:  rate.Sometimes{Interval: time.Minute},
	}
	promauto.With(o.Metrics).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mayfly_pop3_connections", Help: "POP3 connections that are open.",
	}, func() float64 { return float64(s.sessions.Len()) })
	return s
}

// Serve accepts connections on l until Shutdown is called, and then returns nil. It closes l.
func (s *Server) Serve(l net.Listener) error {
	return s.sessions.Serve(l, false, func(nc net.Conn, address netip.Prefix) {
		newConn(s, nc, address).serve()
	})
}

// drainTimeout is how long a shutdown waits for a message that is being sent. It can be fetched again.
const drainTimeout = 5 * time.Second

// Shutdown stops accepting connections and ends all sessions, within a few seconds or when ctx ends.
func (s *Server) Shutdown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	_ = s.sessions.Shutdown(ctx) // nothing is lost with a session that is cut off
}

const (
	// maxLine is the length limit of a command with its line break, in octets. RFC 2449 has 255, but a
	// key alone can have 256.
	maxLine = 512
	// stallTimeout is how long a client can take to read what was sent.
	stallTimeout = 30 * time.Second
)

// Why a session ends before the connection breaks.
var (
	errQuit     = errors.New("client quit")
	errDraining = errors.New("server is shutting down")
	errClosed   = errors.New("closed by the server") // after its last reply
)

// conn is one session.
type conn struct {
	server  *Server
	raw     net.Conn
	nc      net.Conn     // raw with timeouts, or TLS over that
	address netip.Prefix // of the client
	begun   time.Time
	r       *bufio.Reader
	w       *bufio.Writer
	secure  bool // TLS
	errors  int  // bad commands and logins

	user     string
	secret   string
	key      service.Key // with an ID after the login
	inboxID  string
	messages []message // as they were at the login, oldest first
}

// message is a message of the inbox at the login.
type message struct {
	id      string
	size    int64 // octets
	deleted bool  // marked by DELE
}

func newConn(s *Server, nc net.Conn, address netip.Prefix) *conn {
	c := &conn{server: s, raw: nc, address: address, begun: time.Now()}
	c.use(timed{nc, c})
	return c
}

// use reads commands from nc and writes replies to it.
func (c *conn) use(nc net.Conn) {
	c.nc, c.r, c.w = nc, bufio.NewReaderSize(nc, maxLine), bufio.NewWriter(nc)
}

// timed is a connection that ends when its client is idle or stalls.
type timed struct {
	net.Conn
	session *conn
}

// Read implements net.Conn.
func (t timed) Read(p []byte) (int, error) {
	s := t.session.server
	s.sessions.SetReadDeadline(t.Conn, t.session.until(s.options.IdleTimeout))
	return t.Conn.Read(p)
}

// Write implements net.Conn. What is long, such as a line of a message, is sent in parts, for a client
// that reads it slowly.
func (t timed) Write(p []byte) (n int, err error) {
	for part := range slices.Chunk(p, 64<<10) {
		t.Conn.SetWriteDeadline(t.session.until(stallTimeout))
		sent, err := t.Conn.Write(part)
		if n += sent; err != nil {
			return n, err
		}
	}
	return n, nil
}

// until returns when d has passed, or the session ends if that comes first.
func (c *conn) until(d time.Duration) time.Time {
	at, end := time.Now().Add(d), c.begun.Add(c.server.options.SessionTimeout)
	if end.Before(at) {
		return end
	}
	return at
}

// serve runs the session, closes the connection and leaves.
func (c *conn) serve() {
	defer c.server.sessions.Leave(c.raw)
	defer c.raw.Close()
	err := c.session()
	if err == errDraining { // one that is idle gets no reply (RFC 1939, section 3)
		c.reply("-ERR [SYS/TEMP] Shutting down, try again later")
	}
	if c.w.Flush() == nil {
		if err == errClosed && !c.secure {
			limits.Linger(c.raw)
		}
		c.nc.Close() // TLS says that this is the end
	}
	c.server.options.Log.Debug("POP3 session", "remote", c.raw.RemoteAddr().String(), "key", c.key.ID,
		"messages", len(c.messages), "errors", c.errors, "tls", c.secure, "duration", time.Since(c.begun), "end", err)
}

// session answers commands until it ends. A panic ends it alone.
func (c *conn) session() (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.server.options.Log.Error("POP3 session panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	c.reply("+OK Mayfly POP3")
	for {
		line, err := c.readLine()
		if err == nil {
			err = c.command(line)
		}
		if err != nil {
			return err
		}
	}
}

// readLine sends the replies if it has to wait for the next line, and returns that without its end. It
// is valid until the next read.
func (c *conn) readLine() ([]byte, error) {
	if c.server.sessions.Draining() {
		return nil, errDraining
	}
	if buffered, _ := c.r.Peek(c.r.Buffered()); bytes.IndexByte(buffered, '\n') < 0 {
		if err := c.w.Flush(); err != nil {
			return nil, err
		}
	}
	line, err := c.r.Peek(1)
	if limits.IsTLS(line) {
		c.reply("-ERR This is POP3 without TLS: send STLS first, closing")
		return nil, errClosed
	}
	if err == nil {
		line, err = c.r.ReadSlice('\n')
	}
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		c.reply("-ERR Line too long, closing")
		return nil, errClosed
	case errors.Is(err, os.ErrDeadlineExceeded) && c.server.sessions.Draining():
		return nil, errDraining
	case err != nil:
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// reply queues a line. The replies to pipelined commands go out together. A failure to send them shows
// when they are flushed.
func (c *conn) reply(format string, args ...any) { fmt.Fprintf(c.w, format+"\r\n", args...) }

// bad answers a bad command or login, and ends the session after too many of them.
func (c *conn) bad(text string) error {
	c.reply("-ERR %s", text)
	if c.errors++; c.errors >= c.server.options.MaxErrors {
		return errClosed
	}
	return nil
}

// fail answers what the service could not do, and logs what is its fault.
func (c *conn) fail(err error) error {
	e, _ := errors.AsType[*service.Error](err)
	switch service.ErrorCode(err) {
	case service.Canceled:
		return errDraining
	case service.RateLimited:
		c.reply("-ERR [SYS/TEMP] %s, try again in %d s", e.Message, int((e.RetryAfter+time.Second-1)/time.Second))
		return nil
	case service.NotFound:
		c.reply("-ERR No such message any more")
		return nil
	case service.Unauthorized, service.Forbidden:
		c.reply("-ERR [AUTH] %s, closing", e.Message)
		return errClosed
	case service.Full, service.Unavailable:
		c.reply("-ERR [SYS/TEMP] The service cannot do this now, try again later")
	default:
		c.reply("-ERR [SYS/PERM] Internal error")
	}
	c.server.failed.Do(func() { c.server.options.Log.Error("POP3 command failed", "error", err) })
	return nil
}

// startTLS switches to TLS (RFC 2595), over which the login is still to come.
func (c *conn) startTLS([]string) error {
	switch {
	case c.server.options.TLS == nil:
		return c.bad("STLS is not offered")
	case c.secure:
		return c.bad("TLS is already on")
	case c.r.Buffered() > 0:
		// Input from before the handshake could have been injected by somebody in between.
		c.reply("-ERR Input after STLS, closing")
		return errClosed
	}
	c.reply("+OK Begin TLS")
	if err := c.w.Flush(); err != nil {
		return err
	}
	secure := tls.Server(timed{c.raw, c}, c.server.options.TLS)
	if err := secure.HandshakeContext(c.server.sessions.Context()); err != nil {
		return fmt.Errorf("TLS handshake: %w", err)
	}
	c.use(secure)
	c.secure, c.user = true, ""
	return nil
}
