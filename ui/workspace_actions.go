package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/ui/theme"
)

// Actions are the actions that move between the panes and within them.
func (w *Workspace) Actions() Table {
	pane := func(msg tea.Msg) func() any { return func() any { return w.Update(msg) } }
	need := func(do string) func() string {
		return func() string {
			if w.Focus == theme.Inboxes {
				return w.Inboxes.NeedRow(do)
			}
			return w.Messages.NeedRow(do)
		}
	}
	return Table{
		{ID: "down", Held: true, Title: "Down", Group: Moving, Keys: []string{"j", "down"}, Where: Anywhere, Run: pane(theme.Move(1))},
		{ID: "up", Held: true, Title: "Up", Group: Moving, Keys: []string{"k", "up"}, Where: Anywhere, Run: pane(theme.Move(-1))},
		{ID: "page-down", Held: true, Title: "Page down", Group: Moving, Keys: []string{"pgdown", "ctrl+d"}, Where: Anywhere, Run: pane(theme.Page(1))},
		{ID: "page-up", Held: true, Title: "Page up", Group: Moving, Keys: []string{"pgup", "ctrl+b", "ctrl+u"}, Where: Anywhere, Run: pane(theme.Page(-1))},
		{ID: "first", Title: "Go to the top", Group: Moving, Keys: []string{"g", "home"}, Where: Anywhere, Run: pane(theme.First{})},
		{ID: "last", Title: "Go to the bottom", Group: Moving, Keys: []string{"G", "end"}, Where: Anywhere, Run: pane(theme.Last{})},
		{ID: "next-pane", Title: "Next pane", Group: Moving, Keys: []string{"tab"}, Where: Anywhere, Run: w.nextPane},
		{ID: "previous-pane", Title: "Previous pane", Group: Moving, Keys: []string{"shift+tab"}, Where: Anywhere, Run: w.previousPane},
		{ID: "pane-left", Title: "Pane to the left", Group: Moving, Keys: []string{"h", "left"}, Where: Anywhere, Run: w.left},
		{ID: "pane-right", Title: "Pane to the right", Group: Moving, Keys: []string{"l", "right"}, Where: Anywhere, Run: w.right},
		{ID: "open", Title: "Open", Hint: "open", Group: Moving, Keys: []string{"enter"}, Where: InLists, Why: need("open"), Run: w.Enter},
		{ID: "back", Title: "Back", Group: Moving, Keys: []string{"esc"}, Where: Anywhere, Run: pane(theme.Back{})},
		{ID: "filter", Title: "Filter the rows as you type", Hint: "filter", Group: Moving, Keys: []string{"/"}, Where: InLists, Run: pane(theme.Search{})},
		{ID: "search-all", Title: "Search all messages", Hint: "search all", Group: Moving, Keys: []string{"ctrl+f"}, Where: Anywhere, Why: w.needMessages, Run: func() any { return w.search.Open() }},
		{ID: "mark", Held: true, Title: "Mark", Group: Inboxes, Keys: []string{"space"}, Where: InLists, Why: need("mark"), Run: pane(theme.Mark{})},
	}
}

func (w *Workspace) needMessages() string {
	if len(w.Store.Messages) == 0 {
		return "There are no messages to search yet"
	}
	return ""
}
