package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"mayfly/ui/cell"
	"mayfly/ui/list"
	"mayfly/ui/theme"
)

// choice is one row of a menu.
type choice struct {
	id     string
	title  string
	aside  string // at the end of the row: a key, a host
	reason string // why it cannot be chosen now
}

// menu chooses one of several rows; typing narrows them.
type menu struct {
	title   string
	choices []choice
	choose  func(a *app, id string) tea.Cmd
	text    string
	list    list.List
	rows    []list.Row       // those on the screen
	matches map[string][]int // places of the letters that match, by row
}

func (a *app) showPalette() tea.Cmd {
	m := &menu{title: "Actions", choose: func(a *app, id string) tea.Cmd {
		if c := byID(a.table, id); c != nil {
			return a.perform(c)
		}
		return nil
	}}
	for _, moving := range []bool{false, true} { // what only moves stands last
		for _, c := range a.table {
			if c.where.has(a.focus) && c.id != "palette" && (c.group == groupMove) == moving {
				m.choices = append(m.choices, choice{id: c.id, title: c.title, aside: showKeys(c.keys), reason: c.reason(a)})
			}
		}
	}
	return a.push(m)
}

func (m *menu) open() tea.Cmd {
	m.narrow()
	return nil
}

// narrow keeps the rows that match what was typed, the best first; those that cannot be chosen stand last.
func (m *menu) narrow() {
	m.matches = map[string][]int{}
	var ids, blocked []string
	if m.text == "" {
		for _, c := range m.choices {
			ids = append(ids, c.id)
		}
	} else {
		for _, f := range fuzzy.FindFrom(m.text, titles(m.choices)) {
			c := m.choices[f.Index]
			m.matches[c.id] = f.MatchedIndexes
			if c.reason != "" {
				blocked = append(blocked, c.id)
			} else {
				ids = append(ids, c.id)
			}
		}
	}
	m.list = list.List{}
	m.list.Set(append(ids, blocked...))
}

type titles []choice

func (t titles) String(i int) string { return t[i].title }
func (t titles) Len() int            { return len(t) }

func (m *menu) update(msg tea.Msg) intent {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if msg.Button == tea.MouseWheelUp {
			m.list.Move(-1)
		} else {
			m.list.Move(1)
		}
	case tea.PasteMsg:
		m.text = typeOn(m.text, cleanLine(msg.Content))
		m.narrow()
	case tea.KeyPressMsg:
		switch msg.String() {
		case "esc":
			return intent{close: true}
		case "enter":
			id := m.list.Selected()
			if id == "" {
				return intent{}
			}
			return intent{close: true, do: func(a *app) tea.Cmd { return m.choose(a, id) }}
		case "down", "ctrl+n", "ctrl+j", "tab":
			m.list.Move(1)
		case "up", "ctrl+p", "ctrl+k", "shift+tab":
			m.list.Move(-1)
		case "pgdown":
			m.list.Move(8)
		case "pgup":
			m.list.Move(-8)
		default:
			if text, ok := edit(m.text, msg); ok {
				m.text = text
				m.narrow()
			}
		}
	}
	return intent{}
}

// click chooses the row under the mouse.
func (m *menu) click(row int) intent {
	id := hitRow(m.rows, row-3) // below the border, the line typed and a blank one
	if id == "" {
		return intent{}
	}
	return intent{close: true, do: func(a *app) tea.Cmd { return m.choose(a, id) }}
}

// menuRows is how many rows a menu has on a screen of the given height; the last of them is for the reason.
func menuRows(height int) int { return max(1, min(17, height-6)) }

func (m *menu) fit(_, h int) {
	m.rows = m.list.Rows(max(1, menuRows(h)-1), func(string) int { return 1 })
}

func (m *menu) draw(th *theme.Theme, w, h int) []string {
	width := max(10, min(72, w-4))
	room := menuRows(h)
	rows := []string{th.Accent.On("› ") + typed(th, m.text, width-2), ""}
	for _, r := range m.rows {
		i := slices.IndexFunc(m.choices, func(c choice) bool { return c.id == r.ID })
		rows = append(rows, m.row(th, m.choices[i], r.Selected, width))
	}
	if m.list.Len() == 0 {
		rows = append(rows, th.Dim.On("Nothing is called that."))
	}
	for len(rows) < room+2 {
		rows = append(rows, cell.Spaces(width))
	}
	for _, c := range m.choices {
		if c.id == m.list.Selected() && c.reason != "" {
			rows[len(rows)-1] = th.Warn.On(cell.Cut("! "+c.reason, width))
		}
	}
	return frameBox(th, m.title, rows, w, h)
}

func (m *menu) row(th *theme.Theme, c choice, selected bool, w int) string {
	style, back, edge := th.Text, theme.Style(""), " "
	if c.reason != "" {
		style = th.Dim
	}
	if selected {
		back, edge = th.Select, th.Accent.On("▌")
	}
	aside := c.aside
	room := w - cell.Width(aside) - 3
	title := cell.Cut(c.title, max(4, room))
	var text string
	for n, r := range []rune(title) {
		s := style
		if slices.Contains(m.matches[c.id], len(string([]rune(title)[:n]))) {
			s = th.Match
		}
		text += (back + s).On(string(r))
	}
	pad := w - 2 - cell.Width(title) - cell.Width(aside)
	return cell.Fit(edge+back.On(" ")+text+back.On(cell.Spaces(pad))+(back+th.Dim).On(aside), w)
}
