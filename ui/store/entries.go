package store

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize/english"

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
	Delay                    time.Duration // from copying the address to arrival, of the first message after that; else 0
	Extracted                *Extracted    // nil until the message was fetched
	Words                    string        // what is searched of what is listed, folded by [theme.Fold]

	Text *Text // the body; nil until the message was fetched

	pass  uint64 // the last list that contained it
	place int    // in that list, counted from its end
}

// Extracted are what was found in a message. The zero value means that nothing was found.
type Extracted struct {
	Code  string
	Link  render.Link // the confirmation link; no URL means none
	Files int         // attachments, without the images that the body shows
}

// FilesText is the number of attachments in words, "" for none.
func (f *Extracted) FilesText() string {
	if f == nil || f.Files == 0 {
		return ""
	}
	return english.Plural(f.Files, "file", "")
}

// Any reports whether a code or a link was found.
func (f *Extracted) Any() bool { return f != nil && (f.Code != "" || f.Link.URL != "") }

// Find finds the code and the link of a message, cleaned for the screen, and counts its attachments.
func Find(opened *message.Message) *Extracted {
	f, m := &Extracted{Files: len(opened.Files())}, opened.Mail()
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

// Has reports whether a search for words, folded by [theme.Fold], finds the message: each stands in what is listed of
// it, in its code, in what [Inbox.Words] says of its inbox, or in its body where that is searched and was read.
func (m *Message) Has(words []string, inbox string, body bool) bool {
	return !slices.ContainsFunc(words, func(word string) bool {
		return !strings.Contains(m.Words, word) && !strings.Contains(inbox, word) && !m.HasCode(word) &&
			(!body || m.Text == nil || !strings.Contains(m.Text.Folded, word))
	})
}

// HasCode reports whether a folded word stands in the code of the message.
func (m *Message) HasCode(word string) bool {
	return m.Extracted != nil && strings.Contains(theme.Fold(m.Extracted.Code), word)
}

// keysOf returns the keys of messages, newest first.
func keysOf(rows []*Message) []string {
	slices.SortFunc(rows, newestFirst)
	keys := make([]string, len(rows))
	for n, m := range rows {
		keys[n] = m.Key
	}
	return keys
}

func newestFirst(x, y *Message) int {
	return cmp.Or(y.Received.Compare(x.Received), cmp.Compare(y.InboxID, x.InboxID), cmp.Compare(y.place, x.place))
}

// PreviousSimilar returns the last message before m of the same sender and kind, in any inbox that is not gone; nil if
// there is none. Messages are of one kind if their subjects have the same words, not counting numbers, codes
// and addresses. Without such a message it is the last of the sender that shares at least half of the words.
func (s *Store) PreviousSimilar(m *Message) *Message {
	var similar *Message
	words := subjectWords(m.Subject)
	for _, key := range s.Keys(All) {
		o := s.Messages[key]
		if newestFirst(m, o) >= 0 || !strings.EqualFold(o.Address, m.Address) || s.Inboxes[o.InboxID].State == Gone {
			continue
		}
		switch others := subjectWords(o.Subject); {
		case slices.Equal(words, others):
			return o
		case similar == nil && 2*shared(words, others) >= max(len(words), len(others)):
			similar = o
		}
	}
	return similar
}

// subjectWords are the words of a subject in lower case, without numbers, codes and addresses.
func subjectWords(subject string) []string {
	words := strings.FieldsFunc(strings.ToLower(subject), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '@' && r != '.'
	})
	for n, word := range words {
		words[n] = strings.Trim(word, ".")
	}
	return slices.DeleteFunc(words, func(word string) bool {
		return word == "" || strings.Contains(word, "@") || strings.ContainsFunc(word, unicode.IsDigit)
	})
}

func shared(a, b []string) int {
	n := 0
	for _, word := range a {
		if slices.Contains(b, word) {
			n++
		}
	}
	return n
}

// State is the state of watching an inbox.
type State int

const (
	Unlisted State = iota // its list has not arrived yet
	Listed                // its list is up to date
	Failing               // the last request failed with Err
	Gone                  // deleted or expired
)

// maxSkew is how much the service's clock may differ: an inbox gone so shortly before its expiry time has expired.
const maxSkew = time.Minute

// Inbox is a listed inbox.
type Inbox struct {
	ID, Email, Label string
	Created, Expires time.Time // Created is when it was first listed, if the service does not say
	Generation       uint64    // of its follower
	State            State
	Err              error
	Paused           bool
	CopiedAt         time.Time // when its address was last copied; zero once a message has arrived since
	EndedAt          time.Time // when it was found to be gone
	Keys             []string  // of its messages, newest first; nil until the first list arrives
	Unread           int
}

// Words is what is searched of the inbox, folded by [theme.Fold].
func (i *Inbox) Words() string { return theme.Fold(i.Email + "\n" + i.Label) }

// Name is the label of the inbox, otherwise the local part of its address, otherwise its ID.
func (i *Inbox) Name() string {
	if i.Label != "" {
		return i.Label
	}
	local, _, _ := strings.Cut(i.Email, "@")
	if local == "" {
		return i.ID
	}
	return local
}

// Domain is the domain of the address.
func (i *Inbox) Domain() string {
	_, domain, _ := strings.Cut(i.Email, "@")
	return domain
}

// Gone reports whether the inbox was deleted or has expired.
func (i *Inbox) Gone(now time.Time) bool {
	return i.State == Gone || !i.Expires.IsZero() && !now.Before(i.Expires)
}

// Deleted reports whether the inbox was deleted: it was gone before it expired.
func (i *Inbox) Deleted() bool {
	return i.State == Gone && (i.Expires.IsZero() || i.Expires.Sub(i.EndedAt) > maxSkew)
}

func (i *Inbox) count(messages map[string]*Message) {
	i.Unread = 0
	for _, key := range i.Keys {
		if messages[key].Unread {
			i.Unread++
		}
	}
}
