package theme

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Title is the first row of a pane, w cells wide: its title, and right at the right end.
func Title(th *Theme, title, right string, w int, focused bool) string {
	style := th.Dim
	if focused {
		style = th.Bright
	}
	return Spread(" "+style.On(title), right, w)
}

// Blank returns the empty rows of a pane.
func Blank(r Rect) []string { return slices.Repeat([]string{Spaces(r.W)}, max(0, r.H)) }

// Place puts lines into the rows of a pane w cells wide, indented, starting at row from.
func Place(rows []string, w, from int, lines []string) {
	for n, line := range lines {
		if from+n >= len(rows) {
			return
		}
		rows[from+n] = Fit("  "+line, w)
	}
}

// WrapDim wraps secondary text for a pane w cells wide.
func WrapDim(th *Theme, text string, w int) []string {
	lines := Wrap(text, max(w, 8))
	for i := range lines {
		lines[i] = th.Dim.On(strings.TrimRight(lines[i], " "))
	}
	return lines
}

// Hint shows a key and what it does.
func Hint(th *Theme, key, does string) string {
	return th.Accent.On(key) + " " + th.Dim.On(does)
}

// Join draws the rows of several panes side by side, with a rule between them.
func Join(th *Theme, columns [][]string) []string {
	if len(columns) == 0 {
		return nil
	}
	edge := th.Faint.On("│")
	rows := make([]string, len(columns[0]))
	parts := make([]string, len(columns))
	for y := range rows {
		for n, column := range columns {
			parts[n] = column[y]
		}
		rows[y] = strings.Join(parts, edge)
	}
	return rows
}

// Rule is a horizontal rule that joins the vertical ones, at the top or the bottom of the panes.
func (l Layout) Rule(th *Theme, top bool) string {
	joint := "┴"
	if top {
		joint = "┬"
	}
	var b strings.Builder
	from := 0
	for _, d := range l.Dividers {
		b.WriteString(strings.Repeat("─", d-from) + joint)
		from = d + 1
	}
	b.WriteString(strings.Repeat("─", l.Header.W-from))
	return th.Faint.On(b.String())
}

// Top is the first row of the panes.
func (l Layout) Top() int { return l.Header.H + min(1, len(l.Rules)) }

// TooSmall says that the screen is too small, in w by h cells.
func TooSmall(w, h int) []string {
	rows := Blank(Rect{W: w, H: h})
	text := Wrap(fmt.Sprintf("mayfly needs %d×%d", minWidth, minHeight), w)
	from := max(0, (h-len(text))/2)
	for n, t := range text {
		if from+n < h {
			rows[from+n] = Center(t, w)
		}
	}
	return rows
}

// WheelRows is how many rows a wheel event scrolls; negative is up.
func WheelRows(m tea.MouseWheelMsg) int {
	switch m.Button {
	case tea.MouseWheelUp:
		return -3
	case tea.MouseWheelDown:
		return 3
	}
	return 0
}
