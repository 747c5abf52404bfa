package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/theme"
)

// nextTheme goes through the themes. A choice that is to stay is written in config.toml.
func (a *app) nextTheme() tea.Cmd {
	names := theme.Names()
	if len(names) == 0 {
		return nil
	}
	a.cfg.Theme = names[(slices.Index(names, a.th.Name)+1)%len(names)]
	a.dress()
	return a.say(note, "Theme "+a.cfg.Theme+": to keep it, write theme = \""+a.cfg.Theme+"\" under [ui]")
}

func (a *app) toggleMouse() tea.Cmd {
	a.caps.mouse = !a.caps.mouse
	if a.caps.mouse {
		return a.say(note, "The mouse is on")
	}
	return a.say(note, "The mouse is off: the terminal selects text")
}

// clickHint runs the action named in the bottom line under the mouse.
func (a *app) clickHint(x int) tea.Cmd {
	for _, h := range a.hintList(a.hintRoom()) {
		if x >= h.x && x < h.x+h.w {
			return a.perform(h.action)
		}
	}
	return nil
}

// watchView tells the watcher which inboxes are on the screen, when that changes.
func (a *app) watchView() {
	if a.session == nil {
		return
	}
	var ids []string
	switch shown := a.messages.inbox; {
	case shown != allInboxes:
		ids = []string{shown}
	default:
		ids = slices.Clone(a.book.order)
	}
	if !slices.Equal(ids, a.session.inView) {
		a.session.inView = ids
		a.session.watcher.SetView(ids)
	}
}
