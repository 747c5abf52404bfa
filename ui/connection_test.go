package ui

import (
	"testing"
	"time"

	"mayfly/api/apitest"
	"mayfly/ui/store"
)

func TestAnInboxThatEndsWhileItIsRead(t *testing.T) {
	set := with(func(h *harness) { mailUntil(h, 6*time.Minute) })
	set.width, set.height = 80, 24
	play(t, set, func(h *harness) {
		h.press("enter")
		h.wait(5*time.Minute + 20*time.Second)
		h.see("40 s left")
		h.wait(10 * time.Second)
		h.see("30 s left")
		h.wait(90 * time.Second)
		h.see("Confirm your e-mail address", "✕ expired", "The inbox no longer exists")
		h.press("esc", "esc")
		h.dontSee("This message stays")
		h.see("✕ expired 1 min ago")
		h.step("d", "Remove this inbox from the list?")
		h.step("y", "✓ ada@apitest.example is off the list: it no longer existed")
		h.dontSee("✕ expired 1 min ago")
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

func TestAConnectionThatWasOvertakenSaysNothing(t *testing.T) {
	play(t, with(ada), func(h *harness) {
		h.server.SetDelay(time.Second)
		h.run(h.app.connecting.connectTo(h.app.connection.Asked))
		h.settle()
		h.server.SetDelay(0)
		h.run(h.app.connection.Connect(h.app.connection.Target, h.app.now))
		h.press("y")
		h.wait(2 * time.Second)
		h.see("copied ada@apitest.example")
	})
}

func TestAMessageThatDoesNotComeInTime(t *testing.T) {
	play(t, with(ada), func(h *harness) {
		h.deliver(adas, apitest.Mail{From: "a@b.example", Subject: "Slow", Text: "Never"})
		h.deliver(adas, apitest.Mail{From: "a@b.example", Subject: "Next"})
		h.app.store.Opened = store.Cache{}
		h.server.SetDelay(time.Hour)
		h.press("j", "enter")
		h.wait(time.Minute)
		h.see("The service did not answer in time", "r try again")
	})
}

func TestAMessageOpensOnTheNextConnection(t *testing.T) {
	play(t, with(ada), func(h *harness) {
		h.deliver(adas, long())
		h.deliver(adas, apitest.Mail{From: "a@b.example", Subject: "Next"})
		h.app.store.Opened = store.Cache{}
		h.server.SetDelay(time.Second)
		h.press("j", "enter")
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
