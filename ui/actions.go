package ui

import (
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/internal/config"
	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/lists"
	"mayfly/ui/reader"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// viewTitles are the titles of the views in the palette.
var viewTitles = [...]string{
	render.Rich: "View: rich", render.Text: "View: text", render.HTML: "View: HTML source",
	render.Headers: "View: headers", render.Raw: "View: raw message", render.Checks: "View: checks",
	render.Web: "View: as a browser paints it",
}

// actions are everything that the keys do, in the order of the help. A row has the keys of an action, why it
// is unavailable, and what it does. Key handling, the bottom line, help, palette and config.toml come from it.
func actions(commands []config.Command) []*action {
	table := []*action{
		{ID: "new-inbox", Title: "New inbox, and copy its address", Hint: "new", Group: essentials, Keys: []string{"n"}, Where: anywhere, Why: (*app).needService,
			Run: func(a *app) tea.Cmd { return a.request(a.session().Create(api.CreateInbox{}, true)) }},
		{ID: "new-inbox-with", Title: "New inbox, with a username and TTL", Group: essentials, Keys: []string{"N"}, Where: anywhere, Why: (*app).needService,
			Run: func(a *app) tea.Cmd { return a.show(a.newInboxForm()) }},
		{ID: "copy-address", Title: "Copy the address", Hint: "copy address", Group: essentials, Keys: []string{"y"}, Where: anywhere, Why: (*app).needLive,
			Run: func(a *app) tea.Cmd { return a.copyAddress(a.inbox()) }},
		{ID: "copy-code", Title: "Copy the code", Hint: "code", Group: essentials, Keys: []string{"c"}, Where: anywhere,
			Why: func(a *app) string { return a.needFinding(code, "No code was found in this message") },
			Run: func(a *app) tea.Cmd { return a.take(code) }},
		{ID: "open-link", Title: "Open the confirmation link", Hint: "open link", Group: essentials, Keys: []string{"o"}, Where: anywhere,
			Why: func(a *app) string {
				return a.needFinding(link, "No confirmation link was found: "+a.table.keyFor("labels")+" labels every link")
			},
			Run: func(a *app) tea.Cmd { return a.take(link) }},
		{ID: "attachments", Title: "Attachments: look at, open or save them", Hint: "files", Group: essentials, Keys: []string{"a"}, Where: anywhere,
			Why: func(a *app) string { return a.reader.NeedAttachments() },
			Run: (*app).attachments},
		{ID: "delete-inbox", Title: "Delete the inbox, or those that are marked", Hint: "delete inbox", Group: essentials, Keys: []string{"d"}, Where: anywhere,
			Why: func(a *app) string {
				if len(a.inboxes.Marks) > 0 {
					return ""
				}
				return a.needInbox()
			},
			Run: func(a *app) tea.Cmd { return a.show(lists.DeleteQuestion(a.markedInboxes(), a.now, a.deleteInboxes)) }},
		{ID: "delete-message", Title: "Delete the message, or those that are marked", Group: ofMessage, Keys: []string{"D"}, Where: inMessages | inReader,
			Why: (*app).needDeletable,
			Run: func(a *app) tea.Cmd {
				return a.show(lists.DeleteMessagesQuestion(a.markedMessages(), func(in []*store.Message, what string) tea.Cmd {
					return a.request(a.session().DeleteMessages(in, what))
				}))
			}},
		{ID: "empty-inbox", Title: "Delete all messages of the inbox", Group: ofInboxes, Keys: []string{"D"}, Where: inInboxes, Why: (*app).needContents,
			Run: func(a *app) tea.Cmd {
				return a.show(lists.EmptyQuestion(a.inbox(), func(i *store.Inbox) tea.Cmd { return a.request(a.session().Empty(i)) }))
			}},
		{ID: "extend-inbox", Title: "More time for the inbox", Group: ofInboxes, Keys: []string{"+"}, Where: anywhere, Why: (*app).needExtensible,
			Run: func(a *app) tea.Cmd {
				id := a.inbox().ID
				return a.show(lists.ExtendPrompt(a.inbox(), a.now, func(ttl time.Duration) tea.Cmd { return a.request(a.session().Extend(id, ttl)) }))
			}},
		{ID: "send-sample", Title: "Send a sample message", Hint: "sample", Group: essentials, Keys: []string{"t"}, Where: anywhere, Why: (*app).needSMTP,
			Run: func(a *app) tea.Cmd { return a.request(a.session().SendSample(a.inbox().Email)) }},

		{ID: "down", Held: true, Title: "Down", Group: navigation, Keys: []string{"j", "down"}, Where: anywhere, Run: move(func(p pane) { p.Move(1) })},
		{ID: "up", Held: true, Title: "Up", Group: navigation, Keys: []string{"k", "up"}, Where: anywhere, Run: move(func(p pane) { p.Move(-1) })},
		{ID: "page-down", Held: true, Title: "Page down", Group: navigation, Keys: []string{"pgdown", "ctrl+d"}, Where: anywhere, Run: move(func(p pane) { p.Page(1) })},
		{ID: "page-up", Held: true, Title: "Page up", Group: navigation, Keys: []string{"pgup", "ctrl+b", "ctrl+u"}, Where: anywhere, Run: move(func(p pane) { p.Page(-1) })},
		{ID: "first", Title: "Go to the top", Group: navigation, Keys: []string{"g", "home"}, Where: anywhere, Run: move(pane.First)},
		{ID: "last", Title: "Go to the bottom", Group: navigation, Keys: []string{"G", "end"}, Where: anywhere, Run: move(pane.Last)},
		{ID: "next-pane", Title: "Next pane", Group: navigation, Keys: []string{"tab"}, Where: anywhere, Run: (*app).nextPane},
		{ID: "previous-pane", Title: "Previous pane", Group: navigation, Keys: []string{"shift+tab"}, Where: anywhere, Run: just((*app).previousPane)},
		{ID: "pane-left", Title: "Pane to the left", Group: navigation, Keys: []string{"h", "left"}, Where: anywhere, Run: just((*app).paneLeft)},
		{ID: "pane-right", Title: "Pane to the right", Group: navigation, Keys: []string{"l", "right"}, Where: anywhere, Run: (*app).paneRight},
		{ID: "open", Title: "Open", Hint: "open", Group: navigation, Keys: []string{"enter"}, Where: inLists,
			Why: func(a *app) string { return a.needRow("open") }, Run: (*app).enter},
		{ID: "back", Title: "Back", Group: navigation, Keys: []string{"esc"}, Where: anywhere, Run: just((*app).back)},
		{ID: "unread-next", Title: "Go to the newest unread message", Hint: "unread", Group: navigation, Keys: []string{"."}, Where: anywhere,
			Why: func(a *app) string {
				if a.store.Unread() == 0 {
					return "No message is unread"
				}
				return ""
			}, Run: just((*app).goToUnread)},
		{ID: "filter", Title: "Filter the rows as you type", Hint: "filter", Group: navigation, Keys: []string{"/"}, Where: inLists,
			Run: just(func(a *app) { a.pane().StartTyping() })},
		{ID: "search-all", Title: "Search all messages", Hint: "search all", Group: navigation, Keys: []string{"ctrl+f"}, Where: anywhere, Why: (*app).needMessages,
			Run: func(a *app) tea.Cmd { return a.show(a.search.Open()) }},
		{ID: "read-on", Held: true, Title: "Next page", Group: navigation, Keys: []string{"space"}, Where: inReader, Run: move(func(p pane) { p.Page(1) })},
		{ID: "search", Title: "Search the message", Hint: "search", Group: navigation, Keys: []string{"/"}, Where: inReader, Why: (*app).needOpen,
			Run: just(func(a *app) { a.reader.StartTyping() })},
		{ID: "next-hit", Held: true, Title: "Next match", Hint: "next", Group: navigation, Keys: []string{"n"}, Where: inReader, Why: (*app).needHits,
			Run: just(func(a *app) { a.reader.Step(1) })},
		{ID: "previous-hit", Held: true, Title: "Previous match", Hint: "previous", Group: navigation, Keys: []string{"N"}, Where: inReader, Why: (*app).needHits,
			Run: just(func(a *app) { a.reader.Step(-1) })},
		{ID: "end-search", Title: "End the search", Hint: "clear", Group: navigation, Keys: []string{"esc"}, Where: inReader,
			Why: func(a *app) string { return a.reader.NeedSearch() }, Run: just(func(a *app) { a.reader.Back() })},

		{ID: "show-place", Title: "Go to the place of a check", Hint: "to its place", Group: ofMessage, Keys: []string{"enter"}, Where: inReader,
			Why: func(a *app) string { return a.reader.NeedCheck(a.table.keyFor("view-checks")) },
			Run: just(func(a *app) { a.note(a.reader.ShowPlace()) })},
		{ID: "next-view", Title: "Next view", Hint: "view", Group: ofMessage, Keys: []string{"v"}, Where: anywhere, Why: (*app).needOpen,
			Run: just(func(a *app) { a.reader.NextView() })},
		{ID: "zoom", Title: "The message on the whole screen, and back", Group: ofMessage, Keys: []string{"Z"}, Where: anywhere, Why: (*app).needMessage,
			Run: (*app).zoom},
		{ID: "unfold", Title: "Unfold footers, quotes and checks", Group: ofMessage, Keys: []string{"z"}, Where: anywhere, Why: (*app).needOpen,
			Run: just(func(a *app) { a.reader.ToggleUnfold() })},
		{ID: "hidden", Title: "Show hidden text", Group: ofMessage, Keys: []string{"x"}, Where: anywhere, Why: (*app).needOpen,
			Run: just(func(a *app) {
				a.noteEither(a.reader.ToggleHidden(), "Hidden text is shown", "Hidden text is hidden again")
			})},
		{ID: "images", Title: "Show or hide images", Hint: "images", Group: ofMessage, Keys: []string{"i"}, Where: anywhere,
			Why: func(a *app) string { return a.reader.NeedImages(a.session() != nil && a.session().NoRaw) },
			Run: just(func(a *app) { a.noteEither(a.reader.ToggleImages(), "", "The images are hidden again") })},
	}
	for v, name := range reader.Views {
		table = append(table, &action{
			ID: "view-" + name, Title: viewTitles[v], Group: ofMessage, Keys: []string{strconv.Itoa(v + 1)},
			Where: anywhere, Why: (*app).needOpen, Run: just(func(a *app) { a.reader.ShowView(render.View(v)) }),
		})
	}
	painted := func(a *app) string {
		if a.reader.View != render.Web {
			return "Only what a browser paints has that: " + a.table.keyFor("view-web") + " shows it"
		}
		return ""
	}
	return slices.Concat(table, []*action{
		{ID: "phone", Title: "Paint it for a phone, or a desktop", Hint: "phone", First: true, Group: ofMessage, Keys: []string{"w"}, Where: anywhere, Why: painted,
			Run: just(func(a *app) { a.reader.Look.Phone = !a.reader.Look.Phone })},
		{ID: "dark", Title: "Paint it in dark colours, or light ones", Hint: "dark", First: true, Group: ofMessage, Keys: []string{"W"}, Where: anywhere, Why: painted,
			Run: just(func(a *app) { a.reader.Look.Dark = !a.reader.Look.Dark })},
		{ID: "labels", Title: "Label links: open one, or shift to copy", Hint: "links", Group: ofMessage, Keys: []string{"f"}, Where: anywhere, Why: (*app).needOpen,
			Run: (*app).labelLinks},
		{ID: "save-message", Title: "Save the message", Group: ofMessage, Keys: []string{"s"}, Where: anywhere, Why: (*app).needMessage,
			Run: func(a *app) tea.Cmd {
				return a.request(a.session().SaveMessage(a.source(a.message()), a.host.Downloads))
			}},
		{ID: "browser", Title: "Open a safe copy in the browser", Group: ofMessage, Keys: []string{"b"}, Where: anywhere, Why: (*app).needMessage,
			Run: func(a *app) tea.Cmd {
				m := a.message()
				a.note("opening a safe copy…")
				return a.request(a.session().OpenCopy(m, a.opened(m), a.host.Copies, func(path string) tea.Cmd {
					return a.host.OpenFile(a.ctx, a.terminal.Env, path, "a safe copy")
				}))
			}},
		{ID: "release-message", Title: "Send the message on by a relay", Group: ofMessage, Keys: []string{"R"}, Where: anywhere, Why: (*app).needRelay,
			Run: func(a *app) tea.Cmd { return a.show(a.releaseForm(a.message())) }},
		{ID: "unread", Title: "Mark unread", Group: ofMessage, Keys: []string{"u"}, Where: anywhere, Why: (*app).needMessage,
			Run: just(func(a *app) { a.store.SetUnread(a.message(), !a.message().Unread) })},
		{ID: "compare", Title: "Compare with the one before, or two marked", Group: ofMessage, Keys: []string{"="}, Where: anywhere,
			Why: func(a *app) string { _, reason := a.pair(); return reason }, Run: (*app).compare},
		{ID: "follow", Title: "Follow: open messages as they arrive", Group: ofMessage, Keys: []string{"F"}, Where: anywhere,
			Run: just(func(a *app) {
				a.follow = !a.follow
				a.noteEither(a.follow, "Following: new messages open at once", "Not following")
			})},
		{ID: "autocopy", Title: "Autocopy: copy new codes as they arrive", Group: ofMessage, Keys: []string{"C"}, Where: anywhere,
			Run: just(func(a *app) {
				a.autocopy, a.copying = !a.autocopy, nil
				a.noteEither(a.autocopy, "Autocopy: new codes are copied at once", "No autocopy")
			})},
		{ID: "copy-menu", Title: "Copy a link, a header field or the text", Group: ofMessage, Keys: []string{"Y"}, Where: anywhere, Why: (*app).needMessage,
			Run: func(a *app) tea.Cmd { return a.read(a.copyMenu) }},
		{ID: "pipe", Title: "Pipe the message to a command", Group: ofMessage, Keys: []string{"|"}, Where: anywhere, Why: (*app).needMessage, Run: (*app).pipe},
		{ID: "edit", Title: "Open the message in your editor", Group: ofMessage, Keys: []string{"e"}, Where: anywhere, Why: (*app).needMessage, Run: (*app).edit},
	}, configured(commands), []*action{
		{ID: "mark", Held: true, Title: "Mark", Group: ofInboxes, Keys: []string{"space"}, Where: inLists,
			Why: func(a *app) string { return a.needRow("mark") },
			Run: move(func(p pane) { p.(interface{ Mark() }).Mark() })},
		{ID: "mark-all", Title: "Mark all, or none", Group: ofInboxes, Keys: []string{"*"}, Where: inLists,
			Why: func(a *app) string {
				if a.focus == theme.Inboxes && len(a.store.Order) > 0 {
					return ""
				}
				return a.needRow("mark")
			},
			Run: just(func(a *app) { a.pane().(interface{ MarkAll() }).MarkAll() })},
		{ID: "pause", Title: "Pause or resume watching", Group: ofInboxes, Keys: []string{"p"}, Where: anywhere, Why: (*app).needLive, Run: just((*app).togglePause)},
		{ID: "label-inbox", Title: "Label the inbox", Group: ofInboxes, Keys: []string{"L"}, Where: anywhere, Why: (*app).needInbox,
			Run: func(a *app) tea.Cmd { return a.show(lists.LabelPrompt(a.inbox(), a.label)) }},
		{ID: "adopt-inbox", Title: "Add an inbox by ID", Group: ofInboxes, Keys: []string{"A"}, Where: anywhere, Why: (*app).needService,
			Run: func(a *app) tea.Cmd {
				return a.show(lists.AdoptPrompt(a.store, func(id string) tea.Cmd { return a.submit(a.session().Adopt(id)) }))
			}},

		{ID: "refresh", Title: "Refresh, or retry now", Group: application, Keys: []string{"r"}, Where: anywhere, Run: (*app).refresh},
		{ID: "help", Title: "The keys of this pane", Hint: "help", Group: application, Keys: []string{"?"}, Where: anywhere,
			Run: func(a *app) tea.Cmd { return a.show(a.table.menu(helpTitles[a.focus], a.focus, a.perform)) }},
		{ID: "manual", Title: "The manual", Group: application, Keys: []string{"f1"}, Where: anywhere,
			Run: func(a *app) tea.Cmd { return a.show(dialog.Manual(a.theme)) }},
		{ID: "palette", Title: "All actions", Group: application, Keys: []string{"ctrl+p", ":"}, Where: anywhere,
			Run: func(a *app) tea.Cmd { return a.show(a.table.menu("Actions", a.focus, a.perform)) }},
		{ID: "connect", Title: "Connect to a service", Group: application, Keys: []string{"K"}, Where: anywhere,
			Run: func(a *app) tea.Cmd { return a.show(a.connectForm(a.connection.Err())) }},
		{ID: "profiles", Title: "Switch profiles", Group: application, Keys: []string{"P"}, Where: anywhere, Why: (*app).needProfiles,
			Run: func(a *app) tea.Cmd { return a.show(a.profilesMenu()) }},
		{ID: "theme", Title: "Change the theme", Group: application, Keys: []string{"T"}, Where: anywhere, Run: just((*app).nextTheme)},
		{ID: "mouse", Title: "Turn the mouse on, or off to select text", Group: application, Keys: []string{"m"}, Where: anywhere,
			Run: just(func(a *app) {
				a.settings.Mouse = !a.settings.Mouse
				a.noteEither(a.settings.Mouse, "The mouse is on", "The mouse is off: the terminal selects text")
			})},
		{ID: "suspend", Title: "Suspend", Group: application, Keys: []string{"ctrl+z"}, Where: anywhere, Run: func(*app) tea.Cmd { return host.Suspend }},
		{ID: "quit", Title: "Quit", Hint: "quit", Group: application, Keys: []string{"q", "ctrl+c"}, Where: anywhere,
			Run: func(a *app) tea.Cmd { return a.reader.Quit() }},
	})
}

// just is an action that takes no time.
func just(do func(*app)) func(*app) tea.Cmd {
	return func(a *app) tea.Cmd { do(a); return nil }
}

// move is an action that moves the cursor of the pane that has focus.
func move(do func(pane)) func(*app) tea.Cmd {
	return func(a *app) tea.Cmd { do(a.pane()); return a.moved() }
}

// DefaultKeys are the keys of every action, by its ID in config.toml.
func DefaultKeys() map[string][]string {
	keys := map[string][]string{}
	for _, c := range actions(nil) {
		keys[c.ID] = c.Keys
	}
	return keys
}

// The reasons why actions are unavailable, as the screen shows them; "" if they are available.

func (a *app) needService() string {
	return a.connection.NeedService(a.table.keyFor("connect"), a.table.keyFor("refresh"), a.now)
}

func (a *app) needInbox() string {
	switch {
	case a.session() == nil:
		return a.needService()
	case a.inbox() != nil:
		return ""
	case len(a.store.Order) == 0:
		return "There are no inboxes yet: " + a.table.keyFor("new-inbox") + " creates one"
	}
	return "Select an inbox first"
}

// needLive needs an inbox that is not gone.
func (a *app) needLive() string {
	if reason := a.needInbox(); reason != "" {
		return reason
	}
	if a.inbox().Gone(a.now) {
		return "This inbox is gone: " + a.table.keyFor("new-inbox") + " creates a new one"
	}
	return ""
}

// needChangeable needs an inbox that is not gone, and a service that is not known to lack the change.
func (a *app) needChangeable(cannot func(*api.Client) bool, lacking string) string {
	switch reason := a.needService(); {
	case reason != "":
		return reason
	case cannot(a.session().Client):
		return lacking
	}
	return a.needLive()
}

func (a *app) needDeletable() string {
	if reason := a.needMessage(); reason != "" {
		return reason
	}
	return a.needChangeable((*api.Client).CannotDeleteMessages, "This service cannot delete single messages")
}

func (a *app) needContents() string {
	if reason := a.needChangeable((*api.Client).CannotEmptyInboxes, "This service cannot empty inboxes"); reason != "" {
		return reason
	}
	if len(a.inbox().Keys) == 0 {
		return "There are no messages in this inbox"
	}
	return ""
}

func (a *app) needExtensible() string {
	return a.needChangeable((*api.Client).CannotExtendInboxes, "This service cannot extend inboxes")
}

// needSMTP needs an inbox that a sample message can be sent to.
func (a *app) needSMTP() string {
	if s := a.session(); s != nil && s.SMTPAddr == "" {
		return "Sample messages can only be sent to the local service"
	}
	return a.needLive()
}

func (a *app) needMessage() string {
	if a.message() == nil {
		return "Select a message first"
	}
	return ""
}

func (a *app) needMessages() string {
	if len(a.store.Messages) == 0 {
		return "There are no messages to search yet"
	}
	return ""
}

// needRow needs a selected row; do is what for. The row of all inboxes can be opened but not marked.
func (a *app) needRow(do string) string {
	switch inboxes := a.focus == theme.Inboxes; {
	case inboxes && a.inboxes.Inbox() == nil && do != "open":
		return "There is no inbox to " + do
	case !inboxes && a.message() == nil:
		return "There is no message to " + do
	}
	return ""
}

func (a *app) needOpen() string { return a.reader.NeedOpen() }

func (a *app) needHits() string { return a.reader.NeedHits(a.table.keyFor("search")) }

func (a *app) needProfiles() string {
	if len(a.connection.Profiles()) < 2 {
		return "Only one profile: " + a.table.keyFor("connect") + " adds another"
	}
	return ""
}
