// Package store holds the state of the inboxes and their messages: what is unread, what was found
// in each message, and the most recently opened messages. It does no I/O, and its text is cleaned.
package store

import (
	"slices"
	"time"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/registry"
	"mayfly/render"
)

// All is the ID that stands for all inboxes: that of the first row.
const All = "*"

// keepGone is how long an inbox that is gone stays on the list.
const keepGone = 15 * time.Minute

// Store is the state of the inboxes and messages.
type Store struct {
	Inboxes  map[string]*Inbox
	Order    []string            // inbox IDs, newest first
	More     int                 // inboxes that the service has besides those it lists
	Messages map[string]*Message // by key
	Opened   Cache
	Revision uint64        // counts the changes of what a search sees
	Ahead    time.Duration // how far the clock of the service is ahead of this machine's

	seen    map[string]registry.ReadState // what was seen of each inbox, by its ID; see [Store.Merge]
	started time.Time
	dropped map[string]bool            // IDs of inboxes and keys of messages deleted here, which a list under way may still contain
	all     []string                   // keys of the messages of every inbox, newest first
	stale   bool                       // all is out of date
	reading bool                       // messages are being prefetched
	pass    uint64                     // counts the lists taken
	tried   map[string]bool            // keys of messages that are not prefetched: they are being opened, or could not be read
	unsaved map[string][]registry.Mark // by inbox ID, since [Store.Unsaved]
}

// New returns an empty store. Messages received after now have arrived while the application runs.
func New(now time.Time) *Store {
	return &Store{
		Inboxes: map[string]*Inbox{}, Messages: map[string]*Message{}, started: now,
		dropped: map[string]bool{}, tried: map[string]bool{}, unsaved: map[string][]registry.Mark{},
		seen: map[string]registry.ReadState{},
	}
}

// Put adds or updates an inbox, and reports whether it is to be watched from now on: it is new, or was gone. It returns nil
// for one deleted here.
func (s *Store) Put(in api.Inbox, now time.Time) (*Inbox, bool) {
	if s.dropped[in.ID] {
		return nil, false
	}
	i, known := s.Inboxes[in.ID]
	if !known {
		i = &Inbox{ID: in.ID, Created: in.CreatedAt}
		if i.Created.IsZero() {
			i.Created = now.Add(s.Ahead)
		}
		s.Inboxes[in.ID] = i
		at, _ := slices.BinarySearchFunc(s.Order, i, func(id string, i *Inbox) int {
			return i.Created.Compare(s.Inboxes[id].Created)
		})
		s.Order = slices.Insert(s.Order, at, in.ID)
	}
	i.Email, i.Expires = render.Clean(in.Email), in.ExpiresAt
	if known && i.State != Gone {
		return i, false
	}
	i.State = Unlisted
	return i, true
}

// PutKnown is [Store.Put] for an inbox of the registry, with its label.
func (s *Store) PutKnown(k registry.Inbox, now time.Time) (*Inbox, bool) {
	i, isNew := s.Put(api.Inbox{ID: k.ID, Email: k.Email, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt}, now)
	if i != nil && k.Label != "" {
		i.Label = render.Clean(k.Label)
	}
	return i, isNew
}

// Restore allows an inbox that was deleted here to be added again.
func (s *Store) Restore(id string) { delete(s.dropped, id) }

// Drop removes an inbox that was deleted here, and ignores it in lists that still contain it.
func (s *Store) Drop(id string) {
	s.dropped[id] = true
	s.Forget(id)
}

// Forget removes an inbox and its messages.
func (s *Store) Forget(id string) {
	i := s.Inboxes[id]
	if i == nil {
		return
	}
	for _, key := range i.Keys {
		delete(s.Messages, key)
	}
	delete(s.Inboxes, id)
	s.Revision++
	delete(s.unsaved, id)
	s.Order = slices.DeleteFunc(s.Order, func(x string) bool { return x == id })
	s.stale = true
}

// DropMessages removes messages that were deleted here, and ignores them in lists that still contain them.
func (s *Store) DropMessages(keys ...string) {
	of := map[*Inbox]bool{}
	for _, key := range keys {
		s.dropped[key] = true
		if m := s.Messages[key]; m != nil {
			of[s.Inboxes[m.InboxID]] = true
			delete(s.Messages, key)
		}
	}
	for i := range of {
		i.Keys = slices.DeleteFunc(slices.Clone(i.Keys), func(key string) bool { return s.dropped[key] })
		i.count(s.Messages)
		s.Revision++
		s.stale = true
	}
}

// Prune removes the inboxes gone for keepGone, except those to keep, and reports whether there were any.
func (s *Store) Prune(now time.Time, keep func(id string) bool) bool {
	pruned := false
	for _, id := range slices.Clone(s.Order) {
		if i := s.Inboxes[id]; i.State == Gone && now.Add(s.Ahead).Sub(i.EndedAt) > keepGone && !keep(id) {
			s.Forget(id)
			pruned = true
		}
	}
	return pruned
}

