package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/intent"
	"mayfly/ui/reader"
	"mayfly/ui/session"
)

// applyIntent runs a command, opens a dialog, or carries out one or several intents.
func (a *app) applyIntent(v any) tea.Cmd {
	switch v := v.(type) {
	case tea.Cmd:
		return v
	case []any:
		cmds := make([]tea.Cmd, len(v))
		for n := range v {
			cmds[n] = a.applyIntent(v[n])
		}
		return tea.Batch(cmds...)
	case dialog.Dialog:
		a.dialogs = append(a.dialogs, v)
	case tea.KeyPressMsg: // it ended the typing of a filter and goes to the list
		return a.onKey(v)
	case intent.ShowMessage:
		return a.applyIntent(a.ShowMessage(v))
	case intent.Perform:
		return a.perform(a.table.ByID(v.ActionID))
	case intent.Note:
		a.note(v.Text)
	case intent.Announce: // while the terminal has the focus, the screen shows new mail by itself
		if a.terminal.Blurred {
			return tea.Raw(a.terminal.Env.Notification("Mail for "+v.Inbox, v.Text()) + "\a")
		}
	case intent.AskOpen:
		q, err := reader.LinkQuestion(v.Link)
		if err == nil {
			return a.applyIntent(q)
		}
		a.report(host.Done{Err: err})
	case intent.OpenURL:
		a.note("opening " + render.Clean(v.URL.Hostname()) + "…")
		return a.host.OpenURL(a.ctx, a.terminal.Env, v.URL)
	case intent.Copy:
		a.footer.Show(Success, host.Copied(v.What), a.now)
		return a.host.Copy(a.ctx, a.terminal.Env, v.Text, v.What)
	case intent.Connect:
		return a.applyIntent(a.link.ConnectTo(v, a.now))
	case session.Request:
		return a.footer.Begin(v, a.now)
	default:
		return a.request(v)
	}
	return nil
}

// request applies the intents that need the service.
func (a *app) request(v any) tea.Cmd {
	s := a.link.Session
	switch v := v.(type) {
	case intent.Fetch:
		m := a.Reader.Message
		s.Watcher.Touch(m.InboxID)
		if a.Reader.Opened == nil {
			return s.Open(m, a.Reader.Generation, a.Reader.Prepare())
		}
	case intent.CopyAddress:
		s.Watcher.Touch(v.ID)
		return a.applyIntent(a.CopyAddress(v.ID, a.now))
	case intent.CreateInbox:
		return a.applyIntent(s.Create(v.Request, v.Copy))
	case intent.AdoptInbox:
		return a.applyIntent(s.Adopt(v.ID))
	case intent.LabelInbox:
		if i := a.Store.Inboxes[v.ID]; i != nil {
			i.Label = render.Clean(v.Label)
			a.Refresh()
			return s.Label(i)
		}
	case intent.DeleteInboxes:
		if ids := a.Store.Listed(v.IDs); len(ids) > 0 {
			return a.applyIntent(s.Delete(ids, v.What))
		}
		a.note(v.What + " is no longer on the list")
	case intent.Forget:
		return s.Forget(v.ID)
	}
	return nil
}
