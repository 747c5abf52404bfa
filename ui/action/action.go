// Package action is the things a user can do: their keys, when they can be done, and how the bottom
// line, the help and the palette show them.
package action

import (
	"slices"
	"strings"

	"mayfly/ui/panes"
)

// Scope says which pane must have focus for an action to be meant.
type Scope uint8

// The scopes of the panes, and those of several.
const (
	InInboxes Scope = 1 << iota
	InMessages
	InReader
	Anywhere = InInboxes | InMessages | InReader
	InLists  = InInboxes | InMessages
)

// Has reports whether a pane is in the scope.
func (s Scope) Has(p panes.Pane) bool { return s&(1<<p) != 0 }

// Action is one thing the user can do.
type Action struct {
	ID    string // its name in config.toml
	Title string
	Group string
	Keys  []string
	Where Scope
	// Why is the reason for which it cannot be done now; empty, or Why nil, when it can.
	Why func() string
	// Run does it, and returns the intent that it leads to.
	Run  func() any
	Hint string // the short form in the bottom line; an action without one is not shown there
	Held bool   // it goes on while its key is held; the others are done once
	Row  string // the title under which the help puts several actions in one row
}

// Reason is why the action cannot be done now; empty when it can.
func (a *Action) Reason() string {
	if a.Why == nil {
		return ""
	}
	return a.Why()
}

// Key is the first key of the action, "" without one.
func (a *Action) Key() string {
	if len(a.Keys) == 0 {
		return ""
	}
	return KeyName(a.Keys[0])
}

// Table is everything that keys do. Where two actions share a key, their scopes differ.
type Table []*Action

// Join makes one table of several, in the order of the help.
func Join(tables ...Table) Table {
	all := slices.Concat(tables...)
	slices.SortStableFunc(all, func(a, b *Action) int { return slices.Index(Groups, a.Group) - slices.Index(Groups, b.Group) })
	return all
}

// Bind puts the user's keys in place of the usual ones.
func (t Table) Bind(chosen map[string][]string) {
	for _, a := range t {
		if keys, ok := chosen[a.ID]; ok {
			a.Keys = keys
		}
	}
}

// Keys are the keys of every action, by its name.
func (t Table) Keys() map[string][]string {
	keys := map[string][]string{}
	for _, a := range t {
		keys[a.ID] = a.Keys
	}
	return keys
}

// Lookup finds the action that a key means while a pane has focus, nil when it means none.
func (t Table) Lookup(key string, p panes.Pane) *Action {
	for _, a := range t {
		if a.Where.Has(p) && slices.Contains(a.Keys, key) {
			return a
		}
	}
	return nil
}

// ByID finds an action by its name, nil when there is none.
func (t Table) ByID(id string) *Action {
	for _, a := range t {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// KeyFor is the key of an action as the user has it, for hints; without one, the way to find it by
// name.
func (t Table) KeyFor(id string) string {
	if a := t.ByID(id); a != nil && a.Key() != "" {
		return a.Key()
	}
	if p := t.ByID("palette"); p != nil && p.Key() != "" {
		return p.Key() + " " + id
	}
	return id
}

// KeyName writes a key as keyboards do.
func KeyName(k string) string {
	switch k {
	case "pgdown":
		return "pgdn"
	case "pgup":
		return "pgup"
	}
	return k
}

// keyNames writes several keys.
func keyNames(keys []string) string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = KeyName(k)
	}
	return strings.Join(names, " ")
}
