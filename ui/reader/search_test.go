package reader

import (
	"fmt"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"mayfly/api"
	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

// hay holds a needle in paragraphs 30 and 61.
var hay = api.Message{ID: "1", Subject: "Hay", Text: strings.Repeat("Nothing here.\n\n", 30) + "The needle is here.\n\n" + strings.Repeat("Nor here.\n\n", 30) + "Another NEEDLE.\n"}

func TestSearching(t *testing.T) {
	s := open(t, 60, 16, hay)
	step := func(ids ...string) func() { return func() { s.do(ids...) } }
	press := func(keys ...string) func() { return func() { s.press(keys...) } }
	for _, c := range []struct {
		what    string
		do      func()
		see     []string
		dontSee string
		typing  bool
		found   bool
	}{
		{"begun", func() { s.send(uitest.Search{}) }, []string{"/"}, "found", true, false},
		{"typed", press("nee"), []string{"/nee", "2 found", "The needle is here."}, "", true, true},
		{"typed to its end", press("dle is"), []string{"1 found", "The needle is here."}, "", true, true},
		{"deleted again", press("backspace", "backspace", "backspace"), []string{"2 found"}, "", true, true},
		{"done", press("enter"), []string{"1 of 2", "The needle is here."}, "/needle", false, true},
		{"the next", step("next-hit"), []string{"2 of 2", "Another NEEDLE."}, "", false, true},
		{"around the end", step("next-hit"), []string{"1 of 2", "The needle is here."}, "", false, true},
		{"and back", step("previous-hit"), []string{"2 of 2", "Another NEEDLE."}, "", false, true},
		{"in another view", step("view-text"), []string{"1 of 2"}, "", false, true},
		{"narrower", func() { s.fit(30, 16) }, []string{"1 of 2"}, "", false, true},
		{"at the other", step("next-hit"), []string{"2 of 2"}, "", false, true},
		{"wider", func() { s.fit(60, 16) }, []string{"2 of 2"}, "", false, true},
		{"undone", func() { s.send(uitest.Back{}) }, []string{"Hay"}, "of 2", false, false},
		{"nowhere", func() { s.send(uitest.Search{}); s.press("nowhere to be found", "enter") }, []string{"/nowhere to … not found"}, "", false, false},
		{"given up", func() { s.send(uitest.Search{}); s.press("nee", "esc") }, []string{"Hay"}, "of 2", false, false},
		{"left by a click", func() { s.send(uitest.Search{}); s.press("nee"); s.StopTyping() }, []string{"2 of 2"}, "", false, true},
		{"empty", func() { s.send(uitest.Search{}); s.press("tab") }, []string{"Hay"}, "of 2", false, false},
	} {
		c.do()
		got := s.draw()
		got.See(c.see...)
		if c.dontSee != "" {
			got.DontSee(c.dontSee)
		}
		if hits := s.search.Hits(); s.Typing() != c.typing || (hits > 0) != c.found || (s.NeedHits("/") == "") != (hits > 0) {
			t.Errorf("%s: typing %v, %d hits", c.what, s.Typing(), hits)
		}
	}
}

func TestHitsStandOut(t *testing.T) {
	s := open(t, 60, 20, api.Message{ID: "1", HTML: "<p>One <b>two</b> 日本 TWO two</p>"})
	s.send(uitest.Search{})
	s.press("two", "enter")
	s.do("next-hit")
	th := uitest.Theme(t)
	want := "One " + th.Match.On("two") + theme.Bold.On(" ") + "日本 " + (th.Match + theme.Reverse).On("TWO") + " " + th.Match.On("two")
	cells := func(rows string) string { return lipgloss.NewCanvas(60, 20).Compose(uv.NewStyledString(rows)).Render() }
	if got := strings.Join(s.Draw(true, nil, start), "\n"); !strings.Contains(cells(got), strings.TrimRight(cells(want), "\n")) {
		t.Errorf("%q is not in\n%q", cells(want), cells(got))
	}
	s.draw().See("One two 日本 TWO two")
}

// large is a mail of 1 MB.
func large() api.Message {
	var b strings.Builder
	for n := 0; b.Len() < 1<<20; n++ {
		fmt.Fprintf(&b, `<p>Paragraph %d with <b>bold</b>, <a href="https://example.com/%d">a link</a> and enough words to fill a line or two of the screen.</p>`, n, n)
	}
	return api.Message{ID: "1", Subject: "Large", HTML: b.String()}
}

func BenchmarkDraw(b *testing.B) {
	s := open(b, 100, 56, large())
	for n := 0; b.Loop(); n++ {
		s.Page(1 - n%2*2)
		s.Draw(true, nil, start)
	}
}

func BenchmarkSearch(b *testing.B) {
	s := open(b, 100, 56, large())
	s.send(uitest.Search{})
	keys := uitest.Keys("paragraph 42", "ctrl+u")
	for n := 0; b.Loop(); n++ {
		s.Type(keys[n%len(keys)])
		s.Draw(true, nil, start)
	}
}
