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

// actionOrder is the order of the actions in the help, the palette, the bottom line and docs/keybindings.md.
var actionOrder = []struct{ group, ids string }{
	{essentials, "new-inbox new-inbox-with copy-address copy-code open-link attachments delete-inbox send-sample"},
	{navigation, "down up page-down page-up first last next-pane previous-pane pane-left pane-right open back next-unread filter search-all next-page search next-match previous-match clear-search"},
	{ofMessage, "delete-message show-source next-view zoom unfold hidden-text images view-rich view-text view-html view-headers view-raw view-checks view-web web-phone web-dark link-hints save-message browser release-message unread read-all compare follow autocopy copy-menu pipe edit"},
	{ofInboxes, "delete-messages extend-inbox mark mark-all pause label-inbox sort-inboxes add-inbox"},
	{application, "refresh sessions help manual palette connect profiles theme mouse suspend quit"},
}

// synonyms are other words by which the palette finds actions.
var synonyms = map[string]string{
	"release-message": "forward relay send resend redirect", "delete-message": "trash remove bin", "delete-inbox": "trash remove close", "delete-messages": "trash clear purge",
	"theme": "settings preferences colours colors dark light", "mouse": "settings select", "view-web": "screenshot browser picture render chrome", "browser": "external open",
	"extend-inbox": "expire expiry lifetime ttl more time prolong", "new-inbox": "create address", "new-inbox-with": "create settings custom ttl domain", "profiles": "account server settings",
	"connect": "login server account settings key", "copy-code": "otp pin verification", "open-link": "confirm verify", "save-message": "download export eml", "attachments": "files download",
	"link-hints": "links urls", "hidden-text": "preheader invisible", "next-unread": "next new", "read-all": "seen", "label-inbox": "rename name", "add-inbox": "import id", "sort-inboxes": "order",
	"compare": "diff", "copy-menu": "test wait shell playwright pytest", "sessions": "smtp connections log delivery rejected refused missing", "pipe": "shell command", "edit": "vim editor external", "help": "shortcuts keys", "manual": "docs documentation", "refresh": "reload retry sync", "quit": "exit close",
}

// inOrder returns the actions of all subjects in their order, with those of config.toml after the others of
// their group. It panics on one that [actionOrder] lacks.
func inOrder(all, configured []*action) (sorted []*action) {
	byID := map[string]*action{}
	for _, c := range all {
		byID[c.ID] = c
	}
	for _, g := range actionOrder {
		for id := range strings.FieldsSeq(g.ids) {
			c := byID[id]
			c.Group = g.group
			sorted = append(sorted, c)
		}
		for _, c := range configured {
			if c.Group == g.group {
				sorted = append(sorted, c)
			}
		}
	}
	if len(sorted) != len(all)+len(configured) {
		panic("an action has no place in actionOrder")
	}
	return sorted
}

// withItem makes an action of what is done to an item. The item is looked up when the action runs; the lack of one, or
// the first requirement that it does not meet, is why the action is unavailable.
func withItem[T any](a action, item func() (x T, disabledReason string), do func(T) tea.Cmd, require ...func(T) (disabledReason string)) *action {
	a.DisabledReason = func() string {
		x, reason := item()
		for _, unmet := range require {
			if reason == "" {
				reason = unmet(x)
			}
		}
		return reason
	}
	a.Run = func() tea.Cmd {
		x, _ := item()
		return do(x)
	}
	return &a
}

// action is one thing the user can do.
type action struct {
	ID    string // in config.toml
	Title string
	Group string
	Keys  []string
	Where scope
	// DisabledReason is why the action is unavailable, "" if it is available. Nil means always.
	DisabledReason func() string
	Run            func() tea.Cmd
	Hint           string        // short form for the bottom line; without one it is not shown there
	HintNow        func() string // instead of Hint, where that depends on the state; may be nil
	First          bool          // it stands there before the others
	Repeats        bool          // it repeats while its key is held; other actions do not
}

// key is the name of the first key of the action, "" without one.
func (c *action) key() string {
	if len(c.Keys) == 0 {
		return ""
	}
	return c.Keys[0]
}

