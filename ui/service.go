package ui

import (
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/internal/registry"
	"mayfly/ui/dialog"
	"mayfly/ui/intent"
	"mayfly/ui/session"
	"mayfly/ui/theme"
)

// Begin takes over the inboxes of a new connection and watches them, along with those already
// listed. Results of an earlier session will not arrive any more, so it returns the intent to fetch
// the open message again, nil without one.
func (w *Workspace) Begin(s *session.Session, m session.Connected, now time.Time) any {
	w.Store.ResetPrefetches()
	w.Store.Seen = m.Seen
	s.Watcher.SetFocused(!w.Unseen)
	for _, i := range w.Store.Inboxes {
		i.Generation = s.Watcher.Add(i.ID)
		s.Watcher.Pause(i.ID, i.Paused)
	}
	for _, k := range m.Known {
		w.putKnown(s, k, now)
	}
	w.Put(s, now, m.Inboxes...)
	w.Refresh()
	if !w.Reader.Reading() {
		return nil
	}
	w.Reader.AwaitRaw(time.Time{})
	return intent.Fetch{}
}

// putKnown adds an inbox of the registry, unless it has expired.
func (w *Workspace) putKnown(s *session.Session, k registry.Inbox, now time.Time) {
	switch i, isNew := w.Store.PutKnown(k, now); {
	case !isNew:
	case k.ExpiresAt.After(now):
		i.Generation = s.Watcher.Add(i.ID)
	default:
		w.Store.Forget(k.ID)
	}
}

// Put adds inboxes to the store and watches the new ones.
func (w *Workspace) Put(s *session.Session, now time.Time, inboxes ...api.Inbox) {
	for _, in := range inboxes {
		if i, isNew := w.Store.Put(in, now); isNew {
			i.Generation = s.Watcher.Add(i.ID)
		}
	}
}

// GoTo adds an inbox that was created or adopted and selects it, unless the user is busy. The messages
// of one that was created get the focus, too.
func (w *Workspace) GoTo(s *session.Session, m session.Created, now time.Time, busy bool) {
	w.Store.Restore(m.Inbox.ID)
	w.Put(s, now, m.Inbox)
	if busy {
		w.Refresh()
		return
	}
	w.SelectInbox(m.Inbox.ID)
	if !m.Adopted {
		w.Focus = theme.Messages
	}
}

// Requests requests what the panes and the open dialogs lack, and has saved what was seen.
func (w *Workspace) Requests(s *session.Session, open []dialog.Dialog, now time.Time) tea.Cmd {
	s.SetView(w.InView())
	s.SaveSeen(w.Store.Unsaved())
	var cmds []tea.Cmd
	for _, m := range w.Store.Prefetch(w.toRead()) {
		cmds = append(cmds, s.Prefetch(m))
	}
	if !s.NoRaw {
		cmds = append(cmds, s.FetchRaw(w.wantsRaw(now)))
	}
	if w.search.NeedsTexts() && slices.Contains(open, dialog.Dialog(w.search)) {
		cmds = append(cmds, s.ReadTexts(w.Store.NextTexts(), &w.Store.Opened))
	}
	return tea.Batch(cmds...)
}

// OnTexts applies the bodies read for a search.
func (w *Workspace) OnTexts(m session.TextsRead) {
	for _, t := range m.Texts {
		w.Store.SetText(t.Key, t.Text, t.Findings)
	}
	w.Store.EndTexts()
}

// OnOpened applies the result of opening or prefetching a message.
func (w *Workspace) OnOpened(m session.Opened) {
	w.Store.SetFindings(m.Key, m.Findings)
	// A late prefetch must not replace a message that has its raw form by now.
	if cached := w.Store.Opened.Get(m.Key); m.Message != nil && (cached == nil || cached.Raw == nil) {
		w.Store.Opened.Put(m.Key, m.Message)
	}
	if len(w.wanted.from) > 0 && w.wanted.from[0].Key == m.Key {
		w.wanted.err = m.Err
	}
	switch {
	case m.Generation != w.Reader.Generation: // another message has been opened since
	case m.Err != nil:
		w.Reader.Fail(errors.New(session.Explain(m.Err)))
	default:
		w.Reader.Show(m.Message, m.Findings)
	}
}

// wantsRaw returns the open message if its raw form must be fetched, nil otherwise.
func (w *Workspace) wantsRaw(now time.Time) (key string, m *message.Message) {
	if !w.Reader.WantsRaw() {
		return "", nil
	}
	w.Reader.AwaitRaw(now)
	return w.Reader.Message.Key, w.Reader.Opened
}

// OnRaw applies the result of fetching the raw form of an open message.
func (w *Workspace) OnRaw(m session.RawFetched) {
	if errors.Is(m.Err, api.ErrUnsupported) {
		m.Session().NoRaw = true
	}
	if m.Err == nil {
		w.Store.Opened.Put(m.Key, m.Message)
	}
	switch {
	case !w.Reader.Reads(m.Key) || w.Reader.Opened == nil:
	case m.Err != nil:
		w.Reader.FailRaw(m.Err)
	default:
		w.Reader.Show(m.Message, nil)
	}
}

// TogglePause pauses or resumes watching the inbox.
func (w *Workspace) TogglePause(s *session.Session, keys Table) any {
	i := w.Inbox()
	i.Paused = !i.Paused
	s.Watcher.Pause(i.ID, i.Paused)
	if i.Paused {
		return intent.Note{Text: i.Name() + " is paused: " + keys.KeyFor("pause") + " resumes, " + keys.KeyFor("refresh") + " checks once"}
	}
	return intent.Note{Text: i.Name() + " is being watched again"}
}

// Subject is what an action is about.
func (w *Workspace) Subject(l *session.Link, keys Table, now time.Time) Subject {
	return Subject{Link: l, Store: w.Store, Inbox: w.Inbox(), Message: w.Message(), Keys: keys, Now: now}
}

// Facts fills in what the header and empty panes show about the panes.
func (w *Workspace) Facts(f Facts) Facts {
	f.Store, f.Newest, f.Follow, f.Autocopy = w.Store, w.Newest, w.Follow, w.Autocopy
	f.Selected, f.Listed = w.Inboxes.Inbox(), w.Store.Inboxes[w.Messages.InboxID]
	f.Filtered = w.Messages.Filter.On()
	return f
}
