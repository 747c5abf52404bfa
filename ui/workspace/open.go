package workspace

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api/watch"
	"mayfly/ui/intent"
	"mayfly/ui/panes"
	"mayfly/ui/store"
)

// Open shows a message in the reader and marks it read.
func (w *Workspace) Open(m *store.Message) any {
	v := w.show(m)
	w.MarkRead()
	return v
}

// show shows a message in the reader: at once if it is cached, otherwise once it is fetched.
func (w *Workspace) show(m *store.Message) any {
	email := ""
	if i := w.Store.Inboxes[m.InboxID]; i != nil {
		email = i.Email
	}
	w.Reader.Open(m, email, time.Now())
	if opened := w.Store.Opened.Get(m.Key); opened != nil {
		w.Reader.Show(opened, m.Findings)
	} else {
		w.Store.SkipPrefetch(m.Key)
	}
	return intent.Fetch{}
}

// restDelay is how long the cursor stays on a message before it is fetched and marked read, so that
// a held key does neither to the messages it passes.
const restDelay = 120 * time.Millisecond

// Rested says that the cursor may have come to rest on a message.
type Rested struct{ key string }

// preview shows the selected message beside the list if one is open already: at once if it is
// cached, otherwise when the cursor rests.
func (w *Workspace) preview() any {
	m := w.Messages.Message()
	if m == nil || !w.Reader.Reading() || w.Layout.Panes[panes.Reader].Empty() || w.Reader.Reads(m.Key) {
		return nil
	}
	rest := tea.Tick(restDelay, func(time.Time) tea.Msg { return Rested{m.Key} })
	if w.Store.Opened.Get(m.Key) == nil {
		return rest
	}
	return []any{w.show(m), rest}
}

// OnRest opens the message on which the cursor rests.
func (w *Workspace) OnRest(r Rested) any {
	m := w.Messages.Message()
	switch {
	case m == nil || m.Key != r.key || !w.Reader.Reading():
		return nil
	case w.Reader.Reads(m.Key):
		w.MarkRead()
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
	w.Focus = panes.Reader
	return d
}

// ToggleUnread marks the message unread, or read.
func (w *Workspace) ToggleUnread() any {
	if m := w.Store.Messages[w.Message().Key]; m != nil {
		w.Store.SetUnread(m, !m.Unread)
	}
	return nil
}

// ToggleFollow turns following on or off: opening the newest message as it arrives.
func (w *Workspace) ToggleFollow() any {
	w.Follow = !w.Follow
	if w.Follow {
		return intent.Note{Text: "Following: the newest message opens as it arrives"}
	}
	return intent.Note{Text: "Not following"}
}

// Apply applies an event of an inbox. New mail is announced, and opened unless the user is busy
// with a dialog or typing.
func (w *Workspace) Apply(e watch.Event, now time.Time, busy bool) any {
	i, arrived := w.Store.Apply(e, now)
	switch {
	case i == nil:
	case e.Kind == watch.Gone:
		w.end(i.ID)
		return intent.Forget{ID: i.ID}
	case e.Kind == watch.Arrived && len(arrived) > 0:
		return w.arrived(i, arrived, busy)
	}
	return nil
}

func (w *Workspace) arrived(i *store.Inbox, mail []*store.Message, busy bool) any {
	newest := mail[0]
	for _, m := range mail {
		if m.Received.After(newest.Received) {
			newest = m
		}
	}
	w.Newest = newest
	atTop := w.Messages.Index() == 0
	w.Messages.Refresh()
	announce := intent.Announce{Inbox: i.Name(), Sender: newest.Sender, Subject: newest.Subject, Count: len(mail)}
	switch {
	case w.Follow:
		w.next = newest
	case atTop && !busy && w.opensByItself(i):
		return []any{announce, w.openTop(newest)}
	case !w.Messages.Lists(i.ID):
		return []any{announce, intent.Note{Text: "Mail for " + i.Name() + ": " + newest.Subject}}
	}
	return announce
}

// opensByItself reports whether mail for an inbox opens as it arrives even without following: if
// its list is shown, there is room, and nothing is being read. The cursor stays at the top, where
// new mail appears.
func (w *Workspace) opensByItself(i *store.Inbox) bool {
	if !w.Messages.Lists(i.ID) || w.Reader.Reading() || w.Messages.Filter.On() {
		return false
	}
	return w.Layout.Columns == 3 || w.Layout.Columns == 2 && w.Focus == panes.Messages
}

func (w *Workspace) openTop(m *store.Message) any {
	if w.Messages.Select(m.Key) && w.Messages.Index() == 0 {
		w.Messages.First() // newer mail then scrolls into view above it
	}
	return w.Open(m)
}

// OpenNext opens the newest message while following, unless the user is busy.
func (w *Workspace) OpenNext(busy bool) any {
	m := w.next
	if m == nil || w.Follow && busy {
		return nil
	}
	w.next = nil
	if !w.Follow || w.Store.Messages[m.Key] == nil {
		return nil
	}
	if !w.Messages.Lists(m.InboxID) {
		w.SelectInbox(m.InboxID)
	}
	w.Focus = max(w.Focus, panes.Messages)
	return w.openTop(m)
}
