package lists

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/dialog"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// maxKnown bounds the texts whose hits are kept.
const maxKnown = 16

// Search is the search over the messages of a store. It keeps what was typed and selected when it closes.
type Search struct {
	Dialog dialog.Dialog // that it is shown in
	store  *store.Store
	show   func(key string, find []string) tea.Cmd

	line     *dialog.Line
	again    bool     // reopened: what is typed now replaces what was typed before
	words    []string // of the line, folded
	revision uint64   // of the store, as last searched

	known map[string][]string // what was found for texts typed lately, at this revision

	hits    dialog.List       // message keys
	inboxes map[string]string // what is searched of each inbox, folded, by its ID
	read    int               // messages whose body is known

	now  time.Time
	w, h int // available cells
}

// NewSearch returns a search in which nothing was typed. It hands a chosen message to show, with texts to
// find in it: it is shown at the first that occurs.
func NewSearch(st *store.Store, show func(key string, find []string) tea.Cmd) *Search {
	s := &Search{show: show, line: dialog.NewLine(dialog.Field{})}
	s.Dialog = dialog.Box(s)
	s.In(st)
	return s
}

// In searches another store from now on, also while the dialog is open.
func (s *Search) In(st *store.Store) {
	s.store, s.hits = st, dialog.List{}
	s.learn()
	s.find()
}

