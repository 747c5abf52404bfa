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
	Why   func(*app) string
	Run   func(*app) tea.Cmd
	Hint  string // short form for the bottom line; without one it is not shown there
	First bool   // it stands there before the others
	Held  bool   // it repeats while its key is held; other actions do not
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

// goesBefore reports whether a key of both means a: the action of fewer panes has it while that is available.
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
	if n := slices.IndexFunc(t.actions, func(c *action) bool { return c.ID == id }); n >= 0 {
		return t.actions[n]
	}
	return nil
}

// keyFor is the key of an action for hints; without one, how to find it in the palette.
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
	if k == "pgdown" {
		return "pgdn"
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

// hints returns the available actions of a pane, as many as fit into room cells: first those that go first or
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
	for _, first := range []bool{true, false} {
		for _, c := range t.actions {
			if c.Hint != "" && c != help && c.key() != "" && c.Where.has(p) && (c.First || t.shares(c, p)) == first && t.works(c, p) {
				add(c, left)
			}
		}
	}
	if helped {
		add(help, room)
	}
	return hints
}

// works reports whether the key of an action does it in a pane now.
func (t table) works(c *action, p theme.Pane) bool {
	return t.lookup(c.Keys[0], p) == c && t.reason(c) == ""
}

// helpTitles are the titles of the help, by the pane that has focus.
var helpTitles = [...]string{theme.Inboxes: "Keys for inboxes", theme.Messages: "Keys for messages", theme.Reader: "Keys for the message"}

// menu lists the actions of a pane by group, with the keys that do them there: first the navigation of that
// pane, then what the pane is about. A choice performs its action.
func (t table) menu(title string, p theme.Pane, perform func(*action) tea.Cmd) dialog.Dialog {
	const here = "In this pane"
	m := dialog.Menu{Title: title, Then: func(id string) tea.Cmd { return perform(t.byID(id)) }}
	own := ofMessage
	if p == theme.Inboxes {
		own = ofInboxes
	}
	others := slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return g == own })
	for _, g := range append([]string{here, own}, others...) {
		for _, c := range t.actions {
			group := c.Group
			if c.Where != anywhere && c.Group == navigation {
				group = here
			}
			if group == g && c.Where.has(p) {
				keys := slices.DeleteFunc(slices.Clone(c.Keys), func(k string) bool { return t.lookup(k, p) != c })
				m.Choices = append(m.Choices, dialog.Choice{ID: c.ID, Title: c.Title, Group: g, Aside: keyNames(keys), Reason: t.reason(c)})
			}
		}
	}
	return dialog.NewMenu(m)
}
