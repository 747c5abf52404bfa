package ui

import (
	"context"
	"log/slog"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/config"
	"mayfly/ui/layout"
	"mayfly/ui/theme"
)

// Short names for the panes.
const (
	paneInboxes  = layout.Inboxes
	paneMessages = layout.Messages
	paneReader   = layout.Reader
)

// patience is how long the screen keeps still before it says that something is going on.
const patience = 150 * time.Millisecond

// app is the root model: it routes messages, lays out the panes and stacks the overlays.
type app struct {
	ctx   context.Context
	opts  Options
	cfg   config.Config
	table []*action
	world world

	now     time.Time
	width   int
	height  int
	lay     layout.Layout
	split   dividers
	focus   layout.Pane
	caps    capabilities
	th      *theme.Theme
	overlay []overlay

	book     *book
	inboxes  *inboxPane
	messages *messagePane
	reader   *reader

	session *session
	link    link   // how the connection is
	target  Target // what the session is a session with
	wanted  Target // what is being connected to
	attempt uint64
	noRaw   bool            // the service gives no raw messages
	dropped map[string]bool // inboxes deleted here: a list on its way may still have them

	flash    flash
	work     progress
	mails    shelf
	pictures pictures
	follow   bool
	ticker   ticker

	peeks   map[string]bool // messages that were looked into, or tried to
	peeking map[string]bool // those of them that are on their way
	newest  *message        // the one that arrived last
	next    *message        // the one to open while following
	samples int             // sample mails sent
}

func newApp(ctx context.Context, o Options, cfg config.Config, w world) *app {
	now := time.Now()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	b := newBook(now)
	a := &app{
		ctx: ctx, opts: o, cfg: cfg, world: w, now: now, table: bind(actions(), cfg.Keys),
		book: b, inboxes: newInboxPane(b), messages: newMessagePane(b), reader: &reader{},
		peeks: map[string]bool{}, peeking: map[string]bool{}, dropped: map[string]bool{},
	}
	a.caps.mouse = cfg.Mouse
	a.focus = paneMessages
	a.messages.show(allInboxes)
	a.link.since = now
	a.inboxes.refresh()
	a.dress()
	return a
}

// Init asks the terminal for its colours and connects, beside the first frame.
func (a *app) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, a.connect(Target{}), a.complain())
}

// Update changes the state and asks for what is to be done; it does no I/O.
func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	a.now = time.Now()
	cmd := a.handle(msg)
	return a, tea.Batch(cmd, a.openNext(), a.settle())
}

func (a *app) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.width, a.height = msg.Width, msg.Height
		if _, ok := a.top().(*labels); ok {
			a.pop() // the links stand elsewhere now
		}
	case tea.BackgroundColorMsg, tea.ColorProfileMsg, tea.EnvMsg, tea.FocusMsg, tea.BlurMsg, tea.TerminalVersionMsg:
		return a.sense(msg)
	case tea.KeyPressMsg:
		return a.key(msg)
	case tea.KeyReleaseMsg, tea.KeyboardEnhancementsMsg:
		return nil
	case tea.PasteMsg:
		return a.paste(msg)
	case tea.MouseMsg:
		return a.mouse(msg)
	case tea.RawMsg:
		return a.gave(msg)
	case tickMsg:
		a.ticker.fired(msg)
		a.prune()
		return a.retry()
	case connectedMsg:
		return a.connected(msg)
	case watchMsg:
		return a.heard(msg)
	case outcome:
		return msg.apply(a)
	default:
		if o := a.top(); o != nil {
			return a.carry(o.update(msg))
		}
	}
	return nil
}

// outcome is what a command brings back: it knows how to put itself into the state, or that it came too late.
type outcome interface{ apply(*app) tea.Cmd }

// settle lays everything out for the state as it is now, and asks for what the screen still lacks.
func (a *app) settle() tea.Cmd {
	a.lay = layout.Compute(layout.Input{
		Width: a.width, Height: a.height, Focus: a.focus, Reading: a.reader.reading(),
		InboxesWidth: a.split.inboxes, MessagesWidth: a.split.messages,
	})
	a.inboxes.place(a.lay.Panes[paneInboxes])
	a.messages.place(a.lay.Panes[paneMessages])
	a.reader.rect = a.lay.Panes[paneReader]
	a.reader.clamp()
	a.fit()
	a.watchView()
	return tea.Batch(a.tidyPictures(), a.layOut(), a.peek(), a.tick())
}

// View draws the frame.
func (a *app) View() tea.View {
	v := tea.NewView(a.frame())
	v.AltScreen = true
	v.ReportFocus = true
	v.KeyboardEnhancements.ReportEventTypes = true // a held key is told from one pressed again
	v.WindowTitle = a.windowTitle()
	if a.caps.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.ProgressBar = a.work.bar()
	return v
}

func (a *app) windowTitle() string {
	if n := a.book.totalUnread(); n > 0 {
		return "(" + itoa(n) + ") mayfly"
	}
	return "mayfly"
}

// inbox is the one an action is about: the selected one, or that of the message in hand.
func (a *app) inbox() *inbox {
	if i := a.inboxes.selected(); i != nil {
		return i
	}
	if m := a.current(); m != nil && a.focus != paneInboxes {
		return a.book.inboxes[m.inboxID]
	}
	return nil
}

// current is the message an action is about: the one being read when the reader has focus, else the selected one.
func (a *app) current() *message {
	if a.focus == paneReader && a.reader.message != nil {
		return a.reader.message
	}
	if m := a.messages.selected(); m != nil {
		return m
	}
	return a.reader.message
}

// top is the overlay that has the keys; nil when there is none.
func (a *app) top() overlay {
	if len(a.overlay) == 0 {
		return nil
	}
	return a.overlay[len(a.overlay)-1]
}

func (a *app) push(o overlay) tea.Cmd {
	a.overlay = append(a.overlay, o)
	return o.open()
}

func (a *app) pop() {
	if n := len(a.overlay); n > 0 {
		a.overlay = a.overlay[:n-1]
	}
}
