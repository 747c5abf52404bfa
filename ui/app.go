// Package ui is the terminal application: inboxes, messages and the message in panes side by side.
//
// The root model (app) has the panes, which one has focus and what is selected. It routes messages, draws the
// bars, stacks dialogs and does what the actions do. These rules hold everywhere:
//
//   - Update and View do no I/O. Commands do the work. A result names its session and, for an
//     opened message, its generation; a stale result is dropped.
//   - Selections are by ID. Nothing that arrives moves the cursor or the scroll position.
//   - Every key, hint, palette entry and click on a hint is an action of one table, see action.go.
//   - Panes and dialogs change only themselves. The root calls their methods; a dialog calls the functions that
//     it was opened with.
//   - Text from a message or a service passes render.Clean before it is kept for the screen.
//   - There is one timer. It ticks once a second while something on the screen depends on the time.
//   - Nothing is conveyed by colour alone.
package ui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mayfly/internal/browser"
	"mayfly/internal/config"
	"mayfly/internal/term"
	"mayfly/ui/host"
	"mayfly/ui/reader"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// app is the root model: it routes messages, lays out and draws the screen, and puts the subjects together.
type app struct {
	*common
	refocused bool // the terminal has just regained focus: ignore the click that did it

	// The subjects. What the application does for the user is in them, a file each: its actions, why they are
	// unavailable, what they do, the messages it waits for, and what it remembers. One that needs another has it.
	arrivals     *arrivals
	attachments  attachments
	commands     *commands
	comparing    comparing
	connecting   connecting
	copying      *copying
	deleting     deleting
	exporting    *exporting
	help         help
	inboxActions inboxActions
	links        links
	moving       moving
	reading      *reading
	searching    *searching
	sessions     *sessions
	viewing      viewing
}

func newApp(ctx context.Context, o Options, h *host.Host) *app {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &app{common: &common{ctx: ctx, log: o.Log, host: h, settings: newSettings(o.Config.UI, o.ThemePath), now: time.Now()}}
	a.reader = &reader.Pane{Away: o.Away != nil}
	a.subjects(o.Config)
	a.reset()
	a.inboxes.ByMail = a.settings.kept.ByMail
	a.connection = session.NewConnection(ctx, o.Services, o.Log, a.now)
	a.connection.OnEvents, a.connection.OnSeen = a.arrivals.apply, a.arrivals.mergeSeen
	a.table = table{actions: a.actions(o.Config.Commands)}
	if o.Away != nil {
		restrictAway(a.table.actions)
	}
	a.table.bind(o.Config.Keys)
	a.applyTheme()
	if o.LogPath != "" {
		a.note("Logging to " + host.ShortPath(o.LogPath))
	}
	if text := o.Config.ProblemSummary(); text != "" {
		a.footer.show(outcome{Result: host.Result{Err: errors.New(text)}}, a.now)
	}
	return a
}

// subjects puts the subjects together.
func (a *app) subjects(o config.Config) {
	c := a.common
	a.links = links{c}
	painter := &browser.Screenshotter{Command: o.Browser.Command, Timeout: o.Browser.Limit()}
	if c.host != nil && c.host.Away {
		painter.Off = errors.New("no browser renders for a session over SSH")
	}
	a.reading = &reading{common: c, painter: painter}
	a.copying = &copying{common: c, links: a.links, reading: a.reading, auto: o.UI.Autocopy}
	a.reading.onRead = a.copying.onRead
	a.arrivals = &arrivals{common: c, reading: a.reading, copying: a.copying, follow: o.UI.Follow}
	a.inboxActions = inboxActions{c, a.copying}
	a.deleting = deleting{c}
	a.connecting = connecting{c, a.reading, a.inboxActions, a.reset}
	a.moving = moving{c, a.reading}
	a.searching = &searching{common: c, reading: a.reading}
	a.sessions = &sessions{common: c}
	a.comparing = comparing{c, a.reading}
	a.exporting = &exporting{common: c, reading: a.reading}
	a.commands = &commands{common: c, reading: a.reading}
	a.attachments = attachments{c}
	a.help = help{c, a.perform}
	a.viewing = viewing{c}
}

