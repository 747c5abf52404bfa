package ui

import (
	"fmt"
	"net/url"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/ui/compare"
	"mayfly/ui/host"
	"mayfly/ui/reader"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// showSelected lays the panes out and keeps the reader on the selected message, so that what is selected, shown
// and acted on is one message. Without room for it, the reader keeps that message or none.
func (a *app) showSelected() tea.Cmd {
	m := a.message()
	typing := a.focus == theme.Reader && a.reader.Typing()
	if m == nil && a.focus == theme.Reader {
		a.focus = theme.Messages
	}
	a.zoomed = a.zoomed && a.focus == theme.Reader
	a.layOut()
	var cmd tea.Cmd
	switch {
	case m != nil && a.reader.Reads(m.Key):
	case m == nil || a.layout.Panes[theme.Reader].Empty():
		a.reader.Close()
	default:
		cmd = a.present(m)
	}
	if typing && !a.reader.Typing() { // the message has gone: the letters that follow are not commands
		a.pane().StartTyping()
	}
	if m != nil {
		a.reader.Ended = a.store.Inboxes[m.InboxID].State == store.Gone
	}
	return cmd
}

// showMessage goes to a message that a search found, at the first of several texts that occurs in it.
func (a *app) showMessage(key string, find []string) tea.Cmd {
	m := a.store.Messages[key]
	a.messages.Filter.Clear()
	a.selectInbox(m.InboxID)
	a.messages.Select(m.Key)
	a.focus = theme.Reader
	cmd := a.showSelected()
	a.markRead()
	a.reader.Find(find)
	return cmd
}

// present shows a message in the reader: at once if it is cached, otherwise once it is fetched. One that the
// cursor may only pass is not fetched yet.
func (a *app) present(m *store.Message) tea.Cmd {
	a.reader.Open(m, a.store.Inboxes[m.InboxID].Email, a.now)
	if opened := a.store.Opened.Get(m.Key); opened != nil {
		a.reader.Show(opened)
	}
	if a.resting == m.Key {
		return nil
	}
	return a.fetch()
}

// fetch fetches the message that the reader is opening, unless it was cached.
func (a *app) fetch() tea.Cmd {
	m, s := a.reader.Message, a.session()
	s.Watcher.Touch(m.InboxID)
	if a.reader.Opened != nil {
		return nil
	}
	a.store.SkipPrefetch(m.Key)
	return tea.Batch(s.Open(m, a.reader.Generation, a.reader.Prepare()), redrawIn(reader.OpeningDelay))
}

// opened is a message as it was opened, nil if it was not, or too long ago.
func (a *app) opened(m *store.Message) *message.Message {
	if a.reader.Reads(m.Key) && a.reader.Opened != nil {
		return a.reader.Opened
	}
	return a.store.Opened.Get(m.Key)
}

func (a *app) source(m *store.Message) session.Source {
	return session.Source{InboxID: m.InboxID, ID: m.ID, Opened: a.opened(m)}
}

// restDelay is how long the cursor stays on a message before it is fetched: a held key passes over it.
const restDelay = 120 * time.Millisecond

// rested says that the cursor may have come to rest on a message.
type rested struct{ key string }

// rest waits until the cursor rests on the selected message, unless it is shown already.
func (a *app) rest() tea.Cmd {
	key := a.messages.Selected()
	if key == "" || a.reader.Reads(key) {
		return nil
	}
	a.resting = key
	return tea.Tick(restDelay, func(time.Time) tea.Msg { return rested{key} })
}

// onRest settles on the message on which the cursor rests. One that its inbox shows by itself stays unread.
func (a *app) onRest(r rested) tea.Cmd {
	if a.resting != r.key {
		return nil
	}
	if a.focus != theme.Inboxes {
		a.markRead()
	}
	return a.settle()
}

// settle has the selected message fetched if that has waited for the cursor to rest.
func (a *app) settle() tea.Cmd {
	waits := a.resting != "" && a.reader.Reads(a.resting)
	a.resting = ""
	if waits {
		return a.fetch()
	}
	return nil
}

// markRead marks the selected message read once the user has looked at it, and again once they looked elsewhere.
func (a *app) markRead() {
	if m := a.message(); m != nil && m.Key != a.looked {
		a.looked = m.Key
		a.store.SetUnread(m, false)
	}
}

// look marks the message read that is on the screen while the user presses a key or a button, or turns the wheel.
func (a *app) look() {
	a.touched = true
	if a.resting == "" && !a.layout.Panes[theme.Reader].Empty() {
		a.markRead()
	}
}

// labelLinks opens labels for the links on the screen.
func (a *app) labelLinks() tea.Cmd {
	d := a.reader.Labels(a.askOpen, a.copyLink)
	if d == nil {
		a.note("No links on the screen")
		return nil
	}
	a.focus = theme.Reader
	return a.show(d)
}

// askOpen shows the destination of a link, and asks before opening it.
func (a *app) askOpen(l render.Link) tea.Cmd {
	q, err := reader.LinkQuestion(l, a.openURL, a.copyLink)
	if err != nil {
		a.report(host.Done{Err: err})
		return nil
	}
	return a.show(q)
}

func (a *app) openURL(u *url.URL) tea.Cmd {
	a.note("opening " + render.Clean(u.Hostname()) + "…")
	return a.host.OpenURL(a.ctx, a.terminal.Env, u)
}

func (a *app) copyLink(url string) tea.Cmd { return a.copy(url, "the link") }

// copy copies text; what names it on the screen.
func (a *app) copy(text, what string) tea.Cmd {
	a.report(host.Copied(what))
	return a.host.Copy(a.ctx, a.terminal.Env, text, what)
}

// pair returns the messages to compare, the older first: the two that are marked, or the message
// and the last one before it of its sender and kind; or the reason if there are none.
func (a *app) pair() (pair [2]*store.Message, reason string) {
	if marked := a.messages.Marked(); len(marked) == 2 {
		return [2]*store.Message{marked[1], marked[0]}, ""
	}
	m := a.message()
	switch n := len(a.messages.Marks); {
	case n == 1:
		return pair, "One message is marked: mark another with " + a.table.keyFor("mark") + ", or none"
	case n > 2:
		return pair, fmt.Sprintf("%d messages are marked: two can be compared", n)
	case m == nil:
		return pair, "Select a message first"
	}
	before := a.store.Before(m)
	if before == nil {
		return pair, "No earlier message of this kind from " + m.Sender
	}
	return [2]*store.Message{before, m}, ""
}

// compare shows how two messages differ.
func (a *app) compare() tea.Cmd {
	pair, _ := a.pair()
	return a.request(a.session().Read("comparing two messages", func(read ...*message.Message) func() tea.Cmd {
		d := compare.New(compare.Of(read[0], read[1]))
		return func() tea.Cmd { return a.show(d) }
	}, a.source(pair[0]), a.source(pair[1])))
}

// read reads the message with its raw form. Prepare gets it and the address of its inbox in the command; what
// it returns is done unless the user has gone on to something else.
func (a *app) read(prepare func(m *message.Message, address string) (do func() tea.Cmd)) tea.Cmd {
	m := a.message()
	address := a.store.Inboxes[m.InboxID].Email
	return a.request(a.session().Read("reading the message", func(read ...*message.Message) func() tea.Cmd {
		return prepare(read[0], address)
	}, a.source(m)))
}

// copyMenu is the menu of what can be copied from a message.
func (a *app) copyMenu(m *message.Message, address string) func() tea.Cmd {
	d := host.CopyMenu(m, address, a.copy)
	return func() tea.Cmd { return a.show(d) }
}
