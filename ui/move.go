package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/ui/list"
)

// cleanLine makes text from outside the program fit for a line.
func cleanLine(s string) string { return render.Clean(s) }

// column is the list that has focus; nil in the reader.
func (a *app) column() *list.List {
	switch a.focus {
	case paneInboxes:
		return &a.inboxes.list
	case paneMessages:
		return &a.messages.list
	}
	return nil
}

func (a *app) move(n int) tea.Cmd {
	if l := a.column(); l != nil {
		l.Move(n)
		return a.moved()
	}
	a.reader.scroll(n)
	return nil
}

func (a *app) page(n int) tea.Cmd {
	switch a.focus {
	case paneInboxes:
		a.inboxes.list.Move(n * max(1, len(a.inboxes.rows)-1))
	case paneMessages:
		a.messages.list.Move(n * max(1, len(a.messages.rows)-1))
	default:
		a.reader.scroll(n * max(1, a.reader.textHeight()-2))
		return nil
	}
	return a.moved()
}

func (a *app) first() tea.Cmd {
	if l := a.column(); l != nil {
		l.First()
		return a.moved()
	}
	a.reader.top = 0
	return nil
}

func (a *app) last() tea.Cmd {
	if l := a.column(); l != nil {
		l.Last()
		return a.moved()
	}
	a.reader.end()
	return nil
}

// moved follows the cursor: another inbox shows its messages, and where a message stands open beside
// the list it gives way to the one that is selected now.
func (a *app) moved() tea.Cmd {
	switch a.focus {
	case paneInboxes:
		a.showInbox()
	case paneMessages:
		if a.reader.reading() && !a.lay.Panes[paneReader].Empty() {
			return a.openLater()
		}
	}
	return nil
}

// showInbox lists the messages of the selected inbox. A message of another one is left.
func (a *app) showInbox() {
	shown := a.shownInbox()
	a.messages.show(shown)
	if m := a.reader.message; m != nil && shown != allInboxes && m.inboxID != shown {
		a.leaveMessage()
	}
}

// shownInbox is the ID of the inbox whose messages are listed.
func (a *app) shownInbox() string {
	if id := a.inboxes.list.Selected(); id != "" {
		return id
	}
	return allInboxes
}

func (a *app) nextPane() tea.Cmd {
	switch {
	case a.focus == paneInboxes:
		a.focus = paneMessages
	case a.focus == paneMessages && a.reader.reading():
		a.focus = paneReader
	case a.focus == paneMessages && a.messages.selected() != nil:
		return a.enter()
	case a.focus == paneReader && a.lay.Columns == 3:
		a.focus = paneInboxes
	}
	return nil
}

func (a *app) previousPane() tea.Cmd {
	switch a.focus {
	case paneReader:
		a.focus = paneMessages
	case paneMessages:
		a.focus = paneInboxes
	case paneInboxes:
		if a.lay.Columns == 3 && a.reader.reading() {
			a.focus = paneReader
		}
	}
	return nil
}

// enter goes into what is selected.
func (a *app) enter() tea.Cmd {
	switch a.focus {
	case paneInboxes:
		a.showInbox()
		a.focus = paneMessages
	case paneMessages:
		m := a.messages.selected()
		if m == nil {
			return nil
		}
		a.focus = paneReader
		if a.reader.message != nil && a.reader.message.key == m.key && a.reader.err == nil {
			return nil
		}
		return a.openMessage(m)
	}
	return nil
}

// back undoes the last step inwards: a search, a filter, a message that is read, a pane.
func (a *app) back() tea.Cmd {
	switch a.focus {
	case paneReader:
		if a.reader.search.on() {
			a.reader.search.clear()
			return nil
		}
		a.focus = paneMessages
	case paneMessages:
		switch {
		case a.messages.filter.on():
			a.messages.filter.clear()
			a.refreshLists()
		case len(a.messages.marks) > 0:
			clear(a.messages.marks)
		case a.reader.reading():
			a.leaveMessage()
		default:
			a.focus = paneInboxes
		}
	case paneInboxes:
		switch {
		case a.inboxes.filter.on():
			a.inboxes.filter.clear()
			a.refreshLists()
		case len(a.inboxes.marks) > 0:
			clear(a.inboxes.marks)
		}
	}
	return nil
}

// refreshLists takes both columns from the book.
func (a *app) refreshLists() {
	a.inboxes.refresh()
	if shown := a.shownInbox(); shown != a.messages.inbox {
		a.messages.show(shown)
	}
	a.messages.refresh()
	if a.focus == paneReader && !a.reader.reading() {
		a.focus = paneMessages
	}
}

// selectInbox moves the cursor to an inbox and shows its messages.
func (a *app) selectInbox(id string) {
	a.inboxes.filter.clear()
	a.inboxes.refresh()
	a.inboxes.list.Select(id)
	a.showInbox()
	a.messages.refresh()
}

// restDelay is how long the cursor stays on a message before it is fetched and counts as read, so that a held
// key does neither to what it passes.
const restDelay = 120 * time.Millisecond

// restMsg says that the cursor may have come to rest on a message.
type restMsg struct{ key string }

func (r restMsg) apply(a *app) tea.Cmd {
	m := a.messages.selected()
	switch {
	case m == nil || m.key != r.key || !a.reader.reading():
		return nil
	case a.reader.message.key == m.key:
		a.readWhatIsSeen()
		return nil
	}
	return a.openMessage(m)
}

// openLater opens the selected message at once when it is at hand, else when the cursor rests.
func (a *app) openLater() tea.Cmd {
	m := a.messages.selected()
	if m == nil || a.reader.message.key == m.key {
		return nil
	}
	rest := tea.Tick(restDelay, func(time.Time) tea.Msg { return restMsg{m.key} })
	if a.mails.get(m.key) == nil {
		return rest
	}
	return tea.Batch(a.showMessage(m), rest)
}

// dividers are the widths that the user dragged the panes to; 0 for the usual ones.
type dividers struct {
	inboxes, messages int
	dragging          int // index of the divider being dragged, from 1; 0 for none
}

// drag moves a divider to a column.
func (a *app) drag(x int) {
	left := a.lay.Panes[paneInboxes]
	switch {
	case a.split.dragging == 0:
	case a.split.dragging == 1 && !left.Empty():
		a.split.inboxes = max(1, x)
	default:
		a.split.messages = max(1, x-a.lay.Panes[paneMessages].X)
	}
}
