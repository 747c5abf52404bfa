package theme

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Pane names one of the three panes.
type Pane int

// The panes, from left to right.
const (
	Inboxes Pane = iota
	Messages
	Reader
)

// The smallest usable screen, in cells.
const (
	minWidth  = 20
	minHeight = 6
)

const (
	threeFrom = 120 // columns from which three panes stand side by side
	twoFrom   = 80  // columns from which two do
	rulesFrom = 12  // rows from which rules separate the bars from the panes
)

// Rect is a rectangle in cells; X and Y count from the top left corner.
type Rect struct{ X, Y, W, H int }

// Empty reports whether r has no cells.
func (r Rect) Empty() bool { return r.W <= 0 || r.H <= 0 }

// Dense reports whether a pane is so low that it has no row to spare.
func (r Rect) Dense() bool { return r.H < 9 }

// Low reports whether a pane is so low that it shows first what counts.
func (r Rect) Low() bool { return r.H < 14 }

// Top is the row of a pane at which its content begins, below the title.
func (r Rect) Top() int {
	if r.Dense() {
		return 1
	}
	return 2
}

// Input is what a layout depends on; Width and Height are in cells.
type Input struct {
	Width, Height int
	Focus         Pane
	Reading       bool // a message is open
	Zoomed        bool // the pane with focus has the whole screen
}

// Layout is where everything goes: between the header, which is the first row, and the footer, which is the last. A pane that
// is not shown has an empty rectangle.
type Layout struct {
	TooSmall      bool
	Width, Height int // of the screen
	Columns       int // panes side by side: 1, 2 or 3
	Panes         [3]Rect
	Dividers      []int // columns of the vertical rules
	Rules         []int // rows of the horizontal rules: none, or two
}

// Compute lays out the screen. With two columns, the inboxes stand beside the messages until a message is open; then the messages
// beside it.
func Compute(in Input) Layout {
	if in.Width < minWidth || in.Height < minHeight {
		return Layout{TooSmall: true}
	}
	l := Layout{Width: in.Width, Height: in.Height}
	if in.Height >= rulesFrom {
		l.Rules = []int{1, in.Height - 2}
	}
	switch {
	case in.Zoomed || in.Width < twoFrom:
		l.split(in.Focus)
	case in.Width >= threeFrom:
		l.split(Inboxes, min(26+(in.Width-threeFrom)/12, 34), min(38+(in.Width-threeFrom)/6, 60))
	case in.Focus == Reader || in.Focus == Messages && in.Reading:
		l.split(Messages, min(30+(in.Width-twoFrom)/5, 38))
	default:
		l.split(Inboxes, 26)
	}
	return l
}

// split puts panes side by side: the first one and those to the right of it, of these widths, the last in what is left.
func (l *Layout) split(first Pane, widths ...int) {
	l.Columns = len(widths) + 1
	x, y := 0, l.Top()
	for n, w := range append(widths, l.Width) {
		if n > 0 {
			l.Dividers, x = append(l.Dividers, x), x+1
		}
		w = min(w, l.Width-x)
		l.Panes[int(first)+n] = Rect{x, y, w, l.Height - 2*y}
		x += w
	}
}

// At returns the pane at a cell.
func (l Layout) At(x, y int) (Pane, bool) {
	for p, r := range l.Panes {
		if x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H {
			return Pane(p), true
		}
	}
	return 0, false
}

// Title is the first row of a pane, w cells wide: its title, and right at the right end.
func Title(th *Theme, title, right string, w int, focused bool) string {
	style := th.Dim
	if focused {
		style = th.Bright
	}
	if focused && th.Profile < colorprofile.ANSI {
		style += Underline
	}
	return Spread(" "+style.On(title), right, w)
}

// Blank returns the empty rows of a pane.
func Blank(r Rect) []string { return slices.Repeat([]string{Spaces(r.W)}, max(0, r.H)) }

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
	b.WriteString(strings.Repeat("─", l.Width-from))
	return th.Faint.On(b.String())
}

// Top is the first row of the panes.
func (l Layout) Top() int { return 1 + min(1, len(l.Rules)) }

// TooSmall says that the screen is too small, in w by h cells.
func TooSmall(w, h int) []string {
	rows := Blank(Rect{W: w, H: h})
	text := Wrap(fmt.Sprintf("terminal too small: need %d×%d", minWidth, minHeight), w)
	text = text[:min(len(text), h)]
	for n, t := range text {
		rows[(h-len(text))/2+n] = Fit(Spaces((w-Width(t))/2)+t, w)
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
