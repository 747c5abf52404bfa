package smtp

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"mayfly/internal/mail"
	"mayfly/service"
)

// transaction is a mail transaction: from MAIL to the answer to its data.
type transaction struct {
	open       bool
	from       string // "" is the null sender
	utf8       bool   // SMTPUTF8 was given
	size       int64  // SIZE as given; 0: none
	parameters string // as given
	fault      *fault // instead of the answer to the data, as a recipient's address asks
	recipients []service.Recipient
	refused    []service.Recipient // at most maxRefused
	body       body
}

// reset ends the transaction and discards its message.
func (t *transaction) reset() {
	t.body.release()
	clear(t.recipients)
	*t = transaction{recipients: t.recipients[:0]}
}

func (c *conn) mail(arg string) error {
	switch {
	case c.hello == "":
		return c.bad("503 5.5.1 Send EHLO first")
	case c.tx.open:
		return c.bad("503 5.5.1 MAIL was already sent")
	}
	from, params, err := parsePath(arg, "FROM:", parseSender)
	if err != nil {
		return c.badPath(err, "501 5.5.4 Syntax: MAIL FROM:<address>", "501 5.1.7 Not a sender's address")
	}
	tx := transaction{open: true, from: from, recipients: c.tx.recipients}
	for _, p := range params {
		tx.parameters = strings.TrimPrefix(tx.parameters+" "+p.text, " ")
		ok := true
		switch p.keyword {
		case "SIZE":
			tx.size, ok = parseSize(p.value)
		case "BODY":
			ok = strings.EqualFold(p.value, "7BIT") || strings.EqualFold(p.value, "8BITMIME")
		case "SMTPUTF8":
			ok = !p.hasValue
			tx.utf8 = true
		case "AUTH":
			if !c.mayLogIn() {
				return c.bad("555 5.5.4 Unknown parameter: AUTH")
			}
			ok = p.hasValue
		default:
			return c.bad("555 5.5.4 Unknown parameter: " + p.keyword)
		}
		if !ok {
			return c.bad("501 5.5.4 Bad value for " + p.keyword)
		}
	}
	if !tx.utf8 && !mail.IsASCII([]byte(from)) {
		return c.bad("553 5.6.7 The address needs SMTPUTF8")
	}
	o := &c.server.options
	if tx.size > o.MaxMessageBytes {
		c.server.count.refuse(tooBig)
		c.refused++
		c.reply(o.tooBigReply())
		return nil
	}
	if c.messages >= o.MaxMessages {
		c.server.count.refuse(tooManyMessages)
		return &ending{"4.7.0", "Too many messages on this connection, open another"}
	}
	c.tx = tx
	c.reply("250 2.1.0 OK")
	return nil
}

// tooBigReply refuses a message above the limit.
func (o *Options) tooBigReply() string {
	return "552 5.3.4 Message is larger than " + strconv.FormatInt(o.MaxMessageBytes, 10) + " octets"
}

// badPath answers an argument of MAIL or RCPT that parsePath rejects.
func (c *conn) badPath(err error, syntax, address string) error {
	switch {
	case errors.Is(err, errAddress):
		return c.bad(address)
	case errors.Is(err, errDuplicate):
		return c.bad("501 5.5.4 A parameter appears twice")
	default:
		return c.bad(syntax)
	}
}

// maxRefused is how many refused recipients a transaction keeps.
const maxRefused = 100

// noteRecipient records a recipient, and keeps it, with the reply, if its RCPT was refused.
func (c *conn) noteRecipient(r service.Recipient) {
	accepted := strings.HasPrefix(c.last, "2")
	if !accepted {
		r.Refused = c.last
	}
	if c.tx.open {
		c.logRecipient(r)
	}
	if !accepted && len(c.tx.refused) < maxRefused {
		c.tx.refused = append(c.tx.refused, r)
	}
}

