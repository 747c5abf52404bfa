package ui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api/watch"
	"mayfly/internal/registry"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// arrivals says what has arrived, follows it (F), and keeps what is unread (u, and . goes there).
type arrivals struct {
	*common
	reading *reading
	copying *copying

	follow   bool           // the newest message is selected as it arrives
	toFollow *store.Message // to be selected when the user is not busy

	newest    *store.Message // the latest arrival
	elsewhere *store.Message // the newest that came to an inbox that is not listed
	others    int            // that arrived before it and were not announced for longer than a notice stays
	announced time.Time      // when elsewhere was
	burst     burst
	touched   bool // the user has used the keys or the mouse
}

func (r *arrivals) actions() []*action {
	return []*action{
		{ID: "next-unread", Title: "Go to the newest unread message", Hint: "unread", Keys: []string{"."}, Where: anywhere,
			DisabledReason: func() string { return dialog.Reason(r.store.Unread() == 0, "No unread messages") }, Run: noCmd(r.goToUnread)},
		withItem(action{ID: "unread", Title: "Mark unread", Keys: []string{"u"}, Where: anywhere}, r.theMessage,
			func(m *store.Message) tea.Cmd { r.store.SetUnread(m, !m.Unread); return nil }),
		{ID: "read-all", Title: "Mark all listed messages as read", Keys: []string{"U"}, Where: anywhere,
			DisabledReason: func() string { return dialog.Reason(r.listedUnread() == 0, "No unread messages") }, Run: noCmd(r.readAll)},
		{ID: "follow", Title: "Follow: open messages as they arrive", Keys: []string{"F"}, Where: anywhere, Run: noCmd(func() {
			r.follow = !r.follow
			r.noteEither(r.follow, "Following: new messages open at once", "Not following")
		})},
	}
}

// listedUnread is the number of unread messages in the inbox that is listed, or in all of them.
func (r *arrivals) listedUnread() (n int) {
	for _, key := range r.store.Keys(r.messages.InboxID) {
		if r.store.Messages[key].Unread {
			n++
		}
	}
	return n
}

func (r *arrivals) readAll() {
	for _, key := range r.store.Keys(r.messages.InboxID) {
		r.store.SetUnread(r.store.Messages[key], false)
	}
	r.note("All listed messages are marked as read")
}

// mergeSeen takes over what was seen of inboxes, here or by another application.
func (r *arrivals) mergeSeen(seen map[string]registry.ReadState, err error) tea.Cmd {
	r.store.Merge(seen)
	return r.report(host.Result{Err: err})
}

// apply applies events of inboxes. Mail that has arrived is announced here.
func (r *arrivals) apply(events []watch.Event) tea.Cmd {
	var cmds []tea.Cmd
	var mail []*store.Message
	shown := r.message()
	for _, e := range events {
		r.log.Debug("watch", "kind", e.Kind, "inbox", e.InboxID, "messages", len(e.Messages), "new", len(e.New), "error", e.Err)
		r.connection.Apply(e)
		if e.Kind == watch.Inboxes {
			r.put(e.Inboxes...)
		}
		i, arrived := r.store.Apply(e, r.now)
		if i != nil && e.Kind == watch.Gone {
			cmds = append(cmds, r.session().Forget(i.ID))
		}
		mail = append(mail, arrived...)
	}
	if len(mail) > 0 && (r.focus == theme.Reader || r.reader.Scrolled()) { // the user has gone into the message: it stays
		r.messages.Pin()
	}
	r.updateLists()
	if shown != nil && r.store.Messages[shown.Key] == nil {
		r.note("No longer exists: “" + shown.Subject + "”")
	}
	if !r.touched { // nobody has chosen an inbox yet
		r.begin()
	}
	if len(mail) > 0 {
		cmds = append(cmds, r.arrived(mail))
	}
	return tea.Batch(cmds...)
}

// begin goes to the newest unread message, or, if none has come since, to where the last run ended.
func (r *arrivals) begin() {
	before, known := r.settings.kept.Places[r.connection.Name()]
	m := r.newestUnread()
	switch {
	case m != nil && (!known || m.Received.After(before.Newest)):
		r.goTo(m)
	case r.store.Messages[before.Message] != nil:
		r.goTo(r.store.Messages[before.Message])
	case r.store.Inboxes[before.Inbox] != nil && before.Message == "":
		r.selectInbox(before.Inbox)
	case m != nil && !known:
		r.goTo(m)
	}
}

