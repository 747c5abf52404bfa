package ui

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/internal/browser"
	"mayfly/internal/message"
	"mayfly/ui/dialog"
	"mayfly/ui/reader"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// reading shows the selected message (enter, Z): it fetches it, reads others ahead, and marks those read that the user looked at.
type reading struct {
	*common
	onRead func(key string, err error) // told of each message that was read, or why it could not be

	painter *browser.Screenshotter
	restsOn string    // the message that is fetched once the cursor rests on it
	moved   int       // counts the moves of the cursor
	shown   time.Time // when the message on the screen was shown
	looked  string    // the message that the user looked at last
}

func (r *reading) actions() []*action {
	return []*action{
		{ID: "open", Title: "Open", Hint: "open", Keys: []string{"enter"}, Where: inLists,
			DisabledReason: func() string {
				return dialog.Reason(r.focus == theme.Messages && r.message() == nil, "No message to open")
			}, Run: r.enter},
		withItem(action{ID: "zoom", Title: "Toggle full-screen message", Keys: []string{"Z"}, Where: anywhere}, r.theMessage, r.zoom),
	}
}

// showSelected lays the panes out and keeps the reader on the selected message, so that what is selected, shown
// and acted on is one message. Without room for it, the reader keeps that message or none.
func (r *reading) showSelected() tea.Cmd {
	m := r.message()
	typing := r.focus == theme.Reader && r.reader.Typing()
	if m == nil && r.focus == theme.Reader {
		r.focus = theme.Messages
	}
	r.zoomed = r.zoomed && r.focus == theme.Reader
	r.layOut()
	var cmd tea.Cmd
	switch {
	case m != nil && r.reader.Reads(m.Key):
	case m == nil || r.layout.Panes[theme.Reader].Empty():
		r.reader.Close()
	default:
		cmd = r.showInReader(m)
	}
	if typing && !r.reader.Typing() { // the message has gone: the letters that follow are not commands
		r.pane().StartTyping()
	}
	if m != nil {
		r.reader.Ended = r.store.Inboxes[m.InboxID].State == store.Gone
	}
	return cmd
}

// showMessage goes to a message that a search found, at the first of several texts that occurs in it.
func (r *reading) showMessage(key string, find []string) tea.Cmd {
	m := r.store.Messages[key]
	r.messages.Filter.Clear()
	r.selectInbox(m.InboxID)
	r.messages.Select(m.Key)
	r.focus = theme.Reader
	cmd := r.showSelected()
	r.markRead()
	r.reader.Find(find)
	return cmd
}

// showInReader shows a message in the reader: at once if it is cached, otherwise once it is fetched. One that the
// cursor may only pass is not fetched yet.
func (r *reading) showInReader(m *store.Message) tea.Cmd {
	r.shown = r.now
	r.reader.Open(m, r.store.Inboxes[m.InboxID].Email, r.now)
	if opened := r.store.Opened.Get(m.Key); opened != nil {
		r.reader.Show(opened)
	}
	if r.restsOn == m.Key {
		return nil
	}
	return r.fetch()
}

// fetch fetches the message that the reader is opening, unless it was cached.
func (r *reading) fetch() tea.Cmd {
	m, s := r.reader.Message, r.session()
	s.Watcher.Touch(m.InboxID)
	if r.reader.Opened != nil {
		return nil
	}
	r.store.SkipPrefetch(m.Key)
	return tea.Batch(s.Open(m, r.reader.Generation, r.reader.Prepare(), r.onOpened), redrawIn(reader.OpeningDelay))
}

// opened is a message as it was opened, nil if it was not, or too long ago.
func (r *reading) opened(m *store.Message) *message.Message {
	if r.reader.Reads(m.Key) && r.reader.Opened != nil {
		return r.reader.Opened
	}
	return r.store.Opened.Get(m.Key)
}

func (r *reading) source(m *store.Message) session.Source {
	return session.Source{InboxID: m.InboxID, ID: m.ID, Opened: r.opened(m)}
}

const (
	restDelay = 120 * time.Millisecond // how long the cursor stays on a message before it is fetched: a held key passes over it
	lookDelay = 700 * time.Millisecond // and before it counts as looked at: longer than until a held key repeats
)

// rested says that the cursor may have come to rest on a message, or have stayed on it.
type rested struct {
	move   int
	stayed bool
}

// debounceFetch waits until the cursor rests on the selected message, unless it is shown already.
func (r *reading) debounceFetch() tea.Cmd {
	key := r.messages.Selected()
	if key == "" || r.reader.Reads(key) {
		return nil
	}
	r.restsOn = key
	r.moved++
	move := r.moved
	return tea.Batch(tea.Tick(restDelay, func(time.Time) tea.Msg { return rested{move, false} }), tea.Tick(lookDelay, func(time.Time) tea.Msg { return rested{move, true} }))
}

// onRest fetches the message on which the cursor rests, and marks it read once it has stayed there. A message shown only
// because its inbox was selected stays unread.
func (r *reading) onRest(m rested) tea.Cmd {
	switch {
	case m.move != r.moved:
		return nil
	case m.stayed:
		if r.focus != theme.Inboxes && !r.busy() {
			r.noteInteraction(false)
		}
		return nil
	}
	return r.fetchPending()
}

