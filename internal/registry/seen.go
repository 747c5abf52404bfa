package registry

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

const (
	maxRead   = 3000 // keeps a file below maxFile
	maxBeside = 300  // messages in a file that its writer does not know
)

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
// Messages older than the newest maxRead that were read count as read.
func (r *Registry) SaveSeen(c Change) error {
	unlock, err := r.lock(context.Background(), c.InboxID)
	if err != nil {
		return fmt.Errorf("keep what was seen: %w", err)
	}
	defer unlock()
	path := r.path(c.InboxID, seenSuffix)
	before, err := read[Seen](path)
	known := err == nil
	before.index()
	now := Seen{InboxID: c.InboxID, Read: before.beside(c.Mail)}
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

// beside returns which messages were read that are not in a list: another process may know newer ones.
func (s Seen) beside(list []Mail) []string {
	listed := make(map[string]bool, len(list))
	for _, m := range list {
		listed[short(m.ID)] = true
	}
	others := slices.DeleteFunc(slices.Clone(s.Read), func(r string) bool { return listed[r] })
	return others[:min(len(others), maxBeside)]
}

// SeenReader reads what was seen of the inboxes, for one goroutine at a time.
type SeenReader struct {
	registry *Registry
	changed  time.Time // when a file was last replaced, as the folder has it
	files    map[string]fs.FileInfo
}

// SeenReader returns a reader that has read nothing yet.
func (r *Registry) SeenReader() *SeenReader {
	return &SeenReader{registry: r, files: map[string]fs.FileInfo{}}
}

// Read returns what was seen of the inboxes for which that may have changed since the last call, by inbox ID, also
// with an error. Damaged files are skipped. While nothing changes it only asks for the time of the folder.
func (s *SeenReader) Read() (map[string]Seen, error) {
	all := map[string]Seen{}
	if dir, err := os.Stat(s.registry.dir); err == nil {
		if dir.ModTime().Equal(s.changed) {
			return all, nil
		}
		if time.Since(dir.ModTime()) > time.Second { // what follows at once may have the same time
			s.changed = dir.ModTime()
		}
	}
	list, err := readAll[Seen](s.registry, seenSuffix, s.unchanged)
	if err != nil {
		err = fmt.Errorf("list what was seen: %w", err)
	}
	for _, seen := range list {
		seen.index()
		all[seen.InboxID] = seen
	}
	return all, err
}

// unchanged reports whether a file was read before as it is.
func (s *SeenReader) unchanged(entry fs.DirEntry) bool {
	info, err := entry.Info()
	if err != nil {
		return false
	}
	before := s.files[entry.Name()]
	s.files[entry.Name()] = info
	return before != nil && os.SameFile(info, before) && info.ModTime().Equal(before.ModTime())
}
