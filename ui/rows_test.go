package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"mayfly/ui/theme"
)

// rowWith is the line of the screen that has a text, and the column at which it begins.
func (h *harness) rowWith(text string) (x, y int) {
	h.t.Helper()
	h.see(text)
	for y, row := range h.text() {
		if before, _, ok := strings.Cut(row, text); ok {
			return theme.Width(before), y
		}
	}
	return 0, 0
}

func TestTheSelectedRowIsSeenOnEveryTerminal(t *testing.T) {
	for _, c := range []struct {
		name    string
		known   bool
		profile colorprofile.Profile
	}{
		{"known", true, colorprofile.TrueColor},
		{"unknown", false, colorprofile.TrueColor},
		{"unknown, 256 colours", false, colorprofile.ANSI256},
		{"16 colours", true, colorprofile.ANSI},
		{"no colours", true, colorprofile.ASCII},
		{"unknown, no colours", false, colorprofile.ASCII},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := with(someMail)
			set.profile = c.profile
			play(t, set, func(h *harness) {
				if !c.known {
					h.send(tea.BackgroundColorMsg{})
				}
				stands := func(text string, want bool) {
					t.Helper()
					x, y := h.rowWith(text)
					style := h.screen().CellAt(x, y).Style
					if got := style.Bg != nil || style.Attrs&uv.AttrReverse != 0; got != want {
						t.Errorf("%q stands out: %v\n%q", text, got, style.String())
					}
					if style.Attrs&uv.AttrReverse != 0 && style.Fg != nil {
						t.Errorf("%q is in reverse video on its own colour: %q", text, style.String())
					}
				}
				for _, keys := range []string{"esc", "h"} { // the list of messages has focus, then that of inboxes
					h.press(keys)
					stands("  Confirm your e-mail address", true)
					stands("482913", true)
					stands("Welcome to Acme", false)
					stands("ci-run-881", false)
				}
				h.press("k")
				stands("  All inboxes", true)
				h.press(":", "new in")
				stands("and copy its", true)
				stands("with a name", false)
			})
		})
	}
}
