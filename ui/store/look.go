package store

// maxLooks is how many messages are looked into at the same time, and maxLookBytes how large they
// are together: a larger one is looked into alone.
const (
	maxLooks     = 2
	maxLookBytes = 512 << 10
)

// looks are the messages that were looked into, or tried to, by key.
type looks struct {
	tried    map[string]bool
	underway map[string]int64 // their sizes
}

func newLooks() looks { return looks{tried: map[string]bool{}, underway: map[string]int64{}} }

// again has what could not be looked into before be tried once more.
func (l *looks) again() {
	for key := range l.tried {
		if _, ok := l.underway[key]; !ok {
			delete(l.tried, key)
		}
	}
}

// LookInto chooses the messages to look into next, of those on the screen whose inside is not known,
// and takes note that they are being looked into.
func (s *Store) LookInto(keys []string) []*Message {
	var next []*Message
	for _, key := range keys {
		m := s.Messages[key]
		if m == nil || m.Findings != nil || s.looks.tried[key] {
			continue
		}
		if !s.looks.room(m.Summary.Size) {
			break
		}
		s.looks.tried[key], s.looks.underway[key] = true, m.Summary.Size
		next = append(next, m)
	}
	return next
}

func (l *looks) room(size int64) bool {
	for _, n := range l.underway {
		size += n
	}
	return len(l.underway) == 0 || len(l.underway) < maxLooks && size <= maxLookBytes
}

// Looking takes note that a message is being opened, which looks into it as well.
func (s *Store) Looking(key string) { s.looks.tried[key] = true }

// Looked takes what was found in a message; nil where it could not be had.
func (s *Store) Looked(key string, f *Findings) {
	delete(s.looks.underway, key)
	if m := s.Messages[key]; m != nil && f != nil {
		m.Findings = f
	}
}

// LookAnew forgets the looks that are under way: their results will not come.
func (s *Store) LookAnew() { s.looks = newLooks() }

// Looks is how many messages are being looked into.
func (s *Store) Looks() int { return len(s.looks.underway) }
