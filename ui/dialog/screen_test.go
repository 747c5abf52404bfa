package dialog

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mayfly/ui/theme"
)

// screen is a dialog over a screen of dots.
type screen struct {
	t    testing.TB
	d    Dialog
	th   *theme.Theme
	w, h int
	last Result
}

func open(t testing.TB, d Dialog, w, h int) *screen {
	t.Helper()
	th, err := theme.Load("", true, colorprofile.TrueColor)
	if err != nil {
		t.Fatal(err)
	}
	return &screen{t: t, d: d, th: th, w: w, h: h}
}

var keys = map[string]tea.KeyPressMsg{
	"esc": {Code: tea.KeyEscape}, "enter": {Code: tea.KeyEnter}, "tab": {Code: tea.KeyTab}, "space": {Code: ' ', Text: " "},
	"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "backspace": {Code: tea.KeyBackspace},
	"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "pgdown": {Code: tea.KeyPgDown}, "end": {Code: tea.KeyEnd}, "home": {Code: tea.KeyHome},
	"f1": {Code: tea.KeyF1}, "ctrl+j": {Code: 'j', Mod: tea.ModCtrl}, "alt+d": {Code: 'd', Mod: tea.ModAlt},
	"delete": {Code: tea.KeyDelete}, "ctrl+left": {Code: tea.KeyLeft, Mod: tea.ModCtrl}, "alt+right": {Code: tea.KeyRight, Mod: tea.ModAlt},
	"ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "ctrl+k": {Code: 'k', Mod: tea.ModCtrl}, "ctrl+a": {Code: 'a', Mod: tea.ModCtrl},
	"ctrl+e": {Code: 'e', Mod: tea.ModCtrl}, "ctrl+v": {Code: 'v', Mod: tea.ModCtrl}, "ctrl+backspace": {Code: tea.KeyBackspace, Mod: tea.ModCtrl},
}

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

// press presses the keys named, and types every other string character by character, all before
// anything is drawn.
func (s *screen) press(names ...string) Result {
	s.t.Helper()
	for _, name := range names {
		if k, ok := keys[name]; ok {
			s.send(k)
			continue
		}
		for _, r := range name {
			s.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
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

// rows are the rows of the screen without their styles.
func (s *screen) rows() []string {
	s.t.Helper()
	s.d.Fit(s.w, s.h)
	rows := make([]string, s.h)
	for n := range rows {
		rows[n] = strings.Repeat(".", s.w)
	}
	s.d.Draw(s.th, rows, s.w)
	for n, r := range rows {
		if ansi.StringWidth(r) != s.w || ansi.StringWidthWc(r) != s.w || strings.Contains(r, "\n") {
			s.t.Fatalf("row %d of %d×%d is not as wide: %q", n, s.w, s.h, r)
		}
		rows[n] = ansi.Strip(r)
	}
	return rows
}

func (s *screen) text() string { s.t.Helper(); return strings.Join(s.rows(), "\n") }

func (s *screen) see(texts ...string) {
	s.t.Helper()
	got := s.text()
	for _, text := range texts {
		if !strings.Contains(got, text) {
			s.t.Errorf("%q is not on the screen:\n%s", text, got)
		}
	}
}

func (s *screen) dontSee(texts ...string) {
	s.t.Helper()
	got := s.text()
	for _, text := range texts {
		if strings.Contains(got, text) {
			s.t.Errorf("%q is on the screen:\n%s", text, got)
		}
	}
}

// is compares the screen with rows; trailing blanks of the wanted rows are those of the source.
func (s *screen) is(want string) {
	s.t.Helper()
	if got := s.text(); got != strings.Trim(want, "\n") {
		s.t.Errorf("the screen is\n%s\nand not\n%s", got, want)
	}
}

func (s *screen) click(x, y int) Result {
	s.t.Helper()
	s.d.Fit(s.w, s.h)
	return s.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
}

// every is one dialog of each kind.
func every() map[string]Dialog {
	var groups []HelpGroup
	for g := range 4 {
		group := HelpGroup{Title: fmt.Sprint("Group ", g)}
		for k := range 8 {
			group.Keys = append(group.Keys, HelpKey{Keys: "ctrl+" + fmt.Sprint(k), Title: "What the key does in the application", Reason: []string{"", "Not now"}[k%2]})
		}
		groups = append(groups, group)
	}
	return map[string]Dialog{
		"question": NewQuestion(Question{
			Title: "Delete 12 inboxes?", Text: []string{"0 messages go with them. This cannot be undone."}, Bad: true, Keep: "keep them",
			Detail: func(w, most int) []string {
				return strings.Split(strings.Repeat("an inbox\n", min(most, 7)-1)+"more", "\n")
			},
			Answers: []Answer{{Keys: []string{"y"}, Does: "delete", Do: leads("yes")}},
		}),
		"prompt": NewForm(Form{Title: "Label ada", Fields: []Field{{Hint: "enter keeps it", Value: "日本語"}}, Then: func(v []string) tea.Cmd { return says(v[0]) }}),
		"form":   inboxForm(),
		"menu":   NewMenu(menuOf(40)),
		"help":   NewHelp(Help{Title: "Keys for messages", Groups: groups}),
		"labels": NewLabels(func() []Label { return []Label{{X: 3, Y: 2}, {X: 90, Y: 5}, {X: 0, Y: 50}} }),
		"manual": NewPages("Manual: ", book()),
	}
}

func TestDrawingChangesNothing(t *testing.T) {
	for name, d := range every() {
		s := open(t, d, 120, 36)
		before := s.text()
		for _, size := range [][2]int{{20, 6}, {200, 60}, {40, 12}} {
			rows := make([]string, size[1])
			d.Draw(s.th, rows, size[0])
			d.Draw(s.th, rows, size[0])
		}
		rows := make([]string, s.h)
		for n := range rows {
			rows[n] = strings.Repeat(".", s.w)
		}
		d.Draw(s.th, rows, s.w) // without a Fit before it
		if after := ansi.Strip(strings.Join(rows, "\n")); before != after {
			t.Errorf("%s was\n%s\nand is\n%s", name, before, after)
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
			s.rows() // every row has its width
			s.press("down")
			s.rows()
		}
		if r := s.press("esc"); !r.Close || outcome(r) != "" {
			t.Errorf("esc on %s: %+v", name, r)
		}
	}
}

func TestAClickBesideADialogClosesIt(t *testing.T) {
	for name, d := range every() {
		s := open(t, d, 120, 36)
		s.rows()
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
			s.rows()
			for _, r := range []rune(typed)[:min(20, utf8.RuneCountInString(typed))] {
				if s.last.Close {
					break
				}
				if int(r) < len(names) {
					s.press(names[r])
				} else {
					s.send(tea.KeyPressMsg{Code: r, Text: string(r)})
				}
				for _, row := range s.rows() {
					if strings.ContainsFunc(row, hostile) {
						t.Fatalf("%q is on the screen", row)
					}
				}
			}
		}
	})
}
