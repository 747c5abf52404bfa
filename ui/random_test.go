package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api/apitest"
)

// TestAnything presses keys, moves the mouse, changes the size, brings mail and lets the service fail, in any
// order. Every frame has its size (the stage sees to that), nothing panics, and what is selected is never lost.
func TestAnything(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			set := setting{width: 120, height: 36, before: someMail, smtp: "127.0.0.1:1"}
			if seed%2 == 0 {
				set.service = extended
			}
			play(t, set, func(s *stage) {
				for range 400 {
					s.anything(r)
					s.settle()
					s.checkSelection()
				}
			})
		})
	}
}

// keysOfAll are the keys of every action, and some of none.
func keysOfAll() []string {
	keys := []string{"esc", "esc", "enter", "backspace", "y", "j", "k", "é", "漢", "ctrl+w", "1", "9"}
	for _, c := range actions() {
		for _, k := range c.keys {
			if k != "ctrl+c" && k != "q" && k != "ctrl+z" && k != "t" {
				keys = append(keys, k)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

func (s *stage) anything(r *rand.Rand) {
	keys := keysOfAll()
	switch n := r.IntN(100); {
	case n < 62:
		s.send(keyPress(keys[r.IntN(len(keys))]))
	case n < 70:
		s.send(tea.WindowSizeMsg{Width: []int{1, 19, 20, 40, 79, 80, 100, 119, 120, 200, 400}[r.IntN(11)], Height: []int{1, 5, 6, 8, 9, 11, 12, 24, 60, 120}[r.IntN(10)]})
	case n < 76:
		m := tea.Mouse{X: r.IntN(s.app.width), Y: r.IntN(s.app.height), Button: tea.MouseLeft}
		s.send([]tea.Msg{tea.MouseClickMsg(m), tea.MouseReleaseMsg(m), tea.MouseMotionMsg(m)}[r.IntN(3)])
	case n < 79:
		s.send(tea.MouseWheelMsg{X: r.IntN(s.app.width), Y: r.IntN(s.app.height), Button: []tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown}[r.IntN(2)]})
	case n < 86:
		if i := s.anyInbox(r); i != nil && i.state != stateGone {
			_, _ = s.server.Deliver(i.email, apitest.Mail{From: "a@b.example", Subject: fmt.Sprint("Mail ", n), HTML: confirmHTML}) // it may be gone by now
		}
	case n < 88:
		if i := s.anyInbox(r); i != nil {
			s.server.Delete(i.id)
		}
	case n < 91:
		s.server.Fail([]apitest.Fault{apitest.None, apitest.Limited, apitest.InternalError, apitest.HTML, apitest.Cut, apitest.Forbidden}[r.IntN(6)], r.IntN(5))
	case n < 93:
		s.send([]tea.Msg{tea.FocusMsg{}, tea.BlurMsg{}}[r.IntN(2)])
	case n < 94:
		s.send(tea.PasteMsg{Content: "pasted\x1b[31m\ntext"})
	default:
		s.wait(time.Duration(r.IntN(3000)) * time.Millisecond)
	}
}

func (s *stage) anyInbox(r *rand.Rand) *inbox {
	if n := len(s.app.book.order); n > 0 {
		return s.app.book.inboxes[s.app.book.order[r.IntN(n)]]
	}
	return nil
}

func (s *stage) checkSelection() {
	s.t.Helper()
	a := s.app
	if a.inboxes.list.Len() > 0 && a.inboxes.list.Selected() == "" || a.messages.list.Len() > 0 && a.messages.selected() == nil {
		s.t.Fatal("nothing is selected in a list that is not empty")
	}
	if a.messages.inbox != a.shownInbox() {
		s.t.Fatalf("the messages of %q are listed, and %q is selected", a.messages.inbox, a.shownInbox())
	}
	if !a.lay.TooSmall && a.lay.Panes[a.focus].Empty() {
		s.t.Fatalf("pane %d has the focus and is not on the screen", a.focus)
	}
	if a.focus == paneReader && !a.reader.reading() {
		s.t.Fatal("the reader has the focus and nothing is read")
	}
	if n := a.book.totalUnread(); n < 0 {
		s.t.Fatalf("%d unread messages", n)
	}
}
