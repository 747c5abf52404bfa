package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/cell"
	"mayfly/ui/theme"
)

// overlay is a dialog over the panes. It turns messages into intents and changes nothing but itself.
type overlay interface {
	open() tea.Cmd
	update(tea.Msg) intent
	draw(th *theme.Theme, w, h int) []string // at most w by h cells
}

// fitted is an overlay that is laid out for the size of the screen before it is drawn.
type fitted interface{ fit(w, h int) }

// fit lays the overlays out for the screen as it is now.
func (a *app) fit() {
	for _, o := range a.overlay {
		if f, ok := o.(fitted); ok {
			f.fit(a.width, a.height)
		}
	}
}

// intent is what a dialog wants done; the application carries it out.
type intent struct {
	close bool
	do    func(*app) tea.Cmd
	cmd   tea.Cmd // of the dialog itself
}

func (a *app) carry(i intent) tea.Cmd {
	if i.close {
		a.pop()
	}
	if i.do == nil {
		return i.cmd
	}
	return tea.Batch(i.cmd, i.do(a))
}

// frameBox puts rows of text into a box with a title, at most w by h cells.
func frameBox(th *theme.Theme, title string, rows []string, w, h int) []string {
	inner := cell.Width(title) + 2
	for _, r := range rows {
		inner = max(inner, cell.Width(r))
	}
	inner = max(1, min(inner, w-4))
	if len(rows) > h-2 {
		rows = rows[:max(0, h-2)]
	}
	title = cell.Cut(title, inner)
	head := "╭─"
	if title != "" {
		head = "╭ "
	}
	line := th.Accent.On(head)
	if title != "" {
		line += th.Bright.On(title) + " " + th.Accent.On(strings.Repeat("─", inner-cell.Width(title))+"╮")
	} else {
		line += th.Accent.On(strings.Repeat("─", inner+1) + "╮")
	}
	out := []string{line}
	side := th.Accent.On("│")
	for _, r := range rows {
		out = append(out, side+" "+cell.Fit(r, inner)+" "+side)
	}
	return append(out, th.Accent.On("╰"+strings.Repeat("─", inner+2)+"╯"))
}

// placed is where the rows of an overlay stand: in the middle, a little above it.
func placed(rows []string, width, height int) (x, y, w int) {
	for _, r := range rows {
		w = max(w, cell.Width(r))
	}
	return max(0, (width-w)/2), max(0, (height-len(rows))*2/5), w
}

// placeOver puts the rows of an overlay over the frame.
func placeOver(base, top []string, width int) {
	x, y, _ := placed(top, width, len(base))
	cell.Over(base, top, x, y, width)
}
