package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/layout"
)

// scope says which pane must have focus for an action to be meant.
type scope uint8

const (
	inInboxes scope = 1 << iota
	inMessages
	inReader
	anywhere = inInboxes | inMessages | inReader
	inLists  = inInboxes | inMessages
)

func (s scope) has(p layout.Pane) bool { return s&(1<<p) != 0 }

// action is one thing the user can do. The table of actions feeds the keys, the help, the palette,
// the mouse and the list of keys in the README.
type action struct {
	id    string // its name in config.toml
	title string
	group string
	keys  []string
	where scope
	// why is the reason for which the action cannot be done now; empty, or nil, when it can.
	why func(a *app) string
	run func(a *app) tea.Cmd
	// hint is the short form in the bottom line; actions without one are not shown there.
	hint string
	held bool // it goes on while its key is held; the others are done once
	view int  // the number of the view it shows, from 1; 0 for all others
}

func (c *action) reason(a *app) string {
	if c.why == nil {
		return ""
	}
	return c.why(a)
}

// The groups of the help, in its order.
const (
	groupFlow    = "The work"
	groupMove    = "Moving"
	groupMessage = "The message"
	groupInbox   = "Inboxes"
	groupApp     = "The application"
)

var groups = []string{groupFlow, groupMove, groupMessage, groupInbox, groupApp}

// lookup finds the action a key means while a pane has focus.
func lookup(table []*action, key string, p layout.Pane) *action {
	for _, c := range table {
		if c.where.has(p) && slices.Contains(c.keys, key) {
			return c
		}
	}
	return nil
}

func byID(table []*action, id string) *action {
	for _, c := range table {
		if c.id == id {
			return c
		}
	}
	return nil
}
