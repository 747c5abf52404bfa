package relay

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"mayfly/service"
)

// maxReceived is how many servers a message may have passed. One that is going round in circles has
// passed more.
const maxReceived = 50

// resent is a message to be sent on.
type resent struct {
	fields     []byte // its new Resent fields
	raw        []byte // as it was received
	eightBit   bool   // it has octets above 127, which needs 8BITMIME
	utf8Header bool   // so has its header, which needs SMTPUTF8
}

// resend adds the fields of RFC 5322, 3.6.6, in front of a message, or says why SMTP cannot carry
// the message as it is.
func resend(raw []byte, from string, to []string, now time.Time) (resent, error) {
	breaks := bytes.Count(raw, []byte("\r\n"))
	if bytes.Count(raw, []byte("\r")) != breaks || bytes.Count(raw, []byte("\n")) != breaks || bytes.IndexByte(raw, 0) >= 0 {
		return resent{}, service.Errorf(service.Invalid, "The message is binary: it has a zero byte, or a CR or LF alone, which cannot be sent on as it is")
	}
	header := raw
	if end := bytes.Index(raw, []byte("\r\n\r\n")); end >= 0 {
		header = raw[:end]
	}
	passed := 0
	for line := range bytes.Lines(header) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && strings.EqualFold(strings.TrimRight(string(name), " \t"), "Received") {
			passed++
		}
	}
	if passed > maxReceived {
		return resent{}, service.Errorf(service.Invalid, "The message has passed %d servers and may be going round in circles", passed)
	}
	m := resent{raw: raw, utf8Header: !isASCII(header)}
	m.eightBit = m.utf8Header || !isASCII(raw)
	_, domain, _ := strings.Cut(from, "@")
	m.fields = fmt.Appendf(nil, "Resent-Date: %s\r\nResent-From: %s\r\nResent-To: %s\r\nResent-Message-ID: <%s@%s>\r\n",
		now.Format(time.RFC1123Z), from, strings.Join(to, ",\r\n "), rand.Text(), domain)
	if len(raw) > 0 && (raw[0] == ' ' || raw[0] == '\t') {
		m.fields = append(m.fields, "\r\n"...) // else its first line would continue ours
	}
	return m, nil
}

func isASCII(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return r >= utf8.RuneSelf })
}
