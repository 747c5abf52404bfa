package store

import (
	"maps"
	"slices"
	"strings"

	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/theme"
)

// maxPrefetches is how many messages are prefetched at the same time, and maxPrefetchBytes how
// large they may be together: a larger one is prefetched alone.
const (
	maxPrefetches    = 2
	maxPrefetchBytes = 512 << 10
)

// RetryPrefetches makes messages whose prefetch failed eligible again.
func (s *Store) RetryPrefetches() {
	maps.DeleteFunc(s.tried, func(key string, _ bool) bool { _, ok := s.inFlight[key]; return !ok })
}

// Prefetch picks the messages without findings to fetch next, and marks them as in flight.
func (s *Store) Prefetch(keys []string) []*Message {
	var next []*Message
	for _, key := range keys {
		m := s.Messages[key]
		if m == nil || m.Findings != nil || s.tried[key] {
			continue
		}
		if !s.room(m.Summary.Size) {
			break
		}
		s.tried[key], s.inFlight[key] = true, m.Summary.Size
		next = append(next, m)
	}
	return next
}

// room reports whether a message of size bytes may be prefetched now.
func (s *Store) room(size int64) bool {
	for _, n := range s.inFlight {
		size += n
	}
	return len(s.inFlight) == 0 || len(s.inFlight) < maxPrefetches && size <= maxPrefetchBytes
}

// SkipPrefetch keeps a message from being prefetched: it is being opened, which finds the same.
func (s *Store) SkipPrefetch(key string) { s.tried[key] = true }

// SetFindings ends a prefetch and records what was found; nil means that the message could not be fetched.
func (s *Store) SetFindings(key string, f *Findings) {
	delete(s.inFlight, key)
	if m := s.Messages[key]; m != nil && f != nil {
		m.Findings = f
		s.Revision++
	}
}

// ResetPrefetches forgets what is being fetched and read: the results will not arrive.
func (s *Store) ResetPrefetches() {
	s.tried, s.inFlight, s.reading = map[string]bool{}, map[string]int64{}, false
}

// maxCached bounds the opened messages that are kept, and maxCachedBytes their memory. The last one
// is always kept.
const (
	maxCached      = 24
	maxCachedBytes = 16 << 20
)

// Cache keeps the most recently opened messages. The zero value is empty.
type Cache struct {
	keys     []string // least recently used first
	messages map[string]*message.Message
}

// Get returns an opened message by its key, nil if it is not cached.
func (c *Cache) Get(key string) *message.Message {
	m := c.messages[key]
	if m != nil {
		c.touch(key)
	}
	return m
}

// Put adds an opened message, and evicts the least recently used ones.
func (c *Cache) Put(key string, m *message.Message) {
	if c.messages == nil {
		c.messages = map[string]*message.Message{}
	}
	c.messages[key] = m
	c.touch(key)
	bytes := 0
	for i := len(c.keys) - 1; i >= 0; i-- {
		bytes += c.messages[c.keys[i]].Weight()
		if i < len(c.keys)-1 && (bytes > maxCachedBytes || len(c.keys)-i > maxCached) {
			for _, k := range c.keys[:i+1] {
				delete(c.messages, k)
			}
			c.keys = c.keys[i+1:]
			return
		}
	}
}

func (c *Cache) touch(key string) {
	c.keys = append(slices.DeleteFunc(c.keys, func(k string) bool { return k == key }), key)
}

const (
	maxText      = 32 << 10 // bytes of a body that are searched
	maxTexts     = 16 << 20 // bytes of all bodies that are kept for searches
	textsAtATime = 32       // bodies read by one request
)

// Text is the body of a message for searches: its lines, and the same folded by [theme.Fold].
type Text struct{ Lines, Folded string }

// TextOf returns the text of a message, a line for each block.
func TextOf(m *render.Mail) *Text {
	var b strings.Builder
	for line := range strings.Lines(m.Document().Text()) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && b.Len() < maxText {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	lines := strings.ToValidUTF8(b.String()[:min(b.Len(), maxText)], "")
	return &Text{Lines: lines, Folded: theme.Fold(lines)}
}

// Line returns the line in which a folded word occurs first, "" if there is none.
func (t *Text) Line(word string) string {
	if t == nil {
		return ""
	}
	before, _, ok := strings.Cut(t.Folded, word)
	if !ok {
		return ""
	}
	return strings.Split(t.Lines, "\n")[strings.Count(before, "\n")]
}

// NextTexts marks as being read, and returns, the messages whose bodies to read next, the newest first:
// none while others are being read, and none once the bodies take as much memory as they may.
func (s *Store) NextTexts() []*Message {
	if s.reading {
		return nil
	}
	var next []*Message
	bytes := 0
	for _, key := range s.Keys(All) {
		switch m := s.Messages[key]; {
		case m.Text != nil:
			bytes += len(m.Text.Folded)
		case !m.unreadable && len(next) < textsAtATime:
			next = append(next, m)
		}
	}
	if bytes >= maxTexts {
		return nil
	}
	s.reading = len(next) > 0
	return next
}

// SetText keeps the body of a message and what was found in it; nil if it could not be read.
func (s *Store) SetText(key string, t *Text, f *Findings) {
	s.SetFindings(key, f)
	if m := s.Messages[key]; m != nil {
		m.Text, m.unreadable = t, t == nil
		s.Revision++
	}
}

// EndTexts allows the next bodies to be read.
func (s *Store) EndTexts() { s.reading = false }

// RetryTexts allows bodies that could not be read to be read again.
func (s *Store) RetryTexts() {
	for _, m := range s.Messages {
		m.unreadable = false
	}
}
