package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/ui/dialog"
	"mayfly/ui/theme"
)

// moving moves: the cursor in the lists, the text, the focus from pane to pane; it filters rows and marks them.
type moving struct {
	*common
	reading *reading
}

func (m moving) actions() []*action {
	return []*action{
		{ID: "down", Repeats: true, Title: "Down", Keys: []string{"j", "down"}, Where: anywhere, Run: m.move(func(p pane) { p.Move(1) })},
		{ID: "up", Repeats: true, Title: "Up", Keys: []string{"k", "up"}, Where: anywhere, Run: m.move(func(p pane) { p.Move(-1) })},
		{ID: "page-down", Repeats: true, Title: "Page down", Keys: []string{"pgdown", "ctrl+d"}, Where: anywhere, Run: m.move(func(p pane) { p.Page(1) })},
		{ID: "page-up", Repeats: true, Title: "Page up", Keys: []string{"pgup", "ctrl+b", "ctrl+u"}, Where: anywhere, Run: m.move(func(p pane) { p.Page(-1) })},
		{ID: "first", Title: "Go to the top", Keys: []string{"g", "home"}, Where: anywhere, Run: m.move(pane.First)},
		{ID: "last", Title: "Go to the bottom", Keys: []string{"G", "end"}, Where: anywhere, Run: m.move(pane.Last)},
		{ID: "next-pane", Title: "Next pane", Keys: []string{"tab"}, Where: anywhere, Run: m.nextPane},
		{ID: "previous-pane", Title: "Previous pane", Keys: []string{"shift+tab"}, Where: anywhere, Run: noCmd(m.previousPane)},
		{ID: "pane-left", Title: "Pane to the left", Keys: []string{"h", "left"}, Where: anywhere, Run: noCmd(m.paneLeft)},
		{ID: "pane-right", Title: "Pane to the right", Keys: []string{"l", "right"}, Where: anywhere, Run: m.paneRight},
		{ID: "back", Title: "Back", Keys: []string{"esc"}, Where: anywhere, Run: noCmd(m.back)},
		{ID: "filter", Title: "Filter the list", Hint: "filter", Keys: []string{"/"}, Where: inLists,
			Run: noCmd(func() { m.pane().StartTyping() })},
		{ID: "next-page", Repeats: true, Title: "Next page", Keys: []string{"space"}, Where: inReader, Run: m.move(func(p pane) { p.Page(1) })},
		{ID: "mark", Repeats: true, Title: "Mark", Keys: []string{"space"}, Where: inLists,
			DisabledReason: m.requireMarkable,
			Run:            m.move(func(p pane) { p.(interface{ Mark() }).Mark() })},
		{ID: "mark-all", Title: "Mark all, or none", Keys: []string{"*"}, Where: inLists,
			DisabledReason: func() string {
				if m.focus == theme.Inboxes && len(m.store.Order) > 0 {
					return ""
				}
				return m.requireMarkable()
			},
			Run: noCmd(func() { m.pane().(interface{ MarkAll() }).MarkAll() })},
	}
}

// requireMarkable requires a selected row other than "All inboxes".
func (m moving) requireMarkable() (disabledReason string) {
	if m.focus == theme.Inboxes {
		return dialog.Reason(m.inboxes.Inbox() == nil, "No inbox to mark")
	}
	return dialog.Reason(m.message() == nil, "No message to mark")
}

// move is an action that moves the cursor of the pane that has focus.
func (m moving) move(do func(pane)) func() tea.Cmd {
	return func() tea.Cmd { do(m.pane()); return m.moved() }
}

// moved lists the messages of the inbox the cursor went to; the message is fetched once it rests.
func (m moving) moved() tea.Cmd {
	if m.focus == theme.Reader {
		return nil
	}
	m.showInbox()
	return m.reading.debounceFetch()
}

// paneRight moves the focus to the right, as far as there is a pane.
func (m moving) paneRight() tea.Cmd {
	switch m.focus {
	case theme.Inboxes:
		m.focus = theme.Messages
	case theme.Messages:
		return m.reading.enter()
	}
	return nil
}

// nextPane moves the focus to the right, and from the last pane to the first.
func (m moving) nextPane() tea.Cmd {
	before := m.focus
	cmd := m.paneRight()
	if m.focus == before {
		m.focus = theme.Inboxes
	}
	return cmd
}

// back undoes the last step in the pane, otherwise goes one step outwards: from the whole screen to the panes, from
// the message to the list, from the list to the inboxes.
func (m moving) back() {
	if m.pane().Back() {
		if m.focus != theme.Reader {
			m.filtered()
		}
		return
	}
	if m.zoomed {
		m.zoomed = false
		return
	}
	m.paneLeft()
}
