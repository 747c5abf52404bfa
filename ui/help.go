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
			if c.group != g || !c.where.has(a.focus) || len(c.keys) == 0 || c.view > 1 {
				continue
			}
			if first {
				h.rows = append(h.rows, helpRow{group: g})
				first = false
			}
			row := helpRow{keys: showKeys(c.keys), title: c.title, reason: c.reason(a)}
			if c.view == 1 {
				row.keys, row.title = a.viewKeys()
			}
			h.rows = append(h.rows, row)
		}
	}
	return a.push(h)
}

// viewKeys tells the keys of all views in one row.
func (a *app) viewKeys() (keys, title string) {
	var first, names []string
	for _, c := range a.table {
		if c.view > 0 && len(c.keys) > 0 {
			first = append(first, c.keys[0])
			names = append(names, views[c.view-1].name)
		}
	}
	return strings.Join(first, ""), "View: " + strings.Join(names, " ")
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

// helpRows is how many rows of keys a screen of the given height shows; on a small one the box takes all of it.
func helpRows(height int) int {
	if height < 12 {
		return max(1, height-2)
	}
	return height - 4
}

// halfHelp is the width of one column of two, where there is room for two.
func halfHelp(w int) (one int, two bool) {
	one = min(54, (w-7)/2)
	return one, one >= 44
}

func (h *help) fit(w, height int) {
	n := columnRows(h.rows)
	if _, two := halfHelp(w); two {
		left, right := h.split()
		n = max(columnRows(left), columnRows(right))
	}
	h.most = max(0, n-helpRows(height))
	h.top = min(h.top, h.most)
}

// columnRows is how many rows a column takes: there is a blank one between groups.
func columnRows(list []helpRow) int {
	n := len(list)
	for i, r := range list {
		if r.group != "" && i > 0 {
			n++
		}
	}
	return n
}

// draw lists the keys in two columns where there is room for them.
func (h *help) draw(th *theme.Theme, w, height int) []string {
	room := helpRows(height)
	var rows []string
	if one, two := halfHelp(w); two {
		left, right := h.split()
		l, r := h.column(th, left, one), h.column(th, right, one)
		for n := range max(len(l), len(r)) {
			rows = append(rows, cell.Fit(at(l, n), one)+"   "+cell.Fit(at(r, n), one))
		}
	} else {
		rows = h.column(th, h.rows, min(w-4, 76))
	}
	title := h.title
	if h.most > 0 {
		title += "   j k scroll"
	}
	return frameBox(th, title, rows[h.top:min(len(rows), h.top+room)], w, height)
}

func at(rows []string, n int) string {
	if n < len(rows) {
		return rows[n]
	}
	return ""
}

// split divides the groups so that both columns are about as long.
func (h *help) split() (left, right []helpRow) {
	at := len(h.rows)
	for n, r := range h.rows {
		if r.group != "" && n > 0 && max(n, len(h.rows)-n) < max(at, len(h.rows)-at) {
			at = n
		}
	}
	return h.rows[:at], h.rows[at:]
}

func (h *help) column(th *theme.Theme, list []helpRow, w int) []string {
	keyWidth := 0
	for _, r := range list {
		keyWidth = max(keyWidth, cell.Width(r.keys))
	}
	keyWidth = min(keyWidth, max(6, w*2/5))
	var rows []string
	for n, r := range list {
		style := th.Accent
		if r.reason != "" {
			style = th.Dim
		}
		switch {
		case r.group != "" && n > 0:
			rows = append(rows, "", th.Bright.On(r.group))
		case r.group != "":
			rows = append(rows, th.Bright.On(r.group))
		default:
			title := cell.Cut(r.title, w-keyWidth-2)
			if r.reason != "" {
				title = th.Dim.On(title)
			}
			rows = append(rows, style.On(cell.Fit(r.keys, keyWidth))+"  "+title)
		}
	}
	return rows
}