// actions are everything that the keys do, in the order of the help.
func (a *app) actions(configured []config.Command) []*action {
	return inOrder(slices.Concat(
		a.arrivals.actions(), a.attachments.actions(), a.commands.actions(), a.comparing.actions(), a.connecting.actions(), a.copying.actions(),
		a.deleting.actions(), a.exporting.actions(), a.help.actions(), a.inboxActions.actions(), a.links.actions(), a.moving.actions(),
		a.reading.actions(), a.searching.actions(), a.sessions.actions(), a.viewing.actions(), settingsActions(a.common),
	), a.commands.configured(configured))
}

// reset forgets everything about a service.
func (a *app) reset() {
	a.screen.reset(a.now)
	a.searching.reset()
	a.arrivals.forget()
	a.copying.forget()
}

// runDue does what has become due: it copies what was asked for and has been found, and follows the newest
// message unless the user is busy with a dialog or typing.
func (a *app) runDue() tea.Cmd {
	found, _ := a.copying.runPending(a.busy())
	if !a.busy() {
		a.arrivals.followNewest()
	}
	return tea.Batch(found, a.copying.copyArrived())
}

// close ends every session, saves the settings and removes the copies.
func (a *app) close() error {
	a.arrivals.leave()
	a.connection.Close()
	a.reader.Close() // stops the browser that renders
	a.reading.painter.Close()
	return errors.Join(a.settings.save(), a.host.Copies.Remove())
}

// Init asks the terminal for its colours and starts to connect, without delaying the first frame.
func (a *app) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, a.connection.Connect(session.Target{}, a.now), redrawIn(startDelay))
}

// fit lays out the screen for the current state and requests what it still lacks.
func (a *app) fit() tea.Cmd {
	a.inboxes.Unwatched = a.connection.Trouble() != session.NoTrouble
	cmds := []tea.Cmd{a.reading.showSelected(), a.reader.TidyImages(), a.reader.Layout(), a.reader.Overlay(len(a.dialogs) > 0 || a.layout.TooSmall), a.tick()}
	for _, d := range a.dialogs {
		d.Fit(a.width, a.height)
	}
	return tea.Batch(append(cmds, a.requests())...)
}

// requests requests what the panes and the open dialogs lack, and has saved what was seen.
func (a *app) requests() tea.Cmd {
	s := a.session()
	if s == nil {
		return nil
	}
	s.SetView(a.inView())
	s.SaveSeen(a.store.Unsaved())
	return a.reading.requests(a.toRead(), a.searching.toRead())
}

// toRead are the messages to read ahead of the others, the most urgent first.
func (a *app) toRead() []*store.Message {
	pending, arrived := a.copying.toRead()
	if m := a.arrivals.elsewhere; m != nil { // whose code is said
		pending = append(slices.Clone(pending), m)
	}
	return append(pending[:len(pending):len(pending)], arrived...)
}

// tick sets the timer, unless it runs, while something on the screen depends on the time.
func (a *app) tick() tea.Cmd {
	counts := len(a.store.Order) > 0 || a.sessions.open() || a.footer.showing(a.now) || a.connection.Trouble() != session.NoTrouble
	if a.ticking || a.layout.TooSmall || !counts {
		return nil
	}
	a.ticking = true
	return tea.Tick(a.tickInterval(), func(time.Time) tea.Msg { return tickMsg{} })
}

