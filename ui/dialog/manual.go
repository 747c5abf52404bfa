package dialog

import (
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	docs "mayfly/manual"
	"mayfly/ui/cell"
	"mayfly/ui/input"
	"mayfly/ui/theme"
)

// Page is one page of the manual.
type Page struct {
	Title string
	Lines func(w int) []string // laid out for w cells; may contain styles and links of our own
}

// Manual opens the manual in the colours of a theme.
func Manual(th *theme.Theme) Dialog {
	c := th.Colors
	style := docs.Style{Profile: th.Profile, Accent: c.Accent, Dim: c.Dim, Code: c.Code, Link: c.Link}
	var pages []Page
	for _, t := range docs.Topics() {
		pages = append(pages, Page{Title: t.Title, Lines: func(w int) []string {
			lines, err := docs.Render(t.Name, w, style)
			if err != nil {
				return []string{err.Error()}
			}
			return lines
		}})
	}
	return NewManual(pages)
}

// NewManual opens at least one page, showing the first.
func NewManual(pages []Page) Dialog {
	return Box(&manual{pages: pages, pager: NewPager()})
}

type manual struct {
	room
	pages []Page
	laid  []func() []string // each page laid out for the width, once
	at    int               // the page that is shown
	lines []string
	pager Pager

	search input.Search // in the page
}

// roomyManual is the height in rows from which page titles and keys are shown.
const roomyManual = 8

// Fit lays out the page again if the page or the width has changed.
func (m *manual) Fit(w, h int) {
	if w != m.w || m.laid == nil {
		m.lines, m.laid = nil, nil
		for _, p := range m.pages {
			m.laid = append(m.laid, sync.OnceValue(func() []string { return p.Lines(min(w, 90)) }))
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

// height is the number of lines of the page on the screen.
func (m *manual) height() int {
	switch {
	case m.h >= roomyManual:
		return m.h - 4
	case m.searching():
		return max(1, m.h-1)
	}
	return m.h
}

func (m *manual) searching() bool { return m.search.Typing || m.search.On() }

func (m *manual) Update(msg tea.Msg) Result {
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
	case "n":
		m.step(1)
	case "N":
		m.step(-1)
	case "tab", "l", "right":
		return m.turn(1)
	case "shift+tab", "h", "left":
		return m.turn(-1)
	}
	return Result{}
}

// turn goes to another page, which Fit lays out. The one after it is laid out in the background: that can take 10 ms.
func (m *manual) turn(n int) Result {
	m.at = (m.at + n + len(m.pages)) % len(m.pages)
	m.lines = nil
	next := m.laid[(m.at+n+len(m.pages))%len(m.pages)]
	return Result{Intent: tea.Cmd(func() tea.Msg { next(); return nil })}
}

func (m *manual) typeSearch(msg tea.Msg) {
	k, isKey := msg.(tea.KeyPressMsg)
	_, wheel := msg.(tea.MouseWheelMsg)
	if wheel || isKey && slices.Contains([]string{"up", "down", "pgup", "pgdown"}, input.KeyName(k)) {
		m.pager.Update(msg)
		return
	}
	top, _ := m.pager.Visible()
	if line, ok := m.search.Type(msg, top); ok {
		m.pager.Show(line)
	}
}

// step goes to the next hit, with -1 to the previous one.
func (m *manual) step(n int) {
	if line, ok := m.search.Step(n); ok {
		m.pager.Show(line)
	}
}

func (m *manual) Rows(th *theme.Theme) (string, []string) {
	width, roomy := min(m.w, 90), m.h >= roomyManual
	var rows []string
	if roomy {
		rows = append(rows, Tabs(th, m.titles(), m.at), "")
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
		rows[n] = cell.Fit(r, width)
	}
	return "Manual: " + m.pages[m.at].Title, rows
}

func (m *manual) titles() []string {
	titles := make([]string, len(m.pages))
	for n, p := range m.pages {
		titles[n] = p.Title
	}
	return titles
}

// Tabs draws names side by side, the one that is shown underlined.
func Tabs(th *theme.Theme, names []string, shown int) string {
	tabs := make([]string, len(names))
	for n, name := range names {
		tabs[n] = th.Dim.On(name)
		if n == shown {
			tabs[n] = (th.Accent + theme.Underline).On(name)
		}
	}
	return strings.Join(tabs, "  ")
}

// foot is the bottom line: the search, or the keys.
func (m *manual) foot(th *theme.Theme, w int) string {
	switch {
	case m.search.Typing:
		return m.search.Prompt(th, w)
	case m.search.On():
		status := m.search.Status(th)
		if keys := "n next   N previous   esc clear"; cell.Width(status)+len(keys) < w {
			return cell.Spread(status, th.Dim.On(keys), w)
		}
		return status
	}
	return th.Dim.On("tab next page   / search   esc back")
}
