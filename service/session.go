package service

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Session is what a client did in its SMTP session to send a message. All of its text may be hostile.
type Session struct {
	Client     string    `json:"client"` // IP address and port
	Connected  time.Time `json:"-"`
	Hello      string    `json:"hello"`                // EHLO or HELO, and the client's name
	TLS        string    `json:"tls,omitempty"`        // the version; empty without TLS
	Login      string    `json:"login,omitempty"`      // a name, never a password; empty without a login
	Parameters string    `json:"parameters,omitempty"` // of MAIL, as given

	Messages map[string]int `json:"-"` // how many it was so far, this one included, by the ID of the key they were for
}

// record has the delivery details of a message: the schema Delivery of the API.
type record struct {
	Session
	From       string      `json:"from"`
	Recipients []Recipient `json:"recipients"`
	More       bool        `json:"more,omitempty"` // there were more recipients
	Number     int         `json:"message_number"` // which one of the session for the key it is, from 1
	After      int64       `json:"accepted_after_ms"`
}

// maxRecord bounds a record, in bytes.
const maxRecord = 1 << 10

// record returns the delivery details of the message, as JSON, for a key, which is told of no recipients but its own and those
// that are nobody's. The longer the record would be, the shorter its values and its list are cut.
func (d *Delivery) record(keyID string, received time.Time) []byte {
	for limit := 256; ; limit /= 2 {
		cut := func(s string) string {
			if len(s) > limit {
				return clip(s, limit) + "…"
			}
			return s
		}
		r := record{Session: d.Session, From: cut(d.From), Recipients: []Recipient{}, Number: d.Messages[keyID], After: received.Sub(d.Connected).Milliseconds()}
		r.Hello, r.Login, r.Parameters = cut(r.Hello), cut(r.Login), cut(r.Parameters)
		for _, to := range slices.Concat(d.Refused, d.To) {
			switch {
			case to.KeyID != keyID && to.KeyID != "":
			case len(r.Recipients) == limit/16:
				r.More = true
			default:
				r.Recipients = append(r.Recipients, Recipient{Address: cut(to.Address), Refused: cut(to.Refused)})
			}
		}
		if b, _ := json.Marshal(r); len(b) <= maxRecord { // there is nothing in it that could fail
			return b
		}
	}
}

// Delivery returns how a message of an inbox of the key came, as the API's object, or NotFound.
func (s *Service) Delivery(ctx context.Context, k Key, inboxID, messageID string) ([]byte, error) {
	if _, err := s.Summary(ctx, k, inboxID, messageID); err != nil {
		return nil, err
	}
	return find(ctx, s, k, inboxID, messageID, s.store.Delivery, func([]byte) string { return messageID })
}
