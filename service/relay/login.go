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

const (
	maxAnswer = 300 // characters of an answer that are passed on
	minPiece  = 6   // characters of a secret that are not
)

// secrets are the forms in which the password is sent, as folded makes them.
type secrets []string

func newSecrets(user, password string) secrets {
	if password == "" {
		return nil
	}
	encode := base64.StdEncoding.EncodeToString
	return secrets{
		folded(password),
		folded(encode([]byte(password))),
		folded(encode([]byte("\x00" + user + "\x00" + password))),
	}
}

// folded makes texts equal that differ in case, white space and control characters.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// quote returns what the server said, in errors too, on one printable line of at most maxAnswer characters;
// "" if it has a piece of a secret.
func (s secrets) quote(said string) string {
	line := []rune(clean.Line(said))
	text := string(line[:min(len(line), maxAnswer)])
	heard := folded(text)
	for _, secret := range s {
		n := min(minPiece, len(secret))
		for i := range len(secret) - n + 1 {
			if strings.Contains(heard, secret[i:i+n]) {
				return ""
			}
		}
	}
	return text
}
