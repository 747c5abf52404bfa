package dialog

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	docs "mayfly/internal/manual"
	"mayfly/ui/theme"
)

// page is a text on the screen, such as a page of the manual.
type page struct {
	title string
	lines func(w int) []string // laid out for w cells; may contain styles and links of our own
}

// Manual opens the manual at the page of a topic, in the colours of a theme.
func Manual(th *theme.Theme, topic string) Dialog {
	style, first := ManualStyle(th), 0
	var all []page
	for n, t := range docs.Topics() {
		if t.Name == topic {
			first = n
		}
		all = append(all, page{t.Title, func(w int) []string {
			lines, _ := docs.Render(t.Name, w, style) // it is one of the topics
			return lines
		}})
	}
	return newPages("Manual: ", 90, first, all...)
}

// ManualStyle is how the manual looks with a theme.
func ManualStyle(th *theme.Theme) docs.Style {
	c := th.Colors
	return docs.Style{Profile: th.Profile, Accent: c.Accent, Dim: c.Dim, Code: c.Code, Link: c.Link}
}

// NewText shows lines of plain text in a box as large as they need.
func NewText(title string, lines []string) Dialog {
	text := theme.StableWidth(strings.Join(lines, "\n"))
	return NewPage(title, 100, func(w int) []string { return strings.Split(theme.Cells().Hardwrap(text, w, true), "\n") })
}

// NewPage shows a text that is laid out for a width in cells, in a box as large as it needs at the widest.
func NewPage(title string, widest int, lines func(w int) []string) Dialog {
	whole, need := lines(widest), len(textFoot)
	for _, line := range whole {
		need = max(need, theme.Width(line))
	}
	most := min(need, widest)
	return newPages("", most, 0, page{title, func(w int) []string {
		if w == most {
			return whole
		}
		return lines(w)
	}})
}

// newPages opens pages at one of them. The title of the box is that of the page, with title before it.
func newPages(title string, most, at int, all ...page) Dialog {
	return Box(&pages{title: title, pages: all, pager: NewPager(), most: most, at: at})
}

type pages struct {
	room
	title string
	pages []page
	most  int               // cells of a row, at most
	laid  []func() []string // each page laid out for the width, once
	at    int               // the page that is shown
	lines []string
	pager Pager

	search Search // in the page
}

const (
	roomyPages = 8 // height in rows from which page titles and keys are shown
	pagesFoot  = "tab next page   / search   esc back"
	textFoot   = "/ search   esc closes"
)

// Fit lays out the page again if the page or the width has changed.
func (m *pages) Fit(w, h int) {
	if w != m.w || m.laid == nil {
		m.lines, m.laid = nil, nil
		for _, p := range m.pages {
			m.laid = append(m.laid, sync.OnceValue(func() []string { return p.lines(max(1, min(w, m.most))) }))
		}
	}
	if m.lines == nil {
		m.lines = m.laid[m.at]()
		m.pager.SetLines(m.lines)
		m.search.In(len(m.lines), func(n int) string { return ansi.Strip(m.lines[n]) })
	}
	m.room.Fit(w, h)
	m.pager.Fit(m.height())
}

// height is the number of lines of the page on the screen. Several pages have the same height.
func (m *pages) height() int {
	h := m.h
	switch {
	case h >= roomyPages && len(m.pages) > 1:
		return h - 4
	case h >= roomyPages:
		h -= 2
	case m.searching():
		h--
	}
	if len(m.pages) == 1 {
		h = min(h, len(m.lines))
	}
	return max(1, h)
}

func (m *pages) searching() bool { return m.search.Typing || m.search.On() }

