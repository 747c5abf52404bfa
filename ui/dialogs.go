package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/ui/dialog"
	"mayfly/ui/session"
)

// dialogStack is the dialogs that are open.
type dialogStack struct {
	dialogs []dialog.Dialog // the last one takes the keys

	submitted *session.Request // that of a form, which waits for its answer
	closed    func() tea.Cmd   // what follows once that has closed the form; may be nil
}

// show opens a dialog.
func (d *dialogStack) show(x dialog.Dialog) tea.Cmd {
	d.dialogs = append(d.dialogs, x)
	return nil
}

// toDialog passes a message to the topmost dialog, and does what that leads to once it is closed.
func (d *dialogStack) toDialog(msg tea.Msg) tea.Cmd {
	n := len(d.dialogs)
	if n == 0 {
		return nil
	}
	r := d.dialogs[n-1].Update(msg)
	if r.Close {
		d.dialogs = d.dialogs[:n-1]
	}
	if r.Do == nil {
		return nil
	}
	return r.Do()
}

// answerForm answers the form that a request came from, if it is still open. It returns what follows if that closed it.
func (d *dialogStack) answerForm(r *session.Request, err error) (closed func() tea.Cmd) {
	if r != d.submitted || r == nil {
		return nil
	}
	open, text := len(d.dialogs), ""
	if err != nil {
		text = session.Explain(err)
	}
	d.submitted, closed = nil, d.closed
	if d.toDialog(dialog.Answered{Err: text}); len(d.dialogs) == open {
		return nil
	}
	return closed
}
