package ui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"mayfly/api"
	"mayfly/registry"
	"mayfly/render"
)

// allInboxes is the ID of the row above the inboxes that stands for every one of them.
const allInboxes = "*"

// inboxState is what the watch knows about an inbox.
type inboxState int

const (
	stateNew     inboxState = iota // nothing was heard yet
	stateListed                    // its list is known and kept up to date
	stateFailing                   // the last request failed; err says how
	stateGone                      // deleted or expired
)

// inbox is an inbox on the screen.
type inbox struct {
	id, email, label string // cleaned
	created, expires time.Time
	generation       uint64
	state            inboxState
	err              error
	paused           bool
	copiedAt         time.Time // when its address was last copied
	endedAt          time.Time // when it was found gone
	since            time.Time // when it appeared on the screen
	ids              []string  // keys of its messages, the newest first
	unread           int
}

func (i *inbox) name() string {
	if i.label != "" {
		return i.label
	}
	local, _, _ := strings.Cut(i.email, "@")
	if local == "" {
		return i.id
	}
	return local
}

func (i *inbox) gone(now time.Time) bool {
	return i.state == stateGone || !i.expires.IsZero() && !now.Before(i.expires)
}

// message is a row of the list of messages.
type message struct {
	key, id, inboxID string
	sender, subject  string // cleaned
	address          string // of the sender, cleaned
	received         time.Time
	size             int64
	unread           bool
	delay            time.Duration // from copying the address to arrival; 0 when not measured
	peek             *peek         // nil until it was opened
	pass             uint64        // the last list that had it
	words            string        // what a filter looks at, in lower case
}

// peek is what stands in a row about the inside of a message.
type peek struct {
	code     string
	linkText string
	linkURL  string
	// What a reader should know before following it.
	linkVia, linkWarning string
}

// book is what the application knows about inboxes and messages.
type book struct {
	inboxes  map[string]*inbox
	order    []string // IDs of the inboxes, the newest first
	messages map[string]*message
	started  time.Time
	all      []string // keys of the messages of every inbox, the newest first
	stale    bool     // all is to be made again
	pass     uint64   // counts the lists taken
}

func newBook(now time.Time) *book {
	return &book{inboxes: map[string]*inbox{}, messages: map[string]*message{}, started: now}
}

func messageKey(inboxID, id string) string { return inboxID + "\x00" + id }

// put adds an inbox or brings what is known of it up to date, and says whether it is new.
func (b *book) put(in api.Inbox, label string, now time.Time) (*inbox, bool) {
	i, known := b.inboxes[in.ID]
	if !known {
		i = &inbox{id: in.ID, since: now, created: in.CreatedAt}
		b.inboxes[in.ID] = i
		at, _ := slices.BinarySearchFunc(b.order, i, func(id string, i *inbox) int {
			return i.created.Compare(b.inboxes[id].created)
		})
		b.order = slices.Insert(b.order, at, in.ID)
	}
	i.email, i.expires = render.Clean(in.Email), in.ExpiresAt
	if label != "" {
		i.label = render.Clean(label)
	}
	return i, !known
}

func (b *book) putKnown(k registry.Inbox, now time.Time) (*inbox, bool) {
	return b.put(api.Inbox{ID: k.ID, Email: k.Email, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt}, k.Label, now)
}

// forget removes an inbox and its messages.
func (b *book) forget(id string) {
	i := b.inboxes[id]
	if i == nil {
		return
	}
	for _, key := range i.ids {
		delete(b.messages, key)
	}
	delete(b.inboxes, id)
	b.order = slices.DeleteFunc(b.order, func(x string) bool { return x == id })
	b.stale = true
}