func (m *pages) Update(msg tea.Msg) Result {
	if m.search.Typing {
		m.typeSearch(msg)
		return Result{}
	}
	k, ok := msg.(tea.KeyPressMsg)
	if m.pager.Update(msg) || !ok {
		return Result{}
	}
	switch k.String() {
	case "esc":
		if !m.searching() {
			return Result{Close: true}
		}
		m.search.Clear()
	case "q", "f1":
		return Result{Close: true}
	case "/":
		m.search.Start()
	case "n", "N":
		n := 1
		if k.String() == "N" {
			n = -1
		}
		if line, ok := m.search.Step(n); ok {
			m.pager.Show(line)
		}
	case "tab", "l", "right":
		return m.turn(1)
	case "shift+tab", "h", "left":
		return m.turn(-1)
	}
	return Result{}
}

// turn goes to another page, which Fit lays out. The one after it is laid out in the background: that can take 10 ms.
func (m *pages) turn(n int) Result {
	m.at = (m.at + n + len(m.pages)) % len(m.pages)
	m.lines = nil
	next := m.laid[(m.at+n+len(m.pages))%len(m.pages)]
	return Result{Do: func() tea.Cmd { return func() tea.Msg { next(); return nil } }}
}

func (m *pages) typeSearch(msg tea.Msg) {
	k, isKey := msg.(tea.KeyPressMsg)
	_, wheel := msg.(tea.MouseWheelMsg)
	if wheel || isKey && slices.Contains([]string{"up", "down", "pgup", "pgdown"}, KeyName(k)) {
		m.pager.Update(msg)
		return
	}
	top, _ := m.pager.Visible()
	if line, ok := m.search.Type(msg, top); ok {
		m.pager.Show(line)
	}
}

func (m *pages) Rows(th *theme.Theme) (string, []string) {
	width, roomy := min(m.w, m.most), m.h >= roomyPages
	var rows []string
	if roomy && len(m.pages) > 1 {
		rows = append(rows, m.tabs(th, width), "")
	}
	from, to := m.pager.Visible()
	for n := from; n < to; n++ {
		rows = append(rows, m.search.Mark(th, n, m.lines[n]))
	}
	for range m.height() - (to - from) {
		rows = append(rows, "")
	}
	if roomy {
		rows = append(rows, "")
	}
	if roomy || m.searching() {
		rows = append(rows, m.foot(th, width))
	}
	for n, r := range rows {
		rows[n] = theme.Fit(r, width)
	}
	return m.title + m.pages[m.at].title, rows
}

// tabs draws the titles, from the first with which that of the page fits.
func (m *pages) tabs(th *theme.Theme, w int) string {
	titles := make([]string, len(m.pages))
	for n, p := range m.pages {
		titles[n] = p.title
	}
	const marks = 4 // cells of … before and behind
	first := 0
	for first < m.at && theme.Width(strings.Join(titles[first:m.at+1], "  "))+marks > w {
		first++
	}
	row := Tabs(th, titles[first:], m.at-first, "  ")
	if first > 0 {
		row = th.Dim.On("… ") + row
	}
	return row
}

// Tabs draws names side by side, the one that is shown underlined.
func Tabs(th *theme.Theme, names []string, shown int, gap string) string {
	tabs := make([]string, len(names))
	for n, name := range names {
		tabs[n] = th.Dim.On(name)
		if n == shown {
			tabs[n] = (th.Accent + theme.Underline).On(name)
		}
	}
	return strings.Join(tabs, gap)
}

// foot is the bottom line: the search, or the keys.
func (m *pages) foot(th *theme.Theme, w int) string {
	switch {
	case m.search.Typing:
		return m.search.Prompt(th, w)
	case m.search.On():
		status := m.search.Status(th)
		if keys := "n next   N previous   esc clear"; theme.Width(status)+len(keys) < w {
			return theme.Spread(status, th.Dim.On(keys), w)
		}
		return status
	}
	keys, far := pagesFoot, ""
	if len(m.pages) == 1 {
		keys = textFoot
	}
	if _, to := m.pager.Visible(); m.height() < len(m.lines) {
		far = strconv.Itoa(100*to/len(m.lines)) + "%"
	}
	return th.Dim.On(theme.Spread(keys, far, w))
}
