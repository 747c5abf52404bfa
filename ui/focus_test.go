package ui

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
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
		h.press("F", "h", "/", "bo")
		h.deliver(adas, apitest.Mail{From: "a@b.example", Subject: "Followed", Text: "Here it is"})
		h.step("dny", "/bodny")
		h.dontSee("Delete")
		h.step("esc", "Followed", "Here it is")

		h.press("h", "j", "d")
		h.deliver(adas, apitest.Mail{From: "a@b.example", Subject: "Another", Text: "And another"})
		h.see("Delete this inbox?")
		h.dontSee("And another")
		h.step("n", "And another")
	})
}

func TestAnInboxMadeLateLeavesTheKeysAlone(t *testing.T) {
	play(t, with(two), func(h *harness) {
		h.server.SetDelay(time.Second)
		h.press("n", "h", "/", "a")
		h.wait(3 * time.Second)
		h.step("dny", "/adny", "copied ")
		h.dontSee("Delete")
		if len(h.app.store.Order) != 3 {
			t.Errorf("there are %d inboxes", len(h.app.store.Order))
		}
		h.step("esc", h.copied[0][:8])
	})
}

func TestAClickElsewhereEndsTyping(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		h.press("h", "/", "ad")
		h.click(50, 5)
		h.press("h")
		h.step("?", "Keys for inboxes")
	})
}

func TestConnectingAgainMovesNothing(t *testing.T) {
	play(t, with(two), func(h *harness) {
		h.press("h", "g")
		h.selected(store.All)
		h.run(h.app.connection.Connect(h.app.connection.Target, time.Now()))
		h.settle()
		h.selected(store.All)
		h.step("j space space d y", "There are no inboxes")
		h.run(h.app.connection.Connect(h.app.connection.Target, time.Now()))
		h.settle()
		h.see("There are no inboxes")
	})
}

func TestAConnectionLeavesTheKeysAlone(t *testing.T) {
	attempts := 0
	set := with(two)
	set.profiles = []session.Profile{{Name: "test"}, {Name: "work", BaseURL: "https://work.example"}}
	set.connect = func(h *harness) (*session.Service, error) {
		time.Sleep(time.Second)
		c := h.connection()
		if attempts++; attempts > 1 {
			c.Profile = "work"
		}
		return c, nil
	}
	play(t, set, func(h *harness) {
		h.press("h", "/", "zz")
		h.wait(2 * time.Second)
		h.step("dny", "/zzdny")
		h.dontSee("Delete", "copied")

		h.press("esc", "P", "w", "o", "enter", "/", "ad")
		h.wait(2 * time.Second)
		h.press("dny")
		h.dontSee("Delete", "copied")
		if n := len(h.app.store.Order); n != 2 {
			t.Errorf("there are %d inboxes", n)
		}
	})
}

// confirm is a mail with a link to confirm an address.
var confirm = apitest.Mail{From: "a@acme.example", Subject: "Confirm", HTML: "<p>Hello</p><p><a href='https://acme.example/confirm?t=1'>Confirm your e-mail address</a></p>"}

func TestNoQuestionOpensUnderWhatIsTyped(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: func(h *harness) { h.inboxNamed("ada", time.Hour) }}, func(h *harness) {
		h.server.SetDelay(3 * time.Second)
		h.mail("ada@"+apitest.Domain, confirm)
		for len(h.app.store.Messages) == 0 {
			h.wait(50 * time.Millisecond)
		}
		h.press("o", "/")
		h.wait(10 * time.Second)
		h.see("Cancelled because you moved on")
		h.step("oy", "/oy")
		if len(h.opened) > 0 {
			t.Errorf("the o of a filter has opened %q", h.opened)
		}
	})
}

