package ui

import (
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api/apitest"
	"mayfly/ui/store"
)

var wide = setting{width: 120, height: 36}

// with is the usual screen, on a service that was prepared.
func with(before func(*harness)) setting {
	return setting{width: 120, height: 36, before: before, service: extended}
}

func TestDeletingTheMarkedInboxes(t *testing.T) {
	play(t, with(func(h *harness) {
		for _, name := range []string{"ada", "bob", "cid", "dan"} {
			h.inboxNamed(name, time.Hour)
			time.Sleep(time.Second)
		}
	}), func(h *harness) {
		h.step("h g *", "4 marked")
		h.press("*")
		h.dontSee("marked")
		h.step("j space space j space", "3 marked", "✓ dan", "✓ cid", "✓ ada")
		h.step("l d", "Delete 3 inboxes?", "ada@", "cid@", "dan@")
		h.server.SetDelay(time.Second)
		h.press("y")
		h.wait(1500 * time.Millisecond)
		h.see("deleting 3 inboxes 1/3")
		h.wait(3 * time.Second)
		h.see("deleted 3 inboxes", "bob")
		h.dontSee("dan", "cid")
	})
}

func TestNewMailMovesNeitherCursorNorScroll(t *testing.T) {
	play(t, with(func(h *harness) {
		in := h.inboxNamed("ada", time.Hour)
		for n := range 40 {
			h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Old " + strconv.Itoa(n), ReceivedAt: time.Now().Add(time.Duration(n-100) * time.Minute)})
		}
	}), func(h *harness) {
		for range 30 {
			h.press("j")
		}
		h.selected("Old 9")
		before := h.text()
		h.mail(adas, apitest.Mail{From: "x@y.example", Subject: "Fresh"})
		h.settle()
		h.selected("Old 9")
		after := h.text()
		for y := 4; y < 34; y++ {
			if before[y] != after[y] && !strings.Contains(before[y], "ada") && !strings.Contains(before[y], "All inboxes") {
				t.Fatalf("row %d was\n%s\nand is\n%s", y, before[y], after[y])
			}
		}
		h.step("g", "Fresh")
	})
}

func TestTheTitleCountsUnreadMail(t *testing.T) {
	play(t, with(ada), func(h *harness) {
		title := func() string { return h.app.View().WindowTitle }
		if got := title(); got != "mayfly" {
			t.Errorf("the title is %q", got)
		}
		h.send(tea.BlurMsg{})
		h.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "One"})
		h.deliver(adas, apitest.Mail{From: "a@b.example", Subject: "Two"})
		if got := title(); got != "(2) mayfly" {
			t.Errorf("the title is %q", got)
		}
		h.send(tea.FocusMsg{})
		h.wait(time.Minute)
		if got := title(); got != "(2) mayfly" {
			t.Errorf("nobody has touched a key: the title is %q", got)
		}
		h.press("g")
		if got := title(); got != "(1) mayfly" {
			t.Errorf("one of the two is on the screen: the title is %q", got)
		}
		h.press("u")
		if got := title(); got != "(2) mayfly" {
			t.Errorf("marked unread: the title is %q", got)
		}
	})
}

func TestNotificationsOnlyWhileNobodyLooks(t *testing.T) {
	play(t, with(ada), func(h *harness) {
		h.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "Seen"})
		h.wait(2 * time.Second)
		if len(h.raw) != 0 {
			t.Fatalf("the terminal has the focus, and got %q", h.raw)
		}
		h.send(tea.BlurMsg{})
		h.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", FromName: "Acme", Subject: "Code\x1b]0;evil\x07; inside"})
		h.wait(2 * time.Second)
		if len(h.raw) != 1 {
			t.Fatalf("the terminal got %q", h.raw)
		}
		if want := "\x1b]9;Mail for ada: Acme: Code"; !strings.HasPrefix(h.raw[0], want) || !strings.HasSuffix(h.raw[0], "\a\a") || strings.Count(h.raw[0], "\x1b") != 1 {
			t.Errorf("the terminal got %q", h.raw[0])
		}
	})
}

func TestPausing(t *testing.T) {
	play(t, with(ada), func(h *harness) {
		h.step("p", "○ paused", "Watching is paused for this inbox.")
		h.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "Later"})
		h.wait(time.Minute)
		h.dontSee("Later")
		h.press("p")
		h.wait(2 * time.Second)
		h.see("Later")
	})
}

func TestLabelling(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: ada}, func(h *harness) {
		h.press("L", "signup ✓", "enter")
		h.see("signup ✓")
		known, err := h.registry.List()
		if err != nil || len(known) != 1 || known[0].Label != "signup ✓" {
			t.Errorf("the registry has %+v, %v", known, err)
		}
	})
}

