package registry

import (
	"fmt"
	"slices"
	"time"
)

// maxExceptions keeps a file below maxFile.
const maxExceptions = 3000

// Seen is which messages of an inbox are unread, in a few bytes whatever their number: those received
// after Until are, the others are not, and the exceptions are the other way round.
type Seen struct {
	InboxID    string    `json:"id"`
	Until      time.Time `json:"until"`
	Exceptions []string  `json:"exceptions,omitempty"` // hashes of message IDs, newest first

	exceptions map[string]bool
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
	return received.After(s.Until) != (len(s.exceptions) > 0 && s.exceptions[exception(id)])
}

func exception(id string) string { return hash(id)[:16] }

// seenOf records which messages are unread; mail is in order, the newest first. Beyond maxExceptions,
// the oldest exceptions are dropped.
func seenOf(inboxID string, mail []Mail) Seen {
	s := Seen{InboxID: inboxID}
	// Until may be before the oldest message, where those that are read are the exceptions, or the time
	// of any message. The fewest exceptions win.
	exceptions := 0
	for _, m := range mail {
		if !m.Unread {
			exceptions++
		}
	}
	fewest := exceptions
	for n := len(mail) - 1; n >= 0; n-- {
		if mail[n].Unread {
			exceptions++
		} else {
			exceptions--
		}
		if exceptions < fewest && (n == 0 || mail[n-1].Received.After(mail[n].Received)) {
			fewest, s.Until = exceptions, mail[n].Received
		}
	}
	for _, m := range mail {
		if m.Unread != m.Received.After(s.Until) && len(s.Exceptions) < maxExceptions {
			s.Exceptions = append(s.Exceptions, exception(m.ID))
		}
	}
	s.index()
	return s
}

func (s *Seen) index() {
	s.exceptions = make(map[string]bool, len(s.Exceptions))
	for _, e := range s.Exceptions {
		s.exceptions[e] = true
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
// Two processes that record changes of the same inbox in the same instant may lose one of them.
func (r *Registry) SaveSeen(c Change) error {
	path := r.path(c.InboxID, seenSuffix)
	mail := slices.Clone(c.Mail)
	if known, err := read[Seen](path); err == nil {
		known.index()
		for n, m := range mail {
			if !c.Marked[m.ID] {
				mail[n].Unread = known.Unread(m.ID, m.Received)
			}
		}
	}
	if _, err := r.write(path, seenOf(c.InboxID, mail)); err != nil {
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
