package lists

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"mayfly/ui/dialog"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

const (
	maxWidth = 110 // cells
	head     = 2   // rows above the hits
	dense    = 8   // rows for hits below which each has only one
)

func (s *Search) width() int { return min(maxWidth, s.w) }

// room is the number of rows for hits.
func (s *Search) room() int { return max(1, s.h-head) }

// tall is the number of rows of a hit.
func (s *Search) tall() int {
	if s.room() < dense {
		return 1
	}
	return 2
}

func (b body) Rows(th *theme.Theme) (string, []string) {
	w := b.width()
	prompt := b.line.View(th, w-2)
	if b.again {
		prompt = theme.Reverse.On(theme.Cut(theme.Steady(b.line.Value()), w-2))
	}
	rows := []string{theme.Fit(th.Accent.On("› ")+prompt, w), th.Dim.On(b.status(w))}
	for _, r := range b.shown {
		rows = append(rows, b.row(th, r, w)[:r.H]...)
	}
	for len(rows) < b.h {
		rows = append(rows, theme.Spaces(w))
	}
	return "Search all messages", rows
}

// status says how many were found and in how many of the bodies, and where the selected one is among
// them if there are more than fit.
func (s *Search) status(w int) string {
	at, total := "", len(s.store.Messages)
	if len(s.shown) < s.hits.Len() {
		at = fmt.Sprintf("%d/%d", s.hits.Index()+1, s.hits.Len())
	}
	forms := []string{
		fmt.Sprintf("%d found · searched %d of %d", s.hits.Len(), s.read, total),
		fmt.Sprintf("%d found", s.hits.Len()),
	}
	switch {
	case len(s.words) == 0:
		forms = []string{
			"Sender, subject, address, code and text of all messages   enter opens   esc back",
			"Sender, subject, address, code and text", "Every message",
		}
	case s.read == total:
		forms = forms[1:]
	}
	return theme.Spread(theme.FirstFit(forms, w-theme.Width(at)-1), at, w)
}

// row draws a hit: sender, inbox and time, then the subject and the line of the body that matches.
func (s *Search) row(th *theme.Theme, row dialog.Row, w int) []string {
	m := s.store.Messages[row.ID]
	b := Bar{Theme: th, Selected: row.Selected, Focused: true, W: w}
	mark := " "
	if m.Unread {
		mark = "●"
	}
	at := m.Received.Local()
	when := Span{Text: at.Format("2 Jan"), Style: th.Dim}
	if now := s.now.Local(); at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		when.Text = at.Format("15:04")
	}
	sender := s.spans(th, m.Sender, th.Text)
	if i := s.store.Inboxes[m.InboxID]; i != nil {
		sender = append(sender, Span{Text: " · ", Style: th.Dim})
		sender = append(sender, s.spans(th, i.Name(), th.Dim)...)
	}
	subject, excerpt := m.Subject, s.excerpt(m)
	if excerpt != "" {
		subject = theme.Cut(th.Steady(subject), max(12, w*2/5))
		excerpt = s.around(excerpt, w-6-theme.Width(subject))
	}
	about := s.spans(th, subject, th.Text)
	switch {
	case excerpt != "":
		about = append(about, Span{Text: "  "})
		about = append(about, s.spans(th, excerpt, th.Dim)...)
	case slices.ContainsFunc(s.words, func(word string) bool { return hasCode(m, word) }):
		about = append(about, Span{Text: "  " + m.Findings.Code, Style: th.Code})
	}
	if s.tall() == 1 {
		return []string{b.Line(mark, append(append(append(sender, Span{Text: "  "}), about...), when)...)}
	}
	return []string{b.Line(mark, append(sender, when)...), b.Line(" ", append(about, Span{})...)}
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
			return theme.Ellipsis + ansi.TruncateLeft(line, at[0]-w/3, "")
		}
	}
	return line
}

// spans are a text in a style, with the words that were searched for highlighted.
func (s *Search) spans(th *theme.Theme, text string, style theme.Style) []Span {
	text = th.Steady(text)
	folded := theme.Fold(text)
	var found [][2]int
	for _, word := range s.words {
		for _, col := range theme.Find(folded, word) {
			found = append(found, [2]int{col, col + theme.Width(word)})
		}
	}
	slices.SortFunc(found, func(a, b [2]int) int { return a[0] - b[0] })
	var out []Span
	end := 0
	for _, f := range found {
		if f[1] <= end {
			continue
		}
		from := max(f[0], end)
		out = append(out, Span{Text: ansi.Cut(text, end, from), Style: style}, Span{Text: ansi.Cut(text, from, f[1]), Style: th.Match})
		end = f[1]
	}
	return append(out, Span{Text: ansi.TruncateLeft(text, end, ""), Style: style})
}
