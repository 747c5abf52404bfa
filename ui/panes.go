package ui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/lists"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// pane is what the three panes have in common.
type pane interface {
	Move(n int)   // the cursor by rows, or the text by lines; negative is up
	Page(n int)   // by pages
	Scroll(n int) // without the cursor
	First()
	Last()
	StartTyping()               // a filter or a search
	Typing() bool               // the keys go to that
	Type(msg tea.Msg) (on bool) // reports whether the key ended that and goes on to the pane
	StopTyping()
	Back() bool // undoes the last step inside the pane; false if there is none
}

func (a *app) panes() [3]pane {
	return [3]pane{theme.Inboxes: a.inboxes, theme.Messages: a.messages, theme.Reader: a.reader}
}

// pane is the pane that has focus.
func (a *app) pane() pane { return a.panes()[a.focus] }

// reset forgets everything about a service.
func (a *app) reset() {
	typing := a.store != nil && a.pane().Typing()
	a.store = store.New(a.now)
	a.inboxes, a.messages = lists.NewInboxes(a.store), lists.NewMessages(a.store)
	if a.search == nil {
		a.search = lists.NewSearch(a.store, a.showMessage)
	}
	a.search.In(a.store)
	a.reader.Close()
	a.focus, a.newest, a.following = theme.Messages, nil, nil
	a.burst, a.target, a.copying, a.elsewhere = burst{}, target{}, nil, nil
	if typing { // the letters that follow are not commands
		a.messages.StartTyping()
	}
}

// layOut lays the panes out on the screen.
func (a *app) layOut() {
	a.layout = theme.Compute(theme.Input{
		Width: a.width, Height: a.height, Focus: a.focus, Reading: a.message() != nil, Zoomed: a.zoomed, Dividers: a.dividers,
	})
	a.inboxes.Fit(a.layout.Panes[theme.Inboxes])
	a.messages.Fit(a.layout.Panes[theme.Messages])
	a.reader.Fit(a.layout.Panes[theme.Reader])
}

// drawPanes draws the panes. The one that has focus stands out unless a dialog is open.
func (a *app) drawPanes(rows []string) {
	var columns [][]string
	for p, r := range a.layout.Panes {
		focused := len(a.dialogs) == 0 && a.focus == theme.Pane(p)
		switch p := theme.Pane(p); {
		case r.Empty():
		case p == theme.Inboxes:
			columns = append(columns, a.inboxes.Draw(a.theme, a.now, focused))
		case p == theme.Messages:
			columns = append(columns, a.messages.Draw(a.theme, a.now, focused, a.noMessages(r.W-4)))
		default:
			columns = append(columns, a.reader.Draw(focused, a.now))
		}
	}
	copy(rows[a.layout.Top():], theme.Join(a.theme, columns))
	for n, y := range a.layout.Rules {
		rows[y] = a.layout.Rule(a.theme, n == 0)
	}
}

// message is the selected message. The reader shows it, and every action applies to it; see showSelected.
func (a *app) message() *store.Message { return a.messages.Message() }

// inbox is the inbox an action applies to: the selected one, or that of the message.
func (a *app) inbox() *store.Inbox {
	if i := a.inboxes.Inbox(); i != nil {
		return i
	}
	if m := a.message(); m != nil && a.focus != theme.Inboxes {
		return a.store.Inboxes[m.InboxID]
	}
	return nil
}

// markedInboxes are the marked inboxes, or else the one an action applies to.
func (a *app) markedInboxes() []*store.Inbox {
	if marked := a.inboxes.Marked(); len(marked) > 0 {
		return marked
	}
	return []*store.Inbox{a.inbox()}
}

// markedMessages are the marked messages, or else the selected one.
func (a *app) markedMessages() []*store.Message {
	if marked := a.messages.Marked(); len(marked) > 0 {
		return marked
	}
	return []*store.Message{a.message()}
}

// inView returns the IDs of the inboxes whose messages are listed.
func (a *app) inView() []string {
	if a.messages.InboxID == store.All {
		return append([]string(nil), a.store.Order...)
	}
	return []string{a.messages.InboxID}
}

// moved lists the messages of the inbox the cursor went to; the message is fetched once it rests.
func (a *app) moved() tea.Cmd {
	if a.focus == theme.Reader {
		return nil
	}
	a.showInbox()
	return a.rest()
}

// typed passes a key or a paste to the filter or the search being typed.
func (a *app) typed(msg tea.Msg) tea.Cmd {
	on := a.pane().Type(msg)
	if k, ok := msg.(tea.KeyPressMsg); ok && on {
		return a.onKey(k)
	}
	if a.focus != theme.Reader {
		a.filtered()
	}
	return nil
}

// typingKeys says what the keys do while a filter or a search is typed, and how many rows match; "" otherwise.
func (a *app) typingKeys() string {
	if len(a.dialogs) > 0 || !a.pane().Typing() {
		return ""
	}
	hint := func(key, does string) string { return " " + theme.Hint(a.theme, key, does) + " " }
	keys := hint("enter", "keep") + hint("esc", "clear")
	list, all := &a.inboxes.Column, len(a.store.Order)
	switch a.focus {
	case theme.Reader:
		return keys
	case theme.Messages:
		list, all = &a.messages.Column, len(a.store.Keys(a.messages.InboxID))
	}
	keys += hint("↑↓", "move")
	if list.Filter.On() {
		keys += a.theme.Text.On(fmt.Sprintf(" %d of %d match", list.Len(), all))
	}
	return keys
}

// filtered updates the lists after a filter or the marks have changed.
func (a *app) filtered() {
	a.inboxes.Refresh()
	a.showInbox()
	a.messages.Refresh()
}

