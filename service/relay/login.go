package relay

import (
	"encoding/base64"
	"errors"
	"net/textproto"
	"strings"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"mayfly/internal/clean"
)

// login logs in. Many servers repeat a command that they refuse, and this one has the password: of the
// answers to it nothing is told but the code.
func login(c *smtp.Client, user, password string) error {
	var mechanism sasl.Client
	switch {
	case c.SupportsAuth(sasl.Plain):
		mechanism = sasl.NewPlainClient("", user, password)
	case c.SupportsAuth(sasl.Login):
		mechanism = sasl.NewLoginClient(user, password)
	default:
		return plain("The relay offers no login by PLAIN or LOGIN")
	}
	err := c.Auth(mechanism)
	if answer, ok := errors.AsType[*smtp.SMTPError](err); ok {
		return refusal{"the login", &smtp.SMTPError{Code: answer.Code}}
	}
	if _, ok := errors.AsType[textproto.ProtocolError](err); ok { // it has the line
		return errors.New("the answer to the login is not SMTP")
	}
	return err
}

// minPiece is how many characters of a secret make a text repeat it.
const minPiece = 6

// hasPassword reports whether a text has a piece of the password, plain or as a login sends it.
func hasPassword(text, user, password string) bool {
	if password == "" {
		return false
	}
	heard, encode := folded(text), base64.StdEncoding.EncodeToString
	for _, secret := range []string{password, encode([]byte(password)), encode([]byte("\x00" + user + "\x00" + password))} {
		secret = folded(secret)
		n := min(minPiece, len(secret))
		for i := range len(secret) - n + 1 {
			if strings.Contains(heard, secret[i:i+n]) {
				return true
			}
		}
	}
	return false
}

// folded makes texts equal that differ in case, white space and control characters.
func folded(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(clean.Line(s)), ""))
}
