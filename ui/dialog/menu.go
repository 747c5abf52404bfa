package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"mayfly/ui/theme"
)

// Menu lets the user choose a row; typing filters the rows.
type Menu struct {
	Title   string
	Choices []Choice
	Then    func(id string) tea.Cmd // what choosing a row does
}

// Choice is one row of a menu.
type Choice struct {
	ID     string
	Title  string
	Aside  string // at the end of the row, such as a key or a host
	Reason string // why it is unavailable now; the owner decides what choosing it does
}

// NewMenu opens a menu.
func NewMenu(m Menu) Dialog {
	o := &menu{Menu: m, line: NewLine(LineOptions{}), byID: map[string]Choice{}}
	for _, c := range m.Choices {
		o.byID[c.ID] = c
	}
	o.narrow()
	return Box(o)
}

type menu struct {
	Menu
	room
	line    *Line
	byID    map[string]Choice
	list    List
	rows    []Row            // those on the screen
	matches map[string][]int // matching byte indexes of a title, by ID
}

// narrow keeps the rows that match the typed text, best first, and unavailable ones last.
func (m *menu) narrow() {
	m.matches = map[string][]int{}
	m.list = List{}
	var ids, blocked []string
	text := m.line.Value()
	if text == "" {
		for _, c := range m.Choices {
			ids = append(ids, c.ID)
		}
	}
	for _, f := range fuzzy.FindFrom(text, titles(m.Choices)) {
		c := m.Choices[f.Index]
		m.matches[c.ID] = f.MatchedIndexes
		if c.Reason != "" {
			blocked = append(blocked, c.ID)
		} else {
			ids = append(ids, c.ID)
		}
	}
	m.list.Set(append(ids, blocked...))
}

type titles []Choice

func (t titles) String(i int) string { return t[i].Title }
func (t titles) Len() int            { return len(t) }

func (m *menu) Update(msg tea.Msg) Result {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		switch msg.Button {
		case tea.MouseWheelUp:
			m.list.Move(-1)
		case tea.MouseWheelDown:
			m.list.Move(1)
		}
		return Result{}
	case tea.MouseClickMsg:
		if n := msg.Y - menuHead; n >= 0 && n < len(m.rows) {
			return m.choose(m.rows[n].ID)
		}
		return Result{}
	case tea.KeyPressMsg:
		switch KeyName(msg) {
		case "esc":
			return Result{Close: true}
		case "enter":
			return m.choose(m.list.Selected())
		}
		if n, ok := Step(KeyName(msg)); ok {
			m.list.Move(n)
			return Result{}
		}
	}
	if m.line.Update(msg) {
		m.narrow()
	}
	return Result{}
}

// Step is by how many rows a key moves the selection below a line being typed; false for another key.
func Step(key string) (rows int, ok bool) {
	rows, ok = steps[key]
	return rows, ok
}

var steps = map[string]int{
	"down": 1, "ctrl+n": 1, "ctrl+j": 1, "tab": 1,
	"up": -1, "ctrl+p": -1, "ctrl+k": -1, "shift+tab": -1,
	"pgdown": 8, "pgup": -8,
}

func (m *menu) choose(id string) Result {
	if id == "" {
		return Result{}
	}
	return Result{Close: true, Do: func() tea.Cmd { return m.Then(id) }}
}

// menuHead is the number of rows above the choices: the typed line and a blank one.
const menuHead = 2

// height is the number of rows below the head; the last one is for the reason.
func (m *menu) height() int { return max(1, min(17, len(m.Choices)+1, m.h-4)) }

func (m *menu) Fit(w, h int) {
	m.room.Fit(w, h)
	m.rows = m.list.Rows(max(1, m.height()-1), func(string) int { return 1 })
}

func (m *menu) Rows(th *theme.Theme) (string, []string) {
	width := max(10, min(72, m.w))
	rows := []string{th.Accent.On("› ") + m.line.View(th, width-2), ""}
	for _, r := range m.rows {
		rows = append(rows, m.row(th, m.byID[r.ID], r.Selected, width))
	}
	if m.list.Len() == 0 {
		rows = append(rows, th.Dim.On("No matches."))
	}
	for len(rows) < m.height()+menuHead {
		rows = append(rows, theme.Spaces(width))
	}
	if reason := m.byID[m.list.Selected()].Reason; reason != "" {
		rows[len(rows)-1] = th.Warn.On(theme.Cut("! "+reason, width))
	}
	return m.Title, rows
}

func (m *menu) row(th *theme.Theme, c Choice, selected bool, w int) string {
	style, back, edge := th.Text, theme.Style(""), " "
	if c.Reason != "" {
		style = th.Dim
	}
	if selected {
		back, edge = th.Select, th.Accent.On("▌")
	}
	title := theme.Cut(c.Title, max(4, w-theme.Width(c.Aside)-3))
	var text strings.Builder
	for i, r := range title {
		if slices.Contains(m.matches[c.ID], i) {
			text.WriteString((back + th.Match).On(string(r)))
		} else {
			text.WriteString((back + style).On(string(r)))
		}
	}
	pad := w - 2 - theme.Width(title) - theme.Width(c.Aside)
	return theme.Fit(edge+back.On(" ")+text.String()+back.On(theme.Spaces(pad))+(back+th.Dim).On(c.Aside), w)
}
