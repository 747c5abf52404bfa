package store

import (
	"slices"
	"strings"

	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/theme"
)

// RetryPrefetches makes messages whose prefetch failed eligible again.
func (s *Store) RetryPrefetches() { clear(s.tried) }

// NextPrefetch picks what to prefetch next from lists of keys, the most urgent first: messages that were not read yet. There
// are none while others are being read, and none beyond the bodies that are kept.
func (s *Store) NextPrefetch(lists ...[]string) (next []*Message) {
	if s.reading {
		return nil
	}
	bytes := 0
	for _, keys := range lists {
		for _, key := range keys {
			switch m := s.Messages[key]; {
			case m == nil || s.tried[key]:
			case m.Text != nil:
				bytes += len(m.Text.Folded)
			case m.Extracted == nil && bytes < maxTexts && len(next) < prefetchAtOnce && !slices.Contains(next, m):
				next = append(next, m)
			}
			if len(next) == prefetchAtOnce {
				break
			}
		}
	}
	s.reading = len(next) > 0
	return next
}

// EndPrefetch allows the next messages to be prefetched.
func (s *Store) EndPrefetch() { s.reading = false }

// SkipPrefetch keeps a message from being prefetched: it is being opened, which finds the same, or could not be read.
func (s *Store) SkipPrefetch(key string) { s.tried[key] = true }

// SetFindings records what was found in a message, and its body.
func (s *Store) SetFindings(key string, f *Extracted, t *Text) {
	if m := s.Messages[key]; m != nil {
		m.Extracted, m.Text = f, t
		s.Revision++
	}
}

// ResetPrefetches forgets what is being fetched: the results will not arrive.
func (s *Store) ResetPrefetches() { s.tried, s.reading = map[string]bool{}, false }

// maxCached bounds the opened messages that are kept, and maxCachedBytes their memory. The last one
// is always kept.
const (
	maxCached      = 24
	maxCachedBytes = 16 << 20
)

// Cache keeps the most recently opened messages. The zero value is empty.
type Cache struct{ entries []cached } // most recently used first

type cached struct {
	key     string
	message *message.Message
}

// Get returns an opened message by its key, nil if it is not cached.
func (c *Cache) Get(key string) *message.Message {
	n := slices.IndexFunc(c.entries, func(e cached) bool { return e.key == key })
	if n < 0 {
		return nil
	}
	e := c.entries[n]
	c.entries = slices.Insert(slices.Delete(c.entries, n, n+1), 0, e)
	return e.message
}

// Put adds an opened message, and evicts the least recently used ones.
func (c *Cache) Put(key string, m *message.Message) {
	others := slices.DeleteFunc(c.entries, func(e cached) bool { return e.key == key })
	c.entries = slices.Insert(others, 0, cached{key, m})
	bytes := 0
	for n, e := range c.entries {
		if bytes += e.message.MemorySize(); n == maxCached || n > 0 && bytes > maxCachedBytes {
			clear(c.entries[n:])
			c.entries = c.entries[:n]
			return
		}
	}
}

const (
	maxText        = 32 << 10 // bytes of a body that are searched
	maxTexts       = 16 << 20 // bytes of all bodies that are kept for searches
	prefetchAtOnce = 32       // messages
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
