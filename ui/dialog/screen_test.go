package dialog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

// screen is a dialog on a screen.
type screen struct {
	t    testing.TB
	d    Dialog
	w, h int
	last Result
}

func open(t testing.TB, d Dialog, w, h int) *screen { return &screen{t: t, d: d, w: w, h: h} }

// says is a command that says what it was made for.
func says(what string) tea.Cmd { return func() tea.Msg { return what } }

func leads(what string) func() tea.Cmd { return func() tea.Cmd { return says(what) } }

// outcome is what the command of a result says, "" without one.
func outcome(r Result) string {
	if r.Do == nil {
		return ""
	}
	said, _ := r.Do()().(string)
	return said
}

// press presses keys, all before anything is drawn.
func (s *screen) press(names ...string) Result {
	s.t.Helper()
	for _, k := range uitest.Keys(names...) {
		s.send(k)
	}
	return s.last
}

func (s *screen) send(msg tea.Msg) Result {
	s.t.Helper()
	if s.last.Close {
		s.t.Fatalf("the dialog is closed, and gets %v", msg)
	}
	s.last = s.d.Update(msg)
	return s.last
}

func (s *screen) draw() uitest.Screen {
	s.t.Helper()
	return uitest.DrawDialog(s.t, s.d, s.w, s.h)
}

func (s *screen) see(texts ...string) { s.t.Helper(); s.draw().See(texts...) }

func (s *screen) click(x, y int) Result {
	s.t.Helper()
	s.d.Fit(s.w, s.h)
	return s.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
}

// every is one dialog of each kind.
func every() map[string]Dialog {
	help := Menu{Title: "Keys for messages"}
	for n := range 32 {
		help.Choices = append(help.Choices, Choice{
			ID: fmt.Sprint(n), Title: "What the key does in the application", Group: fmt.Sprint("Group ", n/8), Aside: "ctrl+" + fmt.Sprint(n), Reason: []string{"", "Not now"}[n%2],
		})
	}
	return map[string]Dialog{
		"question": NewQuestion(Question{
			Title: "Delete 12 inboxes?", Text: []string{"0 messages go with them. This cannot be undone."}, Destructive: true, CancelLabel: "keep them",
			Detail: func(w, most int) []string {
				return strings.Split(strings.Repeat("an inbox\n", min(most, 7)-1)+"more", "\n")
			},
			Answers: []Answer{{Keys: []string{"y"}, Does: "delete", Do: leads("yes")}},
		}),
		"prompt": NewForm(Form{Title: "Label ada", Fields: []Field{{Hint: "enter keeps it", Value: "日本語"}}, Then: func(v []string) tea.Cmd { return says(v[0]) }}),
		"form":   inboxForm(),
		"menu":   NewMenu(menuOf(40)),
		"help":   NewMenu(help),
		"labels": NewLabels(func() []Label { return []Label{{X: 3, Y: 2}, {X: 90, Y: 5}, {X: 0, Y: 50}} }),
		"manual": long(),
	}
}

func TestABoxOverWideCharacters(t *testing.T) {
	for _, w := range []int{60, 61, 62, 63} {
		for _, behind := range []string{"漢字", "x漢", "\x1b[1m漢\x1b[m字e\u0301"} {
			rows := slices.Repeat([]string{theme.Fit(strings.Repeat(behind, 30), w)}, 12)
			d := every()["question"]
			d.Fit(w, 12)
			d.Draw(uitest.Theme(t), rows, w)
			uitest.Draw(t, rows, w).See("Delete 12 inboxes?", "│ an inbox", "漢")
		}
	}
}

func TestADialogFollowsTheSizeOfTheScreen(t *testing.T) {
	for name, d := range every() {
		if name == "labels" {
			continue // an arrow closes them
		}
		s := open(t, d, 1, 1)
		for _, size := range [][2]int{{20, 6}, {200, 60}, {40, 12}, {80, 24}, {5, 3}, {1, 1}, {120, 36}} {
			s.w, s.h = size[0], size[1]
			s.draw() // every row has its width
			s.press("down")
			s.draw()
		}
		if r := s.press("esc"); !r.Close || outcome(r) != "" {
			t.Errorf("esc on %s: %+v", name, r)
		}
	}
}

func TestAClickBesideADialogClosesIt(t *testing.T) {
	for name, d := range every() {
		s := open(t, d, 120, 36)
		s.draw()
		if r := s.send(tea.MouseClickMsg{X: 60, Y: 15, Button: tea.MouseRight}); r.Close {
			t.Errorf("a click with the right button closed %s", name)
		}
		if r := s.click(0, 0); !r.Close || outcome(r) != "" {
			t.Errorf("a click beside %s: %+v", name, r)
		}
	}
	for _, name := range []string{"question", "prompt", "form", "help", "manual"} {
		if r := open(t, every()[name], 120, 36).click(60, 13); r.Close {
			t.Errorf("a click on %s closed it", name)
		}
	}
}

// FuzzDialogs types and pastes anything into all dialogs and draws them on a screen of any size.
func FuzzDialogs(f *testing.F) {
	f.Add("日本語 \x1b[31m\u202eword 👨‍👩‍👧 🇩🇪", "x1/\t", uint8(40), uint8(12))
	f.Add("end", "\r\x00", uint8(20), uint8(6))
	names := []string{"enter", "tab", "shift+tab", "up", "down", "left", "right", "backspace", "end", "home", "alt+d", "pgdown"}
	f.Fuzz(func(t *testing.T, paste, typed string, w, h uint8) {
		for _, d := range every() {
			s := open(t, d, 1+int(w), 1+int(h)%70)
			s.send(tea.PasteMsg{Content: paste})
			s.draw()
			for _, r := range []rune(typed)[:min(20, utf8.RuneCountInString(typed))] {
				if s.last.Close {
					break
				}
				if int(r) < len(names) {
					s.press(names[r])
				} else {
					s.send(tea.KeyPressMsg{Code: r, Text: string(r)})
				}
				s.draw()
			}
		}
	})
}
