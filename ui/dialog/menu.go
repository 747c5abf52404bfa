package dialog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"mayfly/ui/theme"
)

// Menu lets the user choose a row; typing filters the rows.
type Menu struct {
	Title   string
	Choices []Choice
	// Live is set where other choices come while it is open: an update with another Menu shows them. It is as high as it can
	// be, and stays open when one is chosen.
	Live bool
}

// Choice is one row of a menu.
type Choice struct {
	ID     string // by which the choices of a live menu stay the same; otherwise its place unless given
	Title  string
	Group  string // shown above its first row until something is typed; the choices of a group follow one another
	Also   string // other words that find it, not shown
	Aside  string // at the end of the row, such as a key or a host
	Reason string // why it is unavailable now; Do decides what choosing it does
	Do     func() tea.Cmd
}

// Reason is why something is unavailable, "" if it is available.
func Reason(unavailable bool, why string) string {
	if unavailable {
		return why
	}
	return ""
}

// NewMenu opens a menu.
func NewMenu(m Menu) Dialog {
	o := &menu{line: NewLine(Field{Placeholder: "type to filter"})}
	o.replace(m)
	return Box(o)
}

// replace shows other choices. The selected one stays selected, unless it is the first because nobody has moved.
func (m *menu) replace(by Menu) {
	m.Menu, m.byID, m.heads, m.titles = by, map[string]Choice{}, map[string]bool{}, nil
	group := ""
	m.Choices = slices.Clone(by.Choices)
	for n := range m.Choices {
		c := &m.Choices[n]
		if c.ID = cmp.Or(c.ID, strconv.Itoa(n)); c.Group != group {
			m.heads[c.ID], group = true, c.Group
		}
		c.Title, c.Aside = theme.StableWidth(c.Title), theme.StableWidth(c.Aside)
		m.byID[c.ID], m.titles = *c, append(m.titles, c.Title)
	}
	if m.narrow(); !m.list.UserMoved() {
		m.list.First()
	}
}

type menu struct {
	Menu
	room
	line    *Line
	byID    map[string]Choice
	heads   map[string]bool // the first choice of each group, by ID
	titles  []string
	list    List
	matches map[string][]int // matching byte indexes of a title, by ID
}

// narrow keeps the rows that match: that of a typed key, then the best, and unavailable ones last.
func (m *menu) narrow() {
	m.matches = map[string][]int{}
	var ids, blocked []string
	text := m.line.Value()
	for _, c := range m.Choices {
		if text == "" || slices.Contains(strings.Fields(c.Aside), text) || len(text) > 2 && strings.Contains(" "+c.Also, " "+strings.ToLower(text)) {
			ids = append(ids, c.ID)
		}
	}
	for _, f := range fuzzy.Find(text, m.titles) {
		c := m.Choices[f.Index]
		if slices.Contains(ids, c.ID) {
			continue
		}
		m.matches[c.ID] = f.MatchedIndexes
		if c.Reason != "" {
			blocked = append(blocked, c.ID)
		} else {
			ids = append(ids, c.ID)
		}
	}
	m.list.Set(append(ids, blocked...))
}

