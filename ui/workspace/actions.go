package workspace

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/ui/action"
	"mayfly/ui/theme"
)

// Actions are the actions that move between the panes and within them.
func (w *Workspace) Actions() action.Table {
	pane := func(msg tea.Msg) func() any { return func() any { return w.Update(msg) } }
	need := func(do string) func() string {
		return func() string {
			if w.Focus == theme.Inboxes {
				return w.Inboxes.NeedRow(do)
			}
			return w.Messages.NeedRow(do)
		}
	}
	return action.Table{
		{ID: "down", Held: true, Title: "Down", Group: action.Moving, Keys: []string{"j", "down"}, Where: action.Anywhere, Run: pane(theme.Move(1))},
		{ID: "up", Held: true, Title: "Up", Group: action.Moving, Keys: []string{"k", "up"}, Where: action.Anywhere, Run: pane(theme.Move(-1))},
		{ID: "page-down", Held: true, Title: "Page down", Group: action.Moving, Keys: []string{"pgdown", "ctrl+d"}, Where: action.Anywhere, Run: pane(theme.Page(1))},
		{ID: "page-up", Held: true, Title: "Page up", Group: action.Moving, Keys: []string{"pgup", "ctrl+b", "ctrl+u"}, Where: action.Anywhere, Run: pane(theme.Page(-1))},
		{ID: "first", Title: "Go to the top", Group: action.Moving, Keys: []string{"g", "home"}, Where: action.Anywhere, Run: pane(theme.First{})},
		{ID: "last", Title: "Go to the bottom", Group: action.Moving, Keys: []string{"G", "end"}, Where: action.Anywhere, Run: pane(theme.Last{})},
		{ID: "next-pane", Title: "Next pane", Group: action.Moving, Keys: []string{"tab"}, Where: action.Anywhere, Run: w.nextPane},
		{ID: "previous-pane", Title: "Previous pane", Group: action.Moving, Keys: []string{"shift+tab"}, Where: action.Anywhere, Run: w.previousPane},
		{ID: "pane-left", Title: "Pane to the left", Group: action.Moving, Keys: []string{"h", "left"}, Where: action.Anywhere, Run: w.left},
		{ID: "pane-right", Title: "Pane to the right", Group: action.Moving, Keys: []string{"l", "right"}, Where: action.Anywhere, Run: w.right},
		{ID: "open", Title: "Open", Hint: "open", Group: action.Moving, Keys: []string{"enter"}, Where: action.InLists, Why: need("open"), Run: w.Enter},
		{ID: "back", Title: "Back", Group: action.Moving, Keys: []string{"esc"}, Where: action.Anywhere, Run: pane(theme.Back{})},
		{ID: "filter", Title: "Filter the rows as you type", Hint: "filter", Group: action.Moving, Keys: []string{"/"}, Where: action.InLists, Run: pane(theme.Search{})},
		{ID: "search-all", Title: "Search all messages", Hint: "search all", Group: action.Moving, Keys: []string{"ctrl+f"}, Where: action.Anywhere, Why: w.needMessages, Run: func() any { return w.search.Open() }},
		{ID: "mark", Held: true, Title: "Mark", Group: action.Inboxes, Keys: []string{"space"}, Where: action.InLists, Why: need("mark"), Run: pane(theme.Mark{})},
	}
}

func (w *Workspace) needMessages() string {
	if len(w.Store.Messages) == 0 {
		return "There are no messages to search yet"
	}
	return ""
}
