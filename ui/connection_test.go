package ui

import (
	"testing"
	"time"

	"mayfly/ui/session"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/ui/store"
)

func TestAnInboxThatEndsWhileItIsRead(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		h.press("enter")
		h.wait(61 * time.Minute)
		h.see("Confirm your e-mail address", "✕ expired", "The inbox is gone")
		h.press("esc", "esc")
		h.dontSee("This message stays")
		h.press("d")
		h.see("Take this inbox off the list?")
		h.press("y")
		h.see("✓ ada@apitest.example is off the list: it was already gone")
		h.dontSee("✕ expired 1 min ago")
	})
}

func TestConnectingIsTriedAgain(t *testing.T) {
	tries := 0
	set := setting{width: 120, height: 36, before: ada}
	set.connect = func(h *harness) (*session.Service, error) {
		if tries++; tries < 3 {
			return nil, api.ErrUnavailable
		}
		return h.connection(), nil
	}
	play(t, set, func(h *harness) {
		h.see("The service is unavailable", "Next try in 2 s")
		h.wait(10 * time.Second)
		h.see("Waiting for mail")
	})
}

func TestInboxesThatAreGoneLeaveTheList(t *testing.T) {
	play(t, with(func(h *harness) {
		h.inboxNamed("short", time.Minute)
		time.Sleep(time.Second)
		h.inboxNamed("ada", 2*time.Hour)
	}), func(h *harness) {
		h.wait(3 * time.Minute)
		h.see("short", "✕ expired 2 min ago")
		h.wait(20 * time.Minute)
		h.dontSee("short")
		h.see("ada")
	})
}

func TestAnInboxWhoseMakingWasInterrupted(t *testing.T) {
	play(t, with(ada), func(h *harness) {
		h.server.SetDelay(time.Second)
		h.press("n")
		h.run(h.app.connection.Connect(h.app.connection.Target, time.Now()))
		h.server.SetDelay(0)
		h.wait(3 * time.Second)
		for range len(h.app.store.Order) {
			h.press("h", "G", "d", "y")
		}
		h.see("There are no inboxes.")
	})
}

func TestAMessageThatDoesNotComeInTime(t *testing.T) {
	play(t, with(ada), func(h *harness) {
		h.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "Slow", Text: "Never"})
		h.settle()
		h.app.store.Opened = store.Cache{}
		h.server.SetDelay(time.Hour)
		h.press("esc", "enter")
		h.wait(time.Minute)
		h.see("The service did not answer in time", "r try again")
	})
}

func TestAMessageOpensOnTheNextConnection(t *testing.T) {
	play(t, with(ada), func(h *harness) {
		h.mail("ada@"+apitest.Domain, long())
		h.settle()
		h.app.store.Opened = store.Cache{}
		h.server.SetDelay(time.Second)
		h.press("esc", "enter")
		h.server.SetDelay(0)
		h.run(h.app.connection.Connect(h.app.connection.Target, time.Now()))
		h.wait(2 * time.Second)
		h.see("Begins here")
		h.server.SetDelay(time.Second)
		h.press("5")
		h.server.SetDelay(0)
		h.run(h.app.connection.Connect(h.app.connection.Target, time.Now()))
		h.wait(2 * time.Second)
		h.see("X-Only")
	})
}
