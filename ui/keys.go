package ui

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/cell"
	"mayfly/ui/config"
	"mayfly/ui/theme"
)

// bind puts the user's keys in place of the usual ones.
func bind(table []*action, chosen map[string][]string) []*action {
	for _, c := range table {
		if keys, ok := chosen[c.id]; ok {
			c.keys = keys
		}
	}
	return table
}

// usualKeys are the keys of every action, by its name.
func usualKeys() map[string][]string {
	keys := map[string][]string{}
	for _, c := range actions() {
		keys[c.id] = c.keys
	}
	return keys
}

// keyFor is the key of an action as the user has it, for hints; without one, the way to find it by name.
func (a *app) keyFor(id string) string {
	if c := byID(a.table, id); c != nil && len(c.keys) > 0 {
		return showKey(c.keys[0])
	}
	if p := byID(a.table, "palette"); p != nil && len(p.keys) > 0 {
		return showKey(p.keys[0]) + " " + id
	}
	return id
}

// complain shows the first thing that is wrong in the configuration, or where the log is.
func (a *app) complain() tea.Cmd {
	if a.opts.LogPath != "" {
		a.say(note, "Logging to "+shortPath(a.opts.LogPath))
	}
	if n := len(a.cfg.Complaints); n > 0 {
		text := a.cfg.Complaints[0]
		if n > 1 {
			text += " (and " + itoa(n-1) + " more: see mayfly doctor)"
		}
		a.say(trouble, text)
	}
	return nil
}

// Complaints returns what is wrong in the configuration file at path, a line each.
func Complaints(path string) []string { return config.Read(path, usualKeys()).Complaints }

// key gives a key to whoever is to have it: the overlay, the line being typed, the action.
func (a *app) key(msg tea.KeyPressMsg) tea.Cmd {
	if msg.String() == "ctrl+c" {
		return tea.Quit
	}
	if a.lay.TooSmall {
		if msg.String() == "q" {
			return tea.Quit
		}
		return nil
	}
	if o := a.top(); o != nil {
		return a.carry(o.update(msg))
	}
	if line := a.typing(); line != nil {
		return line(msg)
	}
	name := msg.String()
	c := lookup(a.table, name, a.focus)
	if c == nil || msg.IsRepeat && !c.held {
		return nil
	}
	return a.perform(c)
}

// perform runs an action, or says why it cannot be done now.
func (a *app) perform(c *action) tea.Cmd {
	if reason := c.reason(a); reason != "" {
		return a.say(note, reason)
	}
	a.opts.Log.Debug("action", "id", c.id)
	return c.run(a)
}

// typing returns what takes the keys while a filter or a search is typed.
func (a *app) typing() func(tea.KeyPressMsg) tea.Cmd {
	switch {
	case a.focus == paneInboxes && a.inboxes.filter.typing:
		return func(k tea.KeyPressMsg) tea.Cmd { return a.typeFilter(&a.inboxes.filter, k) }
	case a.focus == paneMessages && a.messages.filter.typing:
		return func(k tea.KeyPressMsg) tea.Cmd { return a.typeFilter(&a.messages.filter, k) }
	case a.focus == paneReader && a.reader.search.typing:
		return a.typeSearch
	}
	return nil
}

// keysTaken says that a dialog has the keys or a line is being typed: what comes from outside then leaves the
// focus alone, so that no letter meant for them becomes a command.
func (a *app) keysTaken() bool { return a.top() != nil || a.typing() != nil }

// stopTyping ends the typing of filters and searches, and keeps what was typed.
func (a *app) stopTyping() {
	a.inboxes.filter.typing, a.messages.filter.typing, a.reader.search.typing = false, false, false
}

func (a *app) startFilter() tea.Cmd {
	if a.focus == paneInboxes {
		a.inboxes.filter.typing = true
	} else {
		a.messages.filter.typing = true
	}
	return nil
}

func (a *app) typeFilter(f *filter, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		f.clear()
	case "enter", "tab":
		f.typing = false
	case "up", "down":
		f.typing = false
		return a.key(k)
	default:
		text, ok := edit(f.text, k)
		if !ok {
			return nil
		}
		f.set(text)
	}
	a.refreshLists()
	return nil
}

func (a *app) startSearch() tea.Cmd {
	a.reader.search = search{typing: true}
	return nil
}

func (a *app) typeSearch(k tea.KeyPressMsg) tea.Cmd {
	s := &a.reader.search
	switch k.String() {
	case "esc":
		s.clear()
	case "enter", "tab":
		s.typing = false
	default:
		text, ok := edit(s.text, k)
		if !ok {
			return nil
		}
		s.text = text
		s.find(a.reader.lines)
		if line, ok := s.from(a.reader.top - len(a.reader.head())); ok {
			a.reader.reveal(line)
		}
	}
	return nil
}

func (a *app) stepHit(n int) tea.Cmd {
	if line, ok := a.reader.search.step(n); ok {
		a.reader.reveal(line)
	}
	return nil
}

// edit applies a key to a line of text that is only ever typed at its end.
func edit(text string, k tea.KeyPressMsg) (string, bool) {
	switch k.String() {
	case "backspace":
		if text == "" {
			return "", true
		}
		r := []rune(text)
		return string(r[:len(r)-1]), true
	case "ctrl+u":
		return "", true
	case "ctrl+w":
		return text[:strings.LastIndexByte(strings.TrimRight(text, " "), ' ')+1], true
	}
	if k.Text == "" {
		return text, false
	}
	return typeOn(text, k.Text), true
}

// mostTyped is the length of a line that is typed, in characters.
const mostTyped = 200

// typeOn adds to a line that is typed; what is too much for it is left out.
func typeOn(text, more string) string {
	for range mostTyped - utf8.RuneCountInString(text) {
		r, n := utf8.DecodeRuneInString(more)
		if n == 0 {
			break
		}
		text, more = text+string(r), more[n:]
	}
	return text
}

// typed shows a line that is typed in w cells: its end, where one types, and the cursor.
func typed(th *theme.Theme, text string, w int) string {
	return cell.CutStart(cell.Steady(text), w-1) + th.Accent.On("▏")
}

// paste puts pasted text where text is typed.
func (a *app) paste(msg tea.PasteMsg) tea.Cmd {
	if o := a.top(); o != nil {
		return a.carry(o.update(msg))
	}
	line, _, _ := strings.Cut(cleanLine(msg.Content), "\n")
	line = typeOn("", line)
	if typed := a.typing(); typed != nil && line != "" {
		return typed(tea.KeyPressMsg{Text: line, Code: tea.KeyExtended})
	}
	return nil
}
