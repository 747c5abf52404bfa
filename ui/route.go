package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/internal/term"
	"mayfly/ui/host"
	"mayfly/ui/intent"
	"mayfly/ui/reader"
	"mayfly/ui/session"
	"mayfly/ui/theme"
)

func (a *app) route(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.width, a.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return a.onKey(msg)
	case tea.PasteMsg:
		return a.toTyped(msg)
	case tea.MouseMsg:
		return a.onMouse(msg)
	case tea.RawMsg:
		return a.Reader.OnRaw(msg)
	case theme.TickMsg:
		a.ticker.Fired(msg)
		a.Prune(a.now)
		return a.link.Retry(a.now)
	case Rested, Gathered:
		return a.applyIntent(a.OnTimer(msg))
	case reader.Laid:
		return a.Reader.Take(msg)
	case session.Answer:
		return a.onAnswer(msg)
	case session.Connected:
		return a.onConnected(msg)
	case session.Result:
		if msg.Session() == a.link.Session { // else it is stale
			return a.onResult(msg)
		}
	case host.Done:
		a.report(msg)
	case intent.Late:
		return a.onLate(msg)
	default:
		return a.onTerminal(msg)
	}
	return nil
}

func (a *app) toDialog(msg tea.Msg) tea.Cmd {
	n := len(a.dialogs)
	if n == 0 {
		return nil
	}
	r := a.dialogs[n-1].Update(msg)
	if r.Close {
		a.dialogs = a.dialogs[:n-1]
	}
	return a.applyIntent(r.Intent)
}

// toTyped passes a message to the topmost dialog or the line being typed.
func (a *app) toTyped(msg tea.Msg) tea.Cmd {
	switch {
	case len(a.dialogs) > 0:
		return a.toDialog(msg)
	case a.Pane().Typing():
		return a.applyIntent(a.Workspace.Update(msg))
	}
	return nil
}

// onKey passes a key to the dialog or the line being typed, or performs the action bound to it.
func (a *app) onKey(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c", name == "q" && a.Layout.TooSmall:
		return a.Reader.Quit()
	case a.Layout.TooSmall:
		return nil
	case a.busy():
		return a.toTyped(k)
	}
	if c := a.table.Lookup(name, a.Focus); c != nil && (!k.IsRepeat || c.Held) {
		return a.perform(c)
	}
	return nil
}

func (a *app) perform(c *Action) tea.Cmd {
	if c.Reason() != "" {
		a.footer.Refuse(c, a.now)
		return nil
	}
	a.log.Debug("action", "id", c.ID)
	return a.applyIntent(c.Run())
}

func (a *app) onMouse(msg tea.MouseMsg) tea.Cmd {
	click, clicked := msg.(tea.MouseClickMsg)
	_, released := msg.(tea.MouseReleaseMsg)
	switch {
	case a.Layout.TooSmall:
	case clicked && a.refocused: // the click that brings the window back does nothing else
		a.refocused = false
	case len(a.dialogs) > 0 && !released:
		return a.toDialog(msg)
	case clicked && click.Button != tea.MouseLeft:
	case clicked && click.Y == a.Layout.Footer.Y:
		if c := a.footer.ActionAt(a.theme, a.table, a.Focus, a.width, a.now, click.X); c != nil {
			return a.perform(c)
		}
	default:
		a.refocused = a.refocused && !released
		return a.applyIntent(a.Workspace.Update(msg))
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
		a.Unseen = a.terminal.Blurred
		a.MarkRead()
		if s := a.link.Session; s != nil {
			s.Watcher.SetFocused(!a.terminal.Blurred)
		}
	}
	return cmd
}
