package ui

import (
	"fmt"
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
			play(t, with(someMail), func(s *stage) {
				s.press(keys...)
				o := s.app.top()
				if o == nil {
					t.Fatal("there is no dialog")
				}
				before := fmt.Sprintf("%+v", o)
				if f, ok := o.(*form); ok {
					before = f.huh.View()
				}
				for _, size := range [][2]int{{20, 6}, {200, 60}, {40, 12}} {
					o.draw(s.app.th, size[0], size[1])
				}
				after := fmt.Sprintf("%+v", o)
				if f, ok := o.(*form); ok {
					after = f.huh.View()
				}
				if before != after {
					t.Errorf("before:\n%s\nafter:\n%s", before, after)
				}
			})
		})
	}
}

func TestADialogFollowsTheSizeOfTheScreen(t *testing.T) {
	for name, keys := range dialogs {
		t.Run(name, func(t *testing.T) {
			play(t, with(someMail), func(s *stage) {
				s.press(keys...)
				for _, size := range [][2]int{{20, 6}, {200, 60}, {40, 12}, {80, 24}, {5, 3}, {120, 36}} {
					s.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]}) // every frame is held to its size
					s.settle()
					s.press("down")
				}
				s.press("esc")
				s.see("Inboxes")
				if s.app.top() != nil {
					t.Errorf("%T is still there", s.app.top())
				}
			})
		})
	}
}

func TestHelpIsReadToItsEndOnAnyScreen(t *testing.T) {
	set := with(someMail)
	for _, size := range [][2]int{{20, 6}, {40, 12}, {80, 24}, {120, 36}, {200, 60}} {
		set.width, set.height = size[0], size[1]
		play(t, set, func(s *stage) {
			s.press("?", "G")
			s.see("q ", "Suspend")
			s.press("g")
			s.see("The work")
		})
	}
}
