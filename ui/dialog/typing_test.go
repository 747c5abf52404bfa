package dialog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/uitest"
)

func inboxForm() Dialog {
	return NewForm(Form{
		Title: "New inbox", SubmitLabel: "creates", Then: func(v []string) tea.Cmd { return says(strings.Join(v, "|")) },
		Fields: []Field{
			{Title: "Username", Hint: "the part before the @", Placeholder: "random", Check: func(v string) error {
				if strings.Contains(v, "..") {
					return errors.New("no two dots in a row")
				}
				return nil
			}},
			{Title: "Domain", Hint: "one of the service's domains", Placeholder: "the service's own", Suggestions: []string{"mayfly.test", "two.example"}},
			{Title: "TTL", Hint: "such as 10m, 1h, 2d", Value: "1h", Check: func(v string) error {
				if !strings.HasSuffix(v, "h") && !strings.HasSuffix(v, "m") {
					return errors.New("such as 10m, 1h, 2d")
				}
				return nil
			}},
		},
	})
}

func TestAForm(t *testing.T) {
	s := open(t, inboxForm(), 64, 20)
	s.press("ada..x")
	s.draw().Is(`


 ╭ New inbox ─────────────────────────────────────────────────╮
 │ ┃ Username                                                 │
 │ ┃ > ada..x                                                 │
 │ ┃ ! no two dots in a row                                   │
 │   Domain                                                   │
 │   > the service's own                                      │
 │                                                            │
 │   TTL                                                      │
 │   > 1h                                                     │
 │                                                            │
 │                                                            │
 │ enter creates   tab next field   esc cancels               │
 ╰────────────────────────────────────────────────────────────╯



`)
	s.press("enter", "tab", "down") // what is wrong keeps the focus
	s.press("left", "left", "backspace", "tab")
	s.see("┃ Domain", "┃ one of the service's domains", "> ada.x")
	s.press("right")
	s.see("> mayfly.test")
	s.press("right")
	s.see("> two.example")
	s.press("right", "end", "ctrl+u", "MAYF")
	s.see("> MAYFly.test")
	s.press("ctrl+u", "may")
	s.press("right", "tab", "backspace", "backspace", "3x")
	s.see("┃ ! such as 10m, 1h, 2d", "> mayfly.test")
	s.press("enter", "backspace", "0m", "shift+tab", "up")
	s.see("┃ Username")
	if got := s.press("enter"); !got.Close || outcome(got) != strings.Join([]string{"ada.x", "mayfly.test", "30m"}, "|") {
		t.Errorf("the form led to %+v", got)
	}
}

func TestAFieldThatIsWrongIsGoneBackTo(t *testing.T) {
	s := open(t, inboxForm(), 80, 24)
	s.press("tab", "tab", "shift+tab", "shift+tab", "a..b", "up") // wrong, and left
	s.see("┃ ! no two dots in a row")
	s.press("backspace", "backspace", "backspace", "tab", "test.example", "up", "..b", "up", "tab")
	s.see("┃ Username", "┃ ! no two dots in a row")
	s.press("ctrl+u")
	if r := s.press("bob", "tab", "tab", "enter"); !r.Close || outcome(r) != "bob|test.example|1h" {
		t.Errorf("the form led to %q", outcome(r))
	}
	need := func(string) error { return errors.New("a URL such as https://mail.example.com") }
	s = open(t, NewForm(Form{First: 1, Fields: []Field{{Title: "Service", Hint: "its base URL", Check: need}, {Title: "Key"}}}), 80, 24)
	s.draw().DontSee("!")
	s.press("enter")
	s.see("┃ Service", "┃ ! a URL such as")
}

func TestAFormThatAsksStaysUntilItIsAnswered(t *testing.T) {
	for _, fields := range [][]Field{{{Value: "ada", Hint: "a name"}}, {{Title: "Username", Value: "ada"}, {Title: "TTL"}}} {
		for _, size := range [][2]int{{80, 24}, {40, 12}, {40, 8}} {
			s := open(t, NewForm(Form{Title: "New inbox", Async: true, Fields: fields, Then: func(v []string) tea.Cmd { return says(v[0]) }}), size[0], size[1])
			s.send(Answered{}) // of another
			s.send(Answered{Err: "the label is taken"})
			s.draw().DontSee("taken")
			if r := s.press("enter"); r.Close || outcome(r) != "ada" {
				t.Errorf("enter led to %+v", r)
			}
			if size[1] > 8 {
				s.see("waiting for the service…")
			}
			if r := s.press("enter"); r.Do != nil {
				t.Error("it asked twice")
			}
			s.send(Answered{Err: "the username ada is taken: " + strings.Repeat("choose another ", 30)})
			s.see("! the username ada is taken", "… ", "ada ")
			if r := s.press("x", "enter"); outcome(r) != "adax" {
				t.Errorf("the second time it led to %+v", r)
			}
			s.draw().DontSee("taken")
			if r := s.send(Answered{}); !r.Close {
				t.Error("it stays open")
			}
		}
	}
}

