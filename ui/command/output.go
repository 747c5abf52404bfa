package command

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/ui/cell"
	"mayfly/ui/dialog"
	"mayfly/ui/theme"
)

// output shows what a command wrote.
type output struct {
	title string
	lines []string // cleaned
	width int      // of the longest line
	rows  []string // the lines, laid out
	w     int      // cells of a row
	pager dialog.Pager
}

func newOutput(title string, lines []string) dialog.Dialog {
	o := &output{title: title, lines: lines, pager: dialog.NewPager()}
	for _, line := range lines {
		o.width = max(o.width, cell.Width(line))
	}
	return dialog.Box(o)
}

// linesOf returns what a command wrote, without empty lines at its end.
func linesOf(written []byte) []string {
	text := strings.TrimRight(render.CleanLines(string(written)), "\n ")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

const (
	outputFoot  = "j k scroll   esc closes"
	outputWidth = 100 // columns, at most
)

// Fit breaks the lines where they are wider than the dialog.
func (o *output) Fit(w, h int) {
	if w = max(1, min(w, outputWidth, max(o.width, len(outputFoot)))); w != o.w {
		o.w, o.rows = w, nil
		for _, line := range o.lines {
			line = cell.Steady(line)
			o.rows = append(o.rows, cell.Slice(line, 0, w))
			for at := w; at < cell.Width(line); at += w {
				o.rows = append(o.rows, cell.Slice(line, at, at+w))
			}
		}
		o.pager.SetLines(o.rows)
	}
	o.pager.Fit(max(1, min(len(o.rows), h-2)))
}

func (o *output) Update(msg tea.Msg) dialog.Result {
	scrolled := o.pager.Update(msg)
	if k, ok := msg.(tea.KeyPressMsg); ok && !scrolled {
		name := k.String()
		return dialog.Result{Close: name == "esc" || name == "q" || name == "enter"}
	}
	return dialog.Result{}
}

func (o *output) Rows(th *theme.Theme) (string, []string) {
	from, to := o.pager.Visible()
	rows := append([]string{}, o.rows[from:to]...)
	return o.title, append(rows, "", th.Dim.On(cell.Cut(outputFoot, o.w)))
}
