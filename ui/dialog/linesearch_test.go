package dialog

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"mayfly/ui/uitest"
)

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