// list takes the whole list of an inbox and returns what was not in it before. Mail that comes while
// the inbox is watched is unread, and so is what came since the application started.
func (b *book) list(i *inbox, messages []api.Summary, now time.Time) (arrived []*message) {
	first := i.state == stateNew
	b.pass++
	rows := make([]*message, 0, len(messages))
	for _, s := range messages {
		key := messageKey(i.id, s.ID)
		m := b.messages[key]
		if m == nil {
			m = newMessage(i.id, key, s)
			m.unread = !first || s.ReceivedAt.After(b.started)
			if m.received.IsZero() {
				m.received = now
			}
			if m.unread && !i.copiedAt.IsZero() && now.After(i.copiedAt) {
				m.delay = now.Sub(i.copiedAt)
			}
			b.messages[key] = m
			arrived = append(arrived, m)
		}
		if m.pass != b.pass { // an ID that comes twice is one message
			m.pass = b.pass
			rows = append(rows, m)
		}
	}
	for _, key := range i.ids {
		if b.messages[key].pass != b.pass {
			delete(b.messages, key)
		}
	}
	i.ids, i.state, i.err = keysOf(rows), stateListed, nil
	b.stale = true
	b.count(i)
	return arrived
}

// keysOf returns the keys of messages, the newest first.
func keysOf(rows []*message) []string {
	if !slices.IsSortedFunc(rows, newestFirst) {
		slices.SortFunc(rows, newestFirst)
	}
	keys := make([]string, len(rows))
	for n, m := range rows {
		keys[n] = m.key
	}
	return keys
}

func newestFirst(x, y *message) int {
	if c := y.received.Compare(x.received); c != 0 {
		return c
	}
	return cmp.Compare(y.key, x.key)
}

func newMessage(inboxID, key string, s api.Summary) *message {
	m := &message{
		key: key, id: s.ID, inboxID: inboxID,
		sender: render.Clean(s.FromName), address: render.Clean(s.From), subject: render.Clean(s.Subject),
		received: s.ReceivedAt, size: s.Size,
	}
	if m.sender == "" {
		m.sender = m.address
	}
	if m.sender == "" {
		m.sender = "(no sender)"
	}
	if m.subject == "" {
		m.subject = "(no subject)"
	}
	m.words = strings.ToLower(m.sender + "\n" + m.address + "\n" + m.subject)
	return m
}

func (b *book) count(i *inbox) {
	i.unread = 0
	for _, key := range i.ids {
		if b.messages[key].unread {
			i.unread++
		}
	}
}

// setUnread marks a message.
func (b *book) setUnread(m *message, unread bool) {
	i := b.inboxes[m.inboxID]
	if m.unread == unread || i == nil {
		return
	}
	m.unread = unread
	if unread {
		i.unread++
	} else {
		i.unread--
	}
}

// totalUnread is the number of unread messages in every inbox.
func (b *book) totalUnread() int {
	n := 0
	for _, i := range b.inboxes {
		n += i.unread
	}
	return n
}

// keys returns the messages of an inbox, or of all of them, the newest first.
func (b *book) keys(inboxID string) []string {
	if inboxID != allInboxes {
		if i := b.inboxes[inboxID]; i != nil {
			return i.ids
		}
		return nil
	}
	if b.stale {
		rows := make([]*message, 0, len(b.messages))
		for _, m := range b.messages {
			rows = append(rows, m)
		}
		b.all, b.stale = keysOf(rows), false
	}
	return b.all
}

// mixedDomains says whether the addresses are of several domains.
func (b *book) mixedDomains() bool {
	first := ""
	for _, i := range b.inboxes {
		_, domain, ok := strings.Cut(i.email, "@")
		switch {
		case !ok:
		case first == "":
			first = domain
		case domain != first:
			return true
		}
	}
	return false
}

// keepGone is how long an inbox that is gone stays on the list.
const keepGone = 15 * time.Minute

// prune forgets the inboxes that have been gone for long, except those to be kept, and says whether there were any.
func (b *book) prune(now time.Time, keep func(id string) bool) bool {
	pruned := false
	for _, id := range slices.Clone(b.order) {
		if i := b.inboxes[id]; i.state == stateGone && now.Sub(i.endedAt) > keepGone && !keep(id) {
			b.forget(id)
			pruned = true
		}
	}
	return pruned
}
