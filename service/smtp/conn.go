package smtp

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"mayfly/service/limits"
)

// ambiguousEndTimeout is how long the server waits for more data after an ambiguous end. A client
// that sends none takes its message for complete.
const ambiguousEndTimeout = 3 * time.Second

// An ending is why the server ends a session, as the client is told with 421.
type ending struct{ code, text string }

func (e *ending) Error() string { return e.text }

// Why a session ends.
var (
	errDraining = &ending{"4.3.2", "Shutting down, try again later"}
	errIdle     = &ending{"4.4.2", "Idle for too long, closing"}
	errSession  = &ending{"4.4.2", "Session is too long, closing"}
	errTLS      = &ending{"4.7.0", "This is SMTP without TLS: send STARTTLS first, or connect to the port for SMTPS"}
	errPanic    = &ending{"4.3.0", "Internal error, try again later"}
	errClosed   = errors.New("closed by the server") // after its last reply
	errQuit     = errors.New("client quit")
)

// errStalled says that a client sends nothing after an ambiguous end.
var errStalled = errors.New("no more data after an ambiguous end")

// Why a line is rejected.
var (
	errLineTooLong = errors.New("line too long")
	errLineBreak   = errors.New("line break is not CRLF")
)

// Sizes of a connection's input buffer.
const (
	commandSize = 1 << 10
	bulkSize    = 32 << 10 // while it sends a message or a long line
)

var bulkBuffers = sync.Pool{New: func() any { b := make([]byte, bulkSize); return &b }}

// conn is one session.
type conn struct {
	server  *Server
	raw     net.Conn     // for deadlines
	nc      net.Conn     // for reading and writing: raw, or TLS over it
	address netip.Prefix // of the client, for the limits per address
	client  string       // its IP address and port
	log     *slog.Logger

	implicitTLS bool // begin with a TLS handshake

	in    []byte  // input buffer: small or bulk
	r, w  int     // in[r:w] is input that is not consumed yet
	small []byte  // for commands
	bulk  *[]byte // pooled, for messages; nil while small is in use
	out   []byte  // replies not yet written
	last  string  // reply

	begun    time.Time
	readSet  time.Time // when the read deadline was set
	writeSet time.Time // when the write deadline was set
	hello    string    // EHLO or HELO and the client's name; empty before
	tls      string    // the version; empty without TLS
	login    string    // the name, or "?"; empty without a login
	keyID    string    // of the API key that logged in, for which all mail is; empty: it goes by address
	tx       transaction

	record *sessionRecord // for those whose wait for mail times out

	messages, errors, refused int
	byKey                     map[string]int // messages, by the ID of the key they were for
}

func newConn(s *Server, nc net.Conn) *conn {
	return &conn{server: s, raw: nc, nc: nc, log: s.options.Log}
}

// reply queues a reply line. It is sent once the input is consumed or there are many, so that the
// replies to pipelined commands go out together.
func (c *conn) reply(line string) {
	c.last = line
	c.out = append(c.out, line...)
	c.out = append(c.out, '\r', '\n')
}

func (c *conn) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	if now := time.Now(); now.Sub(c.writeSet) >= c.deadlineStep() {
		c.writeSet = now
		c.raw.SetWriteDeadline(now.Add(c.server.options.IdleTimeout))
	}
	_, err := c.nc.Write(c.out)
	c.out = c.out[:0]
	return err
}

// deadlineStep is how often a deadline is extended; doing so for each read would be costly.
func (c *conn) deadlineStep() time.Duration {
	return min(time.Second, c.server.options.IdleTimeout/8)
}

// setReadTimeout sets the read deadline to d from now, or to the end of the session if that comes
// first.
func (c *conn) setReadTimeout(now time.Time, d time.Duration) {
	c.readSet = now
	deadline := now.Add(d)
	if end := c.begun.Add(c.server.options.SessionTimeout); end.Before(deadline) {
		deadline = end
	}
	c.server.sessions.SetReadDeadline(c.raw, deadline)
}

// fill sends the replies and reads more input after what is in the buffer, which must not be full.
func (c *conn) fill() error {
	if err := c.flush(); err != nil {
		return err
	}
	if now := time.Now(); now.Sub(c.readSet) >= c.deadlineStep() {
		c.setReadTimeout(now, c.server.options.IdleTimeout)
	}
	return c.read()
}

func (c *conn) read() error {
	if c.r > 0 {
		c.w = copy(c.in, c.in[c.r:c.w])
		c.r = 0
	}
	n, err := c.nc.Read(c.in[c.w:])
	c.w += n
	switch {
	case n > 0:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		switch {
		case c.server.sessions.Draining():
			if until := c.mayGoOn(); time.Now().Before(until) {
				c.raw.SetReadDeadline(until)
				return c.read()
			}
			return errDraining
		case !time.Now().Before(c.begun.Add(c.server.options.SessionTimeout)):
			return errSession
		default:
			return errIdle
		}
	case err == nil:
		return io.ErrNoProgress
	default:
		return err
	}
}

// fresh is how long ago a client may have come that has sent nothing yet, although the server is shutting down.
const fresh = 2 * time.Second

// mayGoOn returns until when the session may go on while the server is shutting down: with the message that it is sending,
// or, if it has just begun, up to that.
func (c *conn) mayGoOn() time.Time {
	until := c.server.sessions.Grace()
	switch {
	case c.tx.open:
	case c.messages == 0 && c.begun.Add(fresh).Before(until):
		until = c.begun.Add(fresh)
	case c.messages > 0:
		until = time.Time{}
	}
	return until
}

// grow switches to the bulk input buffer.
func (c *conn) grow() {
	if c.bulk != nil {
		return
	}
	c.bulk = bulkBuffers.Get().(*[]byte)
	c.w = copy(*c.bulk, c.in[c.r:c.w])
	c.r = 0
	c.in = *c.bulk
}

// shrink switches back to the small input buffer if what is left fits into it.
func (c *conn) shrink() {
	if c.bulk == nil || c.w-c.r > commandSize {
		return
	}
	c.w = copy(c.small, c.in[c.r:c.w])
	c.r = 0
	c.in = c.small
	bulkBuffers.Put(c.bulk)
	c.bulk = nil
}

// readLine returns the next line without its CRLF, valid until the next read. A line longer than
// limit is discarded.
func (c *conn) readLine(limit int) ([]byte, error) {
	scanned := 0
	for {
		if scanned == 0 && limits.IsTLS(c.in[c.r:c.w]) {
			return nil, errTLS
		}
		if i := bytes.IndexByte(c.in[c.r+scanned:c.w], '\n'); i >= 0 {
			line := c.in[c.r : c.r+scanned+i+1]
			c.r += len(line)
			if len(line) > limit {
				return nil, errLineTooLong
			}
			text, ok := bytes.CutSuffix(line, []byte("\r\n"))
			if !ok || bytes.IndexByte(text, '\r') >= 0 {
				return nil, errLineBreak
			}
			return text, nil
		}
		scanned = c.w - c.r
		if scanned >= limit {
			return nil, c.skipLine()
		}
		if scanned == len(c.in) {
			c.grow()
		}
		if err := c.fill(); err != nil {
			return nil, err
		}
	}
}

// skipLine discards input through the next line break.
func (c *conn) skipLine() error {
	for {
		if i := bytes.IndexByte(c.in[c.r:c.w], '\n'); i >= 0 {
			c.r += i + 1
			return errLineTooLong
		}
		c.r, c.w = 0, 0
		if err := c.fill(); err != nil {
			return err
		}
	}
}
