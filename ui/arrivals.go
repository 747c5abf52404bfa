package ui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api/watch"
	"mayfly/ui/intent"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// Apply applies events of inboxes. What has arrived is announced, and shown by [Workspace.Settle].
func (w *Workspace) Apply(events []watch.Event, now time.Time) any {
	var did []any
	var mail []*store.Message
	for _, e := range events {
		i, arrived := w.Store.Apply(e, now)
		if i != nil && e.Kind == watch.Gone {
			w.end(i.ID)
			did = append(did, intent.Forget{ID: i.ID})
		}
		mail = append(mail, arrived...)
	}
	if len(mail) > 0 && w.reading() {
		w.Messages.Stay()
	}
	w.Refresh()
	if len(mail) > 0 {
		did = append(did, w.arrived(mail, now)...)
	}
	return did
}

func (w *Workspace) arrived(mail []*store.Message, now time.Time) []any {
	w.Newest = newest(mail)
	if w.Autocopy {
		w.copyWhenRead(mail)
	}
	var did []any
	if w.Unseen { // otherwise the screen shows it
		did = append(did, w.burst.add(mail, now))
	}
	if w.Follow {
		w.next = w.Newest
		return did
	}
	if m := w.Messages.Message(); slices.Contains(mail, m) {
		w.next = m
	}
	elsewhere := slices.DeleteFunc(mail, func(m *store.Message) bool { return w.Messages.Lists(m.InboxID) })
	if len(elsewhere) > 0 {
		m := newest(elsewhere)
		text := "Mail for " + w.nameOf(m) + ": " + m.Subject
		if n := len(elsewhere); n > 1 {
			text = fmt.Sprintf("%d new messages elsewhere, the newest for %s: %s", n, w.nameOf(m), m.Subject)
		}
		did = append(did, intent.Note{Text: text})
	}
	return did
}

func newest(mail []*store.Message) *store.Message {
	return slices.MaxFunc(mail, func(x, y *store.Message) int { return x.Received.Compare(y.Received) })
}

func (w *Workspace) nameOf(m *store.Message) string {
	if i := w.Store.Inboxes[m.InboxID]; i != nil {
		return i.Name()
	}
	return m.InboxID
}

// reading reports whether the user has gone into the open message, so that it stays whatever arrives.
func (w *Workspace) reading() bool {
	return w.Reader.Reading() && (w.Focus == theme.Reader || w.Reader.Scrolled())
}

// Settle does what has become due: it shows the newest message, unless the user is busy with a dialog
// or typing, and copies codes that have been found.
func (w *Workspace) Settle(busy bool) any {
	did := append(w.settleWanted(busy), w.settleFresh()...)
	if !busy {
		did = append(did, w.showNewest())
	}
	return did
}

// showNewest shows the newest message while following. Otherwise it does so only while the user has
// not moved to another one, and once there is room.
func (w *Workspace) showNewest() any {
	m := w.next
	if m == nil {
		return nil
	}
	switch {
	case w.Store.Messages[m.Key] == nil:
	case w.Follow:
		w.next = nil
		if !w.Messages.Lists(m.InboxID) {
			w.SelectInbox(m.InboxID)
		}
		w.Focus = max(w.Focus, theme.Messages)
		if w.Messages.Select(m.Key) && w.Messages.Index() == 0 {
			w.Messages.First() // the cursor goes on to newer mail
		}
		return w.Open(m)
	case w.Messages.Placed() || w.reading() || w.Messages.Message() != m:
	case w.Layout.Columns == 3 || w.Layout.Columns == 2 && w.Focus == theme.Messages:
		w.next = nil
		return w.Open(m)
	default:
		return nil
	}
	w.next = nil
	return nil
}

// ToggleFollow turns following on or off: opening the newest message as it arrives.
func (w *Workspace) ToggleFollow() any {
	w.Follow = !w.Follow
	return intent.Toggled(w.Follow, "Following: new messages open at once", "Not following")
}

// A burst of mail is announced once: when none has come for quietTime, or maxGathering after its
// first message.
const (
	quietTime    = time.Second
	maxGathering = 10 * time.Second
)

// Gathered says that a burst may be over.
type Gathered struct{}

// burst is mail that has not been announced yet.
type burst struct {
	mail        []*store.Message
	first, last time.Time // when the first and the last of it came
}

// add adds mail, and returns the command that waits for the end of the burst unless one waits already.
func (b *burst) add(mail []*store.Message, now time.Time) any {
	waits := len(b.mail) > 0
	b.mail, b.last = append(b.mail, mail...), now
	if waits {
		return nil
	}
	b.first = now
	return gather(quietTime)
}

func gather(d time.Duration) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return Gathered{} })
}

// onGathered announces the burst if it is over.
func (w *Workspace) onGathered() any {
	b, now := w.burst, time.Now()
	if len(b.mail) == 0 {
		return nil
	}
	if quiet := now.Sub(b.last); quiet < quietTime && now.Sub(b.first) < maxGathering {
		return gather(quietTime - quiet)
	}
	w.burst = burst{}
	m := newest(b.mail)
	a := intent.Announce{Inbox: w.nameOf(m), Sender: m.Sender, Subject: m.Subject, Count: len(b.mail)}
	inboxes := map[string]bool{}
	for _, m := range b.mail {
		inboxes[m.InboxID] = true
	}
	if len(inboxes) > 1 {
		a.Inbox = fmt.Sprintf("%d inboxes", len(inboxes))
	}
	return a
}

// OnTimer applies what a timer of the workspace says.
func (w *Workspace) OnTimer(msg tea.Msg) any {
	if r, ok := msg.(Rested); ok {
		return w.onRest(r)
	}
	return w.onGathered()
}
