package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/session"
)

func TestALineThatIsTypedIsBoundedAndShowsItsEnd(t *testing.T) {
	for _, key := range []string{"/", ":", "L", "A"} {
		t.Run(key, func(t *testing.T) {
			play(t, with(someMail), func(h *harness) {
				h.press(key)
				h.send(tea.PasteMsg{Content: strings.Repeat("日本語 \x1b[31m\u202eword 👨‍👩‍👧 ", 20_000)})
				h.settle()
				for range 12 {
					h.press("backspace")
				}
				h.write("the end")
				h.see("the end")
				h.press("ctrl+u")
				h.write("short")
				h.see("short")
				h.dontSee("the end")
			})
		})
	}
}

func TestALongFailureSaysWhatAndWhy(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		path := "/home/ada/" + strings.Repeat("folder/", 40) + "mail.eml"
		h.send(session.Done{Err: fmt.Errorf("save the message: write %s: %w", path, errors.New("no space left on device"))})
		h.see("! save the message: write /home/ada/", "no space left on device")
	})
}
