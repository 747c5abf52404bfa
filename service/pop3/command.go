package pop3

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"mayfly/service"
	"mayfly/service/limits"
)

// maxMessages is how many messages of an inbox a session sees: the newest. It keeps 55 bytes or so of
// each.
const maxMessages = 1000

// When a command is valid.
type when int

const (
	beforeLogin when = 1 << iota
	afterLogin
	always = beforeLogin | afterLogin
)

// commands are the commands by name, and how many arguments they take.
var commands = map[string]struct {
	when     when
	min, max int
	run      func(c *conn, args []string) error
}{
	"CAPA": {always, 0, 0, (*conn).capa},
	"DELE": {afterLogin, 1, 1, (*conn).dele},
	"LIST": {afterLogin, 0, 1, (*conn).list},
	"NOOP": {afterLogin, 0, 0, (*conn).ok},
	"PASS": {beforeLogin, 1, 1, (*conn).pass},
	"QUIT": {always, 0, 0, (*conn).quit},
	"RETR": {afterLogin, 1, 1, (*conn).retr},
	"RSET": {afterLogin, 0, 0, (*conn).rset},
	"STAT": {afterLogin, 0, 0, (*conn).stat},
	"STLS": {beforeLogin, 0, 0, (*conn).startTLS},
	"TOP":  {afterLogin, 2, 2, (*conn).top},
	"UIDL": {afterLogin, 0, 1, (*conn).uidl},
	"USER": {beforeLogin, 1, 1, (*conn).setUser},
}

// command answers one command.
func (c *conn) command(line []byte) error {
	words := strings.Fields(string(line))
	if len(words) == 0 {
		return c.bad("Unknown command")
	}
	name := strings.ToUpper(words[0])
	command, ok := commands[name]
	now := beforeLogin
	if c.key.ID != "" {
		now = afterLogin
	}
	switch args := words[1:]; {
	case limits.IsHTTP(name):
		c.reply("-ERR This is POP3, not HTTP, closing")
		return errClosed
	case !ok:
		return c.bad("Unknown command")
	case command.when&now == 0 && now == beforeLogin:
		return c.bad("Log in first")
	case command.when&now == 0:
		return c.bad("Already logged in")
	case len(args) < command.min || len(args) > command.max:
		return c.bad("Wrong number of arguments")
	default:
		return command.run(c, args)
	}
}

// mayLogIn reports whether a key may be sent now: not in the clear where TLS is offered.
func (c *conn) mayLogIn() bool { return c.secure || c.server.options.TLS == nil }

// capa lists the capabilities (RFC 2449).
func (c *conn) capa([]string) error {
	c.reply("+OK Capabilities follow")
	if c.mayLogIn() {
		c.reply("USER")
	} else {
		c.reply("STLS")
	}
	for _, name := range []string{"TOP", "UIDL", "PIPELINING", "RESP-CODES", "AUTH-RESP-CODE", "IMPLEMENTATION Mayfly", "."} {
		c.reply("%s", name)
	}
	return nil
}

func (c *conn) ok([]string) error {
	c.reply("+OK")
	return nil
}

// quit removes the messages that are marked, and ends the session.
func (c *conn) quit([]string) error {
	if err := c.removeMarked(); err != nil {
		return cmp.Or(c.fail(err), errQuit)
	}
	c.reply("+OK Bye")
	return errQuit
}

// removeMarked removes the messages that are marked, as one request of the key.
func (c *conn) removeMarked() error {
	if !slices.ContainsFunc(c.messages, func(m message) bool { return m.deleted }) {
		return nil
	}
	if _, err := c.admit(); err != nil {
		return err
	}
	for _, m := range c.messages {
		if !m.deleted {
			continue
		}
		err := c.server.service.DeleteMessages(c.server.sessions.Context(), c.key, c.inboxID, m.id)
		if err != nil && service.ErrorCode(err) != service.NotFound { // another client may have been faster
			return err
		}
	}
	return nil
}

func (c *conn) rset([]string) error {
	for i := range c.messages {
		c.messages[i].deleted = false
	}
	return c.ok(nil)
}

// setUser answers the same whether or not there is such an inbox.
func (c *conn) setUser(args []string) error {
	if !c.mayLogIn() {
		return c.bad("Send STLS first")
	}
	c.user = args[0]
	c.reply("+OK Send the API key")
	return nil
}

// pass logs in. A wrong key cannot be told from a wrong address.
func (c *conn) pass(args []string) error {
	if c.user == "" {
		return c.bad("Send USER first")
	}
	c.secret = args[0]
	key, err := c.admit()
	if err == nil {
		err = c.open(key)
	}
	if err == nil {
		c.key = key
		c.server.logins.Inc()
		c.reply("+OK %d messages", len(c.messages))
		return nil
	}
	c.server.refused.Inc()
	c.user = ""
	if code := service.ErrorCode(err); code == service.Unauthorized || code == service.NotFound || code == service.Invalid {
		return c.bad("[AUTH] Wrong address or API key")
	}
	return c.fail(err)
}

