package smtp

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"mayfly/service"
)

// transaction is a mail transaction: from MAIL to the answer to its data.
type transaction struct {
	open       bool
	from       string // "" is the null sender
	utf8       bool   // SMTPUTF8 was given
	binary     bool   // BODY=BINARYMIME was given
	size       int64  // SIZE as given; 0: none
	recipients []service.Recipient
	chunks     bool // BDAT was used
	failed     bool // a chunk was refused; only RSET, EHLO or QUIT ends this state
	body       body
	end        func() // of what begin has begun; may be nil
}

// reset ends the transaction and discards its message.
func (t *transaction) reset() {
	t.body.release()
	if t.end != nil {
		t.end()
	}
	clear(t.recipients)
	*t = transaction{recipients: t.recipients[:0]}
}

func (c *conn) mail(arg string) error {
	switch {
	case !c.greeted:
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
		ok := true
		switch p.keyword {
		case "SIZE":
			tx.size, ok = parseSize(p.value)
		case "BODY":
			tx.binary = strings.EqualFold(p.value, "BINARYMIME")
			ok = tx.binary || strings.EqualFold(p.value, "7BIT") || strings.EqualFold(p.value, "8BITMIME")
		case "SMTPUTF8":
			ok = !p.hasValue
			tx.utf8 = true
		case "AUTH":
			if !c.server.options.AuthAny {
				return c.bad("555 5.5.4 Unknown parameter: AUTH")
			}
			ok = p.hasValue
		case "RET":
			ok = strings.EqualFold(p.value, "FULL") || strings.EqualFold(p.value, "HDRS")
		case "ENVID":
			ok = isXtext(p.value, 100)
		default:
			return c.bad("555 5.5.4 Unknown parameter: " + p.keyword)
		}
		if !ok {
			return c.bad("501 5.5.4 Bad value for " + p.keyword)
		}
	}
	if !tx.utf8 && !isASCII(from) {
		return c.bad("553 5.6.7 The address needs SMTPUTF8")
	}
	o := &c.server.options
	if tx.size > o.MaxMessageBytes {
		c.server.count.refuse(TooBig)
		c.refused++
		c.reply(o.tooBigReply())
		return nil
	}
	if c.messages >= o.MaxMessages {
		c.server.count.refuse(TooManyMessages)
		c.reply("421 4.7.0 " + o.Hostname + " Too many messages on this connection, open another")
		return errClosed
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

func (c *conn) rcpt(arg string) error {
	switch {
	case !c.tx.open:
		return c.bad("503 5.5.1 Send MAIL first")
	case c.tx.chunks:
		return c.bad("503 5.5.1 RCPT cannot follow BDAT")
	}
	to, params, err := parsePath(arg, "TO:", parseMailbox)
	if err == nil && to == "" {
		err = errAddress
	}
	if err != nil {
		return c.badPath(err, "501 5.5.4 Syntax: RCPT TO:<address>", "501 5.1.3 Not an address")
	}
	for _, p := range params {
		ok := false
		switch p.keyword {
		case "NOTIFY":
			ok = isNotify(p.value)
		case "ORCPT":
			kind, address, found := strings.Cut(p.value, ";")
			ok = found && isAtom(kind) && isXtext(address, 500)
		default:
			return c.bad("555 5.5.4 Unknown parameter: " + p.keyword)
		}
		if !ok {
			return c.bad("501 5.5.4 Bad value for " + p.keyword)
		}
	}
	if !c.tx.utf8 && !isASCII(to) {
		return c.bad("553 5.6.7 The address needs SMTPUTF8")
	}
	if len(c.tx.recipients) >= c.server.options.MaxRecipients {
		c.server.count.refuse(TooManyRecipients)
		c.reply("452 4.5.3 Too many recipients")
		return nil
	}
	if c.server.guesses.Exceeded(c.address, to) {
		c.refused++
		c.server.count.refuse(Guesses)
		c.reply("450 4.7.1 Too many unknown recipients from your address, try again later")
		return c.tooManyRefusals()
	}
	recipient, err := c.server.service.Recipient(c.server.sessions.Context(), to)
	if err != nil {
		if code := service.ErrorCode(err); code == service.NotFound || code == service.Invalid {
			c.server.guesses.Wrong(c.address)
		}
		return c.refuse(err)
	}
	c.server.guesses.Right(c.address, to)
	c.tx.recipients = append(c.tx.recipients, recipient)
	c.reply("250 2.1.5 OK")
	return nil
}

// refuse answers RCPT, or the end of the data, according to an error of the service. The error
// itself goes only to the log.
func (c *conn) refuse(err error) error {
	c.refused++
	count := &c.server.count
	switch service.ErrorCode(err) {
	case service.NotFound:
		count.refuse(UnknownRecipient)
		c.reply("550 5.1.1 No such inbox")
	case service.Invalid:
		count.refuse(UnknownRecipient)
		c.reply("553 5.1.3 Not an inbox's address")
	case service.OverQuota:
		count.refuse(OverQuota)
		c.reply("452 4.2.2 The inbox has received its messages of the day")
	case service.Full:
		count.refuse(StorageFull)
		c.reply("452 4.3.1 No space left")
	case service.Unavailable:
		count.refuse(StorageFailed)
		// Not once for each of many senders.
		c.server.unavailable.Do(func() { c.log.Error("SMTP: the store is unavailable", "error", err) })
		c.reply("452 4.3.2 The store is unavailable, try again later")
	default:
		count.refuse(StorageFailed)
		c.server.unavailable.Do(func() { c.log.Error("SMTP: the service failed", "error", err) })
		c.reply("451 4.3.0 Cannot store the message now, try again later")
	}
	return c.tooManyRefusals()
}

// tooManyRefusals ends the session if there were.
func (c *conn) tooManyRefusals() error {
	if c.refused > c.server.options.MaxRecipients {
		c.server.count.refuse(TooManyErrors)
		c.reply("421 4.7.0 " + c.server.options.Hostname + " Too many refusals, closing")
		return errClosed
	}
	return nil
}

// begin makes room for the transaction's message, of about size octets.
func (c *conn) begin(size int64) bool {
	charged := account{budget: &c.server.budget, client: c.share}
	if id := c.tx.recipients[0].KeyID; id != "" { // with several keys, the first
		charged.key = c.server.keys.enter(id)
		c.tx.end = func() { c.server.keys.leave(id) }
	}
	c.tx.body = body{account: charged, limit: c.server.options.MaxMessageBytes}
	return c.tx.body.reserve(int(min(max(size, 1), 64<<10))) // more only once it has arrived
}

func (c *conn) data(arg string) error {
	switch {
	case arg != "":
		return c.bad("501 5.5.4 DATA has no argument")
	case !c.tx.open:
		return c.bad("503 5.5.1 Send MAIL first")
	case c.tx.chunks:
		return c.bad("503 5.5.1 DATA cannot follow BDAT")
	case c.tx.binary:
		return c.bad("503 5.5.1 A binary message needs BDAT")
	case len(c.tx.recipients) == 0:
		return c.bad("554 5.5.1 No valid recipients")
	}
	if !c.begin(c.tx.size) {
		c.refuseMessage(Busy)
		return nil
	}
	c.reply("354 End with CRLF.CRLF")
	c.grow()
	reason, err := c.readDotted()
	c.shrink()
	if errors.Is(err, errStalled) {
		c.refuseMessage(AmbiguousEnd)
		return errClosed
	}
	if err != nil {
		return err
	}
	if reason != "" {
		c.refuseMessage(reason)
		return nil
	}
	return c.deliver()
}

// readDotted reads the message up to CRLF.CRLF. The reason says why it cannot be accepted, if so.
func (c *conn) readDotted() (Reason, error) {
	var dots dotReader
	var reason Reason
	tx := &c.tx
	for {
		taken, done := dots.next(c.in[c.r:c.w], tx.body.add)
		c.r += taken
		if reason == "" {
			switch {
			case dots.ambiguous:
				reason = AmbiguousEnd
			case dots.longest > c.server.options.MaxTextLine:
				reason = LineTooLong
			case tx.body.tooBig():
				reason = TooBig
			case tx.body.full:
				reason = Busy
			}
			if reason != "" {
				tx.body.drop()
			}
		}
		if done {
			return reason, nil
		}
		if err := c.fillData(dots.ambiguous); err != nil {
			return reason, err
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

// maxChunks is how many of the largest messages a chunk may be long. One that no client means to send
// ends the session.
const maxChunks = 4

// bdat receives a chunk of a message (RFC 3030). The chunk's octets are always read, so that they
// are not taken for commands.
func (c *conn) bdat(arg string) error {
	size, last, ok := parseBDAT(arg)
	if !ok {
		c.server.count.refuse(BadCommand)
		c.reply("501 5.5.4 Syntax: BDAT size [LAST]; closing")
		return errClosed
	}
	if size/maxChunks > c.server.options.MaxMessageBytes {
		c.refuseMessage(TooBig)
		return errClosed
	}
	var reply string // of refusal
	switch {
	case !c.tx.open:
		reply = "503 5.5.1 Send MAIL first"
	case c.tx.failed:
		reply = "503 5.5.1 A chunk was refused, send RSET"
	case len(c.tx.recipients) == 0:
		reply = "554 5.5.1 No valid recipients"
	}
	if reply != "" {
		if err := c.readChunk(size, func([]byte) {}); err != nil {
			return err
		}
		return c.bad(reply)
	}
	tx := &c.tx
	if !tx.chunks {
		tx.chunks = true
		c.begin(size)
	}
	if err := c.readChunk(size, tx.body.add); err != nil {
		return err
	}
	var reason Reason
	switch {
	case tx.body.tooBig():
		reason = TooBig
	case tx.body.full:
		reason = Busy
	case last:
		return c.deliver()
	default:
		c.reply("250 2.0.0 " + strconv.FormatInt(size, 10) + " octets received")
		return nil
	}
	c.refuseMessage(reason)
	if !last { // the chunks that follow must not start another message
		tx.open, tx.chunks, tx.failed = true, true, true
	}
	return nil
}

func (c *conn) readChunk(size int64, take func([]byte)) error {
	c.grow()
	defer c.shrink()
	for size > 0 {
		if c.r == c.w {
			if err := c.fill(); err != nil {
				return err
			}
		}
		n := int(min(size, int64(c.w-c.r)))
		take(c.in[c.r : c.r+n])
		c.r += n
		size -= int64(n)
	}
	return nil
}

// refuseMessage answers the end of a message that is not accepted, and ends the transaction.
func (c *conn) refuseMessage(reason Reason) {
	c.refused++
	c.server.count.refuse(reason)
	o := &c.server.options
	switch reason {
	case TooBig:
		c.reply(o.tooBigReply())
	case LineTooLong:
		c.reply("554 5.6.0 A line is longer than " + strconv.Itoa(o.MaxTextLine) + " octets")
	case AmbiguousEnd:
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

// store returns nil once the message is on disk.
func (c *conn) store() error {
	tx := &c.tx
	c.messages++
	c.deep = true
	count := &c.server.count
	count.delivering.Add(1)
	defer count.delivering.Add(-1)
	if err := c.server.service.Deliver(c.server.sessions.Context(), service.Delivery{From: tx.from, To: tx.recipients, Raw: tx.body.bytes()}); err != nil {
		return err
	}
	count.accepted.Add(1)
	count.acceptedBytes.Add(tx.body.size)
	return nil
}
