package ui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/term"
	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/reader"
	"mayfly/ui/session"
	"mayfly/ui/theme"
)

// app is the root model.
type app struct {
	Workspace
	ctx      context.Context
	log      *slog.Logger
	host     *host.Host
	settings *Settings
	link     *session.Link
	table    Table
	commands *Commands
	dialogs  []dialog.Dialog // the last one takes the keys
	footer   Footer
	ticker   theme.Ticker

	now           time.Time
	width, height int
	terminal      term.Capabilities
	refocused     bool // the terminal has just regained focus: ignore the click that did it
	theme         *theme.Theme
}

func newApp(ctx context.Context, o Options, h *host.Host) *app {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	now := time.Now()
	a := &app{Workspace: *NewWorkspace(now), ctx: ctx, log: o.Log, host: h, settings: NewSettings(o.Config.UI, o.ThemePath), now: now}
	a.Follow, a.Autocopy = o.Config.UI.Follow, o.Config.UI.Autocopy
	a.link = session.NewLink(ctx, o.Services, o.Log, now)
	a.commands = &Commands{Configured: o.Config.Commands, Context: ctx, Host: h, View: func() render.View { return a.Reader.View }, Subject: func() Subject { return a.Subject(a.link, a.table, a.now) }}
	a.table = a.actions()
	a.table.Bind(o.Config.Keys)
	a.applyTheme()
	if o.LogPath != "" {
		a.note("Logging to " + host.ShortPath(o.LogPath))
	}
	if text := o.Config.Complaint(); text != "" {
		a.footer.Show(Failure, text, now)
	}
	return a
}

// close ends every session, saves the settings and removes the copies.
func (a *app) close() error {
	a.link.Close()
	return errors.Join(a.settings.Save(), a.host.Copies.Remove())
}

// Init asks the terminal for its colours and starts to connect, without delaying the first frame.
func (a *app) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, a.link.Connect(session.Target{}, a.now))
}

// Update changes the state and returns the work to do; it does no I/O itself.
func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	a.now = time.Now()
	cmd := a.route(msg)
	return a, tea.Batch(cmd, a.applyIntent(a.Settle(a.busy())), a.fit())
}

// busy reports whether a dialog is open or a line is being typed. What arrives from outside then
// leaves the focus alone, so that no letter meant for them becomes a
func (a *app) busy() bool { return len(a.dialogs) > 0 || a.Pane().Typing() }

// fit lays out the screen for the current state and requests what it still lacks.
func (a *app) fit() tea.Cmd {
	a.Fit(a.width, a.height)
	cmds := []tea.Cmd{a.Reader.TidyImages(), a.Reader.Layout(), a.wake()}
	for _, d := range a.dialogs {
		d.Fit(a.width, a.height)
	}
	if s := a.link.Session; s != nil {
		cmds = append(cmds, a.Requests(s, a.dialogs, a.now))
	}
	return tea.Batch(cmds...)
}

// wake sets the timer for the next time-dependent change on the screen.
func (a *app) wake() tea.Cmd {
	var next theme.Alarm
	if !a.Layout.TooSmall {
		a.Wake(a.now, &next, a.facts())
		a.footer.Wake(a.now, &next)
	}
	return a.ticker.Set(a.now, next)
}

// View draws the frame.
func (a *app) View() tea.View {
	v := tea.NewView(a.frame())
	v.AltScreen = true
	v.ReportFocus = true
	v.KeyboardEnhancements.ReportEventTypes = true // to tell a held key from a repeated press
	v.WindowTitle = "mayfly"
	if n := a.Store.Unread(); n > 0 {
		v.WindowTitle = fmt.Sprintf("(%d) mayfly", n)
	}
	if a.settings.Mouse {
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
	if a.Layout.TooSmall {
		return strings.Join(theme.TooSmall(a.width, a.height), "\n")
	}
	rows, facts := make([]string, a.height), a.facts()
	rows[a.Layout.Header.Y] = facts.Header(a.Path(), a.width)
	rows[a.Layout.Footer.Y] = a.footer.Draw(a.theme, a.table, a.Focus, a.width, a.now)
	a.Draw(a.theme, rows, a.now, len(a.dialogs) == 0, facts)
	for _, d := range a.dialogs {
		d.Draw(a.theme, rows, a.width)
	}
	return strings.Join(rows, "\n")
}

// facts are what the header and empty panes are drawn from.
func (a *app) facts() Facts {
	return a.Facts(Facts{Theme: a.theme, Now: a.now, Link: a.link, Keys: a.table, Pending: a.footer.Pending()})
}

// applyTheme loads the theme for the terminal and passes it to the reader.
func (a *app) applyTheme() {
	dark, known := a.terminal.Background != term.LightBackground, a.terminal.Background != term.UnknownBackground
	th, err := theme.For(a.settings.Theme, dark, known, a.terminal.Profile)
	if err != nil {
		a.report(host.Done{Err: err})
	}
	th.Graphemes = a.terminal.Graphemes
	a.theme = th
	a.Reader.SetLook(th, a.terminal.ImageMode(), reader.Hints{
		Image:  theme.Hint(th, a.table.KeyFor("images"), "shows it"),
		Images: theme.Hint(th, a.table.KeyFor("images"), "shows them"),
		Hidden: a.table.KeyFor("hidden"),
		Retry:  theme.Hint(th, a.table.KeyFor("refresh"), "try again"),
	})
}

// note shows text in the bottom line.
func (a *app) note(text string) { a.footer.Show(NoteLevel, text, a.now) }

func (a *app) report(d host.Done) {
	if d.Err != nil {
		a.log.Warn("failed", "error", d.Err)
	}
	a.footer.Done(d, a.now)
}