// rcpt answers RCPT. It returns the recipient if it was looked up.
func (c *conn) rcpt(arg string) (r service.Recipient, err error) {
	if !c.tx.open {
		return r, c.bad("503 5.5.1 Send MAIL first")
	}
	to, params, err := parsePath(arg, "TO:", parseMailbox)
	if err == nil && to == "" {
		err = errAddress
	}
	if err != nil {
		return r, c.badPath(err, "501 5.5.4 Syntax: RCPT TO:<address>", "501 5.1.3 Not an address")
	}
	if len(params) > 0 {
		return r, c.bad("555 5.5.4 Unknown parameter: " + params[0].keyword)
	}
	if !c.tx.utf8 && !mail.IsASCII([]byte(to)) {
		return r, c.bad("553 5.6.7 The address needs SMTPUTF8")
	}
	if len(c.tx.recipients) >= c.server.options.MaxRecipients {
		c.server.count.refuse(tooManyRecipients)
		c.reply("452 4.5.3 Too many recipients")
		return r, nil
	}
	if c.server.guesses.Exceeded(c.address, to) {
		c.refused++
		c.server.count.refuse(guesses)
		c.reply("450 4.7.1 Too many unknown recipients from your address, try again later")
		return r, c.tooManyRefusals()
	}
	var f *fault
	if c.server.options.AddressFaults {
		f = addressFault(to)
	}
	switch {
	case f == nil || f.lost:
	case f.slow > 0:
		if err := c.pause(f.slow); err != nil {
			return r, err
		}
	default:
		_, err := c.inflict(0, f)
		return service.Recipient{Address: to}, err
	}
	r, err = c.server.service.Recipient(c.server.sessions.Context(), c.keyID, to)
	if err != nil {
		if code := service.ErrorCode(err); code == service.NotFound || code == service.Invalid {
			c.server.guesses.RecordFailure(c.address)
		}
		return r, c.refuse(err)
	}
	c.server.guesses.RecordSuccess(c.address, to)
	if f != nil && f.lost {
		c.tx.fault = f
	}
	c.tx.recipients = append(c.tx.recipients, r)
	c.reply("250 2.1.5 OK")
	return r, nil
}

// refuse answers RCPT, or the end of the data, according to an error of the service. The error
// itself goes only to the log.
func (c *conn) refuse(err error) error {
	c.refused++
	count := &c.server.count
	switch service.ErrorCode(err) {
	case service.NotFound:
		count.refuse(unknownRecipient)
		c.reply("550 5.1.1 No such inbox")
	case service.Invalid:
		count.refuse(unknownRecipient)
		c.reply("553 5.1.3 Not an inbox's address")
	case service.Unauthorized:
		count.refuse(wrongKey)
		c.reply("530 5.7.0 The API key of your login was revoked")
	case service.OverQuota:
		count.refuse(overQuota)
		c.reply("452 4.2.2 The plan allows no more messages today, or no more inboxes now")
	case service.Full:
		c.fault(err)
		count.refuse(storageFull)
		c.reply("452 4.3.1 No space left")
	case service.Unavailable:
		c.fault(err)
		count.refuse(storageFailed)
		c.reply("452 4.3.2 The store is unavailable, try again later")
	default:
		c.fault(err)
		count.refuse(storageFailed)
		c.reply("451 4.3.0 Cannot store the message now, try again later")
	}
	return c.tooManyRefusals()
}

// fault logs why the service refuses mail: once a minute, not for each of many senders.
func (c *conn) fault(err error) {
	s := c.server
	s.unlogged.Add(1)
	s.faults.Do(func() { c.log.Error("SMTP: mail is refused", "error", err, "refused", s.unlogged.Swap(0)) })
}

// tooManyRefusals ends the session if there were.
func (c *conn) tooManyRefusals() error {
	if c.refused > c.server.options.MaxRecipients {
		c.server.count.refuse(tooManyErrors)
		return &ending{"4.7.0", "Too many refusals, closing"}
	}
	return nil
}

