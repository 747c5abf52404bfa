package dialog

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/ui/theme"
)

// Help lists keys and what they do. Any key that does not scroll closes it.
type Help struct {
	Title  string
	Groups []HelpGroup
}

// HelpGroup is a heading and the keys below it.
type HelpGroup struct {
	Title string
	Keys  []HelpKey
}

// HelpKey is one row of a help.
type HelpKey struct {
	Keys   string
	Title  string
	Reason string // why it is unavailable now; the row is then dim
}

// NewHelp opens a help, in two columns if there is room.
func NewHelp(h Help) Dialog { return Box(&help{Help: h, pager: NewPager()}) }

type help struct {
	Help
	room
	pager Pager
}

func (h *help) Update(msg tea.Msg) Result {
	_, key := msg.(tea.KeyPressMsg)
	return Result{Close: !h.pager.Update(msg) && key}
}

// Fit leaves a row free above and below; on a small screen the box takes all of it.
func (h *help) Fit(w, height int) {
	if w != h.w {
		h.pager.SetLines(h.lines(&theme.Theme{}, w))
	}
	h.room.Fit(w, height)
	if height >= 10 {
		height -= 2
	}
	h.pager.Fit(height)
}

func (h *help) Rows(th *theme.Theme) (string, []string) {
	title := h.Title
	if h.pager.scrolls() {
		title += "   j k scroll"
	}
	from, to := h.pager.Visible()
	return title, h.lines(th, h.w)[from:to]
}

func (h *help) lines(th *theme.Theme, w int) []string {
	at := h.split()
	_, left := widths(h.Groups[:at])
	_, right := widths(h.Groups[at:])
	if at == len(h.Groups) || left+helpGap+right > w {
		return column(th, h.Groups, w)
	}
	one, two := column(th, h.Groups[:at], left), column(th, h.Groups[at:], right)
	var rows []string
	for n := range max(len(one), len(two)) {
		rows = append(rows, theme.Fit(line(one, n), left)+theme.Spaces(helpGap)+theme.Fit(line(two, n), right))
	}
	return rows
}

// maxHelpRows bounds the rows of a key and its description.
const maxHelpRows = 2

// helpGap is the number of cells between the columns of a help.
const helpGap = 3

func line(rows []string, n int) string {
	if n < len(rows) {
		return rows[n]
	}
	return ""
}

// split is the number of groups in the left column, so that both are about as long.
func (h *help) split() int {
	total := 0
	for _, g := range h.Groups {
		total += len(g.Keys) + 1
	}
	best, at, shortest := len(h.Groups), 0, total
	for n, g := range h.Groups {
		if longer := max(at, total-at); n > 0 && longer < shortest {
			best, shortest = n, longer
		}
		at += len(g.Keys) + 1
	}
	return best
}

// widths are the widths of the keys in a column, and of a column that cuts nothing.
func widths(groups []HelpGroup) (keys, column int) {
	titles := 0
	for _, g := range groups {
		column = max(column, theme.Width(g.Title))
		for _, k := range g.Keys {
			keys, titles = max(keys, theme.Width(k.Keys)), max(titles, theme.Width(k.Title))
		}
	}
	return keys, max(column, keys+2+titles)
}

// column draws groups, w cells wide; what is too long for a row gets a second one.
func column(th *theme.Theme, groups []HelpGroup, w int) []string {
	width, all := widths(groups)
	w = min(w, all)
	width = min(width, max(6, w*2/5))
	var rows []string
	for n, g := range groups {
		if n > 0 {
			rows = append(rows, "")
		}
		rows = append(rows, th.Bright.On(g.Title))
		for _, k := range g.Keys {
			keys, title := th.Accent, theme.Style("")
			if k.Reason != "" {
				keys, title = th.Dim, th.Dim
			}
			left, right := Shorten(k.Keys, width, maxHelpRows), Shorten(k.Title, max(1, w-width-2), maxHelpRows)
			for n := range max(len(left), len(right)) {
				rows = append(rows, keys.On(theme.Fit(line(left, n), width))+"  "+title.On(line(right, n)))
			}
		}
	}
	return rows
}
