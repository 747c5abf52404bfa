package lists

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

func two(string) int { return 2 }

// column is a column of n rows, two lines each, in a pane of 20×12 below and beside others.
func column(n int) *Pane {
	c := &Pane{Marks: map[string]bool{}}
	c.Set(uitest.IDs(n))
	c.layout(theme.Rect{X: 5, Y: 3, W: 20, H: 12}, 0, two)
	return c
}

// do does something to a column; nil is nothing.
func (c *Pane) do(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case uitest.Do:
		msg(c)
	case tea.MouseClickMsg:
		c.Click(msg.Y)
	default:
		c.Type(msg)
	}
}

func TestWhatAColumnDoes(t *testing.T) {
	click := func(y int) tea.Msg { return tea.MouseClickMsg{X: 7, Y: y, Button: tea.MouseLeft} }
	for _, c := range []struct {
		name     string
		msgs     []tea.Msg
		selected string
		marks    string
	}{
		{"down", []tea.Msg{uitest.Move(1)}, "1", ""},
		{"up at the beginning", []tea.Msg{uitest.Move(-1)}, "0", ""},
		{"a page", []tea.Msg{uitest.Page(1)}, "4", ""},
		{"two pages and one back", []tea.Msg{uitest.Page(1), uitest.Page(1), uitest.Page(-1)}, "4", ""},
		{"to the end", []tea.Msg{uitest.Last}, "29", ""},
		{"and to the beginning", []tea.Msg{uitest.Last, uitest.First}, "0", ""},
		{"marks", []tea.Msg{uitest.Mark, uitest.Mark, uitest.Move(-1), uitest.Mark}, "2", "0"},
		{"marks undone", []tea.Msg{uitest.Mark, uitest.Mark, uitest.Back}, "2", ""},
		{"a click on a row", []tea.Msg{click(8)}, "1", ""},
		{"a click on the title", []tea.Msg{click(3)}, "0", ""},
		{"a click below the title", []tea.Msg{click(4)}, "0", ""},
	} {
		col := column(30)
		for _, msg := range c.msgs {
			col.do(msg)
		}
		var marks []string
		for id := range col.Marks {
			marks = append(marks, id)
		}
		slices.Sort(marks)
		if col.Selected() != c.selected || strings.Join(marks, " ") != c.marks {
			t.Errorf("%s: %q selected, %q marked", c.name, col.Selected(), marks)
		}
	}
}

func TestTypingAFilter(t *testing.T) {
	rows := []string{"acme: confirm", "acme: welcome", "github: device"}
	for _, c := range []struct {
		keys   []string
		pass   bool // the last key is for the list
		kept   int
		typing bool
		title  string
	}{
		{nil, false, 3, true, "/"},
		{[]string{"AC"}, false, 2, true, "/AC"},
		{[]string{"me con"}, false, 1, true, "/me con"},
		{[]string{"con me"}, false, 1, true, "/con me"},
		{[]string{"acme", "backspace", "backspace", "backspace", "backspace", "hub"}, false, 1, true, "/hub"},
		{[]string{"acme", "enter"}, false, 2, false, "/acme  esc"},
		{[]string{"acme", "tab"}, false, 2, false, "/acme  esc"},
		{[]string{"acme", "down"}, true, 2, false, "/acme  esc"},
		{[]string{"acme", "up"}, true, 2, false, "/acme  esc"},
		{[]string{"acme", "esc"}, false, 3, false, "Rows"},
		{[]string{"enter"}, false, 3, false, "Rows"},
		{[]string{"esc"}, false, 3, false, "Rows"},
		{[]string{"ctrl+u"}, false, 3, true, "/"},
	} {
		col := column(3)
		col.StartTyping()
		pass := false
		for _, k := range uitest.Keys(c.keys...) {
			pass = col.Type(k)
		}
		kept := 0
		for _, row := range rows {
			if col.Filter.Matches(row) {
				kept++
			}
		}
		title := uitest.Draw(t, []string{theme.Title(uitest.Theme(t), col.Filter.Title(uitest.Theme(t), "Rows", 18), "", 20, true)}, 20)
		if pass != c.pass || kept != c.kept || col.Typing() != c.typing || strings.TrimSpace(title.String()) != c.title {
			t.Errorf("%q: passed on %v, %d rows are kept, typing %v, title %q", c.keys, pass, kept, col.Typing(), title)
		}
	}
}

func TestARowOfAList(t *testing.T) {
	th := uitest.Theme(t)
	for _, c := range []struct {
		w     int
		mark  string
		spans []span
		want  string
	}{
		{20, " ", []span{{Text: "Acme"}, {Text: "2 min"}}, "▌  Acme       2 min"},
		{20, "●", []span{{Text: "A sender of length"}, {Text: "2 min"}}, "▌● A sender … 2 min"},
		{20, "✓", []span{{Text: "A sender of length"}}, "▌✓ A sender of len…"},
		{20, " ", []span{{Text: "ada"}, {Text: "@long.example.com"}, {Text: "3"}}, "▌  ada@long.exam… 3"},
		{8, " ", []span{{Text: "日本語"}, {Text: "now"}}, "▌   now"},
		{4, " ", []span{{Text: "Acme"}, {Text: "now"}}, "▌  …"},
		{16, " ", []span{{Text: "👨‍👩‍👧 ❤️ x"}, {}}, "▌  👨 ❤ x"},
	} {
		for _, b := range []bar{{th, true, true, c.w}, {th, true, false, c.w}} {
			uitest.Draw(t, []string{b.line(c.mark, c.spans...)}, c.w).Is(c.want)
		}
		uitest.Draw(t, []string{bar{Theme: th, W: c.w}.line(c.mark, c.spans...)}, c.w).Is(" " + strings.TrimPrefix(c.want, "▌"))
	}
}