func (a *app) click(m tea.MouseClickMsg) tea.Cmd {
	if a.dividers.Grab(a.layout, m.X, m.Y) {
		return nil
	}
	p, ok := a.layout.At(m.X, m.Y)
	if !ok {
		return nil
	}
	for _, pane := range a.panes() {
		pane.StopTyping()
	}
	if p == theme.Reader && a.message() == nil {
		return nil
	}
	a.focus = p
	switch {
	case p == theme.Reader:
		l, reason := a.reader.Click(m)
		a.note(reason)
		if l.URL != "" {
			return a.askOpen(l)
		}
	case p == theme.Inboxes && a.inboxes.Click(m.Y):
		a.showInbox()
	case p == theme.Messages && a.messages.Click(m.Y):
		a.markRead()
		return a.settle()
	}
	return nil
}

// paneRight moves the focus to the right, as far as there is a pane.
func (a *app) paneRight() tea.Cmd {
	switch a.focus {
	case theme.Inboxes:
		a.focus = theme.Messages
	case theme.Messages:
		return a.enter()
	}
	return nil
}

// paneLeft moves the focus to the left, as far as there is a pane.
func (a *app) paneLeft() { a.focus = max(a.focus-1, theme.Inboxes) }

// nextPane moves the focus to the right, and from the last pane to the first.
func (a *app) nextPane() tea.Cmd {
	before := a.focus
	cmd := a.paneRight()
	if a.focus == before {
		a.focus = theme.Inboxes
	}
	return cmd
}

// previousPane moves the focus to the left, and from the first pane to the last.
func (a *app) previousPane() {
	switch {
	case a.focus != theme.Inboxes:
		a.paneLeft()
	case a.message() != nil:
		a.focus = theme.Reader
	default:
		a.focus = theme.Messages
	}
}

// enter opens the selected inbox or message.
func (a *app) enter() tea.Cmd {
	if a.focus == theme.Inboxes {
		a.showInbox()
		a.focus = theme.Messages
		return nil
	}
	if a.message() == nil {
		return nil
	}
	a.focus = theme.Reader
	a.markRead()
	if a.reader.Err != nil {
		a.reader.Close() // to be opened anew
	}
	return a.settle()
}

// zoom shows the message on the whole screen, or beside the lists again.
func (a *app) zoom() tea.Cmd {
	a.focus, a.zoomed = max(a.focus, theme.Messages), a.layout.Columns > 1
	return a.enter()
}

// back undoes the last step in the pane, otherwise goes one step outwards: from the whole screen to the panes, from
// the message to the list, from the list to the inboxes.
func (a *app) back() {
	if a.pane().Back() {
		if a.focus != theme.Reader {
			a.filtered()
		}
		return
	}
	if a.zoomed {
		a.zoomed = false
		return
	}
	a.paneLeft()
}

// showInbox lists the messages of the selected inbox.
func (a *app) showInbox() {
	before := a.messages.InboxID
	a.messages.Show(a.inboxes.ShownID())
	if a.messages.InboxID != before {
		a.focus = min(a.focus, theme.Messages)
	}
}

// selectInbox moves the cursor to an inbox and shows its messages.
func (a *app) selectInbox(id string) {
	a.inboxes.Filter.Clear()
	a.inboxes.Refresh()
	a.inboxes.Select(id)
	a.showInbox()
	a.messages.Refresh()
}

// goTo selects a message. From the newest, the cursor goes on to newer mail.
func (a *app) goTo(m *store.Message) {
	if !a.messages.Lists(m.InboxID) {
		a.selectInbox(m.InboxID)
	}
	if a.messages.Select(m.Key) && a.messages.Index() == 0 {
		a.messages.First()
	}
}

// newestUnread is the newest unread message of all inboxes, nil if all are read.
func (a *app) newestUnread() *store.Message {
	for _, key := range a.store.Keys(store.All) {
		if m := a.store.Messages[key]; m.Unread {
			return m
		}
	}
	return nil
}

// goToUnread opens the newest unread message of all inboxes.
func (a *app) goToUnread() {
	a.messages.Filter.Clear()
	a.messages.Refresh()
	a.goTo(a.newestUnread())
	a.focus = max(a.focus, theme.Messages)
	if a.layout.Columns == 1 {
		a.focus = theme.Reader
	}
	a.markRead()
}

// updateLists updates both lists from the store. No cursor moves.
func (a *app) updateLists() {
	a.inboxes.Refresh()
	a.messages.Show(a.inboxes.ShownID())
	a.messages.Refresh()
}

// drop removes an inbox that was deleted here. While the user is busy, the focus stays.
func (a *app) drop(id string) {
	a.store.Drop(id)
	a.updateLists()
	if a.inboxes.Inbox() == nil && !a.busy() {
		a.focus = theme.Inboxes
	}
}

// prune removes inboxes that have been gone for a while, unless they are in use.
func (a *app) prune(now time.Time) {
	if a.store.Prune(now, func(id string) bool {
		return id == a.inboxes.Selected() || a.inboxes.Marks[id] || a.message() != nil && a.message().InboxID == id
	}) {
		a.updateLists()
	}
}

// path is the path to the pane shown, when only one is; nil when several are.
func (a *app) path() []string {
	if a.layout.Columns > 1 {
		return nil
	}
	parts := []string{"Inboxes"}
	if a.focus != theme.Inboxes {
		name := "All"
		if i := a.store.Inboxes[a.messages.InboxID]; i != nil {
			name = theme.CutMiddle(i.Name(), a.width/2)
		}
		parts = append(parts, name)
	}
	if a.focus == theme.Reader {
		parts = append(parts, a.message().Subject)
	}
	return parts
}
