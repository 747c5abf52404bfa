package smtp

import (
	"errors"
	"io"
	"strings"
	"time"

	"mayfly/service"
)

// recordReply records the reply to a command.
func (c *conn) recordReply(verb string) {
	if verb == "MAIL" && c.tx.open && strings.HasPrefix(c.last, "2") {
		c.record.Begin(c.tx.from)
	}
	c.record.Update(func(s *service.SMTPSession) {
		s.Hello, s.TLS, s.Login = c.hello, c.tls, c.login
		if verb != "QUIT" {
			s.Command, s.Reply = verb, c.last
		}
		if n := len(s.Messages); verb == "DATA" && !c.tx.open && n > 0 {
			s.Messages[n-1].Reply = c.last
		}
	})
}

// recordEnd records why the session ended.
func (c *conn) recordEnd(err error) {
	var end string
	switch {
	case err == errQuit:
	case errors.Is(err, io.EOF):
		end = "the client closed the connection"
	default:
		end = err.Error()
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	c.record.Update(func(s *service.SMTPSession) { s.Ended, s.End, s.TLS = &now, end, c.tls })
}
