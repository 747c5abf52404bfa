package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"mayfly/api/apitest"
	"mayfly/ui/theme"
)

// rowWith is the line of the screen that has a text, and the column at which it begins.
func (h *harness) rowWith(text string) (x, y int) {
	h.t.Helper()
	h.see(text)
	for y, row := range h.text() {
		if before, _, ok := strings.Cut(row, text); ok {
			return theme.Width(before), y
		}
	}
	return 0, 0
}

// mixedMail is mail with a code, with a link, and with neither, in one of two inboxes.
func mixedMail(h *harness) {
	h.inboxNamed("brave-stork-2kzz", time.Hour)
	time.Sleep(time.Second)
	h.inboxNamed("quiet-otter-4kq7", time.Hour)
	for n, m := range []apitest.Mail{
		plain("Bank"),
		{From: "a@acme.example", FromName: "Acme", Subject: "Confirm your e-mail address", HTML: confirmHTML[strings.Index(confirmHTML, "<p>or"):]},
		{From: "a@acme.example", FromName: "The Accounts Team of Acme Incorporated", Subject: "Sign in", Text: "Your verification code is 731002"},
		{From: "a@acme.example", FromName: "Acme", Subject: "Your code for a new device", Text: "Your verification code is 482913"},
	} {
		m.ReceivedAt = time.Now().Add(time.Duration(n-8) * time.Minute)
		h.mail("quiet-otter-4kq7@"+apitest.Domain, m)
	}
}

func TestRowsOfOneLineBeginWithTheCode(t *testing.T) {
	const all, one = 0, 1 // rows below the first, in the list of inboxes
	for _, c := range []struct {
		width, inbox int
		rows         string
	}{
		{100, one, `
▌  482913  Acme  Your code… 5 min │
 ● 731002  The Acc…  Sign … 6 min │
 ● ↗ Confirm…  Acme  Confi… 7 min │
 ● Bank  Welcome            8 min │`},
		{100, all, `
▌  482913  Acme  Your … quie…4kq7 │
 ● 731002  The A…  Sig… quie…4kq7 │
 ● ↗ Confirm…  Acme  Confi… qu…q7 │
 ● Bank  Welcome quiet-otter-4kq7 │`},
		{40, one, `
▌● 482913  Acme  Your code for a… 5 min
 ● 731002  The Accounts…  Sign in 6 min
 ● ↗ Confirm e…  Acme  Confirm y… 7 min
 ● Bank  Welcome                  8 min`},
		{40, all, `
▌● 482913  Acme  Your co… quiet-…r-4kq7
 ● 731002  The Ac…  Sign… quiet-…r-4kq7
 ● ↗ Confirm e…  Acme  Confi… quie…4kq7
 ● Bank  Welcome       quiet-otter-4kq7`},
		{79, all, `
▌● 482913  Acme  Your code for a new device           quiet-otter-4kq7 · 5 min
 ● 731002  The Accounts Team of Acme Incorp…  Sign in quiet-otter-4kq7 · 6 min
 ● ↗ Confirm e-mail  Acme  Confirm your e-mail addre… quiet-otter-4kq7 · 7 min
 ● Bank  Welcome                                      quiet-otter-4kq7 · 8 min`},
		{20, all, `
▌● 482913  Acme  Y…
 ● 731002  The…  S…
 ● ↗ Co…  Acme  Co…
 ● Bank  Welcome`},
	} {
		t.Run(fmt.Sprint(c.width, c.inbox), func(t *testing.T) {
			play(t, setting{width: c.width, height: 12, before: mixedMail}, func(h *harness) {
				h.press("h", "g")
				h.press(slices.Repeat([]string{"j"}, c.inbox)...)
				h.press("l")
				h.wait(time.Second)
				h.see(strings.Split(c.rows, "\n")...)
				x, y := h.rowWith("731002")
				if code := h.screen().CellAt(x, y).Style; code.Fg == nil || code.Attrs&uv.AttrBold == 0 {
					t.Errorf("the code is drawn as %q", code.String())
				}
			})
		})
	}
}

func TestNamesOfInboxesAreCutInTheirMiddle(t *testing.T) {
	const long = "a.long.name+of-a-signup-test"
	for _, size := range sizes[:3] {
		play(t, setting{width: size.w, height: size.h, service: extended, before: func(h *harness) {
			for _, name := range []string{long, "quiet-otter-4kq7"} {
				h.inboxNamed(name, time.Hour)
				time.Sleep(time.Second)
				for range 12 {
					h.mail(name+"@"+apitest.Domain, plain("Acme"))
				}
			}
		}}, func(h *harness) {
			h.press("h")
			h.wait(time.Minute)
			h.see("quiet-otter-4kq7", "/12")
			if size.w > 40 {
				h.see("a.long.n…up-test 12/12")
			}
			h.step("g l", "er-4kq7")
			h.deliver(long+"@"+apitest.Domain, coded("Acme", "482913", 0))
			h.step("ctrl+f 482913", "p-test")
			h.step("esc h G L", "Label a.long.name+…signup-test")
			h.press("esc", "l")
			if size.w == 40 {
				h.see("a.long.nam…gnup-test  ")
			}
			h.press("h", "k")
			h.deliver(long+"@"+apitest.Domain, coded("Bank", "731002", 0))
			h.see("-test: Code")
		})
	}
}

