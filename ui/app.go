// Package ui is the terminal application: inboxes, messages and the message in panes side by side.
//
// The root model (app) has the panes, which one has focus and what is selected. It routes messages, draws the
// bars, stacks dialogs and does what the actions do. These rules hold everywhere:
//
//   - Update and View do no I/O. Commands do the work. A result names its session and, for an
//     opened message, its generation; a stale result is dropped.
//   - Selections are by ID. Nothing that arrives moves the cursor or the scroll position.
//   - Every key, hint, palette entry and click on a hint is an action of one table, see actions.go.
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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/pelletier/go-toml/v2"

	"mayfly/internal/browser"
	"mayfly/internal/config"
	"mayfly/internal/files"
	"mayfly/internal/term"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/lists"
	"mayfly/ui/reader"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// app is the root model.
type app struct {
	ctx        context.Context
	log        *slog.Logger
	host       *host.Host
	settings   *settings
	connection *session.Connection
	table      table
	dialogs    []dialog.Dialog // the last one takes the keys
	footer     footer
	ticking    bool // the timer runs

	now           time.Time
	width, height int
	terminal      term.Capabilities
	refocused     bool // the terminal has just regained focus: ignore the click that did it
	theme         *theme.Theme

	store    *store.Store
	inboxes  *lists.Inboxes
	messages *lists.Messages
	reader   *reader.Pane
	painter  *browser.Painter
	search   *lists.Search
	focus    theme.Pane
	layout   theme.Layout
	zoomed   bool // the message has the whole screen
	dividers theme.Dividers

	follow    bool           // the newest message is selected as it arrives
	autocopy  bool           // each new code is copied as it arrives
	newest    *store.Message // the latest arrival
	following *store.Message // to be selected when the user is not busy
	resting   string         // the message that is fetched once the cursor rests on it
	looked    string         // the message that the user looked at last
	touched   bool           // the user has used the keys or the mouse
	elsewhere *store.Message // the newest that came to an inbox that is not listed
	burst     burst
	target    target
	copying   []*store.Message // those whose code is to be copied once they are read, newest first

	pipedTo    string // the command that a message was last piped to
	releasedTo string // the address last given to send a message on to
	submitted  string // the request of a form that waits for its answer
}

func newApp(ctx context.Context, o Options, h *host.Host) *app {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &app{
		ctx: ctx, log: o.Log, host: h, settings: newSettings(o.Config.UI, o.ThemePath), now: time.Now(), reader: &reader.Pane{},
		painter: &browser.Painter{Command: o.Config.Browser.Command}, follow: o.Config.UI.Follow, autocopy: o.Config.UI.Autocopy,
	}
	a.reset()
	a.connection = session.NewConnection(ctx, o.Services, o.Log, a.now)
	a.table = table{app: a, actions: actions(o.Config.Commands)}
	a.table.bind(o.Config.Keys)
	a.applyTheme()
	if o.LogPath != "" {
		a.note("Logging to " + host.ShortPath(o.LogPath))
	}
	if text := o.Config.Complaint(); text != "" {
		a.footer.done(host.Done{Err: errors.New(text)}, a.now)
	}
	return a
}

// close ends every session, saves the settings and removes the copies.
func (a *app) close() error {
	a.connection.Close()
	a.reader.Close() // ends the browser that paints
	a.painter.Wait()
	return errors.Join(a.settings.save(), a.host.Copies.Remove())
}

// Init asks the terminal for its colours and starts to connect, without delaying the first frame.
func (a *app) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, a.connection.Connect(session.Target{}, a.now), redrawIn(startDelay))
}

// Update changes the state and returns the work to do; it does no I/O itself.
func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	a.now = time.Now()
	cmd := a.route(msg)
	return a, tea.Batch(cmd, a.whenDue(), a.fit())
}

// busy reports whether a dialog is open or a line is being typed. What arrives from outside then
// leaves the focus alone, so that no letter meant for them becomes a command.
func (a *app) busy() bool { return len(a.dialogs) > 0 || a.pane().Typing() }

// fit lays out the screen for the current state and requests what it still lacks.
func (a *app) fit() tea.Cmd {
	cmds := []tea.Cmd{a.showSelected(), a.reader.TidyImages(), a.reader.Layout(), a.reader.Overlay(len(a.dialogs) > 0 || a.layout.TooSmall), a.tick()}
	for _, d := range a.dialogs {
		d.Fit(a.width, a.height)
	}
	return tea.Batch(append(cmds, a.requests())...)
}

// tickMsg means that a second has passed, redrawMsg that something is to be mentioned by now.
type (
	tickMsg   struct{}
	redrawMsg struct{}
)