func TestSuggestedAddresses(t *testing.T) {
	for keys, want := range map[string]string{
		"": "", "right": "qa@example.com", "right right": "qa@example.org", "right right right": "qa@example.com", "x right": "x@example.org", "Q right": "Qa@example.com",
		"bob right": "bob@example.org", "bob@ex right": "bob@example.org", "bob@net right": "bob@net", "bob left right": "bob", "qa@example.c end": "qa@example.com",
		"qa@example.com end": "qa@example.com",
	} {
		s := open(t, NewForm(Form{Fields: []Field{{Suggestions: []string{"qa@example.com", "*@example.org"}}}, Then: func(v []string) tea.Cmd { return says(v[0]) }}), 80, 24)
		if got := outcome(s.press(append(strings.Fields(keys), "enter")...)); got != want {
			t.Errorf("%q makes %q, want %q", keys, got, want)
		}
	}
}

func TestTheFieldInFocusIsInView(t *testing.T) {
	for _, h := range []int{24, 12, 8, 6, 5, 4, 3} {
		s := open(t, inboxForm(), 40, h)
		for _, value := range []string{"value one", "value two", "value 3h"} {
			s.press("ctrl+u", value)
			s.see("> " + value)
			if h > 3 {
				s.see("┃")
			}
			s.press("tab")
		}
	}
}

func TestAPasswordIsNeverShown(t *testing.T) {
	s := open(t, NewForm(Form{Fields: []Field{{Title: "API key", Password: true}, {Title: "Keep as"}}, Then: func(v []string) tea.Cmd { return says(v[0]) }}), 80, 24)
	for _, key := range []string{"m", "f", "_", "Q", "W", "home", "left", "end", "tab"} {
		s.press(key)
		s.draw().DontSee("mf", "Q", "W")
	}
	if s.see("> *****"); outcome(s.press("enter")) != "mf_QW" {
		t.Errorf("the form led to %+v", s.last)
	}
}

func labelPrompt() Dialog {
	return NewForm(Form{
		Title: "Label ada",
		Fields: []Field{{Value: "old", Hint: "enter keeps it, empty takes it away   esc cancels", Check: func(text string) error {
			if len(text) > 40 {
				return errors.New("at most 40 characters")
			}
			return nil
		}}},
		Then: func(v []string) tea.Cmd { return says(v[0]) },
	})
}

func TestAPrompt(t *testing.T) {
	s := open(t, labelPrompt(), 64, 8)
	s.draw().Is(`

  ╭ Label ada ───────────────────────────────────────────────╮
  │ › old                                                    │
  │                                                          │
  │ enter keeps it, empty takes it away   esc cancels        │
  ╰──────────────────────────────────────────────────────────╯


`)
	s.press("ctrl+u", strings.Repeat("x", 41))
	s.draw().DontSee("!")
	if r := s.press("enter"); r.Close {
		t.Fatalf("a text that is wrong led to %+v", r)
	}
	s.see("! at most 40 characters")
	s.press("backspace")
	s.see("esc cancels")
	s.press("ctrl+u", "space")
	s.send(tea.PasteMsg{Content: "signup ✓\n"})
	if r := s.press("space", "enter"); !r.Close || outcome(r) != "signup ✓" {
		t.Errorf("the prompt led to %+v", r)
	}
}

func TestALineThatIsTypedIsBoundedAndShowsItsEnd(t *testing.T) {
	manual := long()
	manual.Update(tea.KeyPressMsg{Code: '/', Text: "/"})
	for name, d := range map[string]Dialog{"menu": NewMenu(menuOf(3)), "prompt": labelPrompt(), "form": inboxForm(), "manual": manual} {
		t.Run(name, func(t *testing.T) {
			s := open(t, d, 80, 24)
			s.send(tea.PasteMsg{Content: strings.Repeat("日本語 \x1b[31m\u202eword 👨‍👩‍👧 ", 20_000)})
			s.draw()
			for range 12 {
				s.press("backspace")
			}
			s.press("the end")
			s.see("the end ")
			s.press("home")
			s.see("日本語 word")
			s.press("end", "ctrl+u", "short")
			s.see("short ")
		})
	}
}

// chosen is a menu in which choosing a row says its ID.
func chosen(m Menu) Dialog {
	for n := range m.Choices {
		m.Choices[n].Do = leads(m.Choices[n].ID)
	}
	return NewMenu(m)
}

func menuOf(n int) Menu {
	m := Menu{Title: "Actions"}
	for i := range n {
		m.Choices = append(m.Choices, Choice{Title: fmt.Sprint("Action ", i), Aside: "ctrl+x", Do: leads(fmt.Sprint("choose id-", i))})
	}
	return m
}

