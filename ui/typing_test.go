package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

func TestALineThatIsTypedIsBoundedAndShowsItsEnd(t *testing.T) {
	lines := map[string]func(s *stage) string{
		"/": func(s *stage) string { return s.app.messages.filter.text },
		":": func(s *stage) string { return s.app.top().(*menu).text },
		"L": func(s *stage) string { return s.app.top().(*prompt).text },
		"A": func(s *stage) string { return s.app.top().(*prompt).text },
	}
	for key, text := range lines {
		t.Run(key, func(t *testing.T) {
			play(t, with(someMail), func(s *stage) {
				s.press(key)
				s.send(tea.PasteMsg{Content: strings.Repeat("日本語 \x1b[31m\u202eword 👨‍👩‍👧 ", 20_000)})
				s.settle()
				if n := utf8.RuneCountInString(text(s)); n == 0 || n > mostTyped {
					t.Errorf("%d characters were taken", n)
				}
				for range 12 {
					s.press("backspace")
				}
				s.write("the end")
				s.see("the end▏")
				s.press("ctrl+u")
				s.write("short")
				s.see("short▏")
			})
		})
	}
}

func TestALongFailureSaysWhatAndWhy(t *testing.T) {
	play(t, with(someMail), func(s *stage) {
		path := "/home/ada/" + strings.Repeat("folder/", 40) + "mail.eml"
		s.send(doneMsg{err: fmt.Errorf("save the message: write %s: %w", path, errors.New("no space left on device"))})
		s.see("! save the message: write /home/ada/", "no space left on device")
	})
}
