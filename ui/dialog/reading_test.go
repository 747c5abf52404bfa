package dialog

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestAQuestion(t *testing.T) {
	question := func() *screen {
		return open(t, NewQuestion(Question{
			Title: "Delete this inbox?", Text: []string{"ada@apitest.example", "4 messages go with it. This cannot be undone."},
			CancelLabel: "keep it", Destructive: true,
			Answers: []Answer{{Keys: []string{"y"}, Does: "delete", Do: leads("delete")}, {Keys: []string{"c"}, Does: "copy", Do: leads("copy")}},
		}), 40, 12)
	}
	s := question()
	s.draw().Is(`

 ╭ Delete this inbox? ────────────────╮
 │ ada@apitest.example                │
 │                                    │
 │ 4 messages go with it. This cannot │
 │ be undone.                         │
 │                                    │
 │ y delete   c copy   esc keep it    │
 ╰────────────────────────────────────╯



`)
	s.press("d", "d", "enter", "space")
	for range 20 {
		s.send(tea.KeyPressMsg{Code: 'y', Text: "y", IsRepeat: true})
	}
	s.send(tea.PasteMsg{Content: "y"})
	if s.last.Close {
		t.Error("something else than y answered")
	}
	if r := s.press("y"); !r.Close || outcome(r) != "delete" {
		t.Errorf("y led to %+v", r)
	}
	if r := question().press("c"); !r.Close || outcome(r) != "copy" {
		t.Errorf("c led to %+v", r)
	}
	for _, key := range []string{"esc", "n", "q"} {
		if r := question().press(key); !r.Close || outcome(r) != "" {
			t.Errorf("%s led to %+v", key, r)
		}
	}
}

func TestALongLinkHidesNeitherWarningNorAnswers(t *testing.T) {
	link := "https://accounts.example.evil.test/" + strings.Repeat("path/", 500) + "?end=1"
	for _, size := range [][2]int{{120, 36}, {40, 12}, {20, 6}} {
		s := open(t, NewQuestion(Question{
			Title: "Open this link?", Text: []string{"→ accounts.example.evil.test", "! The text says bank.example, the link leads elsewhere"}, CancelLabel: "leave it",
			Detail:  func(w, most int) []string { return Shorten(link, w, min(most, 6)) },
			Answers: []Answer{{Keys: []string{"o", "enter"}, Does: "open", Do: leads(link)}, {Keys: []string{"y"}, Does: "copy"}},
		}), size[0], size[1])
		s.see("Open this link?", "→ ", ".test", "! ", "o open", "y copy", "esc")
		if s.w > 40 {
			s.see("→ accounts.example.evil.test", "bank.example", "https://accounts.example.evil.test/", "…", "?end=1")
		}
		if r := s.press("enter"); outcome(r) != link {
			t.Errorf("it led to %.80q", outcome(r))
		}
	}
}

func TestAskingHasItsAnswersOnTheSmallestScreen(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {40, 12}, {20, 6}} {
		s := open(t, every()["question"], size[0], size[1])
		s.see("Delete 12", "0 messages", "y delete", "esc")
		if s.h > 6 {
			s.see("an inbox", "more")
		}
	}
}

func TestLabels(t *testing.T) {
	three := []Label{{2, 1, leads("open 0"), leads("copy 0")}, {0, 2, leads("open 1"), leads("copy 1")}, {10, 9, leads("open 2"), leads("copy 2")}}
	labels := func() *screen { return open(t, NewLabels(func() []Label { return three }), 8, 4) }
	s := labels()
	s.draw().Is(`

 a
s

`)
	s.send(tea.KeyPressMsg{Code: 'a', Text: "a", IsRepeat: true})
	s.send(tea.KeyPressMsg{Code: tea.KeyLeftShift, Mod: tea.ModShift})
	if r := s.press("s"); !r.Close || outcome(r) != "open 1" {
		t.Errorf("s led to %+v", r)
	}
	if r := labels().press("S"); !r.Close || outcome(r) != "copy 1" {
		t.Errorf("S led to %+v", r)
	}
	for _, key := range []string{"f", "esc", "space", "x"} {
		if r := labels().press(key); !r.Close || key != "f" && outcome(r) != "" {
			t.Errorf("%s led to %+v", key, r)
		}
	}
	many := make([]Label, 800)
	for n := range many {
		many[n] = Label{n%50*4 + 1, n / 50, leads(fmt.Sprint("open ", n)), leads(fmt.Sprint("copy ", n))}
	}
	s = open(t, NewLabels(func() []Label { return many }), 200, 60)
	s.see("as", "sa")
	s.press("s")
	s.draw().DontSee("as")
	s.see("sa")
	if r := s.press("a"); outcome(r) != "open 26" {
		t.Errorf("sa led to %+v", r)
	}
	s = open(t, NewLabels(func() []Label { return many }), 200, 60)
	if r := s.press("SA"); outcome(r) != "copy 26" {
		t.Errorf("SA led to %+v", r)
	}
}

// long is a page of 100 lines with styles.
func long() Dialog {
	return NewPage("Manual: ci", 90, func(w int) []string {
		var lines []string
		for i := range 100 {
			lines = append(lines, fmt.Sprintf("\x1b[1mLine %d\x1b[m of ci, for %d cells", i, w))
		}
		return lines
	})
}

func TestTheManual(t *testing.T) {
	s := open(t, long(), 44, 12)
	s.draw().Is(`
      ╭ Manual: ci ─────────────────╮
      │ Line 0 of ci, for 90 cells  │
      │ Line 1 of ci, for 90 cells  │
      │ Line 2 of ci, for 90 cells  │
      │ Line 3 of ci, for 90 cells  │
      │ Line 4 of ci, for 90 cells  │
      │ Line 5 of ci, for 90 cells  │
      │ Line 6 of ci, for 90 cells  │
      │ Line 7 of ci, for 90 cells  │
      │                             │
      │ / search   esc closes    8% │
      ╰─────────────────────────────╯
`)
	s.press("pgdown", "j")
	s.see("│ Line 9 ")
	s.press("G")
	s.see("Line 99", "100%")
	s.w = 24
	s.see("ci, for 2…")
	if r := s.press("f1"); !r.Close {
		t.Error("F1 did not close the manual")
	}
}

func TestSearchingTheManual(t *testing.T) {
	for _, size := range [][2]int{{60, 12}, {20, 6}} {
		s := open(t, long(), size[0], size[1])
		s.draw()
		s.press("/", "LINE 4")
		s.see("/LINE 4")
		if s.w > 20 {
			s.see("11 found")
		}
		s.see("Line 4 ")
		s.press("enter", "n")
		s.see("Line 40 ")
		s.press("n", "N")
		s.see("Line 40 ")
		s.press("N", "N")
		s.see("Line 49 ")
		s.press("/", "nowhere", "enter")
		s.see("/nowhere")
		s.press("esc")
		s.draw().DontSee("/nowhere")
		if r := s.press("esc"); !r.Close {
			t.Error("esc did not close the manual")
		}
	}
}