// View draws the frame.
func (a *app) View() tea.View {
	frame := a.frame()
	v := tea.NewView(term.KeepPlaces(frame))
	if a.busy() && !a.layout.TooSmall { // where an input method shows its candidates
		if x, y, ok := a.theme.CaretIn(strings.Split(frame, "\n")); ok {
			v.Cursor = tea.NewCursor(x, y)
			v.Cursor.Shape, v.Cursor.Blink = tea.CursorBar, false
		}
	}
	v.AltScreen = true
	v.ReportFocus = true
	v.KeyboardEnhancements.ReportEventTypes = true // to tell a held key from a repeated press
	v.WindowTitle = "mayfly"
	if n := a.store.Unread(); n > 0 {
		v.WindowTitle = fmt.Sprintf("(%d) mayfly", n)
	}
	if a.settings.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// frame is the whole screen: height rows of width cells.
func (a *app) frame() string {
	if a.width <= 0 || a.height <= 0 {
		return ""
	}
	if a.layout.TooSmall {
		return strings.Join(theme.TooSmall(a.width, a.height), "\n")
	}
	rows := make([]string, a.height)
	rows[0] = a.header(a.place(), a.width)
	rows[a.height-1] = a.footer.draw(a.theme, a.table, a.focus, a.typingKeys(), a.width, a.now)
	a.drawPanes(rows)
	for _, d := range a.dialogs {
		d.Draw(a.theme, rows, a.width)
	}
	return strings.Join(rows, "\n")
}

// drawPanes draws the panes. The one that has focus stands out unless a dialog is open.
func (a *app) drawPanes(rows []string) {
	var columns [][]string
	for p, r := range a.layout.Panes {
		focused := len(a.dialogs) == 0 && a.focus == theme.Pane(p)
		switch p := theme.Pane(p); {
		case r.Empty():
		case p == theme.Inboxes:
			columns = append(columns, a.inboxes.Draw(a.theme, a.serviceNow(), focused))
		case p == theme.Messages:
			columns = append(columns, a.messages.Draw(a.theme, a.serviceNow(), focused, a.noMessages(r.W-4)))
		default:
			columns = append(columns, a.reader.Draw(focused, a.now))
		}
	}
	copy(rows[a.layout.Top():], theme.Join(a.theme, columns))
	for n, y := range a.layout.Rules {
		rows[y] = a.layout.Rule(a.theme, n == 0)
	}
}

// Options are the application's settings.
type Options struct {
	Services  session.Options
	Config    config.Config // read with [DefaultKeys]
	Log       *slog.Logger  // nil for none; gets no keys and no bodies
	LogPath   string        // where Log writes, as shown to the user; empty when nothing is logged
	ThemePath string        // file that keeps the theme chosen on the screen; empty for none
	Release   func() func() // called before another program gets the terminal; it returns what to call after
	Away      *Away         // the terminal of a user who is not at this machine, of which nothing is used then; else nil
	NoColor   bool          // no colours, whatever the terminal supports; see NO_COLOR
}

// Run shows the application until the user quits or ctx ends. Its error is one line for the user.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	h := host.New(o.Config.UI.DownloadDir, o.Release)
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler()}
	if o.Away != nil {
		h = host.Terminal(o.Away.Location)
		options = append(options, o.Away.options()...)
	} else {
		browser.RemoveLeft()
	}
	a := newApp(ctx, o, h)
	if o.NoColor {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	program := tea.NewProgram(a, options...)
	if o.Away != nil {
		go o.Away.follow(ctx, program)
	}
	_, err := program.Run()
	ended := ctx.Err() != nil
	cancel()
	closed := a.close()
	switch {
	case errors.Is(err, tea.ErrProgramPanic): // Bubble Tea has given the terminal back and shown the details
		return errors.New("crashed: the lines above say where")
	case errors.Is(err, tea.ErrInterrupted), errors.Is(err, tea.ErrProgramKilled) && ended:
		return closed
	case err != nil:
		return fmt.Errorf("the terminal was lost: %w", errors.Join(err, closed))
	}
	return closed
}

// DefaultKeys are the keys of every action, by its ID in config.toml.
func DefaultKeys() map[string][]string {
	keys := map[string][]string{}
	for _, c := range newActions() {
		keys[c.ID] = c.Keys
	}
	return keys
}

// newActions are the actions of an application that is not used.
func newActions() []*action {
	a := &app{common: &common{settings: &settings{}}}
	a.subjects(config.Config{})
	return a.actions(nil)
}
