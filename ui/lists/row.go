package lists

import (
	"strings"

	"mayfly/ui/theme"
)

// Span is text in one style.
type Span struct {
	Text  string
	Style theme.Style
}

// Bar draws the rows of a list, W cells wide, a selected one with an accent bar and a background.
type Bar struct {
	Theme             *theme.Theme
	Selected, Focused bool
	W                 int
}

// Room is the width left for the other spans beside the last one.
func (b Bar) Room(right Span) int {
	room := b.W - 4 // the bar, the mark, a space on either side of the end
	if right.Text != "" {
		room -= theme.Width(right.Text) + 1
	}
	return room
}

// Line is one line of a row: the bar, a mark, then the spans. The last of several is right-aligned.
func (b Bar) Line(mark string, spans ...Span) string {
	th := b.Theme
	back := theme.Style("")
	edge := " "
	if b.Selected {
		back, edge = th.Rest, th.Dim.On("▌")
		if b.Focused {
			back, edge = th.Select, th.Accent.On("▌")
		}
	}
	var right Span
	if len(spans) > 1 {
		spans, right = spans[:len(spans)-1], spans[len(spans)-1]
	}
	room := b.Room(right)
	var out strings.Builder
	out.WriteString(edge)
	out.WriteString((back + th.Accent).On(mark))
	out.WriteString(back.On(" "))
	used := 0
	for _, s := range spans {
		text := theme.Cut(th.Steady(s.Text), room-used)
		used += theme.Width(text)
		out.WriteString((back + s.Style).On(text))
	}
	out.WriteString(back.On(theme.Spaces(room - used)))
	if right.Text != "" {
		out.WriteString((back + right.Style).On(" " + right.Text))
	}
	out.WriteString(back.On(" "))
	return theme.Fit(out.String(), b.W)
}
