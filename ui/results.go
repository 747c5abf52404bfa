package ui

import (
	"errors"
	"fmt"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/ui/compare"
	"mayfly/ui/inboxes"
	"mayfly/ui/messages"
	"mayfly/ui/panes"
	"mayfly/ui/session"
	"mayfly/ui/status"
	"mayfly/ui/store"
)

// onConnected begins to work with a connection.
func (a *app) onConnected(m session.Connected) tea.Cmd {
	change, cmd := a.link.Use(m, a.now)
	if change == session.None {
		if m.Err != nil && a.link.Working() {
			a.fail(m.Err)
		}
		return cmd
	}
	a.footer.EndWork()
	if change == session.Other {
		a.startOver()
	}
	a.store.LookAnew()
	s := a.link.Session
	s.Watcher.SetFocused(!a.terminal.Blurred)
	for _, i := range a.store.Inboxes {
		i.Generation = s.Watcher.Add(i.ID)
		s.Watcher.Pause(i.ID, i.Paused)
	}
	for _, k := range m.Known {
		if i, isNew := a.store.PutKnown(k, a.now); isNew && k.ExpiresAt.After(a.now) {
			i.Generation = s.Watcher.Add(i.ID)
		} else if isNew {
			a.store.Forget(k.ID)
		}
	}
	for _, in := range m.Inboxes {
		a.watch(in)
	}
	a.refreshLists()
	switch {
	case m.Err != nil || change == session.Again: // the cursor stays where it is
	case len(a.store.Order) == 0:
		a.creating = true
		return tea.Batch(cmd, s.Create(api.CreateInbox{}, false))
	case a.inboxes.Inbox() == nil:
		a.selectInbox(a.store.Order[0])
	}
	return cmd
}

// startOver forgets everything about a service.
func (a *app) startOver() {
	a.store = store.New(a.now)
	a.inboxes, a.messages = inboxes.New(a.store), messages.New(a.store)
	a.reader.Close()
	a.focus, a.dialogs, a.next = panes.Messages, nil, nil
}

// watch puts an inbox into the store and has it followed.
func (a *app) watch(in api.Inbox) *store.Inbox {
	i, isNew := a.store.Put(in, a.now)
	if isNew {
		i.Generation = a.link.Session.Watcher.Add(i.ID)
	}
	return i
}

// onResult takes what a request of the present session brought back.
func (a *app) onResult(msg session.Result) tea.Cmd {
	switch m := msg.(type) {
	case session.Events:
		return a.onEvents(m)
	case session.Lost:
		return a.link.Lose(a.now)
	case session.Created:
		return a.onCreated(m)
	case session.Adopted:
		if m.Err != nil {
			a.fail(m.Err)
			return nil
		}
		a.store.Restore(m.Inbox.ID)
		i := a.watch(m.Inbox)
		a.goTo(i)
		a.footer.Say(status.Success, "added "+i.Email, a.now)
	case session.Deleted:
		return a.onDeleted(m)
	case session.Opened:
		return a.onOpened(m)
	case session.RawFetched:
		return a.onRawFetched(m)
	case session.Compared:
		if m.Err != nil {
			a.fail(m.Err)
			return nil
		}
		a.dialogs = append(a.dialogs, compare.NewDialog(m.Difference))
	case session.Saved:
		a.footer.Work("Saving", m.Count, m.Total)
		if m.Err == nil && m.Count < m.Total {
			return m.Next()
		}
		a.footer.EndWork()
		a.say(session.Done{Text: m.Text(), Err: m.Err})
	}
	return nil
}

// goTo shows an inbox, unless somebody is answering or typing.
func (a *app) goTo(i *store.Inbox) {
	if a.busy() {
		a.refreshLists()
	} else {
		a.selectInbox(i.ID)
	}
}

func (a *app) onCreated(m session.Created) tea.Cmd {
	a.creating = false
	if m.Err != nil {
		if t := session.TroubleOf(m.Err); t == session.KeyRefused || t == session.NotInPlan {
			a.link.Err = m.Err
		}
		a.fail(m.Err)
		return nil
	}
	a.store.Restore(m.Inbox.ID)
	i := a.watch(m.Inbox)
	a.goTo(i)
	if !a.busy() {
		a.focus = panes.Messages
		a.reader.Close()
	}
	if !m.Copy {
		return nil
	}
	return a.copyAddress(i)
}

func (a *app) onDeleted(m session.Deleted) tea.Cmd {
	a.footer.Work("Deleting", m.Total-len(m.Rest), m.Total)
	did := ""
	if i := a.store.Inboxes[m.ID]; m.Err == nil && i != nil {
		did = "deleted " + i.Email
		if i.Gone(a.now) {
			did = i.Name() + " is off the list"
		}
		a.drop(m.ID)
	}
	if len(m.Rest) > 0 {
		return m.Next()
	}
	a.footer.EndWork()
	switch {
	case m.Total == 1:
		a.say(session.Done{Text: did, Err: m.Err})
	case m.Failed > 0:
		a.fail(fmt.Errorf("%d of %d inboxes could not be deleted: %s tries again", m.Failed, m.Total, a.table.KeyFor("delete-marked")))
	default:
		a.footer.Say(status.Success, "deleted "+strconv.Itoa(m.Total)+" inboxes", a.now)
	}
	return nil
}

// drop takes an inbox off the screen.
func (a *app) drop(id string) {
	a.link.Session.Watcher.Remove(id)
	if m := a.reader.Message; m != nil && m.InboxID == id {
		if a.busy() {
			a.reader.Ended = true
		} else {
			a.reader.Close()
		}
	}
	a.store.Drop(id)
	a.refreshLists()
	if a.inboxes.Inbox() == nil && !a.busy() {
		a.focus = panes.Inboxes
	}
}

