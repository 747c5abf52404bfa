package ui

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api/apitest"
	"mayfly/registry"
)

var wide = setting{width: 120, height: 36}

// with is the usual screen, on a service that was prepared.
func with(before func(*stage)) setting {
	return setting{width: 120, height: 36, before: before, service: extended}
}

func TestTheFirstRunMakesAnInbox(t *testing.T) {
	play(t, wide, func(s *stage) {
		s.see("@"+apitest.Domain, "Waiting for mail", "60 min left")
		if len(s.copied) != 0 {
			t.Errorf("the clipboard was taken without being asked: %q", s.copied)
		}
	})
}

func TestFromTheAddressToTheMail(t *testing.T) {
	play(t, setting{width: 120, height: 36, service: extended}, func(s *stage) {
		s.press("n")
		if len(s.copied) != 1 {
			t.Fatalf("the clipboard got %q", s.copied)
		}
		s.see("copied " + s.copied[0] + " (OSC 52, clipboard)")
		s.wait(3200 * time.Millisecond)
		s.mail(s.copied[0], apitest.Mail{From: "no-reply@acme.example", FromName: "Acme", Subject: "Confirm your e-mail address", HTML: confirmHTML})
		s.settle()
		s.see("Acme", "Confirm your e-mail address", "3.2 s after you copied the address")
	})
}

func TestDeletingAsksAndOnlyYConfirms(t *testing.T) {
	play(t, wide, func(s *stage) {
		s.press("n")
		address := s.copied[0]
		s.see(address)
		s.press("d")
		s.see("Delete this inbox?", "cannot be undone")
		s.press("d", "d", "enter", "enter", "space")
		s.see("Delete this inbox?")
		s.send(tea.KeyPressMsg{Code: 'y', Text: "y", IsRepeat: true})
		s.settle()
		s.see("Delete this inbox?")
		s.press("esc")
		s.see(address)
		s.press("d", "y")
		s.see("deleted " + address)
	})
}

func TestDeletingTheMarkedInboxes(t *testing.T) {
	play(t, with(func(s *stage) {
		for _, name := range []string{"ada", "bob", "cid", "dan"} {
			s.inboxNamed(name, time.Hour)
			time.Sleep(time.Second)
		}
	}), func(s *stage) {
		s.press("h", "g", "j", "space", "space", "j", "space")
		s.see("3 marked", "✓ dan", "✓ cid", "✓ ada")
		s.press("D")
		s.see("Delete 3 inboxes?", "ada@", "cid@", "dan@")
		s.server.SetDelay(time.Second)
		s.press("y")
		s.wait(1500 * time.Millisecond)
		s.see("Deleting 1/3")
		s.wait(3 * time.Second)
		s.see("deleted 3 inboxes", "bob")
		s.dontSee("dan", "cid")
	})
}

func TestWhatCannotBeDeletedIsSaid(t *testing.T) {
	play(t, with(ada), func(s *stage) {
		s.server.FailIf(apitest.Forbidden, -1, func(r *http.Request) bool { return r.Method == http.MethodDelete })
		s.press("d", "y")
		s.see("! delete the inbox", "ada@apitest.example")
	})
}

func TestNewMailMovesNeitherCursorNorScroll(t *testing.T) {
	play(t, with(func(s *stage) {
		in := s.inboxNamed("ada", time.Hour)
		for n := range 40 {
			s.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Old " + itoa(n), ReceivedAt: time.Now().Add(time.Duration(n-100) * time.Minute)})
		}
	}), func(s *stage) {
		for range 30 {
			s.press("j")
		}
		s.selected("Old 9")
		before := s.text()
		s.mail("ada@"+apitest.Domain, apitest.Mail{From: "x@y.example", Subject: "Fresh"})
		s.settle()
		s.selected("Old 9")
		after := s.text()
		for y := 4; y < 34; y++ {
			if before[y] != after[y] && !strings.Contains(before[y], "ada") && !strings.Contains(before[y], "All inboxes") {
				t.Fatalf("row %d was\n%s\nand is\n%s", y, before[y], after[y])
			}
		}
		s.press("g")
		s.see("Fresh")
	})
}

func TestAnArrivalOpensWhenNothingElseIsRead(t *testing.T) {
	play(t, with(ada), func(s *stage) {
		s.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "First"})
		s.settle()
		s.see("From  a@b.example")
		s.mail("ada@"+apitest.Domain, apitest.Mail{From: "c@d.example", Subject: "Second"})
		s.settle()
		s.see("Second", "From  a@b.example")
		s.press("F")
		s.see("following")
		s.mail("ada@"+apitest.Domain, apitest.Mail{From: "e@f.example", Subject: "Third"})
		s.settle()
		s.see("From  e@f.example")
	})
}

