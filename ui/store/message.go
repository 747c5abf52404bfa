package store

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/theme"
)

// Message is a listed message.
type Message struct {
	Key, ID, InboxID         string
	Summary                  api.Summary // as received from the service, not cleaned
	Sender, Address, Subject string      // Sender is the name, otherwise the address
	Received                 time.Time
	Unread                   bool
	Delay                    time.Duration // from copying the address to arrival; 0 if unknown
	Findings                 *Findings     // nil until the message was fetched
	Words                    string        // what a filter matches, folded by [theme.Fold]

	Text *Text // nil until a search has read the body

	pass       uint64 // the last list that contained it
	unreadable bool   // its body could not be read
}

// Findings are what was found in a message. The zero value means that nothing was found.
type Findings struct {
	Code  string
	Link  render.Link // the confirmation link; no URL means none
	Files int         // attachments, without the images that the body shows
}

// FilesText is the number of attachments in words, "" for none.
func (f *Findings) FilesText() string {
	switch {
	case f == nil || f.Files == 0:
		return ""
	case f.Files == 1:
		return "1 file"
	}
	return strconv.Itoa(f.Files) + " files"
}

// Any reports whether a code or a link was found.
func (f *Findings) Any() bool { return f != nil && (f.Code != "" || f.Link.URL != "") }

// Find finds the code and the confirmation link of a message, cleaned for the screen, and counts its
// attachments.
func Find(opened *message.Message) *Findings {
	f, m := &Findings{Files: len(opened.Files())}, opened.Mail()
	if c, ok := m.Code(); ok {
		f.Code = render.Clean(c.Value)
	}
	if l, ok := m.Confirm(); ok {
		f.Link = render.Link{URL: l.URL}
		if n := slices.IndexFunc(m.Links(), func(x render.Link) bool { return x.URL == l.URL }); n >= 0 {
			f.Link = m.Links()[n]
		}
		f.Link.Text = strings.Join(strings.Fields(render.Clean(l.Text)), " ")
	}
	return f
}

func messageKey(inboxID, id string) string { return inboxID + "\x00" + id }

func newMessage(inboxID, key string, s api.Summary) *Message {
	s.Raw = nil // a second copy of the object
	m := &Message{
		Key: key, ID: s.ID, InboxID: inboxID, Summary: s,
		Sender: render.Clean(s.FromName), Address: render.Clean(s.From), Subject: render.CleanWhole(s.Subject),
		Received: s.ReceivedAt,
	}
	m.Sender = cmp.Or(m.Sender, m.Address, "(no sender)")
	m.Subject = cmp.Or(m.Subject, "(no subject)")
	m.Words = theme.Fold(m.Sender + "\n" + m.Address + "\n" + m.Subject)
	return m
}

// keysOf returns the keys of messages, newest first.
func keysOf(rows []*Message) []string {
	if !slices.IsSortedFunc(rows, newestFirst) {
		slices.SortFunc(rows, newestFirst)
	}
	keys := make([]string, len(rows))
	for n, m := range rows {
		keys[n] = m.Key
	}
	return keys
}

func newestFirst(x, y *Message) int {
	return cmp.Or(y.Received.Compare(x.Received), cmp.Compare(y.Key, x.Key))
}
