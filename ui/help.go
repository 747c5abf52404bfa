package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/internal/manual"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/theme"
)

// help shows the keys (?), all actions (ctrl+p) and the manual (f1), and leaves the application (q, ctrl+z).
type help struct {
	*common
	perform func(*action) tea.Cmd
}

// helpTitles are the titles of the help, by the pane that has focus.
var helpTitles = [...]string{theme.Inboxes: "Keys for inboxes", theme.Messages: "Keys for messages", theme.Reader: "Keys for the message"}

func (h help) actions() []*action {
	return []*action{
		{ID: "help", Title: "Keyboard help", Hint: "help", Keys: []string{"?"}, Where: anywhere,
			Run: func() tea.Cmd {
				return h.show(h.table.menu(helpTitles[h.focus], h.focus, h.perform))
			}},
		{ID: "manual", Title: "The manual", Keys: []string{"f1"}, Where: anywhere,
			Run: h.contents},
		{ID: "palette", Title: "All actions", Keys: []string{"ctrl+p", ":"}, Where: anywhere,
			Run: func() tea.Cmd { return h.show(h.table.menu("Actions", h.focus, h.perform)) }},
		{ID: "suspend", Title: "Suspend", Keys: []string{"ctrl+z"}, Where: anywhere, Run: func() tea.Cmd { return host.Suspend }},
		{ID: "quit", Title: "Quit", Hint: "quit", Keys: []string{"q", "ctrl+c"}, Where: anywhere,
			Run: func() tea.Cmd { return h.reader.Quit() }},
	}
}

// contents lists the pages of the manual; the one that is chosen opens above it.
func (h help) contents() tea.Cmd {
	menu := dialog.Menu{Title: "The manual"}
	for _, t := range manual.Topics() {
		menu.Choices = append(menu.Choices, dialog.Choice{Title: t.Title, Also: t.Summary, Do: func() tea.Cmd {
			h.contents()
			return h.show(dialog.Manual(h.theme, t))
		}})
	}
	return h.show(dialog.NewMenu(menu))
}
