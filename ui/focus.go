package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/action"
	"mayfly/ui/panes"
	"mayfly/ui/store"
)

// pane is what the root knows of each of the three.
type pane interface {
	// Update applies a message and returns the intent that it leads to, nil without one.
	Update(msg tea.Msg) any
	// Typing reports whether a filter or a search is being typed, which then takes the keys.
	Typing() bool
	StopTyping()
}

func (a *app) panes() [3]pane {
	return [3]pane{panes.Inboxes: a.inboxes, panes.Messages: a.messages, panes.Reader: a.reader}
}

// pane is the one that has focus.
func (a *app) pane() pane { return a.panes()[a.focus] }

// busy reports whether a dialog has the keys or a line is being typed: what comes from outside then
// leaves the focus alone, so that no letter meant for them becomes a command.
func (a *app) busy() bool { return len(a.dialogs) > 0 || a.pane().Typing() }

// message is the one that an action is about: the one being read when the reader has focus, else the
// selected one. It alone decides which code is copied and which link is opened.
func (a *app) message() *store.Message {
	if m := a.messages.Message(); m != nil && (a.focus != panes.Reader || !a.reader.Reading()) {
		return m
	}
	return a.reader.Message
}

// inbox is the one that an action is about: the selected one, or that of the message.
func (a *app) inbox() *store.Inbox {
	if i := a.inboxes.Inbox(); i != nil {
		return i
	}
	if m := a.message(); m != nil && a.focus != panes.Inboxes {
		return a.store.Inboxes[m.InboxID]
	}
	return nil
}

func (a *app) subject() action.Subject {
	return action.Subject{
		Session: a.link.Session, Store: a.store, Inbox: a.inbox(), Message: a.message(), Keys: a.table, Now: a.now,
	}
}

func (a *app) nextPane() tea.Cmd {
	switch {
	case a.focus == panes.Inboxes:
		a.focus = panes.Messages
	case a.focus == panes.Messages && a.reader.Reading():
		a.focus = panes.Reader
	case a.focus == panes.Messages:
		return a.enter()
	case a.layout.Columns == 3:
		a.focus = panes.Inboxes
	}
	return nil
}

func (a *app) previousPane() tea.Cmd {
	switch {
	case a.focus > panes.Inboxes:
		a.focus--
	case a.layout.Columns == 3 && a.reader.Reading():
		a.focus = panes.Reader
	}
	return nil
}

// enter goes into what is selected.
func (a *app) enter() tea.Cmd {
	if a.focus == panes.Inboxes {
		a.showInbox()
		a.focus = panes.Messages
		return nil
	}
	m := a.messages.Message()
	if m == nil {
		return nil
	}
	a.focus = panes.Reader
	if a.reader.Reads(m.Key) && a.reader.Err == nil {
		return nil
	}
	return a.openMessage(m)
}

// leave goes one step outwards: from the message to the list, from the list to the inboxes.
func (a *app) leave() {
	switch {
	case a.focus == panes.Reader:
		a.focus = panes.Messages
	case a.focus == panes.Messages && a.reader.Reading():
		a.reader.Close()
	default:
		a.focus = panes.Inboxes
	}
}

// showInbox lists the messages of the selected inbox. A message of another one is left.
func (a *app) showInbox() {
	shown := a.inboxes.ShownID()
	a.messages.Show(shown)
	if m := a.reader.Message; m != nil && shown != store.All && m.InboxID != shown {
		a.reader.Close()
		a.focus = min(a.focus, panes.Messages)
	}
}

// selectInbox moves the cursor to an inbox and shows its messages.
func (a *app) selectInbox(id string) {
	a.inboxes.Filter.Clear()
	a.inboxes.Refresh()
	a.inboxes.Select(id)
	a.showInbox()
	a.messages.Refresh()
}

// refreshLists takes both lists from the store.
func (a *app) refreshLists() {
	a.inboxes.Refresh()
	a.messages.Show(a.inboxes.ShownID())
	a.messages.Refresh()
	if a.focus == panes.Reader && !a.reader.Reading() {
		a.focus = panes.Messages
	}
}

// openMessage shows a message in the reader, and it counts as read.
func (a *app) openMessage(m *store.Message) tea.Cmd {
	cmd := a.showMessage(m)
	a.markRead()
	return cmd
}

// showMessage shows a message in the reader: at once when it is cached, else when it was fetched.
func (a *app) showMessage(m *store.Message) tea.Cmd {
	s, email := a.link.Session, ""
	if i := a.store.Inboxes[m.InboxID]; i != nil {
		email = i.Email
		s.Watcher.Touch(i.ID)
	}
	a.reader.Open(m, email, a.now)
	if opened := a.store.Opened.Get(m.Key); opened != nil {
		a.reader.Show(opened, m.Findings)
		return nil
	}
	a.store.Looking(m.Key)
	return s.Open(m, a.reader.Generation, a.reader.Prepare())
}

// restDelay is how long the cursor stays on a message before it is fetched and counts as read, so that
// a held key does neither to what it passes.
const restDelay = 120 * time.Millisecond

// rested says that the cursor may have come to rest on a message.
type rested struct{ key string }

// preview shows the selected message beside the list, where one is open already: at once when it is
// cached, else when the cursor rests.
func (a *app) preview() tea.Cmd {
	m := a.messages.Message()
	if m == nil || !a.reader.Reading() || a.layout.Panes[panes.Reader].Empty() || a.reader.Reads(m.Key) {
		return nil
	}
	rest := tea.Tick(restDelay, func(time.Time) tea.Msg { return rested{m.Key} })
	if a.store.Opened.Get(m.Key) == nil {
		return rest
	}
	return tea.Batch(a.showMessage(m), rest)
}

// onRest opens the message on which the cursor rests.
func (a *app) onRest(r rested) tea.Cmd {
	m := a.messages.Message()
	switch {
	case m == nil || m.Key != r.key || !a.reader.Reading():
		return nil
	case a.reader.Reads(m.Key):
		a.markRead()
		return nil
	}
	return a.openMessage(m)
}

// markRead marks the message on the screen read, when somebody is looking.
func (a *app) markRead() {
	if a.terminal.Blurred || a.reader.Message == nil || a.reader.Seen {
		return
	}
	a.reader.Seen = true
	if m := a.store.Messages[a.reader.Message.Key]; m != nil {
		a.store.SetUnread(m, false)
	}
}
