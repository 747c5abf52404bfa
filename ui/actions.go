package ui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/ui/action"
	"mayfly/ui/inboxes"
	"mayfly/ui/intent"
	"mayfly/ui/panes"
	"mayfly/ui/reader"
	"mayfly/ui/session"
	"mayfly/ui/store"
)

// actions is the table of everything that keys do. An action that has an effect outside one pane
// returns an intent, a dialog to open, or a command.
func (a *app) actions() action.Table {
	const anywhere, inLists, inReader = action.Anywhere, action.InLists, action.InReader
	pane := func(msg tea.Msg) func() any { return func() any { return a.pane().Update(msg) } }
	do := func(change func()) func() any { return func() any { change(); return nil } }
	rowed := func(do string) string {
		if a.focus == panes.Inboxes {
			return a.inboxes.NeedRow(do)
		}
		return a.messages.NeedRow(do)
	}
	need := func(reason func(action.Subject) string) func() string {
		return func() string { return reason(a.subject()) }
	}
	searchKey := func() string { return a.reader.NeedHits(a.table.KeyFor("search")) }

	table := action.Table{
		{ID: "new-inbox", Title: "New inbox; its address is copied", Hint: "new", Group: action.Flow, Keys: []string{"n"}, Where: anywhere, Why: need(action.Subject.NeedService), Run: func() any { return intent.CreateInbox{Copy: true} }},
		{ID: "new-inbox-with", Title: "New inbox: choose name and lifetime", Group: action.Flow, Keys: []string{"N"}, Where: anywhere, Why: need(action.Subject.NeedService), Run: func() any { return inboxes.NewForm(a.store.Domains()) }},
		{ID: "copy-address", Title: "Copy the address", Hint: "copy address", Group: action.Flow, Keys: []string{"y"}, Where: anywhere, Why: need(action.Subject.NeedLive), Run: func() any { return a.copyAddress(a.inbox()) }},
		{ID: "copy-code", Title: "Copy the code", Hint: "code", Group: action.Flow, Keys: []string{"c"}, Where: anywhere, Why: need(action.Subject.NeedCode), Run: func() any { f := a.message().Findings; return intent.Copy{Text: f.Code, What: f.Code} }},
		{ID: "open-link", Title: "Open the confirm link, after its host", Hint: "open link", Group: action.Flow, Keys: []string{"o"}, Where: anywhere, Why: need(action.Subject.NeedLink), Run: func() any { return intent.AskOpen{Link: a.message().Findings.Link} }},
		{ID: "delete-inbox", Title: "Delete the inbox, after y", Hint: "delete", Group: action.Flow, Keys: []string{"d"}, Where: anywhere, Why: need(action.Subject.NeedInbox), Run: func() any { return inboxes.DeleteQuestion([]*store.Inbox{a.inbox()}, a.now) }},
		{ID: "send-sample", Title: "Send a sample mail", Hint: "sample", Group: action.Flow, Keys: []string{"t"}, Where: anywhere, Why: need(action.Subject.NeedSMTP), Run: func() any { a.samples++; return a.link.Session.SendSample(a.inbox().Email, a.samples-1) }},

		{ID: "down", Held: true, Title: "Down", Group: action.Moving, Keys: []string{"j", "down"}, Where: anywhere, Run: pane(panes.Move(1))},
		{ID: "up", Held: true, Title: "Up", Group: action.Moving, Keys: []string{"k", "up"}, Where: anywhere, Run: pane(panes.Move(-1))},
		{ID: "page-down", Held: true, Title: "A page down", Group: action.Moving, Keys: []string{"pgdown", "ctrl+f", "ctrl+d"}, Where: anywhere, Run: pane(panes.Page(1))},
		{ID: "page-up", Held: true, Title: "A page up", Group: action.Moving, Keys: []string{"pgup", "ctrl+b", "ctrl+u"}, Where: anywhere, Run: pane(panes.Page(-1))},
		{ID: "read-on", Held: true, Title: "Read on", Group: action.Moving, Keys: []string{"space"}, Where: inReader, Run: pane(panes.Page(1))},
		{ID: "first", Title: "To the beginning", Group: action.Moving, Keys: []string{"g", "home"}, Where: anywhere, Run: pane(panes.First{})},
		{ID: "last", Title: "To the end", Group: action.Moving, Keys: []string{"G", "end"}, Where: anywhere, Run: pane(panes.Last{})},
		{ID: "next-pane", Title: "Next pane", Group: action.Moving, Keys: []string{"tab", "l", "right"}, Where: anywhere, Run: func() any { return a.nextPane() }},
		{ID: "previous-pane", Title: "Previous pane", Group: action.Moving, Keys: []string{"shift+tab", "h", "left"}, Where: anywhere, Run: func() any { return a.previousPane() }},
		{ID: "open", Title: "Open", Hint: "open", Group: action.Moving, Keys: []string{"enter"}, Where: inLists, Why: func() string { return rowed("open") }, Run: func() any { return a.enter() }},
		{ID: "back", Title: "Back", Group: action.Moving, Keys: []string{"esc"}, Where: anywhere, Run: pane(panes.Back{})},
		{ID: "filter", Title: "Filter the rows as you type", Hint: "filter", Group: action.Moving, Keys: []string{"/"}, Where: inLists, Run: pane(panes.Search{})},
		{ID: "search", Title: "Search the message", Hint: "search", Group: action.Moving, Keys: []string{"/"}, Where: inReader, Why: a.reader.NeedOpen, Run: pane(panes.Search{})},
		{ID: "next-hit", Held: true, Title: "Next hit", Group: action.Moving, Keys: []string{"]"}, Where: anywhere, Why: searchKey, Run: do(func() { a.reader.Step(1) })},
		{ID: "previous-hit", Held: true, Title: "Previous hit", Group: action.Moving, Keys: []string{"["}, Where: anywhere, Why: searchKey, Run: do(func() { a.reader.Step(-1) })},

		{ID: "next-view", Title: "Next view", Hint: "view", Group: action.Message, Keys: []string{"v"}, Where: anywhere, Why: a.reader.NeedOpen, Run: do(a.reader.NextView)},
		{ID: "labels", Title: "Label the links: open one, shift copies", Hint: "links", Group: action.Message, Keys: []string{"f"}, Where: anywhere, Why: a.reader.NeedOpen, Run: a.labelLinks},
		{ID: "unfold", Title: "Unfold footers and quotes", Group: action.Message, Keys: []string{"z"}, Where: anywhere, Why: a.reader.NeedOpen, Run: do(a.reader.ToggleUnfold)},
		{ID: "hidden", Title: "Show hidden text", Group: action.Message, Keys: []string{"x"}, Where: anywhere, Why: a.reader.NeedOpen, Run: a.reader.ToggleHidden},
		{ID: "images", Title: "Show images, or hide them", Hint: "images", Group: action.Message, Keys: []string{"i"}, Where: anywhere, Why: func() string { return a.reader.NeedImages(a.link.NoRaw()) }, Run: a.reader.ToggleImages},
		{ID: "save-message", Title: "Save the message", Group: action.Message, Keys: []string{"s"}, Where: anywhere, Why: need(action.Subject.NeedMessage), Run: func() any { return a.link.Session.SaveMessage(a.message(), a.downloads()) }},
		{ID: "save-attachments", Title: "Save the attachments", Group: action.Message, Keys: []string{"a"}, Where: anywhere, Why: a.reader.NeedAttachments, Run: func() any {
			a.footer.Work("Saving", 0, len(a.reader.Opened.Attachments))
			return a.link.Session.SaveAttachments(a.reader.Opened, a.downloads())
		}},
		{ID: "browser", Title: "Open a safe copy in the browser", Group: action.Message, Keys: []string{"b"}, Where: anywhere, Why: need(action.Subject.NeedMessage), Run: func() any { return a.link.Session.OpenCopy(a.message(), a.host.copies, a.opener()) }},
		{ID: "unread", Title: "Mark unread", Group: action.Message, Keys: []string{"u"}, Where: anywhere, Why: need(action.Subject.NeedMessage), Run: func() any {
			if m := a.store.Messages[a.message().Key]; m != nil {
				a.store.SetUnread(m, !m.Unread)
			}
			return nil
		}},
		{ID: "compare", Title: "Compare two marked messages", Group: action.Message, Keys: []string{"="}, Where: anywhere, Why: func() string { return a.messages.NeedPair(a.table.KeyFor("mark")) }, Run: func() any { pair := a.messages.Pair(); return a.link.Session.Compare(pair[0], pair[1]) }},
		{ID: "follow", Title: "Follow: open mail as it arrives", Group: action.Message, Keys: []string{"F"}, Where: anywhere, Run: func() any {
			a.follow = !a.follow
			if a.follow {
				return intent.Tell{Text: "Following: the newest message opens as it arrives"}
			}
			return intent.Tell{Text: "Not following"}
		}},

		{ID: "mark", Held: true, Title: "Mark", Group: action.Inboxes, Keys: []string{"space"}, Where: inLists, Why: func() string { return rowed("mark") }, Run: pane(panes.Mark{})},
		{ID: "delete-marked", Title: "Delete the marked inboxes, after y", Group: action.Inboxes, Keys: []string{"D"}, Where: anywhere, Why: func() string { return a.inboxes.NeedMarked(a.table.KeyFor("mark")) }, Run: func() any { return inboxes.DeleteQuestion(a.inboxes.Marked(), a.now) }},
		{ID: "pause", Title: "Pause the watch, or go on", Group: action.Inboxes, Keys: []string{"p"}, Where: anywhere, Why: need(action.Subject.NeedLive), Run: a.pause},
		{ID: "label-inbox", Title: "Label the inbox", Group: action.Inboxes, Keys: []string{"L"}, Where: anywhere, Why: need(action.Subject.NeedInbox), Run: func() any { return inboxes.LabelPrompt(a.inbox()) }},
		{ID: "adopt-inbox", Title: "Add an inbox by its ID", Group: action.Inboxes, Keys: []string{"A"}, Where: anywhere, Why: need(action.Subject.NeedService), Run: func() any { return inboxes.AdoptPrompt(a.store) }},

		{ID: "refresh", Title: "Refresh, or try again now", Group: action.Application, Keys: []string{"r"}, Where: anywhere, Run: func() any { return a.refresh() }},
		{ID: "help", Title: "Help for what has focus", Hint: "help", Group: action.Application, Keys: []string{"?"}, Where: anywhere, Run: func() any { return a.table.Help(a.focus) }},
		{ID: "manual", Title: "The manual", Group: action.Application, Keys: []string{"f1"}, Where: anywhere, Run: func() any { return manualDialog(a.theme) }},
		{ID: "palette", Title: "All actions", Group: action.Application, Keys: []string{"ctrl+p", ":"}, Where: anywhere, Run: func() any { return a.table.Palette(a.focus) }},
		{ID: "connect", Title: "Connect to a service", Group: action.Application, Keys: []string{"K"}, Where: anywhere, Run: func() any { return a.link.ConnectForm(a.opts.SaveProfile != nil) }},
		{ID: "profiles", Title: "Switch to another profile", Group: action.Application, Keys: []string{"P"}, Where: anywhere, Why: func() string { return session.NeedProfiles(a.opts.Profiles, a.table.KeyFor("connect")) }, Run: func() any { return a.link.ProfilesMenu(a.opts.Profiles) }},
		{ID: "theme", Title: "Change the theme", Group: action.Application, Keys: []string{"T"}, Where: anywhere, Run: a.nextTheme},
		{ID: "mouse", Title: "Mouse on, or off for selecting text", Group: action.Application, Keys: []string{"m"}, Where: anywhere, Run: func() any {
			a.cfg.UI.Mouse = !a.cfg.UI.Mouse
			if a.cfg.UI.Mouse {
				return intent.Tell{Text: "The mouse is on"}
			}
			return intent.Tell{Text: "The mouse is off: the terminal selects text"}
		}},
		{ID: "suspend", Title: "Suspend", Group: action.Application, Keys: []string{"ctrl+z"}, Where: anywhere, Run: func() any { return tea.Cmd(tea.Suspend) }},
		{ID: "quit", Title: "Quit", Hint: "quit", Group: action.Application, Keys: []string{"q", "ctrl+c"}, Where: anywhere, Run: func() any { return a.quit() }},
	}
	for v, name := range reader.Views {
		table = append(table, &action.Action{
			ID: "view-" + name, Title: "View: " + viewTitles[v], Row: "View: rich text html headers raw checks", Group: action.Message, Keys: []string{strconv.Itoa(v + 1)},
			Where: anywhere, Why: a.reader.NeedOpen, Run: func() any { a.reader.ShowView(render.View(v)); return nil },
		})
	}
	return table
}

var viewTitles = [...]string{
	render.Rich: "rich", render.Text: "the text part", render.HTML: "the HTML source", render.Headers: "the header fields",
	render.Raw: "the message as received", render.Checks: "checks of the mail",
}
