package smtp

import (
	"cmp"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"mayfly/internal/sockets"
	"mayfly/service"
	"mayfly/service/limits"
)

// maxAuthLine is the length limit of a line of an authentication exchange, in octets (RFC 4954,
// section 4).
const maxAuthLine = 12288

// serve runs the session, closes the connection and leaves.
func (c *conn) serve() {
	c.begun = time.Now()
	c.client = c.raw.RemoteAddr().String()
	c.record = c.server.log.open(c.client)
	c.small = make([]byte, commandSize)
	c.in = c.small
	err := c.survive()
	defer c.server.sessions.Leave(c.raw)
	c.farewell(err)
	c.nc.Close()
	c.logEnd(err)
	c.tx.reset()
	c.shrink()
	c.log.Debug("SMTP session", "remote", c.client, "messages", c.messages, "refused", c.refused,
		"errors", c.errors, "tls", c.tls, "duration", time.Since(c.begun), "end", err)
}

// survive makes a panic the end of its session alone.
func (c *conn) survive() (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("SMTP session panicked", "panic", p, "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	return c.session()
}

func (c *conn) session() error {
	if c.implicitTLS {
		if err := c.handshake(); err != nil {
			return err
		}
	}
	if done, err := c.injectFault("connect"); done {
		return err
	}
	c.reply("220 " + c.server.options.Hostname + " ESMTP Mayfly")
	return c.commands()
}

// farewell tells the client why the server ends the session, and sends the replies not yet sent.
func (c *conn) farewell(err error) {
	switch e, told := err.(*ending); {
	case told:
		if e == errIdle || e == errSession {
			c.server.count.refuse(timedOut)
		}
		c.reply("421 " + e.code + " " + c.server.options.Hostname + " " + e.text)
	case err != errClosed && err != errQuit:
		return
	}
	if c.flush() == nil && err != errQuit && c.tls == "" {
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
		if c.server.sessions.Draining() && !time.Now().Before(c.mayGoOn()) {
			return errDraining
		}
		if len(c.out) >= commandSize { // of many commands at once
			if err := c.flush(); err != nil {
				return err
			}
		}
	}
}

// bad answers a bad command, and ends the session after too many of them.
func (c *conn) bad(line string) error {
	c.server.count.refuse(badCommand)
	c.reply(line)
	if c.errors++; c.errors >= c.server.options.MaxErrors {
		c.server.count.refuse(tooManyErrors)
		return &ending{"4.7.0", "Too many errors, closing"}
	}
	return nil
}

// command answers one command, and logs the reply for those who wait for mail.
func (c *conn) command(line []byte) error {
	verb, arg := splitCommand(line)
	err := c.answer(verb, arg)
	c.logReply(verb)
	return err
}

func (c *conn) answer(verb, arg string) error {
	if done, err := c.injectFault(verb); done {
		if verb == "RCPT" {
			c.noteRecipient(service.Recipient{})
		}
		return err
	}
	switch verb {
	case "MAIL":
		return c.mail(arg)
	case "RCPT":
		r, err := c.rcpt(arg)
		c.noteRecipient(r)
		return err
	case "DATA":
		return c.data(arg)
	case "EHLO", "HELO":
		return c.greet(verb, arg)
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
	default:
		if limits.IsHTTP(verb) {
			c.server.count.refuse(badCommand)
			return &ending{"4.7.0", "This is SMTP, not HTTP"}
		}
		return c.bad("500 5.5.1 Unknown command")
	}
}

func (c *conn) greet(verb, arg string) error {
	if !isGreetingName(arg) {
		return c.bad("501 5.5.4 " + verb + " needs the client's name")
	}
	c.tx.reset()
	c.hello = verb + " " + arg
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
	if o.TLS != nil && c.tls == "" {
		c.reply("250-STARTTLS")
	}
	if c.mayLogIn() {
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
	case c.tls != "":
		return c.bad("503 5.5.1 TLS is already on")
	case arg != "":
		return c.bad("501 5.5.4 STARTTLS has no argument")
	case c.r < c.w:
		// Input from before the handshake could have been injected by somebody in between.
		return &ending{"4.7.0", "Input after STARTTLS, closing"}
	}
	c.reply("220 2.0.0 Ready for TLS")
	if err := c.flush(); err != nil {
		return err
	}
	if err := c.handshake(); err != nil {
		return err
	}
	c.hello, c.login, c.keyID = "", "", ""
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
	c.tls = tls.VersionName(secure.ConnectionState().Version)
	return nil
}

// mayLogIn reports whether a login is offered now: an API key is not sent in the clear to another machine.
func (c *conn) mayLogIn() bool {
	o := &c.server.options
	return o.AuthAny || o.InsecureLogins || c.tls != "" || sockets.IsLoopbackAddress(c.client)
}

// auth logs in with PLAIN or LOGIN (RFC 4954).
func (c *conn) auth(arg string) error {
	mechanism, initial, hasInitial := strings.Cut(arg, " ")
	switch {
	case !c.mayLogIn() && c.server.options.TLS != nil:
		return c.bad("538 5.7.11 Send STARTTLS first")
	case !c.mayLogIn():
		return c.bad("502 5.5.1 AUTH is not offered without TLS")
	case c.hello == "":
		return c.bad("503 5.5.1 Send EHLO first")
	case c.login != "":
		return c.bad("503 5.5.1 Already logged in")
	case c.tx.open:
		return c.bad("503 5.5.1 Not during a mail transaction")
	}
	var steps []string // challenges, in base64
	var answers []string
	switch strings.ToUpper(mechanism) {
	case "PLAIN":
		steps = []string{""}
	case "LOGIN":
		steps = []string{"VXNlcm5hbWU6", "UGFzc3dvcmQ6"}
	default:
		return c.bad("504 5.5.4 Only PLAIN and LOGIN are supported")
	}
	if hasInitial {
		answer, ok := fromBase64(initial)
		if !ok || initial == "" {
			return c.bad("501 5.5.2 Not base64")
		}
		steps, answers = steps[1:], []string{answer}
	}
	for _, challenge := range steps {
		c.reply("334 " + challenge)
		line, err := c.readLine(maxAuthLine)
		answer, ok := fromBase64(string(line))
		switch {
		case errors.Is(err, errLineTooLong):
			return c.bad("500 5.5.6 Line too long")
		case errors.Is(err, errLineBreak):
			c.reply("500 5.5.2 Lines must end with CRLF, and contain no other CR or LF")
			return errClosed
		case err != nil:
			return err
		case string(line) == "*":
			return c.bad("501 5.7.0 Login cancelled")
		case !ok:
			return c.bad("501 5.5.2 Not base64")
		}
		answers = append(answers, answer)
	}
	name, secret := credentials(answers)
	var key service.Key
	if !c.server.options.AuthAny {
		var err error
		if key, err = c.authenticate(secret); err != nil {
			return c.refuseLogin(err)
		}
	}
	if done, err := c.injectFault("auth"); done {
		return err
	}
	c.login, c.keyID = name, key.ID
	c.reply("235 2.7.0 Logged in")
	return nil
}

// authenticate returns the API key with a secret. One whose plan has no messages cannot log in.
func (c *conn) authenticate(secret string) (service.Key, error) {
	key, err := c.server.options.Keys.Authenticate(c.server.sessions.Context(), c.server.service, c.address, secret)
	if err == nil && key.Plan.Limits().EmailsPerDay == 0 {
		err = service.Errorf(service.Forbidden, "The plan of this API key has no access")
	}
	return key, err
}

func (c *conn) refuseLogin(err error) error {
	switch service.ErrorCode(err) {
	case service.Unauthorized:
		c.server.count.refuse(wrongKey)
		return c.bad("535 5.7.8 The password is not a valid API key")
	case service.Forbidden:
		return c.bad("535 5.7.8 The plan of this API key has no access")
	case service.RateLimited:
		return c.bad("454 4.7.0 Too many wrong keys from your address, try again later")
	}
	c.fault(err)
	c.server.count.refuse(storageFailed)
	c.reply("454 4.3.0 Cannot check the API key now, try again later")
	return nil
}

// fromBase64 decodes base64, or "=", which stands for an empty initial response.
func fromBase64(s string) (text string, ok bool) {
	if s == "=" {
		return "", true
	}
	b, err := base64.StdEncoding.DecodeString(s)
	return string(b), err == nil
}

// credentials returns name and password from the answers to LOGIN, which are these, or to PLAIN (RFC 4616), which is
// one: whom to act as, name and password. The name is "?" if there is none: what is of another form may be a password.
func credentials(answers []string) (name, password string) {
	if len(answers) == 1 {
		if answers = strings.Split(answers[0], "\x00"); len(answers) != 3 {
			return "?", ""
		}
		answers = answers[1:]
	}
	name = answers[0]
	return cmp.Or(strings.Clone(name[:min(len(name), 255)]), "?"), answers[1] // the name without the password in its memory
}
