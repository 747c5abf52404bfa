// Package dialog provides what opens over the panes: questions, prompts, forms, menus, labels
// on links and the manual. A dialog changes only itself. What a choice leads to is a function that its
// owner passed in, gets back in a Result, and calls once the dialog is closed.
package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mayfly/ui/theme"
)

// Dialog is drawn over the panes and takes the keys and the mouse while it is open.
type Dialog interface {
	// Update applies a key, a paste, a mouse event in cells of the screen, or what is for dialogs of a kind, as [Answered]. A click
	// outside the dialog closes it.
	Update(msg tea.Msg) Result
	// Fit lays the dialog out for a screen of w by h cells. It must be called after any change,
	// before Draw.
	Fit(w, h int)
	// Draw draws the dialog onto the rows of a screen, w cells each, and changes no state.
	Draw(th *theme.Theme, screen []string, w int)
}

// Result is the outcome of a message.
type Result struct {
	Close bool           // the dialog is done
	Do    func() tea.Cmd // for the owner to call after that, nil for nothing
}

// Body is the content of a box.
type Body interface {
	// Update applies what the dialog gets, a click in cells from the top left of the body.
	Update(msg tea.Msg) Result
	// Fit lays the body out for at most w by h cells.
	Fit(w, h int)
	// Rows returns the title and the rows of the box, as last laid out. It changes no state.
	Rows(th *theme.Theme) (title string, rows []string)
}

// Box is a dialog that shows a body in a frame, slightly above the middle of the screen.
func Box(b Body) Dialog { return &box{body: b} }

type box struct {
	body Body
	w, h int // of the screen
}

func (b *box) Fit(w, h int) {
	b.w, b.h = w, h
	b.body.Fit(max(1, w-4), max(1, h-2))
}

func (b *box) Update(msg tea.Msg) Result {
	if click, ok := msg.(tea.MouseClickMsg); ok {
		return b.click(click)
	}
	return b.body.Update(msg)
}

func (b *box) click(m tea.MouseClickMsg) Result {
	if m.Button != tea.MouseLeft {
		return Result{}
	}
	rows := b.rows(&theme.Theme{}, b.w, b.h)
	x, y := place(rows, b.w, b.h)
	if m.X < x || m.X >= x+theme.Width(rows[0]) || m.Y < y || m.Y >= y+len(rows) {
		return Result{Close: true}
	}
	m.X, m.Y = m.X-x-2, m.Y-y-1
	return b.body.Update(m)
}

func (b *box) Draw(th *theme.Theme, screen []string, w int) {
	for y, row := range screen {
		screen[y] = dimmed(th, row)
	}
	rows := b.rows(th, w, len(screen))
	x, y := place(rows, w, len(screen))
	end := x + theme.Width(rows[0])
	for n, row := range rows[:min(len(rows), len(screen)-y)] {
		behind := screen[y+n]
		if end > w { // narrower than a frame
			screen[y+n] = theme.Fit(row, w)
			continue
		}
		left, right := theme.Truncate(behind, x, ""), theme.Tail(behind, w, w-end)
		screen[y+n] = theme.Fit(left, x) + row + theme.Spaces(w-end-theme.Width(right)) + right
	}
}

// halfBlocks removes what images are drawn with, of which one colour would make bars.
var halfBlocks = strings.NewReplacer("▀", " ", "▄", " ")

// dimmed is a row of the screen behind a box. Rules stay as faint as they are.
func dimmed(th *theme.Theme, row string) string {
	var b strings.Builder
	for part := range strings.SplitAfterSeq(halfBlocks.Replace(row), "\x1b[m") {
		text, rule, _ := strings.Cut(part, string(th.Faint))
		b.WriteString(th.Dim.On(th.StableWidth(ansi.Strip(text))) + th.Faint.On(ansi.Strip(rule)))
	}
	return b.String()
}

// place is the position on the screen of rows of the same width.
func place(rows []string, w, h int) (x, y int) {
	return max(0, (w-theme.Width(rows[0]))/2), max(0, (h-len(rows))*2/5)
}

// rows are the body and its title in a frame, at most w by h cells.
func (b *box) rows(th *theme.Theme, w, h int) []string {
	title, rows := b.body.Rows(th)
	title = theme.StableWidth(title)
	inner := theme.Width(title) + 2
	for _, r := range rows {
		inner = max(inner, theme.Width(r))
	}
	inner = max(1, min(inner, w-4))
	rows = rows[:max(0, min(len(rows), h-2))]
	title = theme.Cut(title, inner)
	head := th.Accent.On("╭" + strings.Repeat("─", inner+2) + "╮")
	if title != "" {
		head = th.Accent.On("╭ ") + th.Bright.On(title) + " " +
			th.Accent.On(strings.Repeat("─", inner-theme.Width(title))+"╮")
	}
	out := []string{head}
	side := th.Accent.On("│")
	for _, r := range rows {
		out = append(out, side+" "+theme.Fit(r, inner)+" "+side)
	}
	return append(out, th.Accent.On("╰"+strings.Repeat("─", inner+2)+"╯"))
}

// room is the size available to a body, in cells.
type room struct{ w, h int }

func (r *room) Fit(w, h int) { r.w, r.h = w, h }