func TestTheTitleCountsUnreadMail(t *testing.T) {
	play(t, with(ada), func(s *stage) {
		title := func() string { return s.app.View().WindowTitle }
		if got := title(); got != "mayfly" {
			t.Errorf("the title is %q", got)
		}
		s.send(tea.BlurMsg{})
		s.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "One"})
		s.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "Two"})
		s.settle()
		if got := title(); got != "(2) mayfly" {
			t.Errorf("the title is %q", got)
		}
		s.send(tea.FocusMsg{})
		s.settle()
		if got := title(); got != "(1) mayfly" {
			t.Errorf("one of the two is on the screen: the title is %q", got)
		}
		s.press("u")
		if got := title(); got != "(2) mayfly" {
			t.Errorf("marked unread: the title is %q", got)
		}
	})
}

func TestNotificationsOnlyWhileNobodyLooks(t *testing.T) {
	play(t, with(ada), func(s *stage) {
		s.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "Seen"})
		s.settle()
		if len(s.raw) != 0 {
			t.Fatalf("the terminal has the focus, and got %q", s.raw)
		}
		s.send(tea.BlurMsg{})
		s.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", FromName: "Acme", Subject: "Code\x1b]0;evil\x07; inside"})
		s.settle()
		if len(s.raw) != 1 {
			t.Fatalf("the terminal got %q", s.raw)
		}
		if want := "\x1b]9;Mail for ada: Acme: Code"; !strings.HasPrefix(s.raw[0], want) || !strings.HasSuffix(s.raw[0], "\x1b\\\a") || strings.Count(s.raw[0], "\x1b") != 2 {
			t.Errorf("the terminal got %q", s.raw[0])
		}
	})
}

func TestPausing(t *testing.T) {
	play(t, with(ada), func(s *stage) {
		s.press("p")
		s.see("○ paused", "The watch of this inbox is paused.")
		s.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", Subject: "Later"})
		s.wait(time.Minute)
		s.dontSee("Later")
		s.press("p")
		s.wait(2 * time.Second)
		s.see("Later")
	})
}

func TestLabellingAndAdopting(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: ada}, func(s *stage) {
		s.press("L")
		s.write("signup ✓")
		s.press("enter")
		s.see("signup ✓")
		in, err := s.server.Create("bob", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		s.press("A", "enter")
		s.see("! An ID such as inbox_…")
		s.send(tea.PasteMsg{Content: in.ID + "\n"})
		s.press("enter")
		s.see("added bob@apitest.example")
		s.press("A")
		s.write("inbox_none")
		s.press("enter")
		s.see("! ")
		known, err := s.registry.List()
		if err != nil || len(known) != 2 || !slices.ContainsFunc(known, func(k registry.Inbox) bool { return k.Label == "signup ✓" }) {
			t.Errorf("the registry has %+v, %v", known, err)
		}
	})
}

func TestTheFormChecksAsOneTypes(t *testing.T) {
	play(t, wide, func(s *stage) {
		s.press("N")
		s.write("Ada..")
		s.see("! no two dots in a row")
		s.press("backspace", "backspace", "enter", "enter")
		s.press("backspace", "backspace")
		s.write("3x")
		s.see("! such as 10m")
		s.press("backspace")
		s.write("0m")
		s.press("enter")
		s.see("copied ada@apitest.example", "30 min left")
	})
}

func TestTheReasonWhyNot(t *testing.T) {
	play(t, wide, func(s *stage) {
		s.press("c")
		s.see("Select a message first")
		s.press("D")
		s.see("Mark inboxes first, with space")
		s.press("t")
		s.see("Only the embedded service takes sample mails")
		s.press("ctrl+p")
		s.write("compare")
		s.see("Compare two marked messages")
		s.press("enter")
		s.see("Mark two messages first")
	})
}

func TestTheMouse(t *testing.T) {
	play(t, with(someMail), func(s *stage) {
		s.click(40, 7)
		s.see("From  קבוצת גרייס 旅の家族")
		s.click(3, 4)
		s.selected("")
		s.see("Acme · ada")
		s.send(tea.BlurMsg{})
		s.send(tea.FocusMsg{})
		s.click(3, 7)
		s.see("Acme · ada") // the click that brought the window back did nothing
		s.click(3, 7)
		s.selected("ci-run-881")
		s.send(tea.MouseClickMsg{X: 26, Y: 10, Button: tea.MouseLeft})
		s.send(tea.MouseMotionMsg{X: 40, Y: 10})
		s.send(tea.MouseReleaseMsg{X: 40, Y: 10})
		if got := s.app.lay.Panes[paneInboxes].W; got != 40 {
			t.Errorf("the divider was dragged to column 40, and the pane is %d wide", got)
		}
		s.click(2, 35)
		if len(s.copied) != 1 {
			t.Error("a click on “n new” made no inbox")
		}
	})
}

func TestKeysOfOnesOwn(t *testing.T) {
	set := with(ada)
	set.config = "[keys]\ncopy-address = \"Y\"\n"
	play(t, set, func(s *stage) {
		s.press("y")
		if len(s.copied) != 0 {
			t.Error("y still copies")
		}
		s.see("Y copy address")
		s.press("Y")
		if len(s.copied) != 1 {
			t.Error("Y does not copy")
		}
	})
}
