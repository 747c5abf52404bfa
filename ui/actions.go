package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/internal/message"
	"mayfly/ui/dialog"
	"mayfly/ui/intent"
	"mayfly/ui/lists"
	"mayfly/ui/store"
)

// actions is the table of everything the keys do. Actions that reach beyond the panes are here; the
// rest come from the workspace and the reader. An action returns an intent, a dialog to open, or a
// command.
func (a *app) actions() Table {
	const anywhere = Anywhere
	need := func(reason func(Subject) string) func() string {
		return func() string { return reason(a.commands.Subject()) }
	}
	mark := func() string { return a.table.KeyFor("mark") }

	table := Table{
		{ID: "new-inbox", Title: "New inbox, and copy its address", Hint: "new", Group: Flow, Keys: []string{"n"}, Where: anywhere, Why: need(Subject.NeedService), Run: func() any { return intent.CreateInbox{Copy: true} }},
		{ID: "new-inbox-with", Title: "New inbox, with a name and lifetime", Group: Flow, Keys: []string{"N"}, Where: anywhere, Why: need(Subject.NeedService), Run: func() any { return lists.NewInboxForm(a.Store.Domains()) }},
		{ID: "copy-address", Title: "Copy the address", Hint: "copy address", Group: Flow, Keys: []string{"y"}, Where: anywhere, Why: need(Subject.NeedLive), Run: func() any { return intent.CopyAddress{ID: a.Inbox().ID} }},
		{ID: "copy-code", Title: "Copy the code", Hint: "code", Group: Flow, Keys: []string{"c"}, Where: anywhere, Why: a.NeedCode, Run: a.CopyCode},
		{ID: "open-link", Title: "Open the confirmation link", Hint: "open link", Group: Flow, Keys: []string{"o"}, Where: anywhere, Why: func() string { return a.NeedLink(a.table.KeyFor("labels")) }, Run: a.OpenLink},
		{ID: "delete-inbox", Title: "Delete the inbox", Hint: "delete inbox", Group: Flow, Keys: []string{"d"}, Where: anywhere, Why: need(Subject.NeedInbox), Run: func() any { return lists.DeleteQuestion([]*store.Inbox{a.Inbox()}, a.now) }},
		{ID: "send-sample", Title: "Send a sample message", Hint: "sample", Group: Flow, Keys: []string{"t"}, Where: anywhere, Why: need(Subject.NeedSMTP), Run: func() any { return a.link.Session.SendSample(a.Inbox().Email) }},

		{ID: "labels", Title: "Label links: open one, or shift to copy", Hint: "links", Group: Message, Keys: []string{"f"}, Where: anywhere, Why: a.Reader.NeedOpen, Run: a.LabelLinks},
		{ID: "save-message", Title: "Save the message", Group: Message, Keys: []string{"s"}, Where: anywhere, Why: need(Subject.NeedMessage), Run: func() any { return a.link.Session.SaveMessage(a.Message(), a.OpenedOf(a.Message()), a.host.Downloads) }},
		{ID: "save-attachments", Title: "Save the attachments", Group: Message, Keys: []string{"a"}, Where: anywhere, Why: a.Reader.NeedAttachments, Run: func() any { return a.link.Session.SaveAttachments(a.Reader.Opened, a.host.Downloads) }},
		{ID: "browser", Title: "Open a safe copy in the browser", Group: Message, Keys: []string{"b"}, Where: anywhere, Why: need(Subject.NeedMessage), Run: func() any {
			return []any{intent.Note{Text: "opening a safe copy…"}, a.link.Session.OpenCopy(a.Message(), a.OpenedOf(a.Message()), a.host.Copies, a.host.OpenCopy(a.ctx, a.terminal.Env))}
		}},
		{ID: "release-message", Title: "Send the message on by a relay", Group: Message, Keys: []string{"R"}, Where: anywhere, Why: need(Subject.NeedMessage), Run: func() any { return a.link.Session.ReleaseForm(a.Message()) }},
		{ID: "unread", Title: "Mark unread", Group: Message, Keys: []string{"u"}, Where: anywhere, Why: need(Subject.NeedMessage), Run: a.ToggleUnread},
		{ID: "compare", Title: "Compare with the one before, or two marked", Group: Message, Keys: []string{"="}, Where: anywhere, Why: func() string { _, reason := a.Pair(mark()); return reason }, Run: func() any {
			pair, _ := a.Pair(mark())
			return a.link.Session.Compare(pair, [2]*message.Message{a.OpenedOf(pair[0]), a.OpenedOf(pair[1])})
		}},
		{ID: "follow", Title: "Follow: open messages as they arrive", Group: Message, Keys: []string{"F"}, Where: anywhere, Run: a.ToggleFollow},
		{ID: "autocopy", Title: "Autocopy: copy new codes as they arrive", Group: Message, Keys: []string{"C"}, Where: anywhere, Run: a.ToggleAutocopy},

		{ID: "delete-marked", Title: "Delete the marked inboxes", Group: Inboxes, Keys: []string{"D"}, Where: anywhere, Why: func() string { return a.Inboxes.NeedMarked(mark()) }, Run: func() any { return lists.DeleteQuestion(a.Inboxes.Marked(), a.now) }},
		{ID: "pause", Title: "Pause or resume watching", Group: Inboxes, Keys: []string{"p"}, Where: anywhere, Why: need(Subject.NeedLive), Run: func() any { return a.TogglePause(a.link.Session, a.table) }},
		{ID: "label-inbox", Title: "Label the inbox", Group: Inboxes, Keys: []string{"L"}, Where: anywhere, Why: need(Subject.NeedInbox), Run: func() any { return lists.LabelPrompt(a.Inbox()) }},
		{ID: "adopt-inbox", Title: "Add an inbox by ID", Group: Inboxes, Keys: []string{"A"}, Where: anywhere, Why: need(Subject.NeedService), Run: func() any { return lists.AdoptPrompt(a.Store) }},

		{ID: "refresh", Title: "Refresh, or retry now", Group: Application, Keys: []string{"r"}, Where: anywhere, Run: a.refresh},
		{ID: "help", Title: "Help for this pane", Hint: "help", Group: Application, Keys: []string{"?"}, Where: anywhere, Run: func() any { return a.table.Help(a.Focus) }},
		{ID: "manual", Title: "The manual", Group: Application, Keys: []string{"f1"}, Where: anywhere, Run: func() any { return dialog.Manual(a.theme) }},
		{ID: "palette", Title: "All actions", Group: Application, Keys: []string{"ctrl+p", ":"}, Where: anywhere, Run: func() any { return a.table.Palette(a.Focus) }},
		{ID: "connect", Title: "Connect to a service", Group: Application, Keys: []string{"K"}, Where: anywhere, Run: func() any { return a.link.ConnectForm() }},
		{ID: "profiles", Title: "Switch profiles", Group: Application, Keys: []string{"P"}, Where: anywhere, Why: func() string { return a.link.NeedProfiles(a.table.KeyFor("connect")) }, Run: func() any { return a.link.ProfilesMenu() }},
		{ID: "theme", Title: "Change the theme", Group: Application, Keys: []string{"T"}, Where: anywhere, Run: func() any { v := a.settings.NextTheme(a.theme.Name); a.applyTheme(); return v }},
		{ID: "mouse", Title: "Turn the mouse on, or off to select text", Group: Application, Keys: []string{"m"}, Where: anywhere, Run: func() any { return a.settings.ToggleMouse() }},
		{ID: "suspend", Title: "Suspend", Group: Application, Keys: []string{"ctrl+z"}, Where: anywhere, Run: func() any { return tea.Cmd(tea.Suspend) }},
		{ID: "quit", Title: "Quit", Hint: "quit", Group: Application, Keys: []string{"q", "ctrl+c"}, Where: anywhere, Run: func() any { return a.Reader.Quit() }},
	}
	keyFor := func(id string) string { return a.table.KeyFor(id) }
	return Join(a.Workspace.Actions(), readerActions(a.Reader, keyFor, a.link.NoRaw), table, a.commands.Actions())
}

// refresh fetches the lists again, or retries the connection.
func (a *app) refresh() any {
	if a.Reader.Err != nil && a.link.Working() {
		return a.Open(a.Reader.Message)
	}
	id := ""
	if i := a.Inboxes.Inbox(); i != nil {
		id = i.ID
	}
	return a.link.Refresh(id, len(a.Store.Order), a.now)
}
