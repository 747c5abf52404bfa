package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/term"
	"mayfly/ui/action"
	"mayfly/ui/clock"
	"mayfly/ui/panes"
	"mayfly/ui/reader"
	"mayfly/ui/session"
)

// route gives a message to whoever it is for.
func (a *app) route(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.width, a.height = msg.Width, msg.Height
		return a.toDialog(msg)
	case tea.KeyPressMsg:
		return a.onKey(msg)
	case tea.PasteMsg:
		switch {
		case len(a.dialogs) > 0:
			return a.toDialog(msg)
		case a.pane().Typing():
			return a.carry(a.pane().Update(msg))
		}
	case tea.MouseMsg:
		return a.onMouse(msg)
	case tea.RawMsg:
		return a.reader.OnRaw(msg)
	case clock.TickMsg:
		a.ticker.Fired(msg)
		a.prune()
		return a.link.Retry(a.now)
	case rested:
		return a.onRest(msg)
	case reader.Laid:
		return a.reader.Take(msg)
	case session.Connected:
		return a.onConnected(msg)
	case session.Result:
		if msg.Session() == a.link.Session { // else it is stale
			return a.onResult(msg)
		}
	case session.Done:
		a.say(msg)
	default:
		return a.onTerminal(msg)
	}
	return nil
}

// toDialog gives a message to the dialog that has the keys.
func (a *app) toDialog(msg tea.Msg) tea.Cmd {
	n := len(a.dialogs)
	if n == 0 {
		return nil
	}
	r := a.dialogs[n-1].Update(msg)
	if r.Close {
		a.dialogs = a.dialogs[:n-1]
	}
	return a.carry(r.Intent)
}

// onKey gives a key to the dialog, the line being typed, or the action it is the key of.
func (a *app) onKey(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c", name == "q" && a.layout.TooSmall:
		return a.quit()
	case a.layout.TooSmall:
		return nil
	case len(a.dialogs) > 0:
		return a.toDialog(k)
	case a.pane().Typing():
		return a.carry(a.pane().Update(k))
	}
	if c := a.table.Lookup(name, a.focus); c != nil && (!k.IsRepeat || c.Held) {
		return a.perform(c)
	}
	return nil
}

// perform runs an action, or says why it cannot be done now.
func (a *app) perform(c *action.Action) tea.Cmd {
	if reason := c.Reason(); reason != "" {
		a.tell(reason)
		return nil
	}
	a.opts.Log.Debug("action", "id", c.ID)
	return a.carry(c.Run())
}

// onMouse has the mouse do what keys do.
func (a *app) onMouse(msg tea.MouseMsg) tea.Cmd {
	if a.layout.TooSmall {
		return nil
	}
	m := msg.Mouse()
	switch msg := msg.(type) {
	case tea.MouseMotionMsg:
		a.dividers.Drag(a.layout, m.X)
	case tea.MouseReleaseMsg:
		a.dividers.Release()
		a.refocused = false
	case tea.MouseWheelMsg:
		if len(a.dialogs) > 0 {
			return a.toDialog(msg)
		}
		if p, ok := a.layout.At(m.X, m.Y); ok {
			return a.carry(a.panes()[p].Update(msg))
		}
	case tea.MouseClickMsg:
		switch {
		case a.refocused: // the click that brings the window back does nothing else
			a.refocused = false
		case len(a.dialogs) > 0:
			return a.toDialog(msg)
		case m.Button == tea.MouseLeft:
			return a.onClick(msg)
		}
	}
	return nil
}

func (a *app) onClick(m tea.MouseClickMsg) tea.Cmd {
	if a.dividers.Grab(a.layout, m.X, m.Y) {
		return nil
	}
	if m.Y == a.layout.Footer.Y {
		if c := a.footer.ActionAt(a.theme, a.table, a.focus, a.width, a.now, m.X); c != nil {
			return a.perform(c)
		}
		return nil
	}
	p, ok := a.layout.At(m.X, m.Y)
	if !ok {
		return nil
	}
	for _, pane := range a.panes() {
		pane.StopTyping()
	}
	if p == panes.Reader && !a.reader.Reading() {
		return nil
	}
	a.focus = p
	return a.carry(a.pane().Update(m))
}

// onTerminal takes what the terminal says about itself.
func (a *app) onTerminal(msg tea.Msg) tea.Cmd {
	change, cmd := a.terminal.Update(msg)
	switch change {
	case term.Colors, term.Images:
		a.applyTheme()
	case term.Focus:
		a.refocused = !a.terminal.Blurred
		a.markRead()
		if s := a.link.Session; s != nil {
			s.Watcher.SetFocused(!a.terminal.Blurred)
		}
	}
	return cmd
}
