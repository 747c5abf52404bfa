package store

import (
	"strings"

	"mayfly/render"
	"mayfly/ui/theme"
)

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

// NextTexts returns the messages whose bodies to read next for a search, the newest first, and marks
// them as being read: none while others are, and none once the bodies take as much memory as they
// may.
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

// SetText keeps the body of a message that was read and what was found in it; nil for one that could
// not be read.
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
