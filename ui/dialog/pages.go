package dialog

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	docs "mayfly/internal/manual"
	"mayfly/ui/theme"
)

// Manual opens a page of the manual in the colours of a theme.
func Manual(th *theme.Theme, topic docs.Topic) Dialog {
	style := ManualStyle(th)
	return NewPage("Manual: "+topic.Title, 90, func(w int) []string {
		lines, _ := docs.Render(topic.Name, w, style) // it is one of the topics
		return lines
	})
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
	return Box(&page{title: title, lay: func(w int) []string {
		if w == most {
			return whole
		}
		return lines(w)
	}, most: most, pager: NewPager()})
}

// page is a text on the screen, such as a page of the manual.
type page struct {
	room
	title string
	lay   func(w int) []string // for w cells; may contain styles and links of our own
	most  int                  // cells of a row, at most
	lines []string             // as laid out
	pager Pager

	search Search // in the page
}

const (
	roomyPage = 8 // height in rows from which the keys are shown
	textFoot  = "/ search   esc closes"
)

// Fit lays out the page again if the width has changed.
func (m *page) Fit(w, h int) {
	if w != m.w || m.lines == nil {
		m.lines = m.lay(max(1, min(w, m.most)))
		m.pager.SetLines(m.lines)
		m.search.In(len(m.lines), func(n int) string { return ansi.Strip(m.lines[n]) })
	}
	m.room.Fit(w, h)
	m.pager.Fit(m.height())
}

// height is the number of lines of the page on the screen.
func (m *page) height() int {
	h := m.h
	switch {
	case h >= roomyPage:
		h -= 2
	case m.searching():
		h--
	}
	return max(1, min(h, len(m.lines)))
}

func (m *page) searching() bool { return m.search.Typing || m.search.On() }

func (m *page) Update(msg tea.Msg) Result {
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
	}
	return Result{}
}

func (m *page) typeSearch(msg tea.Msg) {
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

func (m *page) Rows(th *theme.Theme) (string, []string) {
	width, roomy := min(m.w, m.most), m.h >= roomyPage
	var rows []string
	from, to := m.pager.Visible()
	for n := from; n < to; n++ {
		rows = append(rows, m.search.Mark(th, n, m.lines[n]))
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
	return m.title, rows
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
func (m *page) foot(th *theme.Theme, w int) string {
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
	far := ""
	if _, to := m.pager.Visible(); m.height() < len(m.lines) {
		far = strconv.Itoa(100*to/len(m.lines)) + "%"
	}
	return th.Dim.On(theme.Spread(textFoot, far, w))
}