// admit checks the API key and counts a request of it.
func (c *conn) admit() (service.Key, error) {
	ctx := c.server.sessions.Context()
	key, err := c.server.options.Guesses.Authenticate(ctx, c.server.service, c.address, c.secret)
	if err == nil {
		_, err = c.server.service.Allow(ctx, key)
	}
	return key, err
}

// open lists the messages of the user's inbox. For a key that gets an inbox for each unknown address,
// one that no mail has come for yet has none.
func (c *conn) open(key service.Key) error {
	ctx, svc := c.server.sessions.Context(), c.server.service
	in, err := svc.InboxAt(ctx, key, c.user)
	if service.ErrorCode(err) == service.NotFound && svc.CatchesAll(key) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := svc.Messages(ctx, key, in.ID, service.Page{Limit: maxMessages})
	if err != nil {
		return err
	}
	c.inboxID, c.messages = in.ID, make([]message, len(list.Messages))
	for i, m := range list.Messages {
		c.messages[i] = message{strings.Clone(m.ID), m.Size, false}
	}
	slices.Reverse(c.messages)
	return nil
}

func (c *conn) stat([]string) error {
	count, size := 0, int64(0)
	for _, m := range c.messages {
		if !m.deleted {
			count, size = count+1, size+m.size
		}
	}
	c.reply("+OK %d %d", count, size)
	return nil
}

func (c *conn) list(args []string) error {
	return c.tell(args, func(m *message) string { return strconv.FormatInt(m.size, 10) })
}

func (c *conn) uidl(args []string) error {
	return c.tell(args, func(m *message) string { return m.id })
}

// tell tells something of the message with a number, or of all.
func (c *conn) tell(args []string, what func(*message) string) error {
	if len(args) > 0 {
		m := c.numbered(args[0])
		if m == nil {
			return c.bad("No such message")
		}
		c.reply("+OK %s %s", args[0], what(m))
		return nil
	}
	c.reply("+OK Messages follow")
	for i := range c.messages {
		if m := &c.messages[i]; !m.deleted {
			c.reply("%d %s", i+1, what(m))
		}
	}
	c.reply(".")
	return nil
}

// numbered returns the message with a number, counted from 1, or nil if there is none or it is marked.
func (c *conn) numbered(number string) *message {
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || n == 0 || n > uint64(len(c.messages)) || c.messages[n-1].deleted {
		return nil
	}
	return &c.messages[n-1]
}

// dele marks a message to be removed when the client quits.
func (c *conn) dele(args []string) error {
	m := c.numbered(args[0])
	if m == nil {
		return c.bad("No such message")
	}
	m.deleted = true
	return c.ok(nil)
}

func (c *conn) retr(args []string) error { return c.send(args[0], math.MaxUint64) }

func (c *conn) top(args []string) error {
	lines, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return c.bad("Not a number of lines")
	}
	return c.send(args[0], lines)
}

// send sends the header of the message with a number, and so many lines of its body.
func (c *conn) send(number string, lines uint64) error {
	m := c.numbered(number)
	if m == nil {
		return c.bad("No such message")
	}
	if _, err := c.admit(); err != nil {
		return c.fail(err)
	}
	ctx := c.server.sessions.Context()
	release, err := c.server.options.Large.Reserve(ctx, c.key.ID, m.size)
	if err != nil {
		return c.fail(err)
	}
	defer release()
	full, err := c.server.service.Message(ctx, c.key, c.inboxID, m.id)
	if err != nil {
		return c.fail(err)
	}
	c.server.sent.Inc()
	if lines == math.MaxUint64 {
		c.reply("+OK %d octets", m.size)
	} else {
		c.reply("+OK")
	}
	return writeMessage(c.w, full.Raw, lines)
}

// writeMessage writes the header of a message and so many lines of its body, stuffed with dots, and
// the end.
func writeMessage(w *bufio.Writer, raw []byte, lines uint64) error {
	var line []byte
	for inBody := false; len(raw) > 0 && (!inBody || lines > 0); {
		end := bytes.IndexByte(raw, '\n') + 1
		if end == 0 {
			end = len(raw)
		}
		line, raw = raw[:end], raw[end:]
		if line[0] == '.' {
			_ = w.WriteByte('.') // an error stays
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
		if inBody {
			lines--
		} else {
			inBody = len(bytes.TrimRight(line, "\r\n")) == 0
		}
	}
	if len(line) > 0 && !bytes.HasSuffix(line, []byte("\r\n")) {
		_, _ = w.WriteString("\r\n")
	}
	_, err := w.WriteString(".\r\n")
	return err
}
