package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/intent"
	"mayfly/ui/lists"
	"mayfly/ui/reader"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// Pane is the interface of the three panes.
type Pane interface {
	// Update applies a message and returns the resulting intent, nil if none.
	Update(msg tea.Msg) any
	// Typing reports whether a filter or a search is being typed and takes the keys.
	Typing() bool
	StopTyping()
}

// Workspace is the three panes.
type Workspace struct {
	Store    *store.Store
	Inboxes  *lists.Inboxes
	Messages *lists.Messages
	Reader   *reader.Pane
	Focus    theme.Pane
	Layout   theme.Layout
	Follow   bool           // the newest message opens as it arrives
	Autocopy bool           // each new code is copied as it arrives
	Newest   *store.Message // the latest arrival
	Unseen   bool           // the window is out of focus: what is shown does not count as read

	dividers theme.Dividers
	resting  string           // the message that is shown once the cursor rests on it
	next     *store.Message   // the newest, to be shown when the user is not busy
	burst    burst            // what has not been announced yet
	wanted   wanted           // what was asked for and is still being read
	fresh    []*store.Message // those whose code is to be copied once they are read, newest first
	search   *lists.Search
}

// NewWorkspace returns empty panes.
func NewWorkspace(now time.Time) *Workspace {
	w := &Workspace{Reader: &reader.Pane{}, search: lists.NewSearch(store.New(now))}
	w.Reset(now)
	return w
}

// Reset forgets everything about a service.
func (w *Workspace) Reset(now time.Time) {
	typing := w.Store != nil && w.Pane().Typing()
	w.Store = store.New(now)
	w.Inboxes, w.Messages = lists.NewInboxes(w.Store), lists.NewMessages(w.Store)
	w.search.In(w.Store)
	w.Reader.Close()
	w.Focus, w.Newest, w.next = theme.Messages, nil, nil
	w.burst, w.wanted, w.fresh = burst{}, wanted{}, nil
	if typing { // the letters that follow are not commands
		w.Messages.Filter.Start()
	}
}

// Fit lays the panes out on a screen of width by height cells.
func (w *Workspace) Fit(width, height int) {
	w.Layout = theme.Compute(theme.Input{
		Width: width, Height: height, Focus: w.Focus, Reading: w.Reader.Reading(), Dividers: w.dividers,
	})
	w.Inboxes.Fit(w.Layout.Panes[theme.Inboxes])
	w.Messages.Fit(w.Layout.Panes[theme.Messages])
	w.Reader.Fit(w.Layout.Panes[theme.Reader])
}

func (w *Workspace) panes() [3]Pane {
	return [3]Pane{theme.Inboxes: w.Inboxes, theme.Messages: w.Messages, theme.Reader: w.Reader}
}

// Pane is the pane that has focus.
func (w *Workspace) Pane() Pane { return w.panes()[w.Focus] }

// Message is the message an action applies to: the open one when the reader has focus, otherwise
// the selected one.
func (w *Workspace) Message() *store.Message {
	if m := w.Messages.Message(); m != nil && (w.Focus != theme.Reader || !w.Reader.Reading()) {
		return m
	}
	return w.Reader.Message
}

// Inbox is the inbox an action applies to: the selected one, or that of the message.
func (w *Workspace) Inbox() *store.Inbox {
	if i := w.Inboxes.Inbox(); i != nil {
		return i
	}
	if m := w.Message(); m != nil && w.Focus != theme.Inboxes {
		return w.Store.Inboxes[m.InboxID]
	}
	return nil
}

// InView returns the IDs of the inboxes whose messages are listed.
func (w *Workspace) InView() []string {
	if w.Messages.InboxID == store.All {
		return append([]string(nil), w.Store.Order...)
	}
	return []string{w.Messages.InboxID}
}

// Update passes a message to the pane that has focus, or a mouse event to the pane below the
// pointer. It returns the intent left for the caller, nil if none.
func (w *Workspace) Update(msg tea.Msg) any {
	switch m := msg.(type) {
	case tea.MouseMotionMsg:
		w.dividers.Drag(w.Layout, m.X)
	case tea.MouseReleaseMsg:
		w.dividers.Release()
	case tea.MouseWheelMsg:
		if p, ok := w.Layout.At(m.X, m.Y); ok {
			return w.applyIntent(w.panes()[p].Update(m))
		}
	case tea.MouseClickMsg:
		return w.applyIntent(w.click(m))
	default:
		return w.applyIntent(w.Pane().Update(msg))
	}
	return nil
}

// applyIntent carries out an intent that concerns the panes, and returns any other.
func (w *Workspace) applyIntent(v any) any {
	switch v.(type) {
	case intent.ShowInbox:
		w.showInbox()
	case intent.Preview:
		return w.preview()
	case intent.OpenMessage:
		return w.Open(w.Messages.Message())
	case intent.FilterChanged:
		w.Inboxes.Refresh()
		w.showInbox()
		w.Messages.Refresh()
	case intent.Leave:
		w.leave()
	default:
		return v
	}
	return nil
}

