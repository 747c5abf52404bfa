package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/render"
)

// actions is the table of everything that keys do. Where two actions share a key, the panes in
// which they are meant differ.
func actions() []*action {
	table := []*action{
		{id: "new-inbox", title: "New inbox; its address is copied", hint: "new", group: groupFlow, keys: []string{"n"}, where: anywhere, why: needService, run: (*app).newInbox},
		{id: "new-inbox-with", title: "New inbox: choose name and lifetime", group: groupFlow, keys: []string{"N"}, where: anywhere, why: needService, run: (*app).newInboxForm},
		{id: "copy-address", title: "Copy the address", hint: "copy address", group: groupFlow, keys: []string{"y"}, where: anywhere, why: needLive, run: (*app).copyAddress},
		{id: "copy-code", title: "Copy the code", hint: "code", group: groupFlow, keys: []string{"c"}, where: anywhere, why: needCode, run: (*app).copyCode},
		{id: "open-link", title: "Open the confirm link, after its host", hint: "open link", group: groupFlow, keys: []string{"o"}, where: anywhere, why: needLink, run: (*app).openLink},
		{id: "delete-inbox", title: "Delete the inbox, after y", hint: "delete", group: groupFlow, keys: []string{"d"}, where: anywhere, why: needInbox, run: (*app).askDelete},
		{id: "send-sample", title: "Send a sample mail", hint: "sample", group: groupFlow, keys: []string{"t"}, where: anywhere, why: needSMTP, run: (*app).sendSample},

		{id: "down", held: true, title: "Down", group: groupMove, keys: []string{"j", "down"}, where: anywhere, run: func(a *app) tea.Cmd { return a.move(1) }},
		{id: "up", held: true, title: "Up", group: groupMove, keys: []string{"k", "up"}, where: anywhere, run: func(a *app) tea.Cmd { return a.move(-1) }},
		{id: "page-down", held: true, title: "A page down", group: groupMove, keys: []string{"pgdown", "ctrl+f", "ctrl+d"}, where: anywhere, run: func(a *app) tea.Cmd { return a.page(1) }},
		{id: "page-up", held: true, title: "A page up", group: groupMove, keys: []string{"pgup", "ctrl+b", "ctrl+u"}, where: anywhere, run: func(a *app) tea.Cmd { return a.page(-1) }},
		{id: "read-on", held: true, title: "Read on", group: groupMove, keys: []string{"space"}, where: inReader, run: func(a *app) tea.Cmd { return a.page(1) }},
		{id: "first", title: "To the beginning", group: groupMove, keys: []string{"g", "home"}, where: anywhere, run: (*app).first},
		{id: "last", title: "To the end", group: groupMove, keys: []string{"G", "end"}, where: anywhere, run: (*app).last},
		{id: "next-pane", title: "Next pane", group: groupMove, keys: []string{"tab", "l", "right"}, where: anywhere, run: (*app).nextPane},
		{id: "previous-pane", title: "Previous pane", group: groupMove, keys: []string{"shift+tab", "h", "left"}, where: anywhere, run: (*app).previousPane},
		{id: "open", title: "Open", hint: "open", group: groupMove, keys: []string{"enter"}, where: inLists, why: needListed, run: (*app).enter},
		{id: "back", title: "Back", group: groupMove, keys: []string{"esc"}, where: anywhere, run: (*app).back},
		{id: "filter", title: "Filter the rows as you type", hint: "filter", group: groupMove, keys: []string{"/"}, where: inLists, run: (*app).startFilter},
		{id: "search", title: "Search the message", hint: "search", group: groupMove, keys: []string{"/"}, where: inReader, why: needOpen, run: (*app).startSearch},
		{id: "next-hit", held: true, title: "Next hit", group: groupMove, keys: []string{"]"}, where: anywhere, why: needHits, run: func(a *app) tea.Cmd { return a.stepHit(1) }},
		{id: "previous-hit", held: true, title: "Previous hit", group: groupMove, keys: []string{"["}, where: anywhere, why: needHits, run: func(a *app) tea.Cmd { return a.stepHit(-1) }},

		{id: "next-view", title: "Next view", hint: "view", group: groupMessage, keys: []string{"v"}, where: anywhere, why: needOpen, run: (*app).nextView},
		{id: "labels", title: "Label the links: open one, shift copies", hint: "links", group: groupMessage, keys: []string{"f"}, where: anywhere, why: needOpen, run: (*app).labelLinks},
		{id: "unfold", title: "Unfold footers and quotes", group: groupMessage, keys: []string{"z"}, where: anywhere, why: needOpen, run: (*app).toggleUnfold},
		{id: "hidden", title: "Show hidden text", group: groupMessage, keys: []string{"x"}, where: anywhere, why: needOpen, run: (*app).toggleHidden},
		{id: "pictures", title: "Show pictures, or hide them", hint: "pictures", group: groupMessage, keys: []string{"i"}, where: anywhere, why: needPictures, run: (*app).togglePictures},
		{id: "save-message", title: "Save the message", group: groupMessage, keys: []string{"s"}, where: anywhere, why: needMessage, run: (*app).saveMessage},
		{id: "save-attachments", title: "Save the attachments", group: groupMessage, keys: []string{"a"}, where: anywhere, why: needAttachments, run: (*app).saveAttachments},
		{id: "browser", title: "Open a safe copy in the browser", group: groupMessage, keys: []string{"b"}, where: anywhere, why: needMessage, run: (*app).openCopy},
		{id: "unread", title: "Mark unread", group: groupMessage, keys: []string{"u"}, where: anywhere, why: needMessage, run: (*app).toggleUnread},
		{id: "compare", title: "Compare two marked messages", group: groupMessage, keys: []string{"="}, where: anywhere, why: needPair, run: (*app).compare},
		{id: "follow", title: "Follow: open mail as it arrives", group: groupMessage, keys: []string{"F"}, where: anywhere, run: (*app).toggleFollow},

		{id: "mark", held: true, title: "Mark", group: groupInbox, keys: []string{"space"}, where: inLists, why: needRow, run: (*app).mark},
		{id: "delete-marked", title: "Delete the marked inboxes, after y", group: groupInbox, keys: []string{"D"}, where: anywhere, why: needMarked, run: (*app).askDeleteMarked},
		{id: "pause", title: "Pause the watch, or go on", group: groupInbox, keys: []string{"p"}, where: anywhere, why: needLive, run: (*app).pause},
		{id: "label-inbox", title: "Label the inbox", group: groupInbox, keys: []string{"L"}, where: anywhere, why: needInbox, run: (*app).askLabel},
		{id: "adopt-inbox", title: "Add an inbox by its ID", group: groupInbox, keys: []string{"A"}, where: anywhere, why: needService, run: (*app).askAdopt},

		{id: "refresh", title: "Refresh, or try again now", group: groupApp, keys: []string{"r"}, where: anywhere, run: (*app).refresh},
		{id: "help", title: "Help for what has focus", hint: "help", group: groupApp, keys: []string{"?"}, where: anywhere, run: (*app).showHelp},
		{id: "palette", title: "All actions", group: groupApp, keys: []string{"ctrl+p", ":"}, where: anywhere, run: (*app).showPalette},
		{id: "connect", title: "Connect to a service", group: groupApp, keys: []string{"K"}, where: anywhere, run: (*app).showConnect},
		{id: "profiles", title: "Switch to another profile", group: groupApp, keys: []string{"P"}, where: anywhere, why: needProfiles, run: (*app).showProfiles},
		{id: "theme", title: "Change the theme", group: groupApp, keys: []string{"T"}, where: anywhere, run: (*app).nextTheme},
		{id: "mouse", title: "Mouse on, or off for selecting text", group: groupApp, keys: []string{"m"}, where: anywhere, run: (*app).toggleMouse},
		{id: "suspend", title: "Suspend", group: groupApp, keys: []string{"ctrl+z"}, where: anywhere, run: func(*app) tea.Cmd { return tea.Suspend }},
		{id: "quit", title: "Quit", hint: "quit", group: groupApp, keys: []string{"q", "ctrl+c"}, where: anywhere, run: (*app).quit},
	}
	for i, v := range views {
		table = append(table, &action{
			id: "view-" + v.name, view: i + 1, title: viewTitles[v.view], group: groupMessage, keys: []string{itoa(i + 1)},
			where: anywhere, why: needOpen, run: func(a *app) tea.Cmd { return a.showView(v.view) },
		})
	}
	return table
}

var viewTitles = map[render.View]string{
	render.Rich:    "View: rich",
	render.Text:    "View: the text part",
	render.HTML:    "View: the HTML source",
	render.Headers: "View: the header fields",
	render.Raw:     "View: the message as received",
	render.Checks:  "View: checks of the mail",
}
