package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/cell"
	"mayfly/ui/layout"
	"mayfly/ui/theme"
)

// help lists the keys of the pane that has focus.
type help struct {
	title string
	rows  []helpRow
	top   int
	most  int // the furthest that makes sense to scroll
}

type helpRow struct {
	group  string // a heading, when set
	keys   string
	title  string
	reason string // why it cannot be done now
}

var paneNames = map[layout.Pane]string{paneInboxes: "inboxes", paneMessages: "messages", paneReader: "the message"}

func (a *app) showHelp() tea.Cmd {
	h := &help{title: "Keys for " + paneNames[a.focus]}
	for _, g := range groups {
		first := true
		for _, c := range a.table {
			if c.group != g || !c.where.has(a.focus) || len(c.keys) == 0 {
				continue
			}
			if first {
				h.rows = append(h.rows, helpRow{group: g})
				first = false
			}
			h.rows = append(h.rows, helpRow{keys: showKeys(c.keys), title: c.title, reason: c.reason(a)})
		}
	}
	return a.push(h)
}

func showKeys(keys []string) string {
	shown := make([]string, len(keys))
	for i, k := range keys {
		shown[i] = showKey(k)
	}
	return strings.Join(shown, " ")
}

func (h *help) open() tea.Cmd { return nil }

func (h *help) update(msg tea.Msg) intent {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			h.scroll(-wheelRows)
		} else {
			h.scroll(wheelRows)
		}
	case tea.KeyPressMsg:
		switch msg.String() {
		case "j", "down":
			h.scroll(1)
		case "k", "up":
			h.scroll(-1)
		case "pgdown", "space", "ctrl+d":
			h.scroll(10)
		case "pgup", "ctrl+u":
			h.scroll(-10)
		case "g", "home":
			h.top = 0
		case "G", "end":
			h.scroll(1 << 20)
		default:
			return intent{close: true}
		}
	}
	return intent{}
}

func (h *help) scroll(n int) { h.top = max(0, min(h.top+n, h.most)) }

func (h *help) draw(th *theme.Theme, w, height int) []string {
	keyWidth := 0
	for _, r := range h.rows {
		keyWidth = max(keyWidth, cell.Width(r.keys))
	}
	keyWidth = min(keyWidth, max(6, w/3))
	var rows []string
	for n, r := range h.rows {
		switch {
		case r.group != "" && n > 0:
			rows = append(rows, "", th.Bright.On(r.group))
		case r.group != "":
			rows = append(rows, th.Bright.On(r.group))
		case r.reason != "":
			rows = append(rows, th.Dim.On(cell.Fit(r.keys, keyWidth)+"  "+r.title))
		default:
			rows = append(rows, th.Accent.On(cell.Fit(r.keys, keyWidth))+"  "+r.title)
		}
	}
	room := max(1, height-4)
	h.most = max(0, len(rows)-room)
	h.top = min(h.top, h.most)
	title := h.title
	if h.most > 0 {
		title += "   j k scroll"
	}
	return frameBox(th, title, rows[h.top:min(len(rows), h.top+room)], min(w, 92), height-1)
}