func (m *menu) Update(msg tea.Msg) Result {
	switch msg := msg.(type) {
	case Menu:
		m.replace(msg)
		return Result{}
	case tea.MouseWheelMsg:
		m.list.Move(theme.WheelRows(msg) / 3) // a row at a time
		return Result{}
	case tea.MouseClickMsg:
		for _, r := range m.list.Shown {
			if msg.Y-menuHead == r.Y+r.H-1 { // below the title of its group
				return m.choose(r.ID)
			}
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
		m.list = List{}
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
	do := m.byID[id].Do
	return Result{Close: do != nil && !m.Live, Do: do}
}

// menuHead is the number of rows above the choices: the typed line and a blank one.
const menuHead = 2

// height is the number of rows below the head; the last one says what keys do, and what is not shown.
func (m *menu) height() int {
	room := m.h - menuHead
	if room >= 8 {
		room -= 2 // free above and below the box
	}
	if m.Live {
		return max(2, min(28, room))
	}
	return max(2, min(28, len(m.Choices)+len(m.heads)+1, room))
}

// itemHeight is the height of a choice, with the title of the group that begins there.
func (m *menu) itemHeight(id string) int {
	if m.heads[id] && m.line.Value() == "" {
		return 2
	}
	return 1
}

func (m *menu) Fit(w, h int) {
	m.room.Fit(w, h)
	m.list.Rows(max(1, m.height()-1), m.itemHeight)
}

func (m *menu) Rows(th *theme.Theme) (string, []string) {
	width := max(10, min(72, m.w))
	rows := []string{th.Accent.On("› ") + m.line.View(th, width-2), ""}
	for _, r := range m.list.Shown {
		alone := r.Y > 0 && r.H < m.itemHeight(r.ID)
		if r.H > 1 || alone {
			rows = append(rows, th.Bright.On(theme.Cut(m.byID[r.ID].Group, width)))
		}
		if alone { // a choice without its title would stand in another group
			break
		}
		rows = append(rows, m.row(th, m.byID[r.ID], r.Selected, width))
	}
	if m.list.Len() == 0 {
		rows = append(rows, th.Dim.On("No matches."))
	}
	for len(rows) < m.height()+menuHead {
		rows = append(rows, theme.Spaces(width))
	}
	rows[len(rows)-1] = m.foot(th, width)
	return m.Title, rows
}

// foot says why the selected choice is unavailable, otherwise what the keys do, and how much there is besides.
func (m *menu) foot(th *theme.Theme, w int) string {
	var more []string
	if m.line.Value() != "" {
		more = append(more, fmt.Sprintf("%d of %d", m.list.Len(), len(m.Choices)))
	}
	before, after := m.list.More()
	if before > 0 {
		more = append(more, fmt.Sprintf("↑ %d", before))
	}
	if after > 0 {
		more = append(more, fmt.Sprintf("↓ %d", after))
	}
	if before+after > 0 {
		more = append(more, "more")
	}
	end := strings.Join(more, " ")
	room := w - theme.Width(end) - 1
	says := th.Dim.On(theme.FirstFit([]string{"enter chooses   ↑↓ move   esc closes", "enter chooses   esc closes", "esc closes", ""}, room))
	if reason := m.byID[m.list.Selected()].Reason; reason != "" {
		says = th.Warn.On(theme.Cut("! "+reason, room))
	}
	return theme.Spread(says, th.Accent.On(end), w)
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
			text.WriteString(th.Match.Over(back).On(string(r)))
		} else {
			text.WriteString(style.Over(back).On(string(r)))
		}
	}
	pad := w - 2 - theme.Width(title) - theme.Width(c.Aside)
	return theme.Fit(edge+back.On(" ")+text.String()+back.On(theme.Spaces(pad))+th.Dim.Over(back).On(c.Aside), w)
}

// List is a column of items, one of them selected, some on the screen. The zero value is empty.
type List struct {
	ids    []string
	sel    int // index of the selected item
	top    int // index of the first item on the screen
	reveal bool
	seen   bool // the selected item was on the screen when the rows were last laid out
	height int  // in lines, when they were
	Shown  []Row
	placed bool // the user put the selection where it is
}

// Set replaces the items. The selected item stays selected, or else the one in its place is.
// The first item on the screen stays there, unless that was at the top: then new ones come into view.
func (l *List) Set(ids []string) {
	selected, first, atStart := l.Selected(), l.id(l.top), l.top == 0
	l.ids = ids
	if i := slices.Index(ids, selected); i >= 0 {
		l.sel = i
	}
	l.sel = l.clamp(l.sel)
	if i := slices.Index(ids, first); i >= 0 && !atStart {
		l.top = i
	}
	l.top = l.clamp(l.top)
	l.reveal = l.reveal || l.seen && l.placed
}