// leave notes where the application is left.
func (r *arrivals) leave() {
	if r.session() == nil || r.inboxes.Inbox() == nil {
		return
	}
	p := place{Inbox: r.inboxes.Inbox().ID}
	if m := r.message(); m != nil {
		p.Message = m.Key
	}
	if keys := r.store.Keys(store.All); len(keys) > 0 {
		p.Newest = r.store.Messages[keys[0]].Received
	}
	r.settings.leave(r.connection.Name(), p)
}

func (r *arrivals) arrived(mail []*store.Message) tea.Cmd {
	r.newest = newestOf(mail)
	r.copying.onArrived(mail)
	var cmd tea.Cmd
	if r.terminal.Blurred { // otherwise the screen shows it
		if len(r.burst.mail) == 0 {
			r.burst.first, cmd = r.now, endOfBurst(quietTime)
		}
		r.burst.mail, r.burst.last = append(r.burst.mail, mail...), r.now
	}
	if r.follow {
		r.toFollow = r.newest
		return cmd
	}
	elsewhere := slices.DeleteFunc(mail, func(m *store.Message) bool { return r.messages.Lists(m.InboxID) })
	if len(elsewhere) > 0 {
		if r.elsewhere == nil || r.otherInboxNotice() == "" || r.now.Sub(r.announced) > noticeTime {
			r.others = -1
		}
		r.others += len(elsewhere)
		r.elsewhere, r.announced = newestOf(elsewhere), r.now
		r.footer.say(r.otherInboxNotice, r.now)
	}
	return cmd
}

// otherInboxNotice says what came to inboxes that are not listed, with the code of the newest once it is read. It is ""
// once the user has gone there.
func (r *arrivals) otherInboxNotice() string {
	m := r.elsewhere
	if m == nil || r.messages.Lists(m.InboxID) {
		return ""
	}
	text := "Mail"
	if m.Extracted != nil && m.Extracted.Code != "" {
		text = m.Extracted.Code
	}
	text += " for " + r.nameOf(m) + ": " + m.Subject
	if r.others > 0 {
		text += fmt.Sprintf(" and %d more", r.others)
	}
	return text + " · " + r.table.keyFor("next-unread") + " goes there"
}

func newestOf(mail []*store.Message) *store.Message {
	return slices.MaxFunc(mail, func(x, y *store.Message) int { return x.Received.Compare(y.Received) })
}

// followNewest selects the newest message while following.
func (r *arrivals) followNewest() {
	m := r.toFollow
	r.toFollow = nil
	if m == nil || r.store.Messages[m.Key] == nil {
		return
	}
	r.goTo(m)
	r.focus = max(r.focus, theme.Messages)
}

// goToUnread opens the newest unread message of all inboxes.
func (r *arrivals) goToUnread() {
	r.messages.Filter.Clear()
	r.messages.Refresh()
	r.goTo(r.newestUnread())
	r.focus = max(r.focus, theme.Messages)
	if r.layout.Columns == 1 {
		r.focus = theme.Reader
	}
	r.reading.markRead()
}

// forget forgets what came from another service.
func (r *arrivals) forget() { r.newest, r.toFollow, r.elsewhere, r.burst = nil, nil, nil, burst{} }

// Mail is announced once none has come for quietTime, or maxBurst after the first.
const (
	quietTime = time.Second
	maxBurst  = 10 * time.Second
)

// burstOver says that a burst may be over.
type burstOver struct{}

// burst is mail that has not been announced yet.
type burst struct {
	mail        []*store.Message
	first, last time.Time // when the first and the last of it came
}

func endOfBurst(d time.Duration) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return burstOver{} })
}

// announce announces the burst if it is over, unless the terminal has the focus: then the screen shows it.
func (r *arrivals) announce() tea.Cmd {
	b := r.burst
	if len(b.mail) == 0 {
		return nil
	}
	if quiet := r.now.Sub(b.last); quiet < quietTime && r.now.Sub(b.first) < maxBurst {
		return endOfBurst(quietTime - quiet)
	}
	r.burst = burst{}
	if !r.terminal.Blurred {
		return nil
	}
	inboxes := map[string]bool{}
	for _, m := range b.mail {
		inboxes[m.InboxID] = true
	}
	m := newestOf(b.mail)
	where, text := r.nameOf(m), m.Sender+": "+m.Subject
	if len(inboxes) > 1 {
		where = fmt.Sprintf("%d inboxes", len(inboxes))
	}
	if n := len(b.mail); n > 1 {
		text = fmt.Sprintf("%d new messages, the newest from %s", n, text)
	}
	return tea.Raw(r.terminal.Env.Notification("Mail for "+where, text) + "\a")
}
