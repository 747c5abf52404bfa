// Package lists has the panes of inboxes and of messages, and the search over all messages.
package lists

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/dialog"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// Pane is the common part of the panes of inboxes and messages: a list below a title, with marks and a filter.
type Pane struct {
	dialog.List
	Filter
	Rect  theme.Rect
	Marks map[string]bool
}

// layout lays the rows out in r, above so many lines at its end; tall returns the height of a row in lines.
func (c *Pane) layout(r theme.Rect, below int, tall func(id string) int) {
	c.Rect = r
	c.Rows(r.H-r.Top()-below, tall)
}

// Page moves the cursor by pages; negative is up.
func (c *Pane) Page(n int) { c.Move(n * max(1, len(c.Shown)-1)) }

// Mark marks or unmarks the selected row and moves to the next one.
func (c *Pane) Mark() {
	c.mark(c.Selected(), !c.Marks[c.Selected()])
	c.Move(1)
}

// MarkAll marks every row that can be marked, or none if all are.
func (c *Pane) MarkAll() {
	ids := slices.DeleteFunc(slices.Clone(c.IDs()), func(id string) bool { return id == store.All })
	all := !slices.ContainsFunc(ids, func(id string) bool { return !c.Marks[id] })
	for _, id := range ids {
		c.mark(id, !all)
	}
}

func (c *Pane) mark(id string, on bool) {
	if delete(c.Marks, id); on {
		c.Marks[id] = true
	}
}

// marked returns the marked ones of IDs, in their order. A filter may leave them out of the list.
func (c *Pane) marked(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !c.Marks[id] })
}

// Click selects the row at line y of the screen, and reports whether there is one.
func (c *Pane) Click(y int) bool {
	id := c.At(y - c.Rect.Y - c.Rect.Top())
	return id != "" && c.Select(id)
}

// Back clears the filter, otherwise the marks. It reports false when there is nothing to clear.
func (c *Pane) Back() bool {
	switch {
	case c.Filter.On():
		c.Filter.Clear()
	case len(c.Marks) > 0:
		clear(c.Marks)
	default:
		return false
	}
	return true
}

// Filter keeps the rows whose text contains all of its words. The zero value keeps every row.
type Filter struct {
	typing bool
	line   *dialog.Line
	words  []string
}

// StartTyping starts typing.
func (f *Filter) StartTyping() {
	if !f.On() {
		f.line = dialog.NewLine(dialog.Field{})
	}
	f.typing = true
}

// Typing reports whether the filter is being typed.
func (f *Filter) Typing() bool { return f.typing }

// StopTyping ends the typing and keeps what was typed.
func (f *Filter) StopTyping() { f.typing = false }

// On reports whether there is a filter.
func (f *Filter) On() bool { return len(f.words) > 0 }

// Clear shows all rows again and ends typing.
func (f *Filter) Clear() { *f = Filter{} }

// Matches reports whether a text, folded by [theme.Fold], contains every word.
func (f *Filter) Matches(text string) bool {
	return !slices.ContainsFunc(f.words, func(w string) bool { return !strings.Contains(text, w) })
}

// Title is the filter if there is one, otherwise the usual title of a pane, in w cells.
func (f *Filter) Title(th *theme.Theme, usual string, w int) string {
	switch {
	case f.typing:
		return th.Accent.On("/") + f.line.View(th, w-1)
	case f.On():
		return th.Accent.On("/"+theme.Cut(theme.StableWidth(f.line.Value()), w-6)) + th.Dim.On("  esc")
	}
	return usual
}

// Type applies a key or a paste. It reports whether the key ended the typing and is for the list.
func (f *Filter) Type(msg tea.Msg) (pass bool) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch name := dialog.KeyName(k); name {
		case "esc":
			f.Clear()
			return false
		case "enter", "tab", "up", "down":
			f.typing = false
			return name == "up" || name == "down"
		}
	}
	if f.line.Update(msg) {
		f.words = strings.Fields(theme.Fold(f.line.Value()))
	}
	return false
}

// span is text in one style.
type span struct {
	Text  string
	Style theme.Style
	Ends  bool // both of its ends matter: it is cut in its middle
}

// bar draws the rows of a list, W cells wide, a selected one with an accent bar and a background.
type bar struct {
	Theme             *theme.Theme
	Selected, Focused bool
	W                 int
}

// room is the width left for the other spans beside the last one.
func (b bar) room(right span) int {
	room := b.W - 4 // the bar, the mark, a space on either side of the end
	if right.Text != "" {
		room -= theme.Width(right.Text) + 1
	}
	return room
}

// line is one line of a row: the bar, a mark, then the spans. The last of several is right-aligned.
func (b bar) line(mark string, spans ...span) string {
	th := b.Theme
	back := theme.Style("")
	edge := " "
	if b.Selected {
		back, edge = th.Rest, th.Dim.On("▌")
		if b.Focused {
			back, edge = th.Select, th.Accent.On("▌")
		}
	}
	var right span
	if len(spans) > 1 {
		spans, right = spans[:len(spans)-1], spans[len(spans)-1]
	}
	room := b.room(right)
	var out strings.Builder
	out.WriteString(edge)
	out.WriteString(th.Accent.Over(back).On(mark))
	out.WriteString(back.On(" "))
	used := 0
	for _, s := range spans {
		cut := theme.Cut
		if s.Ends {
			cut = theme.CutMiddle
		}
		text := cut(th.StableWidth(s.Text), room-used)
		used += theme.Width(text)
		out.WriteString(s.Style.Over(back).On(text))
	}
	out.WriteString(back.On(theme.Spaces(room - used)))
	if right.Text != "" {
		out.WriteString(right.Style.Over(back).On(" " + right.Text))
	}
	out.WriteString(back.On(" "))
	return theme.Fit(out.String(), b.W)
}
