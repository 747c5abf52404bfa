package service

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Session is how a client sent a message: what it said in its SMTP session, and which recipients it was
// refused. All of its text may be hostile.
type Session struct {
	Client    string // its IP address
	Connected time.Time
	Hello     string // EHLO or HELO, and the client's name
	TLS       string // the version; empty without TLS
	Login     string // a name, never a password; empty without one
	Message   int    // which one of the connection it is, from 1
	Size      int64  // SIZE, in bytes; 0 without it
	Body      string // BODY: 7BIT or 8BITMIME; empty without it
	UTF8      bool   // SMTPUTF8
	Refused   []Refusal
	// MoreRefused is how many more were refused without being looked up.
	MoreRefused int
}

// Refusal is a recipient that was refused.
type Refusal struct {
	// Recipient is what [Service.Recipient] returned with its error; zero if it was not asked.
	Recipient
	Reply string
}

// Bounds of a record, in bytes of JSON. With values that are cut to maxValue, and without its lists, a record
// is never longer than maxRecord.
const (
	maxRecord = 1 << 10
	maxValue  = 96
	maxListed = 16 // recipients, and as many that were refused
)

// record is the record of a delivery: the schema Delivery of the API.
type record struct {
	Client         string    `json:"client"`
	Hello          string    `json:"hello"`
	TLS            string    `json:"tls,omitempty"`
	Login          string    `json:"login,omitempty"`
	From           string    `json:"from"`
	Recipients     []string  `json:"recipients"`
	MoreRecipients int       `json:"more_recipients,omitempty"`
	Refused        []refusal `json:"refused"`
	MoreRefused    int       `json:"more_refused,omitempty"`
	Size           int64     `json:"size,omitempty"`
	Body           string    `json:"body,omitempty"`
	UTF8           bool      `json:"smtputf8,omitempty"`
	Message        int       `json:"message_number"`
	ConnectedAt    string    `json:"connected_at"`
	ReceivedAt     string    `json:"received_at"`
}

type refusal struct {
	Address string `json:"address,omitempty"`
	Reply   string `json:"reply"`
}

// recordFor returns the record of a delivery for the messages of a key, as JSON. It tells the key nothing of the
// recipients of other keys: of those refused, it names the ones that are the key's or nobody's, and has the
// replies alone for those whose owner was not looked up.
func (d *Delivery) recordFor(keyID string, received time.Time) []byte {
	const layout = "2006-01-02T15:04:05.000Z"
	r := record{
		Client: printable(d.Client), Hello: printable(d.Hello), TLS: d.TLS, Login: printable(d.Login), From: printable(d.From),
		Recipients: []string{}, Refused: []refusal{}, MoreRefused: d.MoreRefused, Size: d.Size, Body: d.Body, UTF8: d.UTF8,
		Message: d.Message, ConnectedAt: d.Connected.UTC().Format(layout), ReceivedAt: received.Format(layout),
	}
	for _, to := range d.To {
		switch address := printable(to.Address); {
		case to.KeyID != keyID || slices.Contains(r.Recipients, address):
		case len(r.Recipients) == maxListed:
			r.MoreRecipients++
		default:
			r.Recipients = append(r.Recipients, address)
		}
	}
	for _, to := range d.Refused {
		switch {
		case to.KeyID != "" && to.KeyID != keyID:
		case len(r.Refused) == maxListed:
			r.MoreRefused++
		default:
			r.Refused = append(r.Refused, refusal{printable(to.Address), printable(to.Reply)})
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for {
		_ = e.Encode(r) // it can always be encoded
		switch n, m := len(r.Recipients), len(r.Refused); {
		case b.Len() <= maxRecord || n+m == 0:
			return b.Bytes()
		case n > m:
			r.Recipients, r.MoreRecipients = r.Recipients[:n-1], r.MoreRecipients+1
		default:
			r.Refused, r.MoreRefused = r.Refused[:m-1], r.MoreRefused+1
		}
		b.Reset()
	}
}

// printable returns a text of at most maxValue bytes that takes at most twice as many in JSON: control
// characters are replaced, and what is cut off is an ellipsis.
func printable(s string) string {
	cut := len(s) > maxValue
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, clip(s, maxValue))
	if cut || len(s) > maxValue {
		s = clip(s, maxValue-len("…")) + "…"
	}
	return s
}

// Delivery returns how a message of an inbox of the key came, as the API's object, or NotFound.
func (s *Service) Delivery(ctx context.Context, k Key, inboxID, messageID string) ([]byte, error) {
	if _, err := s.Summary(ctx, k, inboxID, messageID); err != nil {
		return nil, err
	}
	return find(ctx, s, k, inboxID, messageID, s.store.Delivery, func([]byte) string { return messageID })
}
