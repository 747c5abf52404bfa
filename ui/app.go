package ui

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/config"
	"mayfly/term"
	"mayfly/ui/action"
	"mayfly/ui/clock"
	"mayfly/ui/dialog"
	"mayfly/ui/inboxes"
	"mayfly/ui/messages"
	"mayfly/ui/panes"
	"mayfly/ui/reader"
	"mayfly/ui/session"
	"mayfly/ui/status"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// app is the root model.
type app struct {
	ctx   context.Context
	opts  Options
	cfg   config.Config
	host  host
	table action.Table

	now       time.Time
	width     int
	height    int
	layout    panes.Layout
	dividers  panes.Dividers
	focus     panes.Pane
	terminal  term.Capabilities
	refocused bool // the terminal has just got the focus back: the click that did so does nothing else
	theme     *theme.Theme
	dialogs   []dialog.Dialog // the last one has the keys
	footer    status.Footer
	ticker    clock.Ticker

	link     *session.Link
	store    *store.Store
	inboxes  *inboxes.Pane
	messages *messages.Pane
	reader   *reader.Pane

	follow   bool
	creating bool           // an inbox is being made
	newest   *store.Message // the one that arrived last
	next     *store.Message // the one to open while following
	samples  int            // sample mails sent
}

func newApp(ctx context.Context, o Options, h host) *app {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	now := time.Now()
	a := &app{ctx: ctx, opts: o, cfg: o.Config, host: h, now: now, reader: &reader.Pane{}}
	a.link = session.NewLink(ctx, o.Connect, o.Log, now)
	a.table = a.actions()
	a.table.Bind(a.cfg.Keys)
	a.startOver()
	a.applyTheme()
	return a
}

// close ends every session and removes the copies.
func (a *app) close() error {
	a.link.Close()
	return a.host.copies.Remove()
}

// Init asks the terminal for its colours and connects, beside the first frame.
func (a *app) Init() tea.Cmd {
	if a.opts.LogPath != "" {
		a.footer.Say(status.Note, "Logging to "+session.ShortPath(a.opts.LogPath), a.now)
	}
	if problems := a.cfg.Problems; len(problems) > 0 {
		text := problems[0].String()
		if n := len(problems) - 1; n > 0 {
			text += fmt.Sprintf(" (and %d more: see mayfly doctor)", n)
		}
		a.footer.Say(status.Failure, text, a.now)
	}
	return tea.Batch(tea.RequestBackgroundColor, a.link.Connect(session.Target{}, a.now))
}

// Update changes the state and asks for what is to be done; it does no I/O.
func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	a.now = time.Now()
	cmd := a.route(msg)
	return a, tea.Batch(cmd, a.openNext(), a.fit())
}

// fit lays everything out for the state as it is now, and asks for what the screen still lacks.
func (a *app) fit() tea.Cmd {
	a.layout = panes.Compute(panes.Input{
		Width: a.width, Height: a.height, Focus: a.focus, Reading: a.reader.Reading(), Dividers: a.dividers,
	})
	a.inboxes.Fit(a.layout.Panes[panes.Inboxes])
	a.messages.Fit(a.layout.Panes[panes.Messages])
	a.reader.Fit(a.layout.Panes[panes.Reader])
	for _, d := range a.dialogs {
		d.Fit(a.width, a.height)
	}
	cmds := []tea.Cmd{a.reader.TidyImages(), a.fetchRaw(), a.reader.Layout(), a.wake()}
	if s := a.link.Session; s != nil {
		inView := []string{a.messages.InboxID}
		if a.messages.InboxID == store.All {
			inView = slices.Clone(a.store.Order)
		}
		s.SetView(inView)
		for _, m := range a.store.LookInto(a.messages.Keys()) {
			cmds = append(cmds, s.LookInto(m))
		}
	}
	return tea.Batch(cmds...)
}

// wake sets the timer for the next change of the screen by the passing of time.
func (a *app) wake() tea.Cmd {
	var next clock.Alarm
	if !a.layout.TooSmall {
		a.inboxes.Wake(a.now, &next)
		a.messages.Wake(a.now, &next)
		a.reader.Wake(a.now, &next)
		a.footer.Wake(a.now, &next)
		a.facts().Wake(&next, a.messages.Len() == 0 && !a.messages.Rect.Empty())
	}
	return a.ticker.Set(a.now, next)
}

