package ui

import (
	"math/bits"
	"slices"
	"strings"

	"mayfly/ui/theme"
)

// Scope is the set of panes in which an action's keys work.
type Scope uint8

// The scopes of single panes and of several.
const (
	InInboxes Scope = 1 << iota
	InMessages
	InReader
	Anywhere = InInboxes | InMessages | InReader
	InLists  = InInboxes | InMessages
)

// Has reports whether a pane is in the scope.
func (s Scope) Has(p theme.Pane) bool { return s&(1<<p) != 0 }

// Action is one thing the user can do.
type Action struct {
	ID    string // in config.toml
	Title string
	Group string
	Keys  []string
	Where Scope
	// Why returns the reason why the action is unavailable, "" if it is available. Nil means
	// always.
	Why func() string
	// Run performs the action and returns the resulting intent, nil if none.
	Run  func() any
	Hint string // short form for the bottom line; without one it is not shown there
	Held bool   // it repeats while its key is held; other actions do not
	Row  string // title of the help row that this action shares with others
}

// Reason is why the action is unavailable, "" if it is available.
func (a *Action) Reason() string {
	if a.Why == nil {
		return ""
	}
	return a.Why()
}

// Key is the name of the first key of the action, "" without one.
func (a *Action) Key() string {
	if len(a.Keys) == 0 {
		return ""
	}
	return keyName(a.Keys[0])
}

// goesBefore reports whether a key of both a and b means a: the action of fewer panes has it for as
// long as that is available.
func (a *Action) goesBefore(b *Action) bool {
	if bits.OnesCount8(uint8(a.Where)) < bits.OnesCount8(uint8(b.Where)) {
		return a.Reason() == ""
	}
	return b.Reason() != ""
}

// Table is the list of all actions. Where two share a key, their scopes differ.
type Table []*Action

// Join merges tables, in the order of the help.
func Join(tables ...Table) Table {
	all := slices.Concat(tables...)
	slices.SortStableFunc(all, func(a, b *Action) int { return slices.Index(Groups, a.Group) - slices.Index(Groups, b.Group) })
	return all
}

// Bind replaces default keys by the user's, given by action ID.
func (t Table) Bind(chosen map[string][]string) {
	for _, a := range t {
		if keys, ok := chosen[a.ID]; ok {
			a.Keys = keys
		}
	}
}

// Keys returns the keys of every action by its ID.
func (t Table) Keys() map[string][]string {
	keys := map[string][]string{}
	for _, a := range t {
		keys[a.ID] = a.Keys
	}
	return keys
}

// Lookup finds the action of a key while a pane has focus, nil if there is none.
func (t Table) Lookup(key string, p theme.Pane) *Action {
	var found *Action
	for _, a := range t {
		if a.Where.Has(p) && slices.Contains(a.Keys, key) && (found == nil || a.goesBefore(found)) {
			found = a
		}
	}
	return found
}

// shares reports whether another action of a pane has the first key of a too.
func (t Table) shares(a *Action, p theme.Pane) bool {
	return slices.ContainsFunc(t, func(b *Action) bool { return b != a && b.Where.Has(p) && slices.Contains(b.Keys, a.Keys[0]) })
}

// ByID finds an action by its ID, nil if there is none.
func (t Table) ByID(id string) *Action {
	for _, a := range t {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// KeyFor is the key of an action for hints; for an action without a key, how to find it in the
// palette.
func (t Table) KeyFor(id string) string {
	if a := t.ByID(id); a != nil && a.Key() != "" {
		return a.Key()
	}
	if p := t.ByID("palette"); p != nil && p.Key() != "" {
		return p.Key() + " " + id
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
