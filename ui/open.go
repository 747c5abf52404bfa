package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/message"
	"mayfly/ui/intent"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// Open shows a message in the reader and marks it read.
func (w *Workspace) Open(m *store.Message) any {
	v := w.show(m)
	w.MarkRead()
	return v
}

// ShowMessage goes to a message that a search found.
func (w *Workspace) ShowMessage(v intent.ShowMessage) any {
	m := w.Store.Messages[v.Key]
	if m == nil {
		return intent.Note{Text: "This message is gone"}
	}
	w.Messages.Filter.Clear()
	w.SelectInbox(m.InboxID)
	w.Messages.Select(m.Key)
	w.Focus = theme.Reader
	fetch := w.Open(m)
	w.Reader.Find(v.Find)
	return fetch
}

// show shows a message in the reader: at once if it is cached, otherwise once it is fetched.
func (w *Workspace) show(m *store.Message) any {
	email := ""
	if i := w.Store.Inboxes[m.InboxID]; i != nil {
		email = i.Email
	}
	w.Reader.Open(m, email, time.Now())
	w.Fit(w.Layout.Header.W, w.Layout.Footer.Y+1) // so that it is laid out for the width that it gets
	if opened := w.Store.Opened.Get(m.Key); opened != nil {
		w.Reader.Show(opened, m.Findings)
	} else {
		w.Store.SkipPrefetch(m.Key)
	}
	return intent.Fetch{}
}

// OpenedOf is a message as it was opened, nil if it was not, or too long ago.
func (w *Workspace) OpenedOf(m *store.Message) *message.Message {
	if w.Reader.Reads(m.Key) && w.Reader.Opened != nil {
		return w.Reader.Opened
	}
	return w.Store.Opened.Get(m.Key)
}

// restDelay is how long the cursor stays on a message before it is fetched and marked read, so that
// a held key does neither to the messages it passes.
const restDelay = 120 * time.Millisecond

// Rested says that the cursor may have come to rest on a message.
type Rested struct{ key string }

// preview shows the selected message beside the list, where there is room: at once if it is cached,
// otherwise when the cursor rests.
func (w *Workspace) preview() any {
	m := w.Messages.Message()
	if m == nil || w.Layout.Panes[theme.Reader].Empty() || w.Reader.Reads(m.Key) {
		return nil
	}
	w.resting = m.Key
	rest := tea.Tick(restDelay, func(time.Time) tea.Msg { return Rested{m.Key} })
	if w.Store.Opened.Get(m.Key) == nil {
		return rest
	}
	return []any{w.show(m), rest}
}

// onRest opens the message on which the cursor rests.
func (w *Workspace) onRest(r Rested) any {
	m := w.Messages.Message()
	switch {
	case m == nil || m.Key != r.key || w.resting != r.key:
		return nil
	case w.Reader.Reads(m.Key):
		w.MarkRead()
		return nil
	case w.Focus == theme.Reader: // the user has gone into the one before
		return nil
	}
	return w.Open(m)
}

// MarkRead marks the message on the screen read, unless the window is out of focus.
func (w *Workspace) MarkRead() {
	if w.Unseen || w.Reader.Message == nil || w.Reader.Seen {
		return
	}
	w.Reader.Seen = true
	if m := w.Store.Messages[w.Reader.Message.Key]; m != nil {
		w.Store.SetUnread(m, false)
	}
}

// LabelLinks opens labels for the links on the screen.
func (w *Workspace) LabelLinks() any {
	d := w.Reader.Labels()
	if d == nil {
		return intent.Note{Text: "No links on the screen"}
	}
	w.Focus = theme.Reader
	return d
}

// ToggleUnread marks the message unread, or read.
func (w *Workspace) ToggleUnread() any {
	if m := w.Store.Messages[w.Message().Key]; m != nil {
		w.Store.SetUnread(m, !m.Unread)
	}
	return nil
}
