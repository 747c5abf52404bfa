package registry

import (
	"fmt"
	"time"
)

// maxRead keeps a file below maxFile.
const maxRead = 3000

// Seen is which messages of an inbox were read: those in Read, and all received until Until.
type Seen struct {
	InboxID string    `json:"id"`
	Read    []string  `json:"read,omitempty"` // hashes of message IDs, newest first
	Until   time.Time `json:"until,omitzero"`

	read map[string]bool
}

func (s Seen) of() string { return s.InboxID }

// Mail is a message as far as [Seen] is concerned.
type Mail struct {
	ID       string
	Received time.Time // as the service says, zero if it does not
	Unread   bool
}

// Unread reports whether a message is unread.
func (s Seen) Unread(id string, received time.Time) bool {
	return (s.Until.IsZero() || received.After(s.Until)) && !s.read[short(id)]
}

func short(messageID string) string { return hash(messageID)[:16] }

func (s *Seen) index() {
	s.read = make(map[string]bool, len(s.Read))
	for _, r := range s.Read {
		s.read[r] = true
	}
}

// Change is a new state of an inbox: all of its mail, the newest first, and the IDs of the messages
// that the user has read or marked unread since the last one.
type Change struct {
	InboxID string
	Mail    []Mail
	Marked  map[string]bool
}

// SaveSeen records a change. What is not marked in it stays as another process may have recorded it.
// Two processes that record changes of the same inbox in the same instant may lose one of them. Messages
// older than the newest maxRead that were read count as read.
func (r *Registry) SaveSeen(c Change) error {
	path := r.path(c.InboxID, seenSuffix)
	before, err := read[Seen](path)
	known := err == nil
	before.index()
	now := Seen{InboxID: c.InboxID}
	for _, m := range c.Mail {
		if known && !c.Marked[m.ID] {
			m.Unread = before.Unread(m.ID, m.Received)
		}
		if m.Unread {
			continue
		}
		if len(now.Read) == maxRead {
			now.Until = m.Received
			break
		}
		now.Read = append(now.Read, short(m.ID))
	}
	if err := r.write(path, now, time.Now().Add(longestLife)); err != nil {
		return fmt.Errorf("keep what was seen: %w", err)
	}
	return nil
}

// Seen returns what was seen of each inbox, by inbox ID, also with an error. Damaged files are skipped.
func (r *Registry) Seen() (map[string]Seen, error) {
	list, err := readAll[Seen](r, seenSuffix)
	if err != nil {
		err = fmt.Errorf("list what was seen: %w", err)
	}
	all := map[string]Seen{}
	for _, s := range list {
		s.index()
		all[s.InboxID] = s
	}
	return all, err
}
