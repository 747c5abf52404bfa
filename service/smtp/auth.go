package smtp

import (
	"encoding/base64"
	"errors"
	"strings"
)

// auth accepts any login with PLAIN or LOGIN (RFC 4954), for applications under test that insist on
// logging in. Names and passwords are ignored.
func (c *conn) auth(arg string) error {
	mechanism, initial, hasInitial := strings.Cut(arg, " ")
	switch {
	case !c.server.options.AuthAny:
		return c.bad("502 5.5.1 AUTH is not offered")
	case !c.greeted:
		return c.bad("503 5.5.1 Send EHLO first")
	case c.authenticated:
		return c.bad("503 5.5.1 Already logged in")
	case c.tx.open:
		return c.bad("503 5.5.1 Not during a mail transaction")
	}
	var steps []string // challenges, in base64
	switch strings.ToUpper(mechanism) {
	case "PLAIN":
		steps = []string{""}
	case "LOGIN":
		steps = []string{"VXNlcm5hbWU6", "UGFzc3dvcmQ6"}
	default:
		return c.bad("504 5.5.4 Only PLAIN and LOGIN are supported")
	}
	if hasInitial {
		if !isBase64(initial) {
			return c.bad("501 5.5.2 Not base64")
		}
		steps = steps[1:]
	}
	for _, challenge := range steps {
		c.reply("334 " + challenge)
		line, err := c.readLine(maxAuthLine)
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
		case len(line) > 0 && !isBase64(string(line)):
			return c.bad("501 5.5.2 Not base64")
		}
	}
	if done, err := c.misbehave("auth"); done {
		return err
	}
	c.authenticated = true
	c.reply("235 2.7.0 Logged in")
	return nil
}

// isBase64 reports whether s is base64, or "=", which stands for an empty initial response.
func isBase64(s string) bool {
	if s == "=" {
		return true
	}
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil && s != ""
}