func TestWhatIsNotOnTheScreenIsNotActedUpon(t *testing.T) {
	play(t, setting{width: 60, height: 24, before: func(h *harness) { h.inboxNamed("ada", time.Hour) }}, func(h *harness) {
		file := api.Attachment{Filename: "old.txt", ContentType: "text/plain", Content: []byte("old")}
		h.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "Old", Text: "Old", Attachments: []api.Attachment{file}})
		h.wait(time.Minute)
		h.press("enter", "h")
		h.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "New", Text: "New"})
		h.wait(time.Minute)
		h.selected("New")
		h.step("a", "Open a message first")
	})
}

func TestLabelsGoWithTheirMessage(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: func(h *harness) { h.inboxNamed("ada", time.Hour) }}, func(h *harness) {
		h.mail("ada@"+apitest.Domain, confirm)
		h.wait(time.Minute)
		h.step("enter f", "aConfirm your e-mail address")
		h.send(tea.WindowSizeMsg{Width: 130, Height: 36})
		h.see("aConfirm your e-mail address")
		h.app.reset()
		h.send(tea.WindowSizeMsg{Width: 120, Height: 36})
		h.dontSee("aConfirm")
		if h.press("a"); len(h.app.dialogs) > 0 {
			t.Error("a key does not close labels that are gone")
		}
	})
}

func TestWhatLeadsNowhereHasNoLabel(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: func(h *harness) { h.inboxNamed("ada", time.Hour) }}, func(h *harness) {
		h.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "Terms", HTML: `<p><a href="#terms">Here below</a></p><p><a href="https://b.example/">There</a></p>`})
		h.wait(time.Minute)
		h.step("enter f", "Here below")
		h.see("aThere")
	})
}

// What is selected, shown and acted on is one mail, also after a filter.
func TestAFilterShowsWhatItSelects(t *testing.T) {
	play(t, with(ada), func(h *harness) {
		for n, subject := range []string{"Verify your address", "Welcome", "Receipt", "News"} {
			h.deliver(adas, apitest.Mail{From: "a@b.example", Subject: subject, Text: fmt.Sprint("This is ", subject, ". Your verification code is 48291", n)})
		}
		h.press("j", "/", "Verify", "enter")
		h.selected("Verify your address")
		h.see("This is Verify your address")
		h.press("c")
		h.copies("482910")
		h.press("esc")
		h.selected("Verify your address")
		h.see("This is Verify your address")
	})
}

// The terminal reports no focus, as tmux by default, and nobody touches a key.
func TestMailStaysUnreadUntilSomebodyLooks(t *testing.T) {
	for _, size := range sizes[1:3] {
		play(t, setting{width: size.w, height: size.h, before: ada}, func(h *harness) {
			for n := range 4 {
				h.deliver(adas, apitest.Mail{From: "a@b.example", Subject: fmt.Sprint("Mail ", n), Text: "Text"})
				h.wait(time.Minute)
			}
			for _, c := range []struct {
				keys   []string
				unread int
			}{{nil, 4}, {[]string{"j"}, 2}, {[]string{"u"}, 3}, {[]string{"y", "y"}, 3}, {[]string{"j"}, 2}, {[]string{"k"}, 1}} {
				h.press(c.keys...)
				h.wait(time.Second)
				if n := h.app.store.Unread(); n != c.unread {
					t.Errorf("at %d columns after %q, %d are unread, want %d", size.w, c.keys, n, c.unread)
				}
			}
		})
	}
}

// From the first touch on, mail moves nothing.
func TestTheMouseIsATouchToo(t *testing.T) {
	for name, touch := range map[string]func(h *harness){
		"a click on a hint": func(h *harness) { h.click(h.rowWith("y copy address")) },
		"the wheel":         func(h *harness) { h.send(tea.MouseWheelMsg{X: 80, Y: 8, Button: tea.MouseWheelDown}) },
	} {
		play(t, with(two), func(h *harness) {
			h.deliver(adas, plain("Acme"))
			h.selected("Acme")
			touch(h)
			if n := h.app.store.Unread(); n != 0 {
				t.Errorf("after %s %d are unread", name, n)
			}
			h.wait(time.Second)
			h.deliver("bob@"+apitest.Domain, plain("Bank"))
			h.selected("Acme")
		})
	}
}
