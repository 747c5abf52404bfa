package lists

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/dialog"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// maxKnown bounds the texts whose hits are kept.
const maxKnown = 16

// Search is the search over the messages of a store. It is opened as its Dialog, and keeps what was
// typed and selected when that closes.
type Search struct {
	dialog.Dialog
	store *store.Store
	show  func(key string, find []string) tea.Cmd

	line     *dialog.Line
	again    bool     // reopened: what is typed now replaces what was typed before
	words    []string // of the line, folded
	revision uint64   // of the store, as last searched

	known map[string][]string // what was found for texts typed lately, at this revision

	hits    dialog.List       // message keys
	shown   []dialog.Row      // those on the screen
	inboxes map[string]string // what is searched of each inbox, folded, by its ID
	read    int               // messages whose body is known

	now  time.Time
	w, h int // available cells
}

// NewSearch returns a search in which nothing was typed. It hands a chosen message to show, with texts to
// find in it: it is shown at the first that occurs.
func NewSearch(st *store.Store, show func(key string, find []string) tea.Cmd) *Search {
	s := &Search{show: show, line: dialog.NewLine(dialog.LineOptions{})}
	s.Dialog = dialog.Box(body{s})
	s.In(st)
	return s
}

// In searches another store from now on, also while the dialog is open.
func (s *Search) In(st *store.Store) {
	s.store, s.hits, s.shown = st, dialog.List{}, nil
	s.learn()
	s.find()
}

// Open returns the search to be opened, as it was left.
func (s *Search) Open() *Search {
	s.again = s.line.Value() != ""
	s.store.RetryTexts()
	return s
}

// NeedsTexts reports whether bodies are to be read for the search.
func (s *Search) NeedsTexts() bool { return len(s.words) > 0 }

// edit applies a key or a paste to the line.
func (s *Search) edit(msg tea.Msg) {
	if k, ok := msg.(tea.KeyPressMsg); ok && k.Text == "" {
		s.again = false
	}
	if s.again {
		s.again = false
		s.line.SetValue("")
	}
	if s.line.Update(msg) {
		s.words = strings.Fields(theme.Fold(s.line.Value()))
		s.hits = dialog.List{}
		s.find()
	}
}

// find lists the messages that match. The selected one stays where it is on the screen.
func (s *Search) find() {
	if s.revision != s.store.Revision || len(s.known) == maxKnown {
		s.learn()
	}
	text := strings.Join(s.words, " ")
	found, ok := s.known[text]
	if !ok {
		for _, key := range s.candidates(text) {
			if s.matches(s.store.Messages[key]) {
				found = append(found, key)
			}
		}
		s.known[text] = found
	}
	before := s.above()
	s.hits.Set(found)
	s.hits.Scroll(s.above() - before)
}

// above is the number of hits on the screen above the selected one.
func (s *Search) above() int {
	top, _ := s.hits.More(nil)
	return s.hits.Index() - top
}

// learn takes over what the store knows now.
func (s *Search) learn() {
	s.revision, s.known = s.store.Revision, map[string][]string{"": nil}
	s.inboxes, s.read = map[string]string{}, 0
	for id, i := range s.store.Inboxes {
		s.inboxes[id] = theme.Fold(i.Email + "\n" + i.Label)
	}
	for _, m := range s.store.Messages {
		if m.Text != nil {
			s.read++
		}
	}
}

// candidates are the messages that may match a text: those found for the longest beginning of it.
func (s *Search) candidates(text string) []string {
	for n := len(text) - 1; n > 0; n-- {
		if found, ok := s.known[text[:n]]; ok {
			return found
		}
	}
	return s.store.Keys(store.All)
}

func (s *Search) matches(m *store.Message) bool {
	for _, word := range s.words {
		if !strings.Contains(m.Words, word) && !strings.Contains(s.inboxes[m.InboxID], word) && !hasCode(m, word) &&
			(m.Text == nil || !strings.Contains(m.Text.Folded, word)) {
			return false
		}
	}
	return true
}

func hasCode(m *store.Message, word string) bool {
	return m.Findings != nil && strings.Contains(theme.Fold(m.Findings.Code), word)
}

// body is what the dialog shows.
type body struct{ *Search }

// Fit leaves the header and the bottom line of the screen free where there is room.
func (b body) Fit(w, h int) {
	if h >= 12 {
		h -= 3
	}
	b.w, b.h, b.now = w, h, time.Now()
	if b.revision != b.store.Revision {
		b.find()
	}
	b.shown = b.hits.Rows(b.room(), func(string) int { return b.tall() })
}

func (b body) Update(msg tea.Msg) dialog.Result {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		b.hits.Scroll(theme.WheelRows(msg))
		return dialog.Result{}
	case tea.MouseClickMsg:
		return b.open(Hit(b.shown, msg.Y-head))
	case tea.KeyPressMsg:
		name := dialog.KeyName(msg)
		switch name {
		case "esc":
			return dialog.Result{Close: true}
		case "enter":
			return b.open(b.hits.Selected())
		}
		if n, ok := dialog.Step(name); ok {
			b.again = false
			b.hits.Move(n)
			return dialog.Result{}
		}
	}
	b.edit(msg)
	return dialog.Result{}
}

// open goes to a message, and to the first text in its body that was searched for.
func (s *Search) open(key string) dialog.Result {
	if key == "" {
		return dialog.Result{}
	}
	texts := append([]string{strings.TrimSpace(s.line.Value())}, s.words...)
	return dialog.Result{Close: true, Do: func() tea.Cmd { return s.show(key, texts) }}
}
