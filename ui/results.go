package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/api/watch"
	"mayfly/render"
	"mayfly/ui/compare"
	"mayfly/ui/intent"
	"mayfly/ui/session"
)

// onConnected starts using a new connection.
func (a *app) onConnected(m session.Connected) tea.Cmd {
	change, cmd := a.link.Use(m, a.now)
	if change == session.None {
		return cmd
	}
	a.footer.EndWork()
	a.creating = false
	if change == session.Other {
		a.Reset(a.now)
		a.dialogs = nil
	}
	cmd = tea.Batch(cmd, a.applyIntent(a.Begin(a.link.Session, m, a.now)))
	switch {
	case m.Err != nil || change == session.Again: // the cursor stays where it is
	case len(a.Store.Order) == 0:
		return tea.Batch(cmd, a.applyIntent(intent.CreateInbox{}))
	case a.Inboxes.Inbox() == nil && !a.Inboxes.Typing():
		a.SelectInbox(a.Store.Order[0])
	}
	return cmd
}

// onResult applies the result of a request of the current session.
func (a *app) onResult(msg session.Result) tea.Cmd {
	switch m := msg.(type) {
	case session.Events:
		return a.onEvents(m)
	case session.Lost:
		return a.link.Lose(a.now)
	case session.Created:
		return a.onCreated(m)
	case session.Adopted:
		if m.Err == nil {
			a.GoTo(a.link.Session, m.Inbox, a.now, a.busy())
		}
		a.report(session.Done{Text: "added " + render.Clean(m.Inbox.Email), Err: m.Err})
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
	case session.Compared:
		if m.Err == nil {
			return a.applyIntent(compare.New(m.Difference))
		}
		a.report(session.Done{Err: m.Err})
	case session.Saved:
		a.footer.Work("Saving", m.Count, m.Total)
		if m.Err == nil && m.Count < m.Total {
			return m.Next()
		}
		a.footer.EndWork()
		a.report(session.Done{Text: m.Text(), Err: m.Err})
	}
	return nil
}

func (a *app) onCreated(m session.Created) tea.Cmd {
	a.creating = false
	if m.Err != nil {
		if t := session.TroubleOf(m.Err); t == session.KeyRefused || t == session.NotInPlan {
			a.link.Err = m.Err
		}
		a.report(session.Done{Err: m.Err})
		return nil
	}
	a.GoTo(a.link.Session, m.Inbox, a.now, a.busy())
	if !m.Copy {
		return nil
	}
	return a.applyIntent(intent.CopyAddress{ID: m.Inbox.ID})
}

func (a *app) onDeleted(m session.Deleted) tea.Cmd {
	a.footer.Work("Deleting", m.Total-len(m.Rest), m.Total)
	did := m.Outcome(a.Store.Inboxes[m.ID], a.table.KeyFor("delete-marked"), a.now)
	if m.Err == nil {
		a.link.Session.Watcher.Remove(m.ID)
		a.Drop(m.ID, a.busy())
	}
	if len(m.Rest) > 0 {
		return m.Next()
	}
	a.footer.EndWork()
	a.report(did)
	return nil
}

// onEvents applies the watcher's events and waits for more.
func (a *app) onEvents(m session.Events) tea.Cmd {
	for _, e := range m.Events {
		a.log.Debug("watch", "kind", e.Kind, "inbox", e.InboxID, "messages", len(e.Messages), "new", len(e.New), "error", e.Err)
		switch {
		case e.Kind == watch.Inboxes:
			a.Put(m.Session(), a.now, e.Inboxes...)
		case e.InboxID == "":
			a.link.Apply(e)
		}
	}
	return tea.Batch(m.Session().Listen, a.applyIntent(a.Apply(m.Events, a.now)))
}
