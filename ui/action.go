package ui

import (
	"math/bits"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/dialog"
	"mayfly/ui/theme"
)

// scope is the set of panes in which the keys of an action work.
type scope uint8

const (
	inInboxes scope = 1 << iota
	inMessages
	inReader
	anywhere = inInboxes | inMessages | inReader
	inLists  = inInboxes | inMessages
)

func (s scope) has(p theme.Pane) bool { return s&(1<<p) != 0 }

// The groups of actions.
const (
	essentials  = "Essentials"
	navigation  = "Navigation"
	ofMessage   = "Message"
	ofInboxes   = "Inboxes"
	application = "Application"
)

// groups are the groups in the order of the help.
var groups = []string{essentials, navigation, ofMessage, ofInboxes, application}

// action is one thing the user can do.
type action struct {
	ID    string // in config.toml
	Title string
	Group string
	Keys  []string
	Where scope
	// Why is the reason why the action is unavailable, "" if it is available. Nil means always.
	Why  func(*app) string
	Run  func(*app) tea.Cmd
	Hint string // short form for the bottom line; without one it is not shown there
	Held bool   // it repeats while its key is held; other actions do not
	Row  string // title of the help row that this action shares with others
}

// key is the name of the first key of the action, "" without one.
func (c *action) key() string {
	if len(c.Keys) == 0 {
		return ""
	}
	return keyName(c.Keys[0])
}

// table is the actions of an application. Where two share a key, their scopes differ.
type table struct {
	app     *app
	actions []*action
}

// bind replaces default keys by the user's, given by action ID.
func (t table) bind(chosen map[string][]string) {
	for _, c := range t.actions {
		if keys, ok := chosen[c.ID]; ok {
			c.Keys = keys
		}
	}
}

// reason is why an action is unavailable, "" if it is available.
func (t table) reason(c *action) string {
	if c.Why == nil {
		return ""
	}
	return c.Why(t.app)
}

// lookup finds the action of a key while a pane has focus, nil if there is none.
func (t table) lookup(key string, p theme.Pane) *action {
	var found *action
	for _, c := range t.actions {
		if c.Where.has(p) && slices.Contains(c.Keys, key) && (found == nil || t.goesBefore(c, found)) {
			found = c
		}
	}
	return found
}

// goesBefore reports whether a key of both a and b means a: the action of fewer panes has it for as
// long as that is available.
func (t table) goesBefore(a, b *action) bool {
	if bits.OnesCount8(uint8(a.Where)) < bits.OnesCount8(uint8(b.Where)) {
		return t.reason(a) == ""
	}
	return t.reason(b) != ""
}

// shares reports whether another action of a pane has the first key of c too.
func (t table) shares(c *action, p theme.Pane) bool {
	return slices.ContainsFunc(t.actions, func(b *action) bool { return b != c && b.Where.has(p) && slices.Contains(b.Keys, c.Keys[0]) })
}

// byID finds an action by its ID, nil if there is none.
func (t table) byID(id string) *action {
	for _, c := range t.actions {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// keyFor is the key of an action for hints; for an action without a key, how to find it in the
// palette.
func (t table) keyFor(id string) string {
	if c := t.byID(id); c != nil && c.key() != "" {
		return c.key()
	}
	if p := t.byID("palette"); p != nil && p.key() != "" {
		return p.key() + " " + id
	}
	return id
}

// keyName is the name of a key as shown to the user.
func keyName(k string) string {
	switch k {
	case "pgdown":
		return "pgdn"
	case "pgup":
		return "pgup"
	}
	return k
}

// keyNames are the names of several keys.
func keyNames(keys []string) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = keyName(k)
	}
	return strings.Join(names, " ")
}

// hint is an action in the bottom line.
type hint struct {
	x, w int // cells
	*action
}

func (c *action) hintWidth() int { return theme.Width(c.key()) + theme.Width(c.Hint) + 3 }

// hints returns the available actions of a pane, as many as fit into room cells: first those that
// have taken their key from another, and last the help.
func (t table) hints(p theme.Pane, room int) []hint {
	var hints []hint
	x := 0
	add := func(c *action, room int) {
		if w := c.hintWidth(); x+w <= room {
			hints = append(hints, hint{x, w, c})
			x += w
		}
	}
	help := t.byID("help")
	helped := help != nil && help.key() != ""
	left := room
	if helped {
		left -= help.hintWidth()
	}
	for _, taken := range []bool{true, false} {
		for _, c := range t.actions {
			if c.Hint != "" && c != help && c.key() != "" && c.Where.has(p) && t.shares(c, p) == taken && t.keyReason(c, p) == "" {
				add(c, left)
			}
		}
	}
	if helped {
		add(help, room)
	}
	return hints
}

// keyReason is why the key of an action does nothing, or something else.
func (t table) keyReason(c *action, p theme.Pane) string {
	if other := t.lookup(c.Keys[0], p); other != c {
		return c.key() + " is the key for: " + other.Title
	}
	return t.reason(c)
}

// help lists the keys of a pane.
func (t table) help(p theme.Pane) dialog.Dialog {
	names := [...]string{theme.Inboxes: "inboxes", theme.Messages: "messages", theme.Reader: "the message"}
	h := dialog.Help{Title: "Keys for " + names[p]}
	for _, g := range groups {
		group := dialog.HelpGroup{Title: g}
		rows := map[string]bool{}
		for _, c := range t.actions {
			switch {
			case c.Group != g || !c.Where.has(p) || len(c.Keys) == 0:
			case c.Row == "":
				group.Keys = append(group.Keys, dialog.HelpKey{Keys: keyNames(c.Keys), Title: c.Title, Reason: t.keyReason(c, p)})
			case !rows[c.Row]:
				rows[c.Row] = true
				group.Keys = append(group.Keys, dialog.HelpKey{Keys: t.rowKeys(c.Row), Title: c.Row, Reason: t.reason(c)})
			}
		}
		if group.Keys != nil {
			h.Groups = append(h.Groups, group)
		}
	}
	return dialog.NewHelp(h)
}

// rowKeys returns the first keys of the actions that share a row of the help.
func (t table) rowKeys(row string) string {
	var b strings.Builder
	for _, c := range t.actions {
		if c.Row == row {
			b.WriteString(c.key())
		}
	}
	return b.String()
}

// palette is a menu of the actions of a pane; navigation comes last.
func (t table) palette(p theme.Pane, perform func(*action) tea.Cmd) dialog.Dialog {
	m := dialog.Menu{Title: "Actions", Then: func(id string) tea.Cmd { return perform(t.byID(id)) }}
	for _, moving := range []bool{false, true} {
		for _, c := range t.actions {
			if c.Where.has(p) && c.ID != "palette" && (c.Group == navigation) == moving {
				m.Choices = append(m.Choices, dialog.Choice{ID: c.ID, Title: c.Title, Aside: keyNames(c.Keys), Reason: t.reason(c)})
			}
		}
	}
	return dialog.NewMenu(m)
}
