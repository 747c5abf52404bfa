package reader

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/ui/panes"
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
		what     string
		do       func()
		see      []string
		dontSee  string
		typing   bool
		position int // of the present hit; -1 for none
	}{
		{"begun", func() { s.send(panes.Search{}) }, []string{"/"}, "found", true, -1},
		{"typed", press("nee"), []string{"/nee", "2 found", "The needle is here."}, "", true, 0},
		{"typed to its end", press("dle is"), []string{"1 found", "The needle is here."}, "", true, 0},
		{"deleted again", press("backspace", "backspace", "backspace"), []string{"2 found"}, "", true, 0},
		{"done", press("enter"), []string{"1 of 2", "The needle is here."}, "/needle", false, 0},
		{"the next", step("next-hit"), []string{"2 of 2", "Another NEEDLE."}, "", false, 1},
		{"around the end", step("next-hit"), []string{"1 of 2", "The needle is here."}, "", false, 0},
		{"and back", step("previous-hit"), []string{"2 of 2", "Another NEEDLE."}, "", false, 1},
		{"in another view", step("view-text"), []string{"1 of 2"}, "", false, 0},
		{"narrower", func() { s.fit(30, 16) }, []string{"1 of 2"}, "", false, 0},
		{"undone", func() { s.send(panes.Back{}) }, []string{"Hay"}, "of 2", false, -1},
		{"nowhere", func() { s.send(panes.Search{}); s.press("nowhere to be found", "enter") }, []string{"/nowhere to … not found"}, "", false, -1},
		{"given up", func() { s.send(panes.Search{}); s.press("nee", "esc") }, []string{"Hay"}, "of 2", false, -1},
		{"left by a click", func() { s.send(panes.Search{}); s.press("nee"); s.StopTyping() }, []string{"1 of 2"}, "", false, 0},
		{"empty", func() { s.send(panes.Search{}); s.press("tab") }, []string{"Hay"}, "of 2", false, -1},
	} {
		c.do()
		got := s.draw()
		got.See(c.see...)
		if c.dontSee != "" {
			got.DontSee(c.dontSee)
		}
		if hits := len(s.search.hits); s.Typing() != c.typing || (hits == 0) != (c.position < 0) || hits > 0 && s.search.at != c.position || (s.needHits("/") == "") != (hits > 0) {
			t.Errorf("%s: typing %v, hit %d of %d", c.what, s.Typing(), s.search.at, hits)
		}
	}
}

func TestHitsStandOut(t *testing.T) {
	s := open(t, 60, 20, api.Message{ID: "1", HTML: "<p>One <b>two</b> 日本 TWO two</p>"})
	s.send(panes.Search{})
	s.press("two", "enter")
	s.do("next-hit")
	th := uitest.Theme(t)
	want := "One " + th.Match.On("two") + " 日本 " + (th.Match + theme.Reverse).On("TWO") + " " + th.Match.On("two")
	if got := strings.Join(s.Draw(true, nil, start), "\n"); !strings.Contains(got, want) {
		t.Errorf("%q is not in %q", want, got)
	}
	s.draw().See("One two 日本 TWO two")
}

func TestHitsAreBounded(t *testing.T) {
	s := open(t, 60, 20, api.Message{ID: "1", Text: strings.Repeat("aaaa ", 2*maxHits)})
	s.send(panes.Search{})
	s.press("a", "enter")
	if s.draw().See(fmt.Sprintf("1 of %d or more", maxHits)); len(s.search.hits) != maxHits {
		t.Errorf("%d hits are kept", len(s.search.hits))
	}
	s.send(panes.Search{}, tea.PasteMsg{Content: strings.Repeat("x\n", 1<<20)})
	s.draw()
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
		s.Update(panes.Page(1 - n%2*2))
		s.Draw(true, nil, start)
	}
}

func BenchmarkSearch(b *testing.B) {
	s := open(b, 100, 56, large())
	s.send(panes.Search{})
	keys := uitest.Keys("paragraph 42", "ctrl+u")
	for n := 0; b.Loop(); n++ {
		s.Update(keys[n%len(keys)])
		s.Draw(true, nil, start)
	}
}
