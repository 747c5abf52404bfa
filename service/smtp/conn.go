package smtp

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"mayfly/service/limits"
)

// maxAuthLine is the length limit of a line of an authentication exchange, in octets (RFC 4954,
// section 4).
const maxAuthLine = 12288

// ambiguousEndTimeout is how long the server waits for more data after an ambiguous end. A client
// that sends none takes its message for complete.
const ambiguousEndTimeout = 3 * time.Second

// Why a session ends before the client quits.
var (
	errDraining = errors.New("server is shutting down")
	errIdle     = errors.New("idle for too long")
	errSession  = errors.New("session is too long")
	errStalled  = errors.New("no more data after an ambiguous end")
	errClosed   = errors.New("closed by the server") // after its last reply
	errQuit     = errors.New("client quit")
	errPanic    = errors.New("internal error")
)

// errDeepStack moves the session to a new goroutine: what stored a message, or shook hands for TLS, has
// grown the stack, which would stay with a connection that then is idle.
var errDeepStack = errors.New("deep stack")

// Why a line is rejected.
var (
	errLineTooLong = errors.New("line too long")
	errLineBreak   = errors.New("line break is not CRLF")
)

// conn is one session.
type conn struct {
	server  *Server
	raw     net.Conn     // for deadlines
	nc      net.Conn     // for reading and writing: raw, or TLS over it
	address netip.Prefix // of the client, for the limits per address
	log     *slog.Logger

	implicitTLS bool // begin with a TLS handshake

	in    []byte  // input buffer: small or bulk
	r, w  int     // in[r:w] is input that is not consumed yet
	small []byte  // for commands
	bulk  *[]byte // pooled, for messages; nil while small is in use
	out   []byte  // replies not yet written

	begun         time.Time
	readSet       time.Time // when the read deadline was set
	writeSet      time.Time // when the write deadline was set
	oneOfMany     bool      // there were many connections when it began
	deep          bool      // the stack has grown
	greeted       bool      // EHLO or HELO
	secure        bool      // TLS
	authenticated bool
	tx            transaction

	messages, errors, refused int
}

func newConn(s *Server, nc net.Conn) *conn {
	return &conn{server: s, raw: nc, nc: nc, log: s.options.Log}
}

// serve runs the session, closes the connection and leaves.
func (c *conn) serve() {
	c.begun = time.Now()
	c.small = make([]byte, commandSize)
	c.in = c.small
	c.run(c.session)
}

func (c *conn) run(part func() error) {
	err := c.survive(part)
	if err == errDeepStack {
		go c.run(c.commands)
		return
	}
	defer c.server.sessions.Leave(c.raw)
	c.farewell(err)
	c.nc.Close()
	c.tx.reset()
	c.shrink()
	c.log.Debug("SMTP session", "remote", c.raw.RemoteAddr().String(), "messages", c.messages, "refused", c.refused,
		"errors", c.errors, "tls", c.secure, "duration", time.Since(c.begun), "end", err)
}