func TestAMenu(t *testing.T) {
	menu := func() *screen {
		return open(t, chosen(Menu{Title: "Actions", Choices: []Choice{
			{ID: "new", Title: "New inbox", Aside: "n"},
			{ID: "browser", Title: "Open a safe copy in the browser", Aside: "b"},
			{ID: "address", Title: "Copy the address", Aside: "y"},
			{ID: "code", Title: "Copy the code", Aside: "c"},
			{ID: "compare", Title: "Compare two marked messages", Aside: "=", Reason: "Mark two messages first"},
		}}), 40, 12)
	}
	s := menu()
	s.press("copy")
	s.draw().Is(`
╭ Actions ─────────────────────────────╮
│ › copy                               │
│                                      │
│ ▌ Copy the code                    c │
│   Copy the address                 y │
│   Open a safe copy in the browser  b │
│                                      │
│                                      │
│ enter chooses   esc closes    3 of 5 │
╰──────────────────────────────────────╯


`)
	if r := s.press("down", "enter"); !r.Close || outcome(r) != "address" {
		t.Errorf("the menu led to %+v", r)
	}
	s = menu()
	s.press("compare")
	s.see("Compare two marked messages", "! Mark two messages first")
	s.press("zzz")
	s.see("No matches.")
	if r := s.press("enter"); r.Close {
		t.Errorf("nothing was chosen, and it led to %+v", r)
	}
	s.press("ctrl+u")
	s.see("▌ New inbox")
	s.press("tab", "ctrl+j", "shift+tab", "pgdown", "up")
	s.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	s.see("▌ Copy the address")
	if r := s.click(5, 4); !r.Close || outcome(r) != "browser" {
		t.Errorf("a click led to %+v", r)
	}
	s = menu()
	for _, y := range []int{0, 1, 2, 8, 9} {
		if r := s.click(5, y); r.Close {
			t.Errorf("a click on row %d led to %+v", y, r)
		}
	}
	s = open(t, NewMenu(menuOf(40)), 80, 24)
	s.press("down", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown")
	s.see("▌ Action 39")
	s.draw().DontSee("Action 0")
	s = open(t, NewMenu(Menu{Title: "Attachments", Choices: []Choice{{ID: "0", Title: uitest.Joined + " photo.jpg", Aside: "120.4 kB"}}}), 40, 12)
	s.see("photo.jpg            120.4 kB │")
}

func TestAMenuByGroup(t *testing.T) {
	menu := func(h int) *screen {
		return open(t, chosen(Menu{Title: "Keys for messages", Choices: []Choice{
			{ID: "view", Title: "Next view", Group: "Message", Aside: "v"},
			{ID: "open", Title: "Open", Group: "Message", Aside: "enter", Reason: "Select a message first"},
			{ID: "new", Title: "New inbox", Group: "Essentials", Aside: "n"},
			{ID: "next", Title: "Next pane", Group: "Essentials", Aside: "tab N"},
			{ID: "down", Title: "Down", Group: "Navigation", Aside: "j down"},
		}}), 50, h)
	}
	s := menu(12)
	s.draw().Is(`
╭ Keys for messages ─────────────────────────────╮
│ › type to filter                               │
│                                                │
│ Message                                        │
│ ▌ Next view                                  v │
│   Open                                   enter │
│ Essentials                                     │
│   New inbox                                  n │
│ enter chooses   ↑↓ move   esc closes  ↓ 2 more │
╰────────────────────────────────────────────────╯
`)
	s.press("down", "down", "down", "down")
	s.see("▌ Down", "↑ 2 more")
	s.press("n") // the key comes first, without titles of groups
	s.draw().Is(`
╭ Keys for messages ─────────────────────────────╮
│ › n                                            │
│                                                │
│ ▌ New inbox                                  n │
│   Next view                                  v │
│   Next pane                              tab N │
│   Down                                  j down │
│   Open                                   enter │
│ enter chooses   ↑↓ move   esc closes    5 of 5 │
╰────────────────────────────────────────────────╯
`)
	if r := s.press("enter"); !r.Close || outcome(r) != "new" {
		t.Errorf("it led to %+v", r)
	}
	for y, want := range map[int]string{3: "", 4: "view", 5: "open", 6: "", 7: "new"} {
		if r := menu(12).click(5, y); outcome(r) != want {
			t.Errorf("a click on row %d led to %q, want %q", y, outcome(r), want)
		}
	}
	for _, size := range [][2]int{{20, 6}, {40, 12}, {80, 24}, {200, 60}} {
		s := open(t, every()["help"], size[0], size[1])
		s.see("▌ What", "ctrl+0", "more")
		s.press("pgdown", "pgdown", "pgdown", "pgdown")
		s.see("ctrl+31", "! Not")
		s.press("pgup", "pgup", "pgup", "pgup")
		s.see("ctrl+0")
	}
}