func (c *conn) data(arg string) error {
	switch {
	case arg != "":
		return c.bad("501 5.5.4 DATA has no argument")
	case !c.tx.open:
		return c.bad("503 5.5.1 Send MAIL first")
	case len(c.tx.recipients) == 0:
		return c.bad("554 5.5.1 No valid recipients")
	}
	tx, o := &c.tx, &c.server.options
	// With several keys, the first pays for the memory.
	tx.body = body{memory: c.server.memory, keyID: tx.recipients[0].KeyID, limit: o.MaxMessageBytes}
	if !tx.body.reserve(int(min(max(tx.size, 1), 64<<10))) { // more only once it has arrived
		c.refuseMessage(busy)
		return nil
	}
	c.reply("354 End with CRLF.CRLF")
	c.grow()
	err := c.readDotted()
	c.shrink()
	switch {
	case errors.Is(err, errStalled):
		c.refuseMessage(ambiguousEnd)
		return errClosed
	case err != nil:
		return err
	case tx.body.refused != "":
		c.refuseMessage(tx.body.refused)
		return nil
	}
	return c.deliver()
}

// readDotted reads the message up to CRLF.CRLF.
func (c *conn) readDotted() error {
	var dots dotReader
	for {
		taken, done := dots.next(c.in[c.r:c.w], c.tx.body.add)
		c.r += taken
		switch {
		case dots.ambiguous:
			c.tx.body.refuse(ambiguousEnd)
		case dots.longest > c.server.options.MaxTextLine:
			c.tx.body.refuse(lineTooLong)
		}
		if done {
			return nil
		}
		if err := c.fillData(dots.ambiguous); err != nil {
			return err
		}
	}
}

// fillData reads more of a message. After an ambiguous end it waits for a shorter time.
func (c *conn) fillData(ambiguous bool) error {
	if !ambiguous {
		return c.fill()
	}
	now := time.Now()
	c.setReadTimeout(now, min(ambiguousEndTimeout, c.server.options.IdleTimeout))
	err := c.read()
	c.readSet = time.Time{}
	if errors.Is(err, errIdle) {
		return errStalled
	}
	return err
}

// refuseMessage answers the end of a message that is not accepted, and ends the transaction.
func (c *conn) refuseMessage(r reason) {
	c.refused++
	c.server.count.refuse(r)
	o := &c.server.options
	switch r {
	case tooBig:
		c.reply(o.tooBigReply())
	case lineTooLong:
		c.reply("554 5.6.0 A line is longer than " + strconv.Itoa(o.MaxTextLine) + " octets")
	case ambiguousEnd:
		c.reply("554 5.6.0 Only CRLF.CRLF ends a message, but it has a lone dot between other line breaks")
	default:
		c.reply("452 4.3.1 Too many messages in flight, try again later")
	}
	c.tx.reset()
}

// deliver answers the end of a message: with 250 only if it is on disk.
func (c *conn) deliver() error {
	var err error
	slow, fault := c.server.chaos.draw("data")
	if fault == nil {
		fault = c.tx.fault
	}
	if fault == nil || fault.lost {
		err = c.store()
	}
	c.tx.reset()
	if err != nil {
		return c.refuse(err)
	}
	if done, err := c.inflict(slow, fault); done {
		return err
	}
	c.reply("250 2.0.0 Stored")
	return nil
}

// countKeys counts the message for each key that gets it.
func (c *conn) countKeys() {
	if c.byKey == nil {
		c.byKey = make(map[string]int, 1)
	}
	for i, r := range c.tx.recipients {
		if !slices.ContainsFunc(c.tx.recipients[:i], func(before service.Recipient) bool { return before.KeyID == r.KeyID }) {
			c.byKey[r.KeyID]++
		}
	}
}

// store returns nil once the message is on disk.
func (c *conn) store() error {
	tx := &c.tx
	c.messages++
	c.countKeys()
	count := &c.server.count
	count.delivering.Inc()
	defer count.delivering.Dec()
	d := service.Delivery{From: tx.from, To: tx.recipients, Refused: tx.refused, Raw: tx.body.bytes(), Session: service.Session{
		Client: c.client, Connected: c.begun, Hello: c.hello, TLS: c.tls, Login: c.login, Parameters: tx.parameters, Messages: c.byKey,
	}}
	if err := c.server.service.Deliver(c.server.sessions.Context(), d); err != nil {
		return err
	}
	count.accepted.Inc()
	count.acceptedBytes.Add(float64(tx.body.size))
	return nil
}