// IDs returns the items in order. The caller must not modify the slice.
func (l *List) IDs() []string { return l.ids }

// Len is the number of items.
func (l *List) Len() int { return len(l.ids) }

// Selected is the ID of the selected item, "" in an empty list.
func (l *List) Selected() string { return l.id(l.sel) }

// Index is the index of the selected item.
func (l *List) Index() int { return l.sel }

// Select selects an item, and reports whether it exists.
func (l *List) Select(id string) bool {
	i := slices.Index(l.ids, id)
	if i < 0 {
		return false
	}
	l.sel, l.reveal, l.placed = i, true, true
	return true
}

// UserMoved reports whether the user put the selection, or the scroll position, where it is.
func (l *List) UserMoved() bool { return l.placed }

// Pin keeps the selection with its item, as if the user had selected it.
func (l *List) Pin() { l.placed = true }

// Move moves the selection by n items and stops at both ends.
func (l *List) Move(n int) {
	to := l.clamp(l.sel + n)
	l.sel, l.reveal, l.placed = to, true, l.placed || to != l.sel
}

// First selects the first item. Items inserted before it later come into view.
func (l *List) First() { l.sel, l.reveal, l.placed = 0, true, false }

// Last selects the last item.
func (l *List) Last() { l.sel, l.reveal, l.placed = l.clamp(len(l.ids)-1), true, true }

// Scroll scrolls by n items and leaves the selection alone.
func (l *List) Scroll(n int) {
	top := l.clamp(l.top + n)
	l.top, l.reveal, l.placed = top, false, l.placed || top != l.top
}

// Row is one item on the screen.
type Row struct {
	ID       string
	Y, H     int // first line within the list's area, and number of lines
	Selected bool
}

// Rows lays out the items that fit into height lines; tall is the height of an item in lines.
// A selection that has moved, or that was on the screen before the height changed, is scrolled into view.
func (l *List) Rows(height int, tall func(id string) int) {
	if l.Shown = nil; height <= 0 || len(l.ids) == 0 {
		return
	}
	resized := height != l.height
	l.height = height
	if l.reveal || resized && l.seen {
		l.bringIntoView(height, tall)
		l.reveal = false
	}
	l.fillEnd(height, tall)
	l.Shown = make([]Row, 0, height)
	l.seen = false
	for i, y := l.top, 0; i < len(l.ids) && y < height; i++ {
		h := tall(l.ids[i])
		l.Shown = append(l.Shown, Row{ID: l.ids[i], Y: y, H: min(h, height-y), Selected: i == l.sel})
		y += h
		l.seen = l.seen || i == l.sel && y <= height
	}
}

// At is the ID of the item at line y of the list's area, "" if there is none.
func (l *List) At(y int) string {
	for _, r := range l.Shown {
		if y >= r.Y && y < r.Y+r.H {
			return r.ID
		}
	}
	return ""
}

func (l *List) bringIntoView(height int, tall func(string) int) {
	if l.sel < l.top {
		l.top = l.sel
		return
	}
	first, used := l.sel, tall(l.ids[l.sel])
	for first > l.top {
		if used += tall(l.ids[first-1]); used > height {
			break
		}
		first--
	}
	l.top = first
}

// fillEnd scrolls back while there is room below the last item.
func (l *List) fillEnd(height int, tall func(string) int) {
	used := 0
	for i := l.top; i < len(l.ids); i++ {
		if used += tall(l.ids[i]); used >= height {
			return
		}
	}
	for l.top > 0 {
		if used += tall(l.ids[l.top-1]); used > height {
			return
		}
		l.top--
	}
}

// More returns the number of items before and after those on the screen.
func (l *List) More() (before, after int) {
	return l.top, len(l.ids) - l.top - len(l.Shown)
}

func (l *List) id(i int) string {
	if i < 0 || i >= len(l.ids) {
		return ""
	}
	return l.ids[i]
}

func (l *List) clamp(i int) int { return max(0, min(i, len(l.ids)-1)) }
