package ui

import (
	"time"

	"mayfly/ui/theme"
)

// Draw draws the panes onto the rows of a screen. The one that has focus stands out when focused.
func (w *Workspace) Draw(th *theme.Theme, rows []string, now time.Time, focused bool, facts Facts) {
	var columns [][]string
	for p, r := range w.Layout.Panes {
		has := focused && w.Focus == theme.Pane(p)
		switch p := theme.Pane(p); {
		case r.Empty():
		case p == theme.Inboxes:
			columns = append(columns, w.Inboxes.Draw(th, now, has))
		case p == theme.Messages:
			columns = append(columns, w.Messages.Draw(th, now, has, facts.Messages(r.W-4)))
		default:
			columns = append(columns, w.Reader.Draw(has, facts.Reader(r.W-4), now))
		}
	}
	copy(rows[w.Layout.Top():], theme.Join(th, columns))
	for n, y := range w.Layout.Rules {
		rows[y] = w.Layout.Rule(th, n == 0)
	}
}

// Wake sets the alarm for the next time-dependent change of a pane.
func (w *Workspace) Wake(now time.Time, a *theme.Alarm, facts Facts) {
	w.Inboxes.Wake(now, a)
	w.Messages.Wake(now, a)
	w.Reader.Wake(now, a)
	facts.Wake(a, w.Messages.Len() == 0 && !w.Messages.Rect.Empty())
}