func (w *Workspace) click(m tea.MouseClickMsg) any {
	if w.dividers.Grab(w.Layout, m.X, m.Y) {
		return nil
	}
	p, ok := w.Layout.At(m.X, m.Y)
	if !ok {
		return nil
	}
	for _, pane := range w.panes() {
		pane.StopTyping()
	}
	if p == theme.Reader && !w.Reader.Reading() {
		return nil
	}
	w.Focus = p
	return w.Pane().Update(m)
}

// right moves the focus to the right, as far as there is a pane.
func (w *Workspace) right() any {
	switch {
	case w.Focus == theme.Inboxes:
		w.Focus = theme.Messages
	case w.Focus == theme.Messages && w.Reader.Reading() && w.Layout.Columns > 1:
		w.Focus = theme.Reader
	case w.Focus == theme.Messages:
		return w.Enter()
	}
	return nil
}

// left moves the focus to the left, as far as there is a pane.
func (w *Workspace) left() any {
	w.Focus = max(w.Focus-1, theme.Inboxes)
	return nil
}

// nextPane moves the focus to the right, and from the last pane to the first.
func (w *Workspace) nextPane() any {
	before := w.Focus
	did := w.right()
	if w.Focus == before {
		w.Focus = theme.Inboxes
	}
	return did
}

// previousPane moves the focus to the left, and from the first pane to the last.
func (w *Workspace) previousPane() any {
	switch {
	case w.Focus != theme.Inboxes:
		return w.left()
	case w.Reader.Reading():
		w.Focus = theme.Reader
	default:
		w.Focus = theme.Messages
	}
	return nil
}

// Enter opens the selected inbox or message.
func (w *Workspace) Enter() any {
	if w.Focus == theme.Inboxes {
		w.showInbox()
		w.Focus = theme.Messages
		return nil
	}
	m := w.Messages.Message()
	if m == nil {
		return nil
	}
	w.Focus = theme.Reader
	if w.Reader.Reads(m.Key) && w.Reader.Err == nil {
		w.MarkRead()
		return nil
	}
	return w.Open(m)
}

// leave goes one step outwards: from the message to the list, from the list to the inboxes.
func (w *Workspace) leave() {
	w.resting = ""
	switch {
	case w.Focus == theme.Reader:
		w.Focus = theme.Messages
	case w.Focus == theme.Messages && w.Reader.Reading():
		w.Reader.Close()
	default:
		w.Focus = theme.Inboxes
	}
}

// showInbox lists the messages of the selected inbox, and closes the open message unless the cursor
// is on it there.
func (w *Workspace) showInbox() {
	before := w.Messages.InboxID
	w.Messages.Show(w.Inboxes.ShownID())
	if w.Messages.InboxID != before && !w.Reader.Reads(w.Messages.Selected()) {
		w.Reader.Close()
		w.Focus = min(w.Focus, theme.Messages)
	}
}

// SelectInbox moves the cursor to an inbox and shows its messages.
func (w *Workspace) SelectInbox(id string) {
	w.Inboxes.Filter.Clear()
	w.Inboxes.Refresh()
	w.Inboxes.Select(id)
	w.showInbox()
	w.Messages.Refresh()
}

// Refresh updates both lists from the store. No cursor moves.
func (w *Workspace) Refresh() {
	w.Inboxes.Refresh()
	w.Messages.Show(w.Inboxes.ShownID())
	w.Messages.Refresh()
	if w.Focus == theme.Reader && !w.Reader.Reading() {
		w.Focus = theme.Messages
	}
}

// Drop removes an inbox that was deleted here. While the user is busy, the open message and the
// focus stay.
func (w *Workspace) Drop(id string, busy bool) {
	if m := w.Reader.Message; m != nil && m.InboxID == id && !busy {
		w.Reader.Close()
	}
	w.end(id)
	w.Store.Drop(id)
	w.Refresh()
	if w.Inboxes.Inbox() == nil && !busy {
		w.Focus = theme.Inboxes
	}
}

// end notes that an inbox is gone. Its open message stays until the user leaves it.
func (w *Workspace) end(id string) {
	if m := w.Reader.Message; m != nil && m.InboxID == id {
		w.Reader.Ended = true
	}
}

// Prune removes inboxes that have been gone for a while, unless they are selected, marked or being
// read.
func (w *Workspace) Prune(now time.Time) {
	if w.Store.Prune(now, func(id string) bool {
		return id == w.Inboxes.Selected() || w.Inboxes.Marks[id] || w.Reader.Message != nil && w.Reader.Message.InboxID == id
	}) {
		w.Refresh()
	}
}

// Path is the path to the pane shown, when only one is; nil when several are.
func (w *Workspace) Path() []string {
	if w.Layout.Columns > 1 {
		return nil
	}
	parts := []string{"Inboxes"}
	if w.Focus != theme.Inboxes {
		name := "All"
		if i := w.Store.Inboxes[w.Messages.InboxID]; i != nil {
			name = i.Name()
		}
		parts = append(parts, name)
	}
	if w.Focus == theme.Reader && w.Reader.Reading() {
		parts = append(parts, w.Reader.Message.Subject)
	}
	return parts
}