// View draws the frame.
func (a *app) View() tea.View {
	v := tea.NewView(a.frame())
	v.AltScreen = true
	v.ReportFocus = true
	v.KeyboardEnhancements.ReportEventTypes = true // a held key is told from one pressed again
	v.WindowTitle = "mayfly"
	if n := a.store.Unread(); n > 0 {
		v.WindowTitle = fmt.Sprintf("(%d) mayfly", n)
	}
	if a.cfg.UI.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.ProgressBar = a.footer.ProgressBar()
	return v
}

// frame is the whole screen: height rows of width cells.
func (a *app) frame() string {
	if a.width <= 0 || a.height <= 0 {
		return ""
	}
	if a.layout.TooSmall {
		return strings.Join(panes.TooSmall(a.width, a.height), "\n")
	}
	rows := make([]string, a.height)
	facts := a.facts()
	rows[a.layout.Header.Y] = facts.Header(a.path(), a.width)
	rows[a.layout.Footer.Y] = a.footer.Draw(a.theme, a.table, a.focus, a.width, a.now)
	for n, y := range a.layout.Rules {
		rows[y] = a.layout.Rule(a.theme, n == 0)
	}
	var columns [][]string
	focused := func(p panes.Pane) bool { return a.focus == p && len(a.dialogs) == 0 }
	for p, r := range a.layout.Panes {
		switch p := panes.Pane(p); {
		case r.Empty():
		case p == panes.Inboxes:
			columns = append(columns, a.inboxes.Draw(a.theme, a.now, focused(p)))
		case p == panes.Messages:
			columns = append(columns, a.messages.Draw(a.theme, a.now, focused(p), facts.Messages(r.W-4)))
		default:
			columns = append(columns, a.reader.Draw(focused(p), facts.Reader(r.W-4), a.now))
		}
	}
	copy(rows[a.layout.Top():], panes.Join(a.theme, columns))
	for _, d := range a.dialogs {
		d.Draw(a.theme, rows, a.width)
	}
	return strings.Join(rows, "\n")
}

// facts are what the header and empty panes are drawn from.
func (a *app) facts() status.Facts {
	return status.Facts{
		Theme: a.theme, Now: a.now, Link: a.link, Store: a.store, Keys: a.table,
		Selected: a.inboxes.Inbox(), Listed: a.store.Inboxes[a.messages.InboxID], Newest: a.newest,
		Filtered: a.messages.Filter.On(), Creating: a.creating, Follow: a.follow,
	}
}

// path is where one is when only one pane is shown; nil when several are.
func (a *app) path() []string {
	if a.layout.Columns > 1 {
		return nil
	}
	parts := []string{"Inboxes"}
	if a.focus != panes.Inboxes {
		name := "All"
		if i := a.store.Inboxes[a.messages.InboxID]; i != nil {
			name = i.Name()
		}
		parts = append(parts, name)
	}
	if a.focus == panes.Reader && a.reader.Reading() {
		parts = append(parts, a.reader.Message.Subject)
	}
	return parts
}

// applyTheme makes the theme for the terminal.
func (a *app) applyTheme() {
	dark := a.terminal.Background != term.LightBackground
	th, err := theme.Load(a.cfg.UI.Theme, dark, a.terminal.Profile)
	if err != nil {
		a.footer.Say(status.Failure, err.Error(), a.now)
		if th, err = theme.Load("", dark, a.terminal.Profile); err != nil {
			th = &theme.Theme{}
		}
	}
	if a.terminal.Background == term.UnknownBackground { // what a bar is drawn on is not known yet
		th.Select, th.Rest = "", ""
	}
	a.theme = th
	a.reader.SetLook(th, a.terminal.ImageMode(), reader.Hints{
		Images: panes.Hint(th, a.table.KeyFor("images"), "shows them"),
		Retry:  panes.Hint(th, a.table.KeyFor("refresh"), "try again"),
	})
}
