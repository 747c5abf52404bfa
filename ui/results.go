package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/api/watch"
	"mayfly/render"
	"mayfly/ui/host"
	"mayfly/ui/intent"
	"mayfly/ui/session"
)

func (a *app) onAnswer(answer session.Answer) tea.Cmd {
	a.footer.End(answer)
	if err := answer.Interrupted(a.link.Session); err != nil {
		a.report(host.Done{Err: err})
		return nil
	}
	switch m := answer.Msg.(type) {
	case tea.BatchMsg:
		return tea.Batch(m...)
	case session.Connected:
		cmd := a.onConnected(m)
		a.report(a.link.Outcome(m))
		return cmd
	}
	return a.route(answer.Msg)
}

// onConnected starts using a new connection.
func (a *app) onConnected(m session.Connected) tea.Cmd {
	change, cmd := a.link.Use(m, a.now)
	if change == session.None {
		return cmd
	}
	if change == session.Other {
		a.Reset(a.now)
	}
	cmd = tea.Batch(cmd, a.applyIntent(a.Begin(a.link.Session, m, a.now)))
	switch {
	case m.Err != nil || change == session.Again: // the cursor stays where it is
	case len(a.Store.Order) == 0 && !a.link.Session.Local: // inboxes may cost something there
	case len(a.Store.Order) == 0:
		return tea.Batch(cmd, a.applyIntent(intent.CreateInbox{}))
	case a.Inboxes.Inbox() == nil && !a.Inboxes.Typing():
		a.SelectInbox(a.Store.Order[0])
	}
	return cmd
}

func (a *app) onResult(msg session.Result) tea.Cmd {
	switch m := msg.(type) {
	case session.Events:
		return a.onEvents(m)
	case session.Lost:
		return a.link.Lose(m, a.now)
	case session.Created:
		return a.onCreated(m)
	case session.Deleted:
		return a.onDeleted(m)
	case session.Opened:
		a.OnOpened(m)
		return session.Release(m.Message)
	case session.TextsRead:
		a.OnTexts(m)
	case session.RawFetched:
		a.OnRaw(m)
		return session.Release(m.Message)
	case session.Fetched:
		return a.onLate(m.Late)
	case session.Saved:
		if m.Err == nil && m.Count < m.Total {
			return a.applyIntent(m.Next())
		}
		a.report(host.Done{Text: m.Text(), Err: m.Err})
	}
	return nil
}

func (a *app) onCreated(m session.Created) tea.Cmd {
	if m.Err != nil {
		a.report(host.Done{Err: m.Err})
		return nil
	}
	a.GoTo(a.link.Session, m, a.now, a.busy())
	switch {
	case m.Adopted:
		a.report(host.Done{Text: "added " + render.Clean(m.Inbox.Email)})
	case m.Copy:
		return a.applyIntent(intent.CopyAddress{ID: m.Inbox.ID})
	}
	return nil
}

func (a *app) onDeleted(m session.Deleted) tea.Cmd {
	if m.Err == nil {
		a.link.Session.Watcher.Remove(m.ID)
		a.Drop(m.ID, a.busy())
	}
	if len(m.Rest) > 0 {
		return a.applyIntent(m.Next())
	}
	a.report(m.Outcome(a.table.KeyFor("delete-marked")))
	return nil
}

// onEvents applies the watcher's events and waits for more.
func (a *app) onEvents(m session.Events) tea.Cmd {
	for _, e := range m.Events {
		a.log.Debug("watch", "kind", e.Kind, "inbox", e.InboxID, "messages", len(e.Messages), "new", len(e.New), "error", e.Err)
		a.link.Apply(e)
		if e.Kind == watch.Inboxes {
			a.Put(m.Session(), a.now, e.Inboxes...)
		}
	}
	return tea.Batch(m.Session().Listen, a.applyIntent(a.Apply(m.Events, a.now)))
}

// onLate carries out what a command led to, unless the user has gone on to type or to a dialog.
func (a *app) onLate(m intent.Late) tea.Cmd {
	switch {
	case m.Err != nil:
		a.report(host.Done{Err: m.Err})
	case a.busy():
		a.note("Not shown, since you have gone on: try again")
	default:
		return a.applyIntent(m.Intent)
	}
	return nil
}
