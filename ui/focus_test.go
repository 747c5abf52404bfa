package ui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api/apitest"
	"mayfly/ui/session"
	"mayfly/ui/store"
)

// two is a service with two inboxes, bob the newer one.
func two(h *harness) {
	h.inboxNamed("ada", time.Hour)
	time.Sleep(time.Second)
	h.inboxNamed("bob", time.Hour)
}

func TestFollowingWaitsWhileOneTypes(t *testing.T) {
	play(t, with(two), func(h *harness) {
		h.press("F", "h", "/")
		h.write("bo")
		h.deliver(adas, apitest.Mail{From: "a@b.example", Subject: "Followed", Text: "Here it is"})
		h.write("dny")
		h.see("/bodny")
		h.dontSee("Delete", "Here it is")
		h.press("esc")
		h.see("Followed", "Here it is")

		h.press("h", "k", "j", "d")
		h.deliver(adas, apitest.Mail{From: "a@b.example", Subject: "Another", Text: "And another"})
		h.see("Delete this inbox?")
		h.dontSee("And another")
		h.press("n")
		h.see("And another")
	})
}

func TestAnInboxMadeLateLeavesTheKeysAlone(t *testing.T) {
	play(t, with(two), func(h *harness) {
		h.server.SetDelay(time.Second)
		h.press("n", "h", "/")
		h.write("a")
		h.wait(3 * time.Second)
		h.write("dny")
		h.see("/adny", "copied random-")
		h.dontSee("Delete")
		if len(h.app.Store.Order) != 3 {
			t.Errorf("there are %d inboxes", len(h.app.Store.Order))
		}
		h.press("esc")
		h.see("random-")
	})
}

func TestAClickElsewhereEndsTyping(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		h.press("h", "/")
		h.write("ad")
		h.click(50, 5)
		h.press("h")
		h.press("?")
		h.see("Keys for inboxes")
	})
}

func TestConnectingAgainMovesNothing(t *testing.T) {
	play(t, with(two), func(h *harness) {
		h.press("h", "g")
		h.selected(store.All)
		h.run(h.app.link.Connect(h.app.link.Target, time.Now()))
		h.settle()
		h.selected(store.All)
		h.press("j", "space", "space", "D", "y")
		h.see("There are no inboxes")
		h.run(h.app.link.Connect(h.app.link.Target, time.Now()))
		h.settle()
		h.see("There are no inboxes")
	})
}

func TestMarkedUnreadStaysSo(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		h.press("g", "enter")
		before := h.app.Store.Unread()
		h.press("u")
		h.send(tea.BlurMsg{})
		h.send(tea.FocusMsg{})
		h.settle()
		if n := h.app.Store.Unread(); n != before+1 {
			t.Errorf("%d messages are unread, were %d before one was marked", n, before)
		}
		h.press("h", "j", "enter", "h", "k", "enter")
		h.wait(time.Second)
		if n := h.app.Store.Unread(); n > before {
			t.Errorf("opened again it is unread still: %d, were %d", n, before)
		}
	})
}

func TestAConnectionLeavesTheKeysAlone(t *testing.T) {
	attempts := 0
	set := with(two)
	set.profiles = []session.Profile{{Name: "test"}, {Name: "work", BaseURL: "https://work.example"}}
	set.connect = func(h *harness) (*session.Connection, error) {
		time.Sleep(time.Second)
		c := h.connection()
		if attempts++; attempts > 1 {
			c.Profile = "work"
		}
		return c, nil
	}
	play(t, set, func(h *harness) {
		h.press("h", "/")
		h.write("zz")
		h.wait(2 * time.Second)
		h.write("dny")
		h.see("/zzdny")
		h.dontSee("Delete", "copied")

		h.press("esc", "P", "w", "o", "enter", "/")
		h.write("ad")
		h.wait(2 * time.Second)
		h.write("dny")
		h.dontSee("Delete", "copied")
		if n := len(h.app.Store.Order); n != 2 {
			t.Errorf("there are %d inboxes", n)
		}
	})
}