func TestWhileAFilterIsTypedRowsMatchByWhatTheyShowAndCountsStayTrue(t *testing.T) {
	play(t, with(two), func(h *harness) {
		for range 3 {
			h.deliver(adas, coded("Acme", "111111", 0))
			h.deliver("bob@"+apitest.Domain, plain("Bank"))
		}
		h.step("h g l / bank", "All inboxes        4/6", "2 of 3 unread")
		h.deliver(adas, coded("Acme", "222222", 0))
		h.see("All inboxes        5/7", "2 of 3 unread", "3 of 4 unread")
		h.press("enter", "h", "/", "bo") // which is in every ID
		h.see("2 of 3 unread")
		h.dontSee("3 of 4 unread")
	})
}

func TestWaitingCountsFromTheCreationAndTheDelayFromTheCopy(t *testing.T) {
	play(t, with(func(h *harness) {
		ada(h)
		time.Sleep(8 * time.Minute)
	}), func(h *harness) {
		h.see("Waiting for mail · 8 min")
		h.press("y")
		h.wait(3 * time.Second)
		h.see("Waiting for mail · 8 min")
		h.deliver(adas, coded("Acme", "111111", 0))
		h.see("s after you copied the address", "last mail after 3.")
		h.deliver(adas, coded("Bank", "222222", 0))
		h.step("g", "Your verification code is 222222")
		h.dontSee("after you copied the address", "last mail after")
	})
}

func TestTheSelectedRowIsSeenOnEveryTerminal(t *testing.T) {
	for _, c := range []struct {
		name    string
		known   bool
		profile colorprofile.Profile
	}{
		{"known", true, colorprofile.TrueColor},
		{"unknown", false, colorprofile.TrueColor},
		{"unknown, 256 colours", false, colorprofile.ANSI256},
		{"16 colours", true, colorprofile.ANSI},
		{"no colours", true, colorprofile.ASCII},
		{"unknown, no colours", false, colorprofile.ASCII},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := with(someMail)
			set.profile = c.profile
			play(t, set, func(h *harness) {
				if !c.known {
					h.send(tea.BackgroundColorMsg{})
				}
				stands := func(text string, want bool) {
					t.Helper()
					x, y := h.rowWith(text)
					style := h.screen().CellAt(x, y).Style
					if got := style.Bg != nil || style.Attrs&uv.AttrReverse != 0; got != want {
						t.Errorf("%q stands out: %v\n%q", text, got, style.String())
					}
					if style.Attrs&uv.AttrReverse != 0 && style.Fg != nil {
						t.Errorf("%q is in reverse video on its own colour: %q", text, style.String())
					}
				}
				for _, keys := range []string{"g", "h"} { // the list of messages has focus, then that of inboxes
					h.press(keys)
					whole := keys == "g" || c.name == "known" // elsewhere the bar alone is left without focus
					stands("  Confirm your e-mail add", whole)
					stands("482913", whole)
					stands("Welcome to Acme", false)
					stands("ci-run-881", false)
				}
				h.press("k")
				stands("  All inboxes", true)
				h.press(":", "new in")
				stands("with options", true)
				stands("copies its", false)
			})
		})
	}
}

// What is counted is what is there, and what a key would do is said with its number.
func TestCounts(t *testing.T) {
	play(t, with(func(h *harness) {
		two(h)
		short := h.inboxNamed("short", 2*time.Minute)
		h.mail(short.Email, plain("Gone"))
	}), func(h *harness) {
		h.wait(time.Second)
		h.press("h", "g", "j")
		h.wait(3 * time.Minute)
		h.see("✕ expired")
		if unread, total := h.app.inboxes.Numbers("*"); unread != 0 || total != 0 {
			t.Errorf("all inboxes have %d of %d unread, with those of an inbox that is gone", unread, total)
		}
		h.press("h", "G", "k")
		for n := range 3 {
			h.mail(adas, plain(fmt.Sprint("Sender", n)))
			h.wait(1500 * time.Millisecond)
		}
		h.see("and 2 more")
		h.step("h g l space space", "2 marked", "D delete 2 marked", "= compare 2 marked")
	})
}

// While a message hides the inboxes, the header says what the others have unread.
func TestUnreadElsewhere(t *testing.T) {
	play(t, setting{width: 80, height: 24, before: func(h *harness) {
		for _, name := range []string{"ada", "bob"} {
			h.mail(h.inboxNamed(name, time.Hour).Email, plain(name))
		}
	}}, func(h *harness) {
		h.wait(time.Second)
		h.press("h", "h", "g", "j")
		h.dontSee("elsewhere") // the list of inboxes says it
		h.step("l enter", "1 unread elsewhere")
		h.press("h", "h", "h", "g", "l", "enter") // among all, none is elsewhere
		h.dontSee("elsewhere")
	})
}
