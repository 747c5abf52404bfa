package ui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api/apitest"
)

// two is a service with two inboxes, bob the newer one.
func two(s *stage) {
	s.inboxNamed("ada", time.Hour)
	time.Sleep(time.Second)
	s.inboxNamed("bob", time.Hour)
}

func TestFollowingWaitsWhileOneTypes(t *testing.T) {
	play(t, with(two), func(s *stage) {
		s.press("F", "h", "/")
		s.write("bo")
		s.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "Followed", Text: "Here it is"})
		s.settle()
		s.write("dny")
		s.see("/bodny")
		s.dontSee("Delete", "Here it is")
		s.press("esc")
		s.see("Followed", "Here it is")

		s.press("h", "k", "j", "d")
		s.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "Another", Text: "And another"})
		s.settle()
		s.see("Delete this inbox?")
		s.dontSee("And another")
		s.press("n")
		s.see("And another")
	})
}

func TestAnInboxMadeLateLeavesTheKeysAlone(t *testing.T) {
	play(t, with(two), func(s *stage) {
		s.server.SetDelay(time.Second)
		s.press("n", "h", "/")
		s.write("a")
		s.wait(3 * time.Second)
		s.write("dny")
		s.see("/adny", "copied random-")
		s.dontSee("Delete")
		if len(s.app.book.order) != 3 {
			t.Errorf("there are %d inboxes", len(s.app.book.order))
		}
		s.press("esc")
		s.see("random-")
	})
}

func TestAClickElsewhereEndsTyping(t *testing.T) {
	play(t, with(someMail), func(s *stage) {
		s.press("h", "/")
		s.write("ad")
		s.click(50, 5)
		s.press("h")
		s.press("?")
		s.see("Keys for inboxes")
	})
}

func TestConnectingAgainMovesNothing(t *testing.T) {
	play(t, with(two), func(s *stage) {
		s.press("h", "g")
		s.selected(allInboxes)
		s.run(s.app.connect(s.app.target))
		s.settle()
		s.selected(allInboxes)
		s.press("j", "space", "space", "D", "y")
		s.see("There is no inbox")
		s.run(s.app.connect(s.app.target))
		s.settle()
		s.see("There is no inbox")
	})
}

func TestMarkedUnreadStaysSo(t *testing.T) {
	play(t, with(someMail), func(s *stage) {
		s.press("g", "enter")
		before := s.app.book.totalUnread()
		s.press("u")
		s.send(tea.BlurMsg{})
		s.send(tea.FocusMsg{})
		s.settle()
		if n := s.app.book.totalUnread(); n != before+1 {
			t.Errorf("%d messages are unread, were %d before one was marked", n, before)
		}
		s.press("h", "j", "enter", "h", "k", "enter")
		s.wait(time.Second)
		if n := s.app.book.totalUnread(); n > before {
			t.Errorf("opened again it is unread still: %d, were %d", n, before)
		}
	})
}