// Apply applies an event of an inbox and returns the inbox and the messages that have arrived. The
// inbox is nil if it is not listed any more, or if the event is from an earlier follower of it.
func (s *Store) Apply(e watch.Event, now time.Time) (*Inbox, []*Message) {
	if e.Kind == watch.Inboxes {
		s.More = e.Total - len(e.Inboxes)
	}
	i := s.Inboxes[e.InboxID]
	if i == nil || e.Generation != i.Generation {
		return nil, nil
	}
	switch e.Kind {
	case watch.Listed, watch.Arrived:
		s.RetryPrefetches()
		return i, s.list(i, e.Messages, now)
	case watch.Gone:
		i.State, i.EndedAt = Gone, now.Add(s.Ahead)
	case watch.Failed:
		i.State, i.Err = Failing, e.Err
	case watch.Recovered:
		i.State, i.Err = Listed, nil
	}
	return i, nil
}

// list applies the complete list of an inbox and returns the messages that have arrived: while the
// inbox is watched, or since the application started.
func (s *Store) list(i *Inbox, messages []api.Summary, now time.Time) (arrived []*Message) {
	first := i.Keys == nil
	s.pass++
	rows := make([]*Message, 0, len(messages))
	for n, sum := range messages {
		key := messageKey(i.ID, sum.ID)
		if s.dropped[key] {
			continue
		}
		m := s.Messages[key]
		if m == nil {
			m = newMessage(i.ID, key, sum)
			m.Unread = s.seen[i.ID].Unread(sum.ID, sum.ReceivedAt)
			if m.Unread && (!first || sum.ReceivedAt.After(s.started.Add(s.Ahead))) {
				arrived = append(arrived, m)
			}
			if m.Received.IsZero() {
				m.Received = now.Add(s.Ahead)
			}
			s.Messages[key] = m
		}
		if m.pass != s.pass { // a repeated ID is one message
			m.pass, m.place = s.pass, len(messages)-n
			rows = append(rows, m)
		}
	}
	for _, key := range i.Keys {
		if s.Messages[key].pass != s.pass {
			delete(s.Messages, key)
		}
	}
	i.Keys, i.State, i.Err = keysOf(rows), Listed, nil
	s.Revision++
	s.stale = true
	i.count(s.Messages)
	if len(arrived) > 0 && !i.CopiedAt.IsZero() && now.After(i.CopiedAt) {
		oldest := slices.MinFunc(arrived, func(x, y *Message) int { return newestFirst(y, x) })
		oldest.Delay, i.CopiedAt = now.Sub(i.CopiedAt), time.Time{}
	}
	return arrived
}

// Merge takes over what was seen of inboxes, as an application on this machine has saved it.
func (s *Store) Merge(seen map[string]registry.ReadState) {
	for id, saved := range seen {
		s.seen[id] = saved
		i := s.Inboxes[id]
		if i == nil {
			continue
		}
		for _, key := range i.Keys {
			m := s.Messages[key]
			m.Unread = saved.Unread(m.ID, m.Summary.ReceivedAt)
		}
		i.count(s.Messages)
	}
}

// Unsaved returns what the user has marked since the last call, by inbox ID.
func (s *Store) Unsaved() map[string][]registry.Mark {
	marks := s.unsaved
	s.unsaved = map[string][]registry.Mark{}
	return marks
}

// SetUnread marks a message unread, or read.
func (s *Store) SetUnread(m *Message, unread bool) {
	i := s.Inboxes[m.InboxID]
	if m.Unread == unread || i == nil {
		return
	}
	m.Unread = unread
	s.unsaved[i.ID] = append(s.unsaved[i.ID], registry.Mark{ID: m.ID, Received: m.Summary.ReceivedAt, Unread: unread})
	if unread {
		i.Unread++
	} else {
		i.Unread--
	}
}

// Unread is the number of unread messages in all inboxes that are not gone.
func (s *Store) Unread() int {
	n := 0
	for _, i := range s.Inboxes {
		if i.State != Gone {
			n += i.Unread
		}
	}
	return n
}

// Active is when an inbox got its newest message, or was created if it has none.
func (s *Store) Active(id string) time.Time {
	i := s.Inboxes[id]
	if len(i.Keys) > 0 {
		return s.Messages[i.Keys[0]].Received
	}
	return i.Created
}

// Keys returns the keys of the messages of an inbox, or of [All], newest first.
func (s *Store) Keys(inboxID string) []string {
	if inboxID != All {
		if i := s.Inboxes[inboxID]; i != nil {
			return i.Keys
		}
		return nil
	}
	if s.stale {
		rows := make([]*Message, 0, len(s.Messages))
		for _, m := range s.Messages {
			rows = append(rows, m)
		}
		s.all, s.stale = keysOf(rows), false
	}
	return s.all
}

// Domains returns the distinct domains of the addresses, those of the newest inboxes first.
func (s *Store) Domains() []string {
	var domains []string
	seen := map[string]bool{"": true}
	for _, id := range s.Order {
		if d := s.Inboxes[id].Domain(); !seen[d] {
			seen[d] = true
			domains = append(domains, d)
		}
	}
	return domains
}
