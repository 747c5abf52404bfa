package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/watch"
)

// connect makes a connection; an attempt that was overtaken by another is dropped when it ends.
func (a *app) connect(t Target) tea.Cmd {
	a.attempt++
	a.wanted = t
	if a.session == nil {
		a.link.since, a.link.err = a.now, nil
	}
	return a.world.sessions.connect(a.ctx, a.opts, t, a.attempt)
}

// connected begins to work with a session.
func (a *app) connected(m connectedMsg) tea.Cmd {
	if m.attempt != a.attempt {
		return a.world.sessions.end(m.session)
	}
	if m.session == nil {
		return a.notConnected(m.err)
	}
	var end tea.Cmd
	again := a.session != nil && m.session.sameService(a.session)
	if a.session != nil {
		end = a.world.sessions.end(a.session)
		if again {
			a.carryOn()
		} else {
			a.startOver()
		}
	}
	a.session, a.target = m.session, a.wanted
	a.opts.Log.Info("connected", "to", m.session.conn.Name, "after", a.now.Sub(a.link.since), "error", m.err)
	a.link = link{since: a.now, err: m.err}
	a.session.watcher.SetFocused(!a.caps.blurred)
	for _, i := range a.book.inboxes {
		i.generation = a.session.watcher.Add(i.id)
		a.session.watcher.Pause(i.id, i.paused)
	}
	for _, k := range m.known {
		if i, isNew := a.book.putKnown(k, a.now); isNew && k.ExpiresAt.After(a.now) {
			i.generation = a.session.watcher.Add(i.id)
		} else if isNew {
			a.book.forget(k.ID)
		}
	}
	for _, in := range m.inboxes {
		a.follows(in)
	}
	a.refreshLists()
	cmds := []tea.Cmd{end, a.session.listen, a.session.await}
	switch {
	case m.err != nil || again: // the cursor stays where it is
	case len(a.book.order) == 0:
		cmds = append(cmds, a.create(api.CreateInbox{}, false))
	case a.inboxes.selected() == nil:
		a.selectInbox(a.book.order[0])
	}
	return tea.Batch(cmds...)
}

// notConnected tells of a connection that could not be made. The one there is goes on, unless it was lost:
// then it is tried again, less and less often.
func (a *app) notConnected(err error) tea.Cmd {
	a.opts.Log.Warn("not connected", "error", err)
	if a.session != nil && !a.link.lost {
		return a.fail(err)
	}
	a.link.err = err
	a.link.failures++
	a.link.retryAt = a.now.Add(min(time.Second<<min(a.link.failures, 5), 30*time.Second))
	return nil
}

// retry connects again when it is time to.
func (a *app) retry() tea.Cmd {
	if a.session != nil && !a.link.lost || !retried(a.link.err) || a.now.Before(a.link.retryAt) {
		return nil
	}
	a.link.retryAt = time.Time{}
	return a.connect(a.wanted)
}

// sameService says that two sessions are with one service: another process that owns it changes
// nothing but the port.
func (s *session) sameService(t *session) bool {
	return s.conn.Embedded && t.conn.Embedded || s.conn.Client.BaseURL() == t.conn.Client.BaseURL() && s.conn.Profile == t.conn.Profile
}

// carryOn keeps what is on the screen; what was being asked of the session that ended is not heard of.
func (a *app) carryOn() {
	clear(a.peeks)
	clear(a.peeking)
	a.work = progress{}
}

// apply connects again: whoever comes first becomes the owner of the embedded service.
func (m lostMsg) apply(a *app) tea.Cmd {
	if m.session != a.session {
		return nil
	}
	a.link.lost = true
	return a.connect(a.target)
}

// startOver forgets everything about the service that is left.
func (a *app) startOver() {
	a.book = newBook(a.now)
	a.inboxes, a.messages = newInboxPane(a.book), newMessagePane(a.book)
	a.messages.show(allInboxes)
	a.reader.close()
	a.mails, a.focus, a.overlay, a.next = shelf{}, paneMessages, nil, nil
	clear(a.peeks)
	clear(a.peeking)
	clear(a.dropped)
	a.noRaw = false
	a.inboxes.refresh()
}

// heard takes what the watcher said and waits for more.
func (a *app) heard(m watchMsg) tea.Cmd {
	if m.session != a.session || m.ended {
		return nil
	}
	cmds := []tea.Cmd{m.session.listen}
	for _, e := range m.events {
		cmds = append(cmds, a.event(e))
	}
	a.refreshLists()
	return tea.Batch(cmds...)
}