// reason is why the action is unavailable, "" if it is available.
func (c *action) reason() string {
	if c.DisabledReason == nil {
		return ""
	}
	return c.DisabledReason()
}

// noCmd is an action that takes no time.
func noCmd(do func()) func() tea.Cmd {
	return func() tea.Cmd { do(); return nil }
}

// table is the actions of an application. Where two share a key, their scopes differ.
type table struct{ actions []*action }

// bind replaces default keys by the user's, given by action ID.
func (t table) bind(chosen map[string][]string) {
	for _, c := range t.actions {
		if keys, ok := chosen[c.ID]; ok {
			c.Keys = keys
		}
	}
}

// lookup finds the action of a key while a pane has focus, nil if there is none.
func (t table) lookup(key string, p theme.Pane) *action {
	var found *action
	for _, c := range t.actions {
		if c.Where.has(p) && slices.Contains(c.Keys, key) && (found == nil || t.takesPrecedence(c, found)) {
			found = c
		}
	}
	return found
}

// takesPrecedence reports whether a key of both means a: the action of fewer panes has it while that is available.
func (t table) takesPrecedence(a, b *action) bool {
	if bits.OnesCount8(uint8(a.Where)) < bits.OnesCount8(uint8(b.Where)) {
		return a.reason() == ""
	}
	return b.reason() != ""
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
	for _, does := range [][2]string{{id, ""}, {"palette", " " + id}} {
		if c := t.byID(does[0]); c != nil && c.key() != "" {
			return c.key() + does[1]
		}
	}
	return id
}

// hint is an action in the bottom line.
type hint struct {
	x, w int // cells
	*action
}

// hint is the short form of the action for the bottom line, "" without one.
func (c *action) hint() string {
	if c.HintNow != nil {
		return c.HintNow()
	}
	return c.Hint
}

// hints returns the available actions of a pane, as many as fit into room cells: first those that go first, and last the help.
func (t table) hints(p theme.Pane, room int) []hint {
	var hints []hint
	x := 0
	add := func(c *action, room int) {
		if w := theme.Width(c.key()) + theme.Width(c.hint()) + 3; x+w <= room {
			hints = append(hints, hint{x, w, c})
			x += w
		}
	}
	help, left := t.byID("help"), room
	if help.key() != "" {
		left -= theme.Width(help.key()) + theme.Width(help.hint()) + 3
	}
	for _, first := range []bool{true, false} {
		for _, c := range t.actions {
			if c.hint() != "" && c != help && c.key() != "" && c.Where.has(p) && c.First == first && t.triggersAction(c, p) {
				add(c, left)
			}
		}
	}
	if help.key() != "" {
		add(help, room)
	}
	return hints
}

// triggersAction reports whether the key of an action does it in a pane now.
func (t table) triggersAction(c *action, p theme.Pane) bool {
	return t.lookup(c.Keys[0], p) == c && c.reason() == ""
}

// menu lists the actions of a pane by group, with the keys that do them there: first the navigation of that
// pane, then what the pane is about. A choice performs its action.
func (t table) menu(title string, p theme.Pane, perform func(*action) tea.Cmd) dialog.Dialog {
	own := ofMessage
	if p == theme.Inboxes {
		own = ofInboxes
	}
	var here, mine, others []dialog.Choice
	for _, c := range t.actions {
		if !c.Where.has(p) {
			continue
		}
		keys := slices.DeleteFunc(slices.Clone(c.Keys), func(k string) bool { return t.lookup(k, p) != c })
		x := dialog.Choice{ID: c.ID, Title: c.Title, Also: synonyms[c.ID], Group: c.Group, Aside: strings.Join(keys, " "), Reason: c.reason(), Do: func() tea.Cmd { return perform(c) }}
		switch {
		case c.Where != anywhere && c.Group == navigation:
			x.Group = "In this pane"
			here = append(here, x)
		case c.Group == own:
			mine = append(mine, x)
		default:
			others = append(others, x)
		}
	}
	return dialog.NewMenu(dialog.Menu{Title: title, Choices: slices.Concat(here, mine, others)})
}