// tick sets the timer, unless it runs, while something on the screen depends on the time.
func (a *app) tick() tea.Cmd {
	counts := len(a.store.Order) > 0 || a.footer.showing(a.now) || a.connection.Trouble() != session.NoTrouble
	if a.ticking || a.layout.TooSmall || !counts {
		return nil
	}
	a.ticking = true
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{} })
}

// redrawIn draws the screen anew after a delay from which on something is mentioned there.
func redrawIn(d time.Duration) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return redrawMsg{} })
}

// View draws the frame.
func (a *app) View() tea.View {
	v := tea.NewView(a.frame())
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
	v.ProgressBar = a.footer.progressBar()
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
	rows[a.layout.Header.Y] = a.header(a.path(), a.width)
	rows[a.layout.Footer.Y] = a.footer.draw(a.theme, a.table, a.focus, a.typingKeys(), a.width, a.now)
	a.drawPanes(rows)
	for _, d := range a.dialogs {
		d.Draw(a.theme, rows, a.width)
	}
	return strings.Join(rows, "\n")
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
	key := a.table.keyFor
	a.reader.SetLook(th, a.terminal.ImageMode(), reader.Hints{Retry: key("refresh"), Images: key("images"), Hidden: key("hidden")})
}

// nextTheme switches to the next theme, and keeps it for the next run.
func (a *app) nextTheme() {
	a.settings.nextTheme(a.theme.Name)
	a.applyTheme()
	a.note("Theme " + a.settings.Theme)
}

// show opens a dialog.
func (a *app) show(d dialog.Dialog) tea.Cmd {
	a.dialogs = append(a.dialogs, d)
	return nil
}

// note shows text in the bottom line, unless it is empty.
func (a *app) note(text string) {
	if text != "" {
		a.footer.say(func() string { return text }, a.now)
	}
}

// noteEither notes that something is on now, or off.
func (a *app) noteEither(is bool, on, off string) {
	if is {
		a.note(on)
	} else {
		a.note(off)
	}
}

// report shows the outcome of work in the bottom line, if there is one.
func (a *app) report(d host.Done) {
	if d == (host.Done{}) {
		return
	}
	if d.Err != nil {
		a.log.Warn("failed", "error", d.Err)
	}
	a.footer.done(d, a.now)
}

// Options are the application's settings.
type Options struct {
	Services  session.Options
	Config    config.Config // read with [DefaultKeys]
	Log       *slog.Logger  // nil for none; gets no keys and no bodies
	LogPath   string        // where Log writes, as shown to the user; empty when nothing is logged
	ThemePath string        // file that keeps the theme chosen on the screen; empty for none
	Release   func() func() // called before another program gets the terminal; it returns what to call after
	NoColor   bool          // no colours, whatever the terminal supports; see NO_COLOR
}

// Run shows the application until the user quits or ctx ends. Its error is one line for the user.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	a := newApp(ctx, o, host.New(o.Config.UI.DownloadDir, o.Release))
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler()}
	if o.NoColor {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	_, err := tea.NewProgram(a, options...).Run()
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

// settings are those of config.toml, with what the user has changed since.
type settings struct {
	config.UI
	path       string // of the file that keeps the theme; empty for none
	configured string // the theme of config.toml
	chosen     bool   // another theme was chosen on the screen
}

// choice is a theme chosen on the screen. It holds until config.toml names another than it did then.
type choice struct {
	Theme      string `toml:"theme"`
	Configured string `toml:"configured"`
}

// newSettings returns the settings of config.toml, with the theme that is kept in the file at path.
func newSettings(ui config.UI, path string) *settings {
	s := &settings{UI: ui, path: path, configured: ui.Theme}
	var kept choice
	data, err := os.ReadFile(path) // without one, or when it was damaged, config.toml decides
	if err == nil && toml.Unmarshal(data, &kept) == nil && kept.Configured == ui.Theme && slices.Contains(theme.Names(), kept.Theme) {
		s.Theme = kept.Theme
	}
	return s
}

// nextTheme switches from one theme to the next.
func (s *settings) nextTheme(from string) { s.Theme, s.chosen = theme.After(from), true }

// save keeps the theme for the next run if it was chosen on the screen.
func (s *settings) save() error {
	if s.path == "" || !s.chosen {
		return nil
	}
	data, err := toml.Marshal(choice{s.Theme, s.configured})
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.path), 0o700)
	}
	if err == nil {
		err = files.Write(s.path, data)
	}
	if err != nil {
		return fmt.Errorf("keeping the theme: %w", err)
	}
	return nil
}
