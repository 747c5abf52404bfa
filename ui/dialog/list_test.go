package dialog

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"mayfly/ui/uitest"
)

func two(string) int { return 2 }

func TestTheSelectionAndTheRows(t *testing.T) {
	arrive := func(l *List, n int) {
		for k := range n {
			l.Set(append([]string{"new" + strconv.Itoa(k)}, l.IDs()...))
			l.Rows(6, two)
		}
	}
	for _, c := range []struct {
		name          string
		items, height int
		do            func(l *List)
		selected      string
		first         string // row, "" if it does not matter
		hidden        bool   // the selected one is
	}{
		{"the selection stays with its item", 5, 20, func(l *List) { l.Select("3"); l.Set(append([]string{"new"}, uitest.IDs(5)...)) }, "3", "new", false},
		{"the next takes the place of one that is gone", 5, 20, func(l *List) { l.Select("3"); l.Set([]string{"0", "1", "2", "4"}) }, "4", "0", false},
		{"what is new does not scroll", 50, 10, func(l *List) { l.Select("40"); l.Rows(10, two); l.Set(append([]string{"new"}, uitest.IDs(50)...)) }, "40", "36", false},
		{"at its beginning it does", 50, 10, func(l *List) {
			l.Select("40")
			l.Rows(10, two)
			l.First()
			l.Rows(10, two)
			l.Set(append([]string{"newer"}, uitest.IDs(50)...))
		}, "0", "newer", false},
		{"and pushes the selection away", 3, 6, func(l *List) { l.First(); l.Rows(6, two); arrive(l, 20) }, "0", "new19", true},
		{"until that is moved", 3, 6, func(l *List) { l.First(); l.Rows(6, two); arrive(l, 20); l.Move(1) }, "1", "", false},
		{"not what the user selected", 3, 6, func(l *List) { l.Select("0"); l.Rows(6, two); arrive(l, 20) }, "0", "", false},
		{"the wheel leaves the selection", 50, 10, func(l *List) { l.Scroll(20) }, "0", "20", true},
		{"moving brings it back into view", 50, 10, func(l *List) { l.Scroll(20); l.Rows(10, two); l.Move(1) }, "1", "1", false},
		{"a smaller screen keeps the selection", 20, 6, func(l *List) { l.Select("9"); l.Rows(20, two) }, "9", "", false},
		{"a larger one does not bring it back", 20, 8, func(l *List) { l.Select("9"); l.Rows(6, two); l.Scroll(5); l.Rows(6, two) }, "9", "12", true},
		{"no room is wasted", 10, 20, func(l *List) { l.Last(); l.Rows(6, two) }, "9", "0", false},
	} {
		var l List
		l.Set(uitest.IDs(c.items))
		l.Rows(c.height, two)
		c.do(&l)
		l.Rows(c.height, two)
		shown := slices.ContainsFunc(l.Shown, func(r Row) bool { return r.Selected && r.H == 2 })
		if l.Selected() != c.selected || shown == c.hidden || c.first != "" && l.Shown[0].ID != c.first {
			t.Errorf("%s: %q is selected, the rows are %v", c.name, l.Selected(), l.Shown)
		}
	}
	var l List
	if l.Rows(10, two); l.Selected() != "" || l.Shown != nil {
		t.Error("an empty list has a selection or rows")
	}
}

func TestAHitIsMarkedAndTheStyleOfItsLineGoesOn(t *testing.T) {
	line := "\x1b[1mone two two\x1b[m"
	var s Search
	s.In(1, func(int) string { return ansi.Strip(line) })
	if !s.For("TWO") || s.Hits() != 2 {
		t.Fatalf("%d hits", s.Hits())
	}
	th := uitest.Theme(t)
	match := string(th.Match)
	want := "\x1b[1mone \x1b[m" + match + "\x1b[7mtwo\x1b[m\x1b[1m \x1b[m" + match + "two\x1b[m"
	cells := func(line string) string { return lipgloss.NewCanvas(11, 1).Compose(uv.NewStyledString(line)).Render() }
	if got := s.Mark(th, 0, line); cells(got) != cells(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHitsAreBounded(t *testing.T) {
	var s Search
	s.In(3, func(int) string { return strings.Repeat("a ", maxHits) })
	s.Start()
	for _, k := range uitest.Keys("a", "enter") {
		s.Type(k, 0)
	}
	if status := ansi.Strip(s.Status(uitest.Theme(t))); s.Hits() != maxHits || status != "1 of 2000 or more " {
		t.Errorf("%d hits are kept, and it says %q", s.Hits(), status)
	}
	s.Start()
	s.Type(tea.PasteMsg{Content: strings.Repeat("x\n", 1<<20)}, 0)
	if s.Hits() != 0 {
		t.Errorf("%d hits of a long paste", s.Hits())
	}
}
