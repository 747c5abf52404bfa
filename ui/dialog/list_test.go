package dialog

import (
	"math/rand/v2"
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

func ids(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

func two(string) int { return 2 }

func TestTheSelectionStaysWithItsItem(t *testing.T) {
	var l List
	l.Set(ids(5))
	l.Select("3")
	l.Set(append([]string{"new"}, ids(5)...))
	if l.Selected() != "3" {
		t.Errorf("%q is selected", l.Selected())
	}
	l.Set([]string{"0", "1", "2", "4"})
	if l.Selected() != "4" {
		t.Errorf("after 3 went %q is selected, want the one that took its place", l.Selected())
	}
	l.Set(nil)
	if l.Selected() != "" || l.Rows(10, two) != nil {
		t.Error("an empty list has a selection or rows")
	}
}

func TestWhatIsNewDoesNotScroll(t *testing.T) {
	var l List
	l.Set(ids(50))
	l.Select("40")
	before := l.Rows(10, two)
	l.Set(append([]string{"new"}, ids(50)...))
	if after := l.Rows(10, two); !slices.Equal(before, after) {
		t.Errorf("the rows were %v and are %v", before, after)
	}
	l.First()
	l.Rows(10, two)
	l.Set(append([]string{"newer", "new"}, ids(50)...))
	if rows := l.Rows(10, two); rows[0].ID != "newer" {
		t.Errorf("at its beginning the list begins with %q", rows[0].ID)
	}
}

func TestWhatIsNewComesIntoView(t *testing.T) {
	var l List
	l.Set(ids(3))
	l.First()
	l.Rows(6, two)
	for n := range 20 {
		l.Set(append([]string{"new" + strconv.Itoa(n)}, l.IDs()...))
		if rows := l.Rows(6, two); rows[0].ID != "new"+strconv.Itoa(n) || l.Selected() != "0" {
			t.Fatalf("after %d new items the rows are %v", n+1, rows)
		}
	}
	l.Move(1)
	if rows := l.Rows(6, two); !slices.ContainsFunc(rows, func(r Row) bool { return r.Selected }) {
		t.Error("moving does not bring the selection back into view")
	}
}

func TestWhatIsNewDoesNotPushAwayWhatWasSelected(t *testing.T) {
	var l List
	l.Set(ids(3))
	l.Select("0")
	l.Rows(6, two)
	for n := range 20 {
		l.Set(append([]string{"new" + strconv.Itoa(n)}, l.IDs()...))
		if rows := l.Rows(6, two); !slices.ContainsFunc(rows, func(r Row) bool { return r.ID == "0" && r.Selected && r.H == 2 }) {
			t.Fatalf("after %d new items the rows are %v", n+1, rows)
		}
	}
}

func TestTheWheelLeavesTheSelection(t *testing.T) {
	var l List
	l.Set(ids(50))
	l.Rows(10, two)
	l.Scroll(20)
	rows := l.Rows(10, two)
	if l.Selected() != "0" || rows[0].ID != "20" {
		t.Errorf("%q is selected, the rows begin with %q", l.Selected(), rows[0].ID)
	}
	l.Move(1)
	if rows := l.Rows(10, two); !slices.ContainsFunc(rows, func(r Row) bool { return r.Selected }) {
		t.Error("moving does not bring the selection back into view")
	}
}

func TestASmallerScreenKeepsTheSelection(t *testing.T) {
	var l List
	l.Set(ids(20))
	l.Select("9")
	l.Rows(20, two)
	if rows := l.Rows(6, two); !slices.ContainsFunc(rows, func(r Row) bool { return r.Selected }) {
		t.Errorf("after shrinking the rows are %v", rows)
	}
	l.Scroll(5)
	l.Rows(6, two)
	if rows := l.Rows(8, two); rows[0].ID == "9" {
		t.Errorf("what had been scrolled away is back: %v", rows)
	}
}

func TestNoRoomIsWasted(t *testing.T) {
	var l List
	l.Set(ids(10))
	l.Last()
	l.Rows(6, two)
	if rows := l.Rows(20, two); rows[0].ID != "0" || len(rows) != 10 {
		t.Errorf("after growing the rows are %v", rows)
	}
}

// TestAnyOrder: whatever happens, rows follow each other without a gap, do not leave the area, and
// after a move the selection is among them.
func TestAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var l List
	tall := func(id string) int { n, _ := strconv.Atoi(id); return 1 + n%3 }
	for range 20_000 {
		moved := false
		switch r.IntN(7) {
		case 0:
			all := ids(r.IntN(60))
			r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			l.Set(all)
		case 1:
			l.Move(r.IntN(21) - 10)
			moved = true
		case 2:
			l.Scroll(r.IntN(21) - 10)
		case 3:
			l.First()
			moved = true
		case 4:
			l.Last()
			moved = true
		case 5:
			moved = l.Select(strconv.Itoa(r.IntN(60)))
		}
		height := 3 + r.IntN(20)
		rows := l.Rows(height, tall)
		y, seen := 0, false
		for _, row := range rows {
			if row.Y != y || row.H < 1 || row.Y+row.H > height {
				t.Fatalf("row %+v at line %d of %d", row, y, height)
			}
			y += row.H
			seen = seen || row.Selected && row.H == tall(row.ID)
		}
		if moved && l.Len() > 0 && !seen {
			t.Fatalf("%q was selected and is not in view: %v", l.Selected(), rows)
		}
		if l.Len() > 0 && l.Selected() == "" {
			t.Fatal("nothing is selected")
		}
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
