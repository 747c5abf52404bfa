package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mayfly/api/apitest"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// TestAnything presses keys, moves the mouse, changes the size, brings mail and lets the service
// fail, in any order. Every frame has its size (the harness sees to that), nothing panics, and what
// is selected is never lost.
func TestAnything(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			set := setting{width: 120, height: 36, before: someMail, smtp: "127.0.0.1:1"}
			if seed%2 == 0 {
				set.service = extended
			}
			keys := keysOfAll()
			play(t, set, func(h *harness) {
				for range 400 {
					h.anything(r, keys)
					h.settle()
					h.checkSelection()
					if frame := h.frame(); h.app.View().Content != frame {
						t.Fatalf("drawing changes the screen:\n%s", frame)
					}
				}
				h.send(tea.WindowSizeMsg{Width: 120, Height: 36})
				h.press("esc", "esc", "esc")
				if n := len(h.app.dialogs); n > 0 {
					t.Errorf("esc does not close %T", h.app.dialogs[n-1])
				}
			})
		})
	}
}

// keysOfAll are the keys of every action, and some of none.
func keysOfAll() []string {
	keys := []string{"esc", "esc", "enter", "backspace", "y", "j", "k", "é", "漢", "ctrl+w", "1", "9"}
	for _, c := range newActions() {
		for _, k := range c.Keys {
			if k != "ctrl+c" && k != "q" && k != "ctrl+z" && k != "t" {
				keys = append(keys, k)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

func (h *harness) anything(r *rand.Rand, keys []string) {
	switch n := r.IntN(100); {
	case n < 62:
		h.send(keyPress(keys[r.IntN(len(keys))]))
	case n < 70:
		h.send(tea.WindowSizeMsg{Width: []int{1, 19, 20, 40, 79, 80, 100, 119, 120, 200, 400}[r.IntN(11)], Height: []int{1, 5, 6, 8, 9, 11, 12, 24, 60, 120}[r.IntN(10)]})
	case n < 76:
		m := tea.Mouse{X: r.IntN(h.app.width), Y: r.IntN(h.app.height), Button: tea.MouseLeft}
		h.send([]tea.Msg{tea.MouseClickMsg(m), tea.MouseReleaseMsg(m), tea.MouseMotionMsg(m)}[r.IntN(3)])
	case n < 79:
		h.send(tea.MouseWheelMsg{X: r.IntN(h.app.width), Y: r.IntN(h.app.height), Button: []tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown}[r.IntN(2)]})
	case n < 86:
		if i := h.anyInbox(r); i != nil && i.State != store.Gone {
			// The inbox may be gone by now.
			_, _ = h.server.Deliver(i.Email, apitest.Mail{From: "a@b.example", Subject: fmt.Sprint("Mail ", n), HTML: confirmHTML})
		}
	case n < 88:
		if i := h.anyInbox(r); i != nil {
			h.server.Delete(i.ID)
		}
	case n < 91:
		h.server.Fail([]apitest.Fault{apitest.None, apitest.Limited, apitest.InternalError, apitest.HTML, apitest.Cut, apitest.Forbidden}[r.IntN(6)], r.IntN(5))
	case n < 93:
		h.send([]tea.Msg{tea.FocusMsg{}, tea.BlurMsg{}, tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset}}[r.IntN(3)])
	case n < 94:
		h.send(tea.PasteMsg{Content: "pasted\x1b[31m\ntext"})
	default:
		h.wait(time.Duration(r.IntN(3000)) * time.Millisecond)
	}
}

func (h *harness) anyInbox(r *rand.Rand) *store.Inbox {
	if n := len(h.app.store.Order); n > 0 {
		return h.app.store.Inboxes[h.app.store.Order[r.IntN(n)]]
	}
	return nil
}

func (h *harness) checkSelection() {
	h.t.Helper()
	a := h.app
	if a.inboxes.Len() > 0 && a.inboxes.Selected() == "" || a.messages.Len() > 0 && a.messages.Message() == nil {
		h.t.Fatal("nothing is selected in a list that is not empty")
	}
	if a.messages.InboxID != a.inboxes.ShownID() {
		h.t.Fatalf("the messages of %q are listed, and %q is selected", a.messages.InboxID, a.inboxes.ShownID())
	}
	if !a.layout.TooSmall && a.layout.Panes[a.focus].Empty() {
		h.t.Fatalf("pane %d has the focus and is not on the screen", a.focus)
	}
	shown, selected := a.reader.Message, a.messages.Message()
	if !a.layout.Panes[theme.Reader].Empty() && shown != selected || shown != nil && shown != selected || a.message() != selected {
		h.t.Fatalf("%v is shown, %v is selected, %v is acted on", shown, selected, a.message())
	}
	if n := a.store.Unread(); n < 0 {
		h.t.Fatalf("%d unread messages", n)
	}
}