func (a *app) event(e watch.Event) tea.Cmd {
	a.opts.Log.Debug("watch", "kind", e.Kind, "inbox", e.InboxID, "messages", len(e.Messages), "new", len(e.New), "error", e.Err)
	switch e.Kind {
	case watch.ModeChanged:
		a.link.mode = e.Mode
		return nil
	case watch.Inboxes:
		return a.listed(e.Inboxes)
	}
	if e.InboxID == "" {
		a.service(e)
		return nil
	}
	i := a.book.inboxes[e.InboxID]
	if i == nil || e.Generation != i.generation {
		return nil
	}
	switch e.Kind {
	case watch.Listed, watch.Arrived:
		return a.arrived(i, a.book.list(i, e.Messages, a.now), e.Kind == watch.Arrived)
	case watch.Gone:
		return a.gone(i)
	case watch.Failed:
		i.state, i.err = stateFailing, e.Err
	case watch.Recovered:
		i.state, i.err = stateListed, nil
	}
	return nil
}

// service is about the connection as a whole.
func (a *app) service(e watch.Event) {
	switch e.Kind {
	case watch.Failed:
		a.link.err, a.link.retryAt = e.Err, e.RetryAt
	case watch.Recovered:
		a.link.err = nil
	}
}

// listed takes the inboxes of the key: those made elsewhere appear.
func (a *app) listed(in []api.Inbox) tea.Cmd {
	for _, x := range in {
		if !a.dropped[x.ID] {
			a.follows(x)
		}
	}
	return nil
}

// prune takes inboxes off the list that have been gone for long, except what is selected, marked or read.
func (a *app) prune() {
	if a.book.prune(a.now, func(id string) bool {
		return id == a.inboxes.list.Selected() || a.inboxes.marks[id] || a.reader.message != nil && a.reader.message.inboxID == id
	}) {
		a.refreshLists()
	}
}

// gone marks an inbox that was deleted or has expired. What is read from it stays until it is left.
func (a *app) gone(i *inbox) tea.Cmd {
	i.state, i.endedAt = stateGone, a.now
	if a.reader.message != nil && a.reader.message.inboxID == i.id {
		a.reader.ended = true
	}
	reg, id := a.session.conn.Registry, i.id
	if reg == nil {
		return nil
	}
	return func() tea.Msg {
		_ = reg.Remove(id) // an entry too many is found gone the next time
		return nil
	}
}

// arrived opens and announces new mail.
func (a *app) arrived(i *inbox, mail []*message, live bool) tea.Cmd {
	for key := range a.peeks { // what could not be looked into before may be now
		if !a.peeking[key] {
			delete(a.peeks, key)
		}
	}
	if len(mail) == 0 || !live {
		return nil
	}
	newest := mail[0]
	for _, m := range mail {
		if m.received.After(newest.received) {
			newest = m
		}
	}
	a.newest = newest
	atTop := a.messages.list.Index() == 0
	a.messages.refresh()
	cmds := []tea.Cmd{a.announce(i, newest, len(mail))}
	switch {
	case a.follow:
		a.next = newest
	case a.opensByItself(i, atTop):
		cmds = append(cmds, a.openArrived(newest))
	case !a.lists(i.id):
		a.say(note, "Mail for "+i.name()+": "+newest.subject)
	}
	return tea.Batch(cmds...)
}

// lists says whether the messages of an inbox are those that are listed, or among them.
func (a *app) lists(inboxID string) bool {
	return a.messages.inbox == inboxID || a.messages.inbox == allInboxes
}

// opensByItself says whether mail for an inbox opens as it arrives without being followed: when its list is
// shown, there is room for it, and nothing is being read or typed. The cursor stays where it is: at the top,
// which is where the mail comes in.
func (a *app) opensByItself(i *inbox, atTop bool) bool {
	if !a.lists(i.id) || !atTop || a.reader.reading() || a.keysTaken() || a.messages.filter.on() {
		return false
	}
	return a.lay.Columns == 3 || a.lay.Columns == 2 && a.focus == paneMessages
}

func (a *app) openArrived(m *message) tea.Cmd {
	if a.messages.list.Select(m.key) && a.messages.list.Index() == 0 {
		a.messages.list.First() // more mail comes into view above it
	}
	return a.openMessage(m)
}

// openNext opens the newest message while following, as soon as nobody is typing or answering.
func (a *app) openNext() tea.Cmd {
	m := a.next
	if m == nil || a.follow && a.keysTaken() {
		return nil
	}
	a.next = nil
	if !a.follow || a.session == nil || a.book.messages[m.key] == nil {
		return nil
	}
	if !a.lists(m.inboxID) {
		a.selectInbox(m.inboxID)
	}
	if a.focus == paneInboxes {
		a.focus = paneMessages
	}
	return a.openArrived(m)
}
