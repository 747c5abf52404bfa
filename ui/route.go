package ui

import (
	"cmp"
	"fmt"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/term"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/reader"
	"mayfly/ui/session"
	"mayfly/ui/theme"
)

// Update changes the state and returns the work to do; it does no I/O itself.
func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	a.now = time.Now()
	if s := a.session(); s != nil {
		a.store.Ahead = s.Ahead()
	}
	cmd := a.route(msg)
	return a, tea.Batch(cmd, a.runDue(), a.fit())
}

// route passes a message to what it is for.
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
		return tea.Batch(a.connecting.retry(), a.sessions.refresh())
	case redrawMsg:
	case session.Answer:
		return a.onAnswer(msg)
	case session.Connected:
		return a.connecting.use(msg)
	case burstOver:
		return a.arrivals.announce()
	case rested:
		return a.reading.onRest(msg)
	case reader.LayoutDone:
		return a.reader.ApplyLayout(msg)
	case reader.PaintingDone:
		a.reader.OnPainted(msg)
	case reader.DrawOver:
		return a.reader.OnDraw(msg)
	case host.Result:
		return a.report(msg)
	default:
		return a.onTerminal(msg)
	}
	return nil
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
	a.refocused = false // it was not a click that did it
	if after, ok := afterEsc(k); ok && !dialog.EditsWords(k) && (a.busy() || a.table.lookup(name, a.focus) == nil) {
		return tea.Batch(a.onKey(tea.KeyPressMsg{Code: tea.KeyEscape}), a.onKey(after))
	}
	switch {
	case name == "ctrl+c", name == "q" && a.layout.TooSmall:
		return a.reader.Quit()
	case a.layout.TooSmall:
		return nil
	case a.busy():
		return a.toTyped(k)
	}
	c := a.table.lookup(name, a.focus)
	if c == nil || c.ID != "quit" && c.ID != "suspend" {
		a.noteInteraction(!k.IsRepeat && (c == nil || !c.Repeats))
	}
	if c != nil && (!k.IsRepeat || c.Repeats) {
		return a.perform(c)
	}
	return nil
}

// afterEsc returns the key that was pressed after esc, where the terminal sent both at once, which is what it sends for alt and
// that key: keys typed ahead over SSH, or within the escape-time of tmux.
func afterEsc(k tea.KeyPressMsg) (tea.KeyPressMsg, bool) {
	if !k.Mod.Contains(tea.ModAlt) {
		return k, false
	}
	k.Mod &^= tea.ModAlt
	if typed := cmp.Or(k.ShiftedCode, k.Code); unicode.IsPrint(typed) && !k.Mod.Contains(tea.ModCtrl) {
		k.Text = string(typed)
	}
	return k, true
}

// noteInteraction notes that the user presses a key or a button, or turns the wheel; acts unless that only moves on.
func (a *app) noteInteraction(acts bool) {
	a.arrivals.touched = true
	a.reading.noteInteraction(acts)
}

func (a *app) perform(c *action) tea.Cmd {
	if c.reason() != "" {
		a.footer.say(func() string { return c.reason() }, a.now)
		return nil
	}
	a.log.Debug("action", "id", c.ID)
	return c.Run()
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
	case clicked && click.Y == a.height-1:
		if c := a.footer.actionAt(a.theme, a.table, a.focus, a.width, a.now, click.X); c != nil && !a.pane().Typing() {
			a.noteInteraction(c.ID != "quit")
			return a.perform(c)
		}
		return nil
	}
	a.refocused = a.refocused && !released
	switch m := msg.(type) {
	case tea.MouseWheelMsg:
		a.noteInteraction(true)
		if p, ok := a.layout.At(m.X, m.Y); ok {
			a.panes()[p].Scroll(theme.WheelRows(m))
		}
	case tea.MouseClickMsg:
		a.noteInteraction(true)
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

func (a *app) click(m tea.MouseClickMsg) tea.Cmd {
	p, ok := a.layout.At(m.X, m.Y)
	if !ok {
		return nil
	}
	for _, pane := range a.panes() {
		pane.StopTyping()
	}
	if p == theme.Reader && a.message() == nil {
		return nil
	}
	a.focus = p
	switch {
	case p == theme.Reader:
		l, reason := a.reader.Click(m)
		a.note(reason)
		if l.URL != "" {
			return a.links.ask(l)
		}
	case p == theme.Inboxes && a.inboxes.Click(m.Y):
		a.showInbox()
	case p == theme.Messages && a.messages.Click(m.Y):
		a.reading.markRead()
		return a.reading.fetchPending()
	}
	return nil
}

// typed passes a key or a paste to the filter or the search being typed.
func (a *app) typed(msg tea.Msg) tea.Cmd {
	on := a.pane().Type(msg)
	if k, ok := msg.(tea.KeyPressMsg); ok && on {
		return a.onKey(k)
	}
	if a.focus != theme.Reader {
		a.filtered()
	}
	return nil
}

// typingKeys says what the keys do while a filter or a search is typed, and how many rows match; "" otherwise.
func (a *app) typingKeys() string {
	if n := len(a.dialogs); n > 0 {
		if d, ok := a.dialogs[n-1].(interface{ Hint() string }); ok {
			return " " + a.theme.Text.On(d.Hint())
		}
		return ""
	}
	if !a.pane().Typing() {
		return ""
	}
	hint := func(key, does string) string { return " " + theme.Hint(a.theme, key, does) + " " }
	keys := hint("enter", "keep") + hint("esc", "clear")
	list, all := &a.inboxes.Pane, len(a.store.Order)
	switch a.focus {
	case theme.Reader:
		return keys
	case theme.Messages:
		list, all = &a.messages.Pane, len(a.store.Keys(a.messages.InboxID))
	}
	keys += hint("↑↓", "move")
	if list.Filter.On() {
		keys += a.theme.Text.On(fmt.Sprintf(" %d of %d match", list.Len(), all))
	}
	return keys
}