// Open returns the dialog, as it was left.
func (s *Search) Open() dialog.Dialog {
	s.again = s.line.Value() != ""
	s.store.RetryPrefetches()
	return s.Dialog
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
			if m := s.store.Messages[key]; m.Has(s.words, s.inboxes[m.InboxID], true) {
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
	top, _ := s.hits.More()
	return s.hits.Index() - top
}

// learn takes over what the store knows now.
func (s *Search) learn() {
	s.revision, s.known = s.store.Revision, map[string][]string{"": nil}
	s.inboxes, s.read = map[string]string{}, 0
	for id, i := range s.store.Inboxes {
		s.inboxes[id] = i.Words()
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

// Fit implements [dialog.Body]. It leaves the header and the bottom line of the screen free where there is room.
func (s *Search) Fit(w, h int) {
	if h >= 12 {
		h -= 3
	}
	s.w, s.h, s.now = w, h, time.Now()
	if s.revision != s.store.Revision {
		s.find()
	}
	s.hits.Rows(s.room(), func(string) int { return s.tall() })
}

// Update implements [dialog.Body].
func (s *Search) Update(msg tea.Msg) dialog.Result {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		s.hits.Scroll(theme.WheelRows(msg))
		return dialog.Result{}
	case tea.MouseClickMsg:
		return s.open(s.hits.At(msg.Y - head))
	case tea.KeyPressMsg:
		name := dialog.KeyName(msg)
		switch name {
		case "esc":
			return dialog.Result{Close: true}
		case "enter":
			return s.open(s.hits.Selected())
		}
		if n, ok := dialog.Step(name); ok {
			s.again = false
			s.hits.Move(n)
			return dialog.Result{}
		}
		s.edit(msg)
	case tea.PasteMsg:
		s.edit(msg)
	}
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

const (
	maxWidth   = 110 // cells
	besideFrom = 96  // cells from which the selected message is shown beside the hits
	head       = 2   // rows above the hits
	dense      = 8   // rows for hits below which each has only one
)

// room is the number of rows for hits.
func (s *Search) room() int { return max(1, s.h-head) }

// tall is the number of rows of a hit.
func (s *Search) tall() int {
	if s.room() < dense {
		return 1
	}
	return 2
}

// Rows implements [dialog.Body].
func (s *Search) Rows(th *theme.Theme) (string, []string) {
	w := min(maxWidth, s.w)
	prompt := s.line.View(th, w-2)
	if s.again {
		prompt = theme.Reverse.On(theme.Cut(theme.StableWidth(s.line.Value()), w-2))
	}
	rows := []string{theme.Fit(th.Accent.On("› ")+prompt, w), th.Dim.On(s.status(w))}
	list := w
	if w >= besideFrom {
		list = w * 3 / 5
	}
	for _, r := range s.hits.Shown {
		rows = append(rows, s.row(th, r, list)[:r.H]...)
	}
	for len(rows) < s.h {
		rows = append(rows, theme.Spaces(list))
	}
	if list < w {
		beside := s.beside(th, w-list-3, s.h-head)
		for n, row := range rows[head:] {
			rows[head+n] = theme.Fit(row, list) + th.Faint.On(" │ ") + beside[n]
		}
	}
	return "Search all messages", rows
}

// beside is the selected message from shortly before its first hit on, in h rows of w cells.
func (s *Search) beside(th *theme.Theme, w, h int) []string {
	rows := make([]string, h)
	m := s.store.Messages[s.hits.Selected()]
	if m == nil || m.Text == nil {
		return rows
	}
	lines, from := strings.Split(m.Text.Lines, "\n"), 0
	for _, word := range s.words {
		if before, _, ok := strings.Cut(m.Text.Folded, word); ok {
			from = max(0, strings.Count(before, "\n")-h/4)
			break
		}
	}
	lines = lines[from:min(len(lines), from+h)]
	wrapped := theme.Wrap(strings.Join(lines, "\n"), w)
	for n, line := range wrapped[:min(h, len(wrapped))] {
		for _, part := range s.spans(th, strings.TrimRight(line, " "), th.Text) {
			rows[n] += part.Style.On(part.Text)
		}
	}
	return rows
}

// status says how many were found in how many bodies, and where the selected one is among them.
func (s *Search) status(w int) string {
	at, total := "", len(s.store.Messages)
	if len(s.hits.Shown) < s.hits.Len() {
		at = fmt.Sprintf("%d/%d", s.hits.Index()+1, s.hits.Len())
	}
	found := fmt.Sprintf("%d found", s.hits.Len())
	forms := []string{found + "   enter opens   ↑↓ move   esc back", found}
	switch {
	case len(s.words) == 0:
		forms = []string{
			"Sender, subject, address, code and text of all messages   enter opens   esc back",
			"Sender, subject, address, code and text", "Every message",
		}
	case s.read < total: // what is not fetched may match, too
		forms = []string{
			fmt.Sprintf("%s so far · text of %d of %d messages searched", found, s.read, total),
			fmt.Sprintf("%s so far · %d of %d searched", found, s.read, total), fmt.Sprintf("%s in %d of %d", found, s.read, total),
		}
	}
	return theme.Spread(theme.FirstFit(forms, w-theme.Width(at)-1), at, w)
}

// row draws a hit: sender, inbox and time, then the subject and the line of the body that matches.
func (s *Search) row(th *theme.Theme, row dialog.Row, w int) []string {
	m := s.store.Messages[row.ID]
	b := bar{Theme: th, Selected: row.Selected, Focused: true, W: w}
	mark := " "
	if m.Unread {
		mark = "●"
	}
	at := th.Local(m.Received)
	when := span{Text: at.Format("2 Jan"), Style: th.Dim}
	if now := th.Local(s.now); at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		when.Text = at.Format("15:04")
	}
	room := b.room(when)
	if s.tall() == 1 {
		room /= 2
	}
	from := th.StableWidth(m.Sender)
	var inbox []span
	if i := s.store.Inboxes[m.InboxID]; i != nil {
		from = beside(from, " · "+th.StableWidth(i.Name()), room)
		inbox = append(inbox, span{Text: " · ", Style: th.Dim})
		inbox = append(inbox, s.spans(th, theme.CutMiddle(i.Name(), room-3-theme.Width(from)), th.Dim)...)
	}
	sender := append(s.spans(th, from, th.Text), inbox...)
	subject, excerpt := m.Subject, s.excerpt(m)
	if excerpt != "" {
		subject = theme.Cut(th.StableWidth(subject), max(12, w*2/5))
		excerpt = s.around(excerpt, w-6-theme.Width(subject))
	}
	about := s.spans(th, subject, th.Text)
	switch {
	case excerpt != "":
		about = append(about, span{Text: "  "})
		about = append(about, s.spans(th, excerpt, th.Dim)...)
	case slices.ContainsFunc(s.words, m.HasCode):
		about = append(about, span{Text: "  " + m.Extracted.Code, Style: th.Code})
	}
	if s.tall() == 1 {
		return []string{b.line(mark, append(append(append(sender, span{Text: "  "}), about...), when)...)}
	}
	return []string{b.line(mark, append(sender, when)...), b.line(" ", append(about, span{})...)}
}

// excerpt is the line of the body that contains a word; "" if the row shows every word without it.
func (s *Search) excerpt(m *store.Message) string {
	for _, word := range s.words {
		if !strings.Contains(m.Words, word) && m.Text.Line(word) != "" {
			return m.Text.Line(word)
		}
	}
	return ""
}

// around is a line from shortly before a word found in it on, if the line is wider than w cells.
func (s *Search) around(line string, w int) string {
	if theme.Width(line) <= w {
		return line
	}
	folded := theme.Fold(line)
	for _, word := range s.words {
		if at := theme.Find(folded, word); len(at) > 0 && at[0] > w/3 {
			return theme.Ellipsis + theme.TruncateLeft(line, at[0]-w/3)
		}
	}
	return line
}

// spans are a text in a style, with the words that were searched for highlighted.
func (s *Search) spans(th *theme.Theme, text string, style theme.Style) []span {
	text = th.StableWidth(text)
	folded := theme.Fold(text)
	var found [][2]int
	for _, word := range s.words {
		for _, col := range theme.Find(folded, word) {
			found = append(found, [2]int{col, col + theme.Width(word)})
		}
	}
	slices.SortFunc(found, func(a, b [2]int) int { return a[0] - b[0] })
	var out []span
	end := 0
	for _, f := range found {
		if f[1] <= end {
			continue
		}
		from := max(f[0], end)
		out = append(out, span{Text: theme.Slice(text, end, from), Style: style}, span{Text: theme.Slice(text, from, f[1]), Style: th.Match})
		end = f[1]
	}
	return append(out, span{Text: theme.TruncateLeft(text, end), Style: style})
}
