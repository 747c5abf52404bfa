package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/internal/term"
	"mayfly/ui/host"
	"mayfly/ui/reader"
	"mayfly/ui/session"
	"mayfly/ui/theme"
)

func (a *app) route(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.width, a.height = msg.Width, msg.Height
		a.reader.Redraw() // this comes after another program had the terminal, too
	case tea.KeyPressMsg:
		return a.onKey(msg)
	case tea.PasteMsg:
		return a.toTyped(msg)
	case tea.MouseMsg:
		return a.onMouse(msg)
	case tea.RawMsg:
		return a.reader.OnRaw(msg)
	case tickMsg:
		a.ticking = false
		a.prune(a.now)
		if cmd := a.connection.Retry(a.now); cmd != nil {
			return tea.Batch(cmd, redrawIn(startDelay))
		}
	case redrawMsg:
	case rested:
		return a.onRest(msg)
	case burstOver:
		return a.onBurstOver()
	case reader.LayoutDone:
		return a.reader.Take(msg)
	case reader.PaintingDone:
		a.reader.OnPainted(msg)
	case reader.DrawOver:
		return a.reader.OnDraw(msg)
	case session.Answer:
		return a.onAnswer(msg)
	case session.Connected:
		return a.onConnected(msg)
	case session.Result:
		if msg.Session() == a.session() { // else it is stale
			return a.onResult(msg)
		}
	case host.Done:
		a.report(msg)
	case ran:
		return a.onRan(msg)
	default:
		return a.onTerminal(msg)
	}
	return nil
}

// toDialog passes a message to the topmost dialog, and does what that leads to once it is closed.
func (a *app) toDialog(msg tea.Msg) tea.Cmd {
	n := len(a.dialogs)
	if n == 0 {
		return nil
	}
	r := a.dialogs[n-1].Update(msg)
	if r.Close {
		a.dialogs = a.dialogs[:n-1]
	}
	if r.Do == nil {
		return nil
	}
	return r.Do()
}

// toTyped passes a message to the topmost dialog or the line being typed.
func (a *app) toTyped(msg tea.Msg) tea.Cmd {
	switch {
	case len(a.dialogs) > 0:
		return a.toDialog(msg)
	case a.pane().Typing():
		return a.typed(msg)
	}
	return nil
}

// onKey passes a key to the dialog or the line being typed, or performs the action bound to it.
func (a *app) onKey(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c", name == "q" && a.layout.TooSmall:
		return a.reader.Quit()
	case a.layout.TooSmall:
		return nil
	case a.busy():
		return a.toTyped(k)
	}
	a.look()
	if c := a.table.lookup(name, a.focus); c != nil && (!k.IsRepeat || c.Held) {
		return a.perform(c)
	}
	return nil
}

func (a *app) perform(c *action) tea.Cmd {
	if a.table.reason(c) != "" {
		a.footer.say(func() string { return a.table.reason(c) }, a.now)
		return nil
	}
	a.log.Debug("action", "id", c.ID)
	return c.Run(a)
}

func (a *app) onMouse(msg tea.MouseMsg) tea.Cmd {
	click, clicked := msg.(tea.MouseClickMsg)
	_, released := msg.(tea.MouseReleaseMsg)
	switch {
	case a.layout.TooSmall:
		return nil
	case clicked && a.refocused: // the click that brings the window back does nothing else
		a.refocused = false
		return nil
	case len(a.dialogs) > 0 && !released:
		return a.toDialog(msg)
	case clicked && click.Button != tea.MouseLeft:
		return nil
	case clicked && click.Y == a.layout.Footer.Y:
		if c := a.footer.actionAt(a.theme, a.table, a.focus, a.width, a.now, click.X); c != nil && !a.pane().Typing() {
			a.look()
			return a.perform(c)
		}
		return nil
	}
	a.refocused = a.refocused && !released
	switch m := msg.(type) {
	case tea.MouseMotionMsg:
		a.dividers.Drag(a.layout, m.X)
	case tea.MouseReleaseMsg:
		a.dividers.Release()
	case tea.MouseWheelMsg:
		a.look()
		if p, ok := a.layout.At(m.X, m.Y); ok {
			a.panes()[p].Scroll(theme.WheelRows(m))
		}
	case tea.MouseClickMsg:
		a.look()
		return a.click(m)
	}
	return nil
}

func (a *app) onTerminal(msg tea.Msg) tea.Cmd {
	change, cmd := a.terminal.Update(msg)
	switch change {
	case term.Colors, term.Images:
		a.applyTheme()
	case term.Focus:
		a.refocused = !a.terminal.Blurred
		if s := a.session(); s != nil {
			s.Watcher.SetFocused(!a.terminal.Blurred)
		}
	}
	return cmd
}
