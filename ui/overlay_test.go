package ui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

var dialogs = map[string][]string{
	"help": {"?"}, "palette": {":"}, "form": {"N"}, "label": {"L"}, "question": {"d"}, "labels": {"enter", "f"},
	"compare": {"g", "space", "space", "="},
}

func TestDrawingADialogChangesNothing(t *testing.T) {
	for name, keys := range dialogs {
		t.Run(name, func(t *testing.T) {
			play(t, with(someMail), func(h *harness) {
				h.press(keys...)
				if len(h.app.dialogs) == 0 {
					t.Fatal("there is no dialog")
				}
				before := h.app.View().Content
				for range 3 {
					if after := h.app.View().Content; after != before {
						t.Fatalf("before:\n%s\nafter:\n%s", before, after)
					}
				}
			})
		})
	}
}

func TestADialogFollowsTheSizeOfTheScreen(t *testing.T) {
	for name, keys := range dialogs {
		t.Run(name, func(t *testing.T) {
			play(t, with(someMail), func(h *harness) {
				h.press(keys...)
				for _, size := range [][2]int{{20, 6}, {200, 60}, {40, 12}, {80, 24}, {5, 3}, {120, 36}} {
					// The harness checks the size of every frame.
					h.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
					h.settle()
					h.press("down")
				}
				h.press("esc")
				h.see("Inboxes")
				if n := len(h.app.dialogs); n > 0 {
					t.Errorf("%T is still there", h.app.dialogs[n-1])
				}
			})
		})
	}
}
