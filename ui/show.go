package ui

import (
	"strings"

	"mayfly/ui/dialog"
	"mayfly/ui/intent"
	"mayfly/ui/theme"
)

// The groups of actions, in the order of the help.
const (
	Flow        = "Essentials"
	Moving      = "Navigation"
	Message     = "Message"
	Inboxes     = "Inboxes"
	Application = "Application"
)

// Groups are the groups in the order of the help.
var Groups = []string{Flow, Moving, Message, Inboxes, Application}

// Hint is an action in the bottom line.
type Hint struct {
	Key  string
	X, W int // cells
	*Action
}

func (a *Action) hintWidth() int { return theme.Width(a.Key()) + theme.Width(a.Hint) + 3 }

// Hints returns the available actions of a pane, as many as fit into room cells: first those that
// have taken their key from another, and last the help.
func (t Table) Hints(p theme.Pane, room int) []Hint {
	var hints []Hint
	x := 0
	add := func(a *Action, room int) {
		if w := a.hintWidth(); x+w <= room {
			hints = append(hints, Hint{a.Key(), x, w, a})
			x += w
		}
	}
	help := t.ByID("help")
	helped := help != nil && help.Key() != ""
	left := room
	if helped {
		left -= help.hintWidth()
	}
	for _, taken := range []bool{true, false} {
		for _, a := range t {
			if a.Hint != "" && a != help && a.Key() != "" && a.Where.Has(p) && t.shares(a, p) == taken && t.reason(a, p) == "" {
				add(a, left)
			}
		}
	}
	if helped {
		add(help, room)
	}
	return hints
}

// reason is why the key of an action does nothing, or something else.
func (t Table) reason(a *Action, p theme.Pane) string {
	if other := t.Lookup(a.Keys[0], p); other != a {
		return a.Key() + " is the key for: " + other.Title
	}
	return a.Reason()
}

// Help lists the keys of a pane.
func (t Table) Help(p theme.Pane) dialog.Dialog {
	names := [...]string{theme.Inboxes: "inboxes", theme.Messages: "messages", theme.Reader: "the message"}
	h := dialog.Help{Title: "Keys for " + names[p]}
	for _, g := range Groups {
		group := dialog.HelpGroup{Title: g}
		rows := map[string]bool{}
		for _, a := range t {
			switch {
			case a.Group != g || !a.Where.Has(p) || len(a.Keys) == 0:
			case a.Row == "":
				group.Keys = append(group.Keys, dialog.HelpKey{Keys: keyNames(a.Keys), Title: a.Title, Reason: t.reason(a, p)})
			case !rows[a.Row]:
				rows[a.Row] = true
				group.Keys = append(group.Keys, dialog.HelpKey{Keys: t.rowKeys(a.Row), Title: a.Row, Reason: a.Reason()})
			}
		}
		if group.Keys != nil {
			h.Groups = append(h.Groups, group)
		}
	}
	return dialog.NewHelp(h)
}

// rowKeys returns the first keys of the actions that share a row of the help.
func (t Table) rowKeys(row string) string {
	var b strings.Builder
	for _, a := range t {
		if a.Row == row {
			b.WriteString(a.Key())
		}
	}
	return b.String()
}

// Palette is a menu of the actions of a pane; navigation comes last.
func (t Table) Palette(p theme.Pane) dialog.Dialog {
	m := dialog.Menu{Title: "Actions", Then: func(id string) any { return intent.Perform{ActionID: id} }}
	for _, moving := range []bool{false, true} {
		for _, a := range t {
			if a.Where.Has(p) && a.ID != "palette" && (a.Group == Moving) == moving {
				m.Choices = append(m.Choices, dialog.Choice{ID: a.ID, Title: a.Title, Aside: keyNames(a.Keys), Reason: a.Reason()})
			}
		}
	}
	return dialog.NewMenu(m)
}
