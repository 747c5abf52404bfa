package ui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api/watch"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// apply applies events of inboxes. Mail that has arrived is announced here.
func (a *app) apply(events []watch.Event) tea.Cmd {
	var cmds []tea.Cmd
	var mail []*store.Message
	for _, e := range events {
		a.log.Debug("watch", "kind", e.Kind, "inbox", e.InboxID, "messages", len(e.Messages), "new", len(e.New), "error", e.Err)
		a.connection.Apply(e)
		if e.Kind == watch.Inboxes {
			a.put(e.Inboxes...)
		}
		i, arrived := a.store.Apply(e, a.now)
		if i != nil && e.Kind == watch.Gone {
			cmds = append(cmds, a.session().Forget(i.ID))
		}
		mail = append(mail, arrived...)
	}
	if len(mail) > 0 && a.reading() {
		a.messages.Stay()
	}
	a.updateLists()
	if !a.touched && a.store.Unread() > 0 { // nobody has chosen an inbox yet
		a.goTo(a.newestUnread())
	}
	if len(mail) > 0 {
		cmds = append(cmds, a.arrived(mail))
	}
	return tea.Batch(cmds...)
}

func (a *app) arrived(mail []*store.Message) tea.Cmd {
	a.newest = newestOf(mail)
	if a.autocopy {
		a.copyWhenRead(mail)
	}
	var cmd tea.Cmd
	if a.terminal.Blurred { // otherwise the screen shows it
		cmd = a.burst.add(mail, a.now)
	}
	if a.follow {
		a.following = a.newest
		return cmd
	}
	elsewhere := slices.DeleteFunc(mail, func(m *store.Message) bool { return a.messages.Lists(m.InboxID) })
	if len(elsewhere) > 0 {
		a.elsewhere = newestOf(elsewhere)
		a.footer.say(func() string { return a.saidElsewhere(len(elsewhere)) }, a.now)
	}
	return cmd
}

// saidElsewhere says what came to inboxes that are not listed, n messages, with the code of the newest once it is read.
// It is "" once the user has gone there.
func (a *app) saidElsewhere(n int) string {
	m := a.elsewhere
	if m == nil || a.messages.Lists(m.InboxID) {
		return ""
	}
	text := "Mail"
	if m.Findings != nil && m.Findings.Code != "" {
		text = m.Findings.Code
	}
	text += " for " + a.nameOf(m) + ": " + m.Subject
	if n > 1 {
		text += fmt.Sprintf(" and %d more", n-1)
	}
	return text + " · " + a.table.keyFor("unread-next") + " goes there"
}

func newestOf(mail []*store.Message) *store.Message {
	return slices.MaxFunc(mail, func(x, y *store.Message) int { return x.Received.Compare(y.Received) })
}

// nameOf is the name of the inbox of a message.
func (a *app) nameOf(m *store.Message) string {
	if i := a.store.Inboxes[m.InboxID]; i != nil {
		return theme.CutMiddle(i.Name(), max(20, a.width/4))
	}
	return m.InboxID
}

// reading reports whether the user has gone into the open message, so that it stays whatever arrives.
func (a *app) reading() bool {
	return a.focus == theme.Reader || a.reader.Scrolled()
}

// whenDue does what has become due: it copies what was asked for and has been found, and follows the newest
// message unless the user is busy with a dialog or typing.
func (a *app) whenDue() tea.Cmd {
	found, _ := a.deliver(a.busy())
	if !a.busy() {
		a.followNewest()
	}
	return tea.Batch(found, a.copyFound())
}

// followNewest selects the newest message while following.
func (a *app) followNewest() {
	m := a.following
	a.following = nil
	if m == nil || a.store.Messages[m.Key] == nil {
		return
	}
	a.goTo(m)
	a.focus = max(a.focus, theme.Messages)
}

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

// add adds mail, and returns the command that waits for the end of the burst unless one waits already.
func (b *burst) add(mail []*store.Message, now time.Time) tea.Cmd {
	waits := len(b.mail) > 0
	b.mail, b.last = append(b.mail, mail...), now
	if waits {
		return nil
	}
	b.first = now
	return endOfBurst(quietTime)
}

func endOfBurst(d time.Duration) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return burstOver{} })
}

// onBurstOver announces the burst if it is over, unless the terminal has the focus: then the screen shows it.
func (a *app) onBurstOver() tea.Cmd {
	b := a.burst
	if len(b.mail) == 0 {
		return nil
	}
	if quiet := a.now.Sub(b.last); quiet < quietTime && a.now.Sub(b.first) < maxBurst {
		return endOfBurst(quietTime - quiet)
	}
	a.burst = burst{}
	if !a.terminal.Blurred {
		return nil
	}
	inboxes := map[string]bool{}
	for _, m := range b.mail {
		inboxes[m.InboxID] = true
	}
	m := newestOf(b.mail)
	where, text := a.nameOf(m), m.Sender+": "+m.Subject
	if len(inboxes) > 1 {
		where = fmt.Sprintf("%d inboxes", len(inboxes))
	}
	if n := len(b.mail); n > 1 {
		text = fmt.Sprintf("%d new messages, the newest from %s", n, text)
	}
	return tea.Raw(a.terminal.Env.Notification("Mail for "+where, text) + "\a")
}