func TestAMessageOnTheWholeScreen(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		h.step("Z", " ada ", "482 913")
		if n := strings.Count(strings.Join(h.text(), "\n"), "Confirm your e-mail address"); n != 1 {
			t.Errorf("the subject is there %d times", n)
		}
		h.dontSee("Welcome to Acme")
		h.step("Z", "Welcome to Acme")
		h.step("Z esc", "Welcome to Acme", "482 913")
		h.step("Z h", "Welcome to Acme")
		h.step("l", "Welcome to Acme")
	})
}

func TestTheKeysWhileAFilterIsTyped(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		h.step("/", "enter keep  esc clear  ↑↓ move")
		h.step("acme", "2 of 4 match")
		h.press("enter")
		h.dontSee("enter keep")
		h.step("esc h / nobody", "0 of 2 match")
		h.step("esc l enter /", "enter keep  esc clear")
	})
}

// Esc and the next key, typed so fast that they arrive at once, are both pressed.
func TestEscAndTheNextKeyAtOnce(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		h.step("/ nobody", "0 of 4 match")
		h.step("alt+/ acme enter", "/acme")
		h.press("alt+esc", "?")
		h.dontSee("/acme")
		h.see("Keys for inboxes")
	})
}

func TestTheMouse(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		h.click(40, 7)
		h.see("קבוצת גרייס 旅の家族 <grace")
		h.click(3, 4)
		h.selected("")
		h.see("Acme · ada")
		h.send(tea.BlurMsg{})
		h.send(tea.FocusMsg{})
		h.click(3, 7)
		h.see("Acme · ada") // the click that brought the window back did nothing
		h.click(3, 7)
		h.selected("ci-run-881")
		h.click(2, 35)
		if len(h.copied) != 1 {
			t.Error("a click on “n new” made no inbox")
		}
	})
}

func TestKeysOfOnesOwn(t *testing.T) {
	set := with(ada)
	set.config = "[keys]\ncopy-address = \"B\"\n"
	play(t, set, func(h *harness) {
		h.press("y")
		if len(h.copied) != 0 {
			t.Error("y still copies")
		}
		h.see("B copy address")
		h.press("B")
		if len(h.copied) != 1 {
			t.Error("B does not copy")
		}
	})
}

func TestDeletingAnotherInboxLeavesAMessageOfOneThatEnded(t *testing.T) {
	play(t, with(func(h *harness) {
		h.inboxNamed("bob", time.Hour)
		time.Sleep(time.Second)
		in := h.inboxNamed("ada", 2*time.Minute)
		h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Kept", Text: "What is read stays"})
	}), func(h *harness) {
		h.press("h", "G", "space", "g", "l", "enter")
		h.wait(3 * time.Minute)
		h.see("What is read stays", "The inbox no longer exists", "1 marked")
		h.press("d", "y")
		h.dontSee("1 marked", "   bob")
		h.see("What is read stays", "The inbox no longer exists")
	})
}

func TestAHeldKeyActsOnce(t *testing.T) {
	play(t, wide, func(h *harness) {
		held := func(key rune) {
			h.press(string(key))
			for range 20 {
				h.send(tea.KeyPressMsg{Code: key, Text: string(key), IsRepeat: true})
				h.settle()
			}
			h.send(tea.KeyReleaseMsg{Code: key, Text: string(key)})
			h.settle()
		}
		if !h.app.View().KeyboardEnhancements.ReportEventTypes {
			t.Error("the terminal is not asked to tell held keys from pressed ones")
		}
		before := len(h.app.store.Order)
		held('n')
		if made := len(h.app.store.Order) - before; made != 1 {
			t.Errorf("%d inboxes were made", made)
		}
		h.press("h", "G")
		held('k')
		h.selected(store.All)
	})
}

func TestDeletingMessages(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		h.step("G D", "Delete this message?", "GitHub")
		h.press("n")
		h.selected("GitHub")
		h.step("D y", "deleted “[GitHub] Please verify your device”")
		h.step("g space space D", "Delete 2 messages?", "Acme: Confirm your e-mail address")
		h.press("y")
		h.wait(time.Second)
		h.see("deleted 2 messages", "0/1")
		h.selected("Welcome to Acme")
		h.step("enter D y", "Waiting for mail")
	})
}

func TestEmptyingAnInbox(t *testing.T) {
	play(t, with(someMail), func(h *harness) {
		h.step("h g D", "Select an inbox first")
		h.step("j D", "Delete all messages of this inbox?", "4 messages will be deleted; the inbox is kept.")
		h.step("y", "emptied ada@", "Waiting for mail")
		h.step("D", "This inbox has no messages")
	})
}

// A service that has none of this says so once it was asked, and from then on the reason is shown.
func TestAServiceThatCannotDeleteMessages(t *testing.T) {
	set := with(someMail)
	set.service.Extensions = false
	play(t, set, func(h *harness) {
		h.step("D y", "this service cannot delete single messages")
		h.step("D", "This service cannot delete single messages")
		h.step("+ enter", "! this service cannot extend inboxes")
		h.press("esc")
		h.step("h D y", "this service cannot delete all messages")
		h.step("D", "This service cannot delete all messages")
	})
}