// fetchPending has the selected message fetched if that has waited for the cursor to rest.
func (r *reading) fetchPending() tea.Cmd {
	waits := r.restsOn != "" && r.reader.Reads(r.restsOn)
	r.restsOn = ""
	if waits {
		return r.fetch()
	}
	return nil
}

// enter opens the selected inbox or message.
func (r *reading) enter() tea.Cmd {
	if r.focus == theme.Inboxes {
		r.showInbox()
		r.focus = theme.Messages
		return nil
	}
	if r.message() == nil {
		return nil
	}
	r.focus = theme.Reader
	r.markRead()
	if r.reader.Err != nil {
		r.reader.Close() // to be opened again
	}
	return r.fetchPending()
}

// markRead marks the selected message read once the user has looked at it, and again once they looked elsewhere.
func (r *reading) markRead() {
	if m := r.message(); m != nil && m.Key != r.looked {
		r.looked = m.Key
		r.store.SetUnread(m, false)
	}
}

// noteInteraction marks the message on the screen as read: at once if the user acts on it, and if they go on once they have had the
// time to look at it.
func (r *reading) noteInteraction(acts bool) {
	if r.restsOn == "" && !r.layout.Panes[theme.Reader].Empty() && (acts || r.now.Sub(r.shown) >= lookDelay) {
		r.markRead()
	}
}

// zoom shows the message on the whole screen, or beside the lists again.
func (r *reading) zoom(*store.Message) tea.Cmd {
	r.focus, r.zoomed = max(r.focus, theme.Messages), r.layout.Columns > 1
	return r.enter()
}

// onPrefetched applies the results of prefetching messages.
func (r *reading) onPrefetched(read []session.Opened) tea.Cmd {
	r.store.EndPrefetch()
	var cmds []tea.Cmd
	for _, m := range read {
		if !slices.Contains(r.messages.Keys(), m.Key) { // read for a search: what was opened stays in the cache
			m.Message = nil
		}
		cmds = append(cmds, r.onOpened(m))
	}
	return tea.Batch(cmds...)
}

// onOpened applies the result of opening or prefetching a message.
func (r *reading) onOpened(m session.Opened) tea.Cmd {
	if r.store.SkipPrefetch(m.Key); m.Err == nil {
		r.store.SetFindings(m.Key, m.Findings, m.Text)
	}
	// A late prefetch must not replace a message that has its raw form by now.
	if cached := r.store.Opened.Get(m.Key); m.Message != nil && (cached == nil || cached.Raw == nil) {
		r.store.Opened.Put(m.Key, m.Message)
	}
	r.onRead(m.Key, m.Err)
	switch {
	case m.Generation != r.reader.Generation: // another message has been opened since
	case m.Err != nil:
		r.reader.Err = errors.New(session.Explain(m.Err))
	default:
		r.reader.Show(m.Message)
	}
	return session.FreeMemory(m.Message)
}

// onRaw applies the result of fetching the raw form of an open message.
func (r *reading) onRaw(m session.Opened) tea.Cmd {
	if errors.Is(m.Err, api.ErrUnsupported) {
		r.session().NoRaw = true
	}
	if m.Err == nil {
		r.store.Opened.Put(m.Key, m.Message)
	}
	switch {
	case !r.reader.Reads(m.Key) || r.reader.Opened == nil:
	case m.Err != nil:
		r.reader.FailRaw(m.Err)
	default:
		r.reader.Show(m.Message)
	}
	return session.FreeMemory(m.Message)
}

// requests fetches what the reader lacks, and reads messages ahead of the user: first those given, the most urgent first,
// and at last those that are searched.
func (r *reading) requests(first []*store.Message, searched []string) tea.Cmd {
	s := r.session()
	var keys []string
	for _, m := range first {
		keys = append(keys, m.Key)
	}
	var cmds []tea.Cmd
	if next := r.store.NextPrefetch(keys, r.messages.Keys(), searched); next != nil {
		cmds = append(cmds, s.Prefetch(next, r.onPrefetched))
	}
	if !s.NoRaw && r.reader.WantsRaw() {
		r.reader.AwaitRaw(r.now)
		cmds = append(cmds, s.FetchRaw(r.reader.Message.Key, r.reader.Opened, r.onRaw), redrawIn(reader.OpeningDelay))
	}
	return tea.Batch(append(cmds, r.reader.Paint(r.ctx, r.painter, s.Client))...)
}

// readMessage reads the message with its raw form. Prepare gets it and the address of its inbox in the command; what
// it returns is done unless the user has gone on to something else.
func (r *reading) readMessage(m *store.Message, prepare func(m *message.Message, address string) (do func() tea.Cmd)) tea.Cmd {
	s, from, address := r.session(), r.source(m), r.store.Inboxes[m.InboxID].Email
	return ask(r.common, "reading the message", m.Key, func(ctx context.Context) (func() tea.Cmd, error) {
		read, err := s.Read(ctx, from)
		if err != nil {
			return nil, err
		}
		return prepare(read, address), nil
	}, r.unlessBusy)
}