// prune takes inboxes off the list that have been gone for long, except what is selected, marked or
// read.
func (a *app) prune() {
	if a.store.Prune(a.now, func(id string) bool {
		return id == a.inboxes.Selected() || a.inboxes.Marks[id] || a.reader.Message != nil && a.reader.Message.InboxID == id
	}) {
		a.refreshLists()
	}
}

func (a *app) onOpened(m session.Opened) tea.Cmd {
	a.store.Looked(m.Key, m.Findings)
	if m.Message != nil {
		a.store.Opened.Put(m.Key, m.Message)
	}
	if m.Generation == a.reader.Generation {
		if m.Err != nil {
			a.reader.Fail(m.Err)
		} else {
			a.reader.Show(m.Message, m.Findings)
		}
	}
	return session.Release(m.Message)
}

// fetchRaw fetches the raw message where what is shown is made of it.
func (a *app) fetchRaw() tea.Cmd {
	if !a.reader.WantsRaw() || a.link.Session == nil || a.link.Session.NoRaw {
		return nil
	}
	a.reader.AwaitRaw(a.now)
	return a.link.Session.FetchRaw(a.reader.Message.Key, a.reader.Opened)
}

func (a *app) onRawFetched(m session.RawFetched) tea.Cmd {
	if errors.Is(m.Err, api.ErrUnsupported) {
		m.Session().NoRaw = true
	}
	if m.Err == nil {
		a.store.Opened.Put(m.Key, m.Message)
	}
	switch {
	case !a.reader.Reads(m.Key) || a.reader.Opened == nil:
	case m.Err != nil:
		a.reader.FailRaw(m.Err)
	default:
		a.reader.Show(m.Message, nil)
	}
	return session.Release(m.Message)
}

// onEvents takes what the watcher said and waits for more.
func (a *app) onEvents(m session.Events) tea.Cmd {
	cmds := []tea.Cmd{m.Session().Listen}
	for _, e := range m.Events {
		a.opts.Log.Debug("watch", "kind", e.Kind, "inbox", e.InboxID, "messages", len(e.Messages), "new", len(e.New), "error", e.Err)
		switch {
		case e.Kind == watch.Inboxes:
			for _, in := range e.Inboxes {
				a.watch(in)
			}
		case e.InboxID == "":
			a.link.Apply(e)
		default:
			cmds = append(cmds, a.onInbox(e))
		}
	}
	a.refreshLists()
	return tea.Batch(cmds...)
}

func (a *app) onInbox(e watch.Event) tea.Cmd {
	i, arrived := a.store.Apply(e, a.now)
	switch {
	case i == nil:
	case e.Kind == watch.Gone:
		if m := a.reader.Message; m != nil && m.InboxID == i.ID {
			a.reader.Ended = true
		}
		return a.link.Session.Forget(i.ID)
	case e.Kind == watch.Arrived && len(arrived) > 0:
		return a.onArrived(i, arrived)
	}
	return nil
}

// onArrived opens and announces new mail.
func (a *app) onArrived(i *store.Inbox, mail []*store.Message) tea.Cmd {
	newest := mail[0]
	for _, m := range mail {
		if m.Received.After(newest.Received) {
			newest = m
		}
	}
	a.newest = newest
	atTop := a.messages.Index() == 0
	a.messages.Refresh()
	switch {
	case a.follow:
		a.next = newest
	case a.opensByItself(i, atTop):
		return tea.Batch(a.announce(i, newest, len(mail)), a.openArrived(newest))
	case !a.messages.Lists(i.ID):
		a.tell("Mail for " + i.Name() + ": " + newest.Subject)
	}
	return a.announce(i, newest, len(mail))
}

// announce tells of new mail while nobody is looking: by a notification of the terminal that names the
// inbox, and the bell. While the terminal has the focus the screen alone does.
func (a *app) announce(i *store.Inbox, newest *store.Message, n int) tea.Cmd {
	if !a.terminal.Blurred {
		return nil
	}
	text := newest.Sender + ": " + newest.Subject
	if n > 1 {
		text = fmt.Sprintf("%d new messages, the newest from %s", n, newest.Sender)
	}
	return tea.Raw(a.terminal.Env.Notification("Mail for "+i.Name(), text) + "\a")
}

// opensByItself reports whether mail for an inbox opens as it arrives without being followed: when its
// list is shown, there is room for it, and nothing is being read or typed. The cursor stays where it
// is: at the top, which is where the mail comes in.
func (a *app) opensByItself(i *store.Inbox, atTop bool) bool {
	if !a.messages.Lists(i.ID) || !atTop || a.reader.Reading() || a.busy() || a.messages.Filter.On() {
		return false
	}
	return a.layout.Columns == 3 || a.layout.Columns == 2 && a.focus == panes.Messages
}

func (a *app) openArrived(m *store.Message) tea.Cmd {
	if a.messages.Select(m.Key) && a.messages.Index() == 0 {
		a.messages.First() // more mail comes into view above it
	}
	return a.openMessage(m)
}

// openNext opens the newest message while following, as soon as nobody is typing or answering.
func (a *app) openNext() tea.Cmd {
	m := a.next
	if m == nil || a.follow && a.busy() {
		return nil
	}
	a.next = nil
	if !a.follow || a.link.Session == nil || a.store.Messages[m.Key] == nil {
		return nil
	}
	if !a.messages.Lists(m.InboxID) {
		a.selectInbox(m.InboxID)
	}
	a.focus = max(a.focus, panes.Messages)
	return a.openArrived(m)
}