// survive makes a panic the end of its session alone.
func (c *conn) survive(part func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("SMTP session panicked", "panic", p, "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	return part()
}

func (c *conn) session() error {
	if c.implicitTLS {
		if err := c.handshake(); err != nil {
			return err
		}
	}
	if done, err := c.misbehave("connect"); done {
		return err
	}
	c.reply("220 " + c.server.options.Hostname + " ESMTP Mayfly")
	return c.commands()
}

// farewell tells the client why the server ends the session, and sends the replies not yet sent.
func (c *conn) farewell(err error) {
	name := c.server.options.Hostname
	switch err {
	case errDraining:
		c.reply("421 4.3.2 " + name + " Shutting down, try again later")
	case errIdle:
		c.server.count.refuse(timedOut)
		c.reply("421 4.4.2 " + name + " Idle for too long, closing")
	case errSession:
		c.server.count.refuse(timedOut)
		c.reply("421 4.4.2 " + name + " Session is too long, closing")
	case errPanic:
		c.reply("421 4.3.0 " + name + " Internal error, try again later")
	case errClosed, errQuit:
	default:
		return
	}
	if c.flush() == nil && err != errQuit && !c.secure {
		limits.Linger(c.raw)
	}
}

// commands reads and answers commands until the session ends.
func (c *conn) commands() error {
	for {
		c.shrink()
		line, err := c.readLine(c.server.options.MaxCommandLine)
		switch {
		case errors.Is(err, errLineTooLong):
			c.server.count.refuse(lineTooLong)
			err = c.bad("500 5.5.2 Line too long")
		case errors.Is(err, errLineBreak):
			c.server.count.refuse(badCommand)
			c.reply("500 5.5.2 Lines must end with CRLF, and contain no other CR or LF")
			err = errClosed
		case err == nil:
			err = c.command(line)
		}
		if err != nil {
			return err
		}
		if c.server.sessions.Draining() {
			return errDraining
		}
		if len(c.out) >= commandSize { // of many commands at once
			if err := c.flush(); err != nil {
				return err
			}
		}
		if c.deep && c.oneOfMany && c.r == c.w {
			c.deep = false
			return errDeepStack
		}
	}
}

// reply queues a reply line. It is sent once the input is consumed or there are many, so that the
// replies to pipelined commands go out together.
func (c *conn) reply(line string) {
	c.out = append(c.out, line...)
	c.out = append(c.out, '\r', '\n')
}

// bad answers a bad command, and ends the session after too many of them.
func (c *conn) bad(line string) error {
	c.server.count.refuse(badCommand)
	c.reply(line)
	if c.errors++; c.errors >= c.server.options.MaxErrors {
		c.server.count.refuse(tooManyErrors)
		c.reply("421 4.7.0 " + c.server.options.Hostname + " Too many errors, closing")
		return errClosed
	}
	return nil
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

// command answers one command.
func (c *conn) command(line []byte) error {
	verb, arg := splitCommand(line)
	if done, err := c.misbehave(verb); done {
		return err
	}
	switch verb {
	case "MAIL":
		return c.mail(arg)
	case "RCPT":
		return c.rcpt(arg)
	case "DATA":
		return c.data(arg)
	case "EHLO", "HELO":
		return c.hello(verb, arg)
	case "STARTTLS":
		return c.startTLS(arg)
	case "AUTH":
		return c.auth(arg)
	case "RSET":
		if arg != "" {
			return c.bad("501 5.5.4 RSET has no argument")
		}
		c.tx.reset()
		c.reply("250 2.0.0 OK")
		return nil
	case "NOOP":
		c.reply("250 2.0.0 OK")
		return nil
	case "VRFY":
		if arg == "" {
			return c.bad("501 5.5.4 VRFY needs an argument")
		}
		c.reply("252 2.5.0 Cannot verify, but will accept mail for inboxes that exist")
		return nil
	case "EXPN":
		return c.bad("502 5.5.1 EXPN is not offered")
	case "HELP":
		c.reply("214 2.0.0 See RFC 5321")
		return nil
	case "QUIT":
		if arg != "" {
			return c.bad("501 5.5.4 QUIT has no argument")
		}
		c.reply("221 2.0.0 " + c.server.options.Hostname + " Bye")
		return errQuit
	case "GET", "POST", "PUT", "HEAD", "OPTIONS", "CONNECT", "PATCH", "DELETE":
		// A web page can make a browser send commands to this port in the body of an HTTP request.
		c.server.count.refuse(badCommand)
		c.reply("421 4.7.0 " + c.server.options.Hostname + " This is SMTP, not HTTP")
		return errClosed
	default:
		return c.bad("500 5.5.1 Unknown command")
	}
}

func (c *conn) hello(verb, arg string) error {
	if !isGreetingName(arg) {
		return c.bad("501 5.5.4 " + verb + " needs the client's name")
	}
	c.tx.reset()
	c.greeted = true
	o := &c.server.options
	if verb == "HELO" {
		c.reply("250 " + o.Hostname)
		return nil
	}
	c.reply("250-" + o.Hostname)
	c.reply("250-PIPELINING")
	c.reply("250-SIZE " + strconv.FormatInt(o.MaxMessageBytes, 10))
	c.reply("250-8BITMIME")
	c.reply("250-SMTPUTF8")
	if o.TLS != nil && !c.secure {
		c.reply("250-STARTTLS")
	}
	if o.AuthAny {
		c.reply("250-AUTH PLAIN LOGIN")
	}
	c.reply("250 ENHANCEDSTATUSCODES")
	return nil
}

// startTLS switches to TLS, over which the session starts over (RFC 3207).
func (c *conn) startTLS(arg string) error {
	switch {
	case c.server.options.TLS == nil:
		return c.bad("502 5.5.1 STARTTLS is not offered")
	case c.secure:
		return c.bad("503 5.5.1 TLS is already on")
	case arg != "":
		return c.bad("501 5.5.4 STARTTLS has no argument")
	case c.r < c.w:
		// Input from before the handshake could have been injected by somebody in between.
		c.reply("421 4.7.0 " + c.server.options.Hostname + " Input after STARTTLS, closing")
		return errClosed
	}
	c.reply("220 2.0.0 Ready for TLS")
	if err := c.flush(); err != nil {
		return err
	}
	if err := c.handshake(); err != nil {
		return err
	}
	c.greeted, c.authenticated = false, false
	c.tx.reset()
	return nil
}

func (c *conn) handshake() error {
	c.setReadTimeout(time.Now(), c.server.options.IdleTimeout)
	secure := tls.Server(c.raw, c.server.options.TLS)
	if err := secure.HandshakeContext(c.server.sessions.Context()); err != nil {
		return fmt.Errorf("TLS handshake: %w", err)
	}
	c.nc = secure
	c.secure, c.deep = true, true
	return nil
}
