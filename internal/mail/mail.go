// Package mail reads a raw message (RFC 5322, MIME) into fields, bodies and attachments, within
// bounds.
//
// Reading never fails and never panics: what cannot be parsed is text, and [Message.Defects] says
// what was wrong. Values are kept as they are in the mail: they are not safe for a terminal, a file
// name or a page.
package mail

import (
	"strings"
	"time"
)

// Address is a mailbox of an address field. Name is decoded, Addr is bare.
type Address struct{ Name, Addr string }

// Field is one field of the message's header.
type Field struct {
	Name  string
	Value string // unfolded, encoded words (RFC 2047) decoded
	Raw   string // as received, without the final line break
}

// Attachment is a part other than a body.
type Attachment struct {
	ID          string // stable for the same raw message
	Filename    string // as the mail has it, decoded
	ContentType string // media type without parameters, lower case
	ContentID   string // without angle brackets
	Inline      bool   // Content-Disposition is inline, or the HTML body refers to it by ContentID
	Size        int    // decoded bytes
	Content     []byte // decoded
}

// Calendar reports whether the part is a calendar file, such as an invitation.
func (a Attachment) Calendar() bool {
	switch a.ContentType {
	case "text/calendar", "application/ics", "text/x-vcalendar":
		return true
	}
	return strings.HasSuffix(strings.ToLower(a.Filename), ".ics")
}

// Message is a message as far as it could be read.
type Message struct {
	Fields    []Field
	From      Address
	To        []Address
	Subject   string
	Date      time.Time // zero when missing or unreadable
	MessageID string    // without angle brackets

	ReceivedAt time.Time // zero when not known; Parse does not set it
	Raw        []byte    // as received; nil in a message that was not parsed

	Text          string
	HTML          string
	TextType      string // media type of Text: text/plain, text/markdown, …; empty without Text
	Flowed, DelSp bool   // format=flowed, delsp=yes (RFC 3676) of Text

	Attachments []Attachment
	Defects     []string // what was wrong with the message, a short sentence each
}

// Recipients are the addresses of To as a line.
func (m *Message) Recipients() string {
	all := make([]string, len(m.To))
	for i, a := range m.To {
		all[i] = a.Addr
	}
	return strings.Join(all, ", ")
}

// Summary is what a list shows of a message.
type Summary struct {
	From    Address
	Subject string
}
