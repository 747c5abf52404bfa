package lists

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/dialog"
	"mayfly/ui/intent"
	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

func ids(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

func two(string) int { return 2 }

// column is a column of n rows, two lines each, in a pane of 20×12 below and beside others.
func column(n int) *Column {
	c := &Column{Marks: map[string]bool{}}
	c.Set(ids(n))
	c.Lay(theme.Rect{X: 5, Y: 3, W: 20, H: 12}, two)
	return c
}

const moved, clicked = "moved", "clicked"

func TestWhatAColumnDoes(t *testing.T) {
	click := func(y int) tea.Msg { return tea.MouseClickMsg{X: 7, Y: y, Button: tea.MouseLeft} }
	for _, c := range []struct {
		name     string
		msgs     []tea.Msg
		outcome  any
		selected string
		marks    string
	}{
		{"down", []tea.Msg{theme.Move(1)}, moved, "1", ""},
		{"up at the beginning", []tea.Msg{theme.Move(-1)}, moved, "0", ""},
		{"a page", []tea.Msg{theme.Page(1)}, moved, "4", ""},
		{"two pages and one back", []tea.Msg{theme.Page(1), theme.Page(1), theme.Page(-1)}, moved, "4", ""},
		{"to the end", []tea.Msg{theme.Last{}}, moved, "29", ""},
		{"and to the beginning", []tea.Msg{theme.Last{}, theme.First{}}, moved, "0", ""},
		{"marks", []tea.Msg{theme.Mark{}, theme.Mark{}, theme.Move(-1), theme.Mark{}}, moved, "2", "0"},
		{"marks undone", []tea.Msg{theme.Mark{}, theme.Mark{}, theme.Back{}}, intent.FilterChanged{}, "2", ""},
		{"nothing to undo", []tea.Msg{theme.Back{}}, intent.Leave{}, "0", ""},
		{"a click on a row", []tea.Msg{click(8)}, clicked, "1", ""},
		{"a click on the title", []tea.Msg{click(3)}, nil, "0", ""},
		{"a click below the title", []tea.Msg{click(4)}, nil, "0", ""},
		{"the wheel", []tea.Msg{tea.MouseWheelMsg{Button: tea.MouseWheelDown}}, nil, "0", ""},
		{"another message", []tea.Msg{tea.FocusMsg{}}, nil, "0", ""},
	} {
		col := column(30)
		var got any
		for _, msg := range c.msgs {
			got = col.Update(msg, moved, clicked)
		}
		var marks []string
		for id := range col.Marks {
			marks = append(marks, id)
		}
		slices.Sort(marks)
		if got != c.outcome || col.Selected() != c.selected || strings.Join(marks, " ") != c.marks {
			t.Errorf("%s: outcome %v, %q selected, %q marked", c.name, got, col.Selected(), marks)
		}
	}
}

func TestAClickBelowTheLastRow(t *testing.T) {
	c := column(2)
	for y, want := range map[int]string{5: "0", 6: "0", 7: "1", 8: "1", 9: "", 14: ""} {
		if got := Hit(c.Shown, y-c.Rect.Y-c.Top()); got != want {
			t.Errorf("at line %d is %q, want %q", y, got, want)
		}
	}
}

func TestAColumnWithLittleRoom(t *testing.T) {
	c := column(30)
	for _, s := range []struct {
		h, top, rows int
		dense        bool
	}{{0, 1, 0, true}, {1, 1, 0, true}, {4, 1, 2, true}, {8, 1, 4, true}, {9, 2, 4, false}, {12, 2, 5, false}} {
		c.Lay(theme.Rect{W: 20, H: s.h}, two)
		if c.Dense() != s.dense || c.Top() != s.top || len(c.Shown) != s.rows {
			t.Errorf("%d lines high: dense %v, rows from %d on, %d of them", s.h, c.Dense(), c.Top(), len(c.Shown))
		}
	}
}

func TestTypingAFilter(t *testing.T) {
	rows := []string{"acme: confirm", "acme: welcome", "github: device"}
	for _, c := range []struct {
		keys    []string
		outcome any
		kept    int
		typing  bool
		title   string
	}{
		{nil, nil, 3, true, "/"},
		{[]string{"AC"}, intent.FilterChanged{}, 2, true, "/AC"},
		{[]string{"me con"}, intent.FilterChanged{}, 1, true, "/me con"},
		{[]string{"con me"}, intent.FilterChanged{}, 1, true, "/con me"},
		{[]string{"acme", "backspace", "backspace", "backspace", "backspace", "hub"}, intent.FilterChanged{}, 1, true, "/hub"},
		{[]string{"acme", "enter"}, intent.FilterChanged{}, 2, false, "/acme  esc"},
		{[]string{"acme", "tab"}, intent.FilterChanged{}, 2, false, "/acme  esc"},
		{[]string{"acme", "down"}, uitest.Keys("down")[0], 2, false, "/acme  esc"},
		{[]string{"acme", "up"}, uitest.Keys("up")[0], 2, false, "/acme  esc"},
		{[]string{"acme", "esc"}, intent.FilterChanged{}, 3, false, "Rows"},
		{[]string{"enter"}, intent.FilterChanged{}, 3, false, "Rows"},
		{[]string{"esc"}, intent.FilterChanged{}, 3, false, "Rows"},
		{[]string{"ctrl+u"}, intent.FilterChanged{}, 3, true, "/"},
	} {
		col := column(3)
		got := col.Update(theme.Search{}, moved, clicked)
		for _, k := range uitest.Keys(c.keys...) {
			got = col.Update(k, moved, clicked)
		}
		kept := 0
		for _, row := range rows {
			if col.Filter.Matches(row) {
				kept++
			}
		}
		title := uitest.Draw(t, []string{theme.Title(uitest.Theme(t), col.Filter.Title(uitest.Theme(t), "Rows", 18), "", 20, true)}, 20)
		if got != c.outcome || kept != c.kept || col.Typing() != c.typing || strings.TrimSpace(title.String()) != c.title {
			t.Errorf("%q: outcome %v, %d rows are kept, typing %v, title %q", c.keys, got, kept, col.Typing(), title)
		}
	}
}

func TestAFilterIsTypedOn(t *testing.T) {
	c := column(3)
	type_ := func(names ...string) {
		c.Update(theme.Search{}, moved, clicked)
		for _, k := range uitest.Keys(names...) {
			c.Update(k, moved, clicked)
		}
	}
	type_("ac", "enter")
	type_("me", "enter")
	if !c.Filter.Matches("acme") || c.Filter.Matches("ac dc") {
		t.Error("a filter that is typed on begins anew")
	}
	c.Update(theme.Mark{}, moved, clicked)
	if c.Update(theme.Back{}, moved, clicked); c.Filter.On() || len(c.Marks) != 1 {
		t.Error("esc takes away the filter, and the marks after it")
	}
	type_("x")
	c.StopTyping()
	if c.Typing() || !c.Filter.On() {
		t.Error("a filter goes when something else gets the keys")
	}
}

func TestALongFilterShowsItsEnd(t *testing.T) {
	c := column(3)
	c.Update(theme.Search{}, moved, clicked)
	c.Update(tea.PasteMsg{Content: strings.Repeat("日本語 "+uitest.Hostile, 20_000)}, moved, clicked)
	title := func(w int) uitest.Screen {
		return uitest.Draw(t, []string{theme.Title(uitest.Theme(t), c.Filter.Title(uitest.Theme(t), "", w-2), "", w, true)}, w)
	}
	for range 12 {
		c.Update(uitest.Keys("backspace")[0], moved, clicked)
	}
	for _, step := range [][2]string{{"the end", "the end"}, {"ctrl+u", "/"}, {"short", "/short"}} {
		for _, k := range uitest.Keys(step[0]) {
			c.Update(k, moved, clicked)
		}
		for _, w := range []int{1, 2, 8} {
			title(w)
		}
		title(40).See(step[1])
		if step[0] == "short" {
			title(40).DontSee("the end")
		}
	}
}

func TestARowOfAList(t *testing.T) {
	th := uitest.Theme(t)
	for _, c := range []struct {
		w     int
		mark  string
		spans []Span
		want  string
	}{
		{20, " ", []Span{{Text: "Acme"}, {Text: "2 min"}}, "▌  Acme       2 min"},
		{20, "●", []Span{{Text: "A sender of length"}, {Text: "2 min"}}, "▌● A sender … 2 min"},
		{20, "✓", []Span{{Text: "A sender of length"}}, "▌✓ A sender of len…"},
		{20, " ", []Span{{Text: "ada"}, {Text: "@long.example.com"}, {Text: "3"}}, "▌  ada@long.exam… 3"},
		{8, " ", []Span{{Text: "日本語"}, {Text: "now"}}, "▌   now"},
		{4, " ", []Span{{Text: "Acme"}, {Text: "now"}}, "▌  …"},
		{16, " ", []Span{{Text: "👨‍👩‍👧 ❤️ x"}, {}}, "▌  👨 ❤ x"},
	} {
		for _, b := range []Bar{{th, true, true, c.w}, {th, true, false, c.w}} {
			uitest.Draw(t, []string{b.Line(c.mark, c.spans...)}, c.w).Is(c.want)
		}
		uitest.Draw(t, []string{Bar{Theme: th, W: c.w}.Line(c.mark, c.spans...)}, c.w).Is(" " + strings.TrimPrefix(c.want, "▌"))
	}
}

// BenchmarkRows lays out the rows of a list of 10,000 at its end.
func BenchmarkRows(b *testing.B) {
	var l dialog.List
	l.Set(ids(10_000))
	for n := 0; b.Loop(); n++ {
		l.Last()
		l.Move(-n % 100)
		if rows := l.Rows(60, two); len(rows) != 30 {
			b.Fatal(fmt.Sprint(len(rows), " rows"))
		}
	}
}
