package ui

import (
	"testing"
	"time"

	"mayfly/api/apitest"
)

var wide = setting{width: 120, height: 36}

func TestTheFirstRunMakesAnInbox(t *testing.T) {
	play(t, wide, func(s *stage) {
		s.see("@"+apitest.Domain, "Waiting for mail", "60 min left")
		if len(s.copied) != 0 {
			t.Errorf("the clipboard was taken without being asked: %q", s.copied)
		}
	})
}

func TestFromTheAddressToTheMail(t *testing.T) {
	play(t, wide, func(s *stage) {
		s.press("n")
		if len(s.copied) != 1 {
			t.Fatalf("the clipboard got %q", s.copied)
		}
		s.see("copied " + s.copied[0] + " (OSC 52, clipboard)")
		s.wait(3200 * time.Millisecond)
		s.mail(s.copied[0], apitest.Mail{From: "no-reply@acme.example", FromName: "Acme", Subject: "Confirm your e-mail address", Text: "Your code is 482913"})
		s.wait(3 * time.Second)
		s.see("Acme", "Confirm your e-mail address", "after you copied the address")
	})
}

func TestDeletingAsksAndOnlyYConfirms(t *testing.T) {
	play(t, wide, func(s *stage) {
		s.press("n")
		address := s.copied[0]
		s.see(address)
		s.press("d")
		s.see("Delete this inbox?", "cannot be undone")
		s.press("d", "d", "enter", "enter")
		s.see("Delete this inbox?")
		s.press("esc")
		s.see(address)
		s.press("d", "y")
		s.see("deleted " + address)
	})
}
