package ui

import (
	"strings"

	"mayfly/ui/cell"
	"mayfly/ui/layout"
	"mayfly/ui/theme"
)

// span is a stretch of text in one style.
type span struct {
	text  string
	style theme.Style
}

// bar draws the rows of a list: the accent bar before a selected one, its background behind it.
type bar struct {
	th                *theme.Theme
	selected, focused bool
	w                 int
}

// line is one row of w cells: the bar, a mark, then the spans; the last of several stands at the end.
func (b bar) line(mark string, spans ...span) string {
	back := theme.Style("")
	edge := " "
	if b.selected {
		back, edge = b.th.Rest, b.th.Dim.On("▌")
		if b.focused {
			back, edge = b.th.Select, b.th.Accent.On("▌")
		}
	}
	var right span
	if len(spans) > 1 {
		spans, right = spans[:len(spans)-1], spans[len(spans)-1]
	}
	room := b.w - 4 // the bar, the mark, a space on either side of the end
	if right.text != "" {
		room -= cell.Width(right.text) + 1
	}
	var out strings.Builder
	out.WriteString(edge)
	out.WriteString((back + b.th.Accent).On(mark))
	out.WriteString(back.On(" "))
	used := 0
	for _, s := range spans {
		text := cell.Cut(cell.Steady(s.text), room-used)
		used += cell.Width(text)
		out.WriteString((back + s.style).On(text))
	}
	out.WriteString(back.On(cell.Spaces(room - used)))
	if right.text != "" {
		out.WriteString((back + right.style).On(" " + right.text))
	}
	out.WriteString(back.On(" "))
	return cell.Fit(out.String(), b.w)
}

// titleRow is the first row of a pane.
func titleRow(th *theme.Theme, title, right string, w int, focused bool) string {
	style := th.Dim
	if focused {
		style = th.Bright
	}
	return cell.Spread(" "+style.On(title), right, w)
}

// blankRows fills a pane.
func blankRows(r layout.Rect) []string {
	rows := make([]string, r.H)
	for i := range rows {
		rows[i] = cell.Spaces(r.W)
	}
	return rows
}
