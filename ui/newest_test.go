package ui

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api/apitest"
	"mayfly/internal/fortest"
	"mayfly/ui/theme"
)

// coded is a mail with a code and a link, received so many minutes ago.
func coded(from, code string, minutes int) apitest.Mail {
	return apitest.Mail{
		From: from + "@x.example", FromName: from, Subject: "Code " + code, ReceivedAt: time.Now().Add(-time.Duration(minutes) * time.Minute),
		Text: "Your verification code is " + code + "\n\nConfirm your e-mail address: https://x.example/confirm?token=" + code,
	}
}

func plain(from string) apitest.Mail {
	return apitest.Mail{From: from + "@x.example", FromName: from, Subject: "Welcome", Text: "Hello there"}
}

const adas = "ada@" + apitest.Domain

// deliver delivers a mail and lets it arrive; what is not in view takes a moment.
func (h *harness) deliver(address string, m apitest.Mail) {
	h.t.Helper()
	h.mail(address, m)
	h.wait(200 * time.Millisecond)
}

// copies fails unless this is what was copied last.
func (h *harness) copies(want string) {
	h.t.Helper()
	if len(h.copied) == 0 || h.copied[len(h.copied)-1] != want {
		h.t.Fatalf("copied %q, want %s at the end:\n%s", h.copied, want, strings.Join(h.text(), "\n"))
	}
}

func TestWhichCodeIsCopied(t *testing.T) {
	bobs := "bob@" + apitest.Domain
	press := func(keys ...string) func(*harness) { return func(h *harness) { h.press(keys...) } }
	for _, c := range []struct {
		name     string
		before   []string // keys before the second mail
		to, from string   // of that mail: ada and Acme unless given
		then     func(h *harness)
		selected string // the code of the selected message, where it matters
		copies   string
		says     string
		columns  int // 3 unless given
	}{
		{name: "the newest", copies: "222222", says: "✓ copied 222222 (OSC 52"},
		{name: "the newest on a narrow screen, after reading the one before", columns: 1, before: []string{"enter", "c", "esc"}, copies: "222222", says: "✓ copied 222222 "},
		{name: "not a mail without one", then: func(h *harness) {
			h.wait(5 * time.Minute)
			h.deliver(adas, plain("Acme"))
		}, copies: "222222", says: "copied 222222 from Acme, 5 min ago (OSC 52"},
		{name: "from the inboxes", before: []string{"h"}, then: func(h *harness) {
			for n := range 4 {
				h.deliver(adas, coded("Acme", fmt.Sprint(222223+n), 0))
			}
		}, copies: "222226", says: "copied 222226 from Acme (OSC 52"},
		{name: "from the inboxes of a narrow screen, of a mail that was not read yet", columns: 1, before: []string{"h"}, copies: "222222", says: "copied 222222 from"},
		{name: "of all inboxes", before: []string{"h", "g"}, to: bobs, from: "Bank", copies: "222222", says: "copied 222222 from Bank"},
		{name: "of the selected inbox, whatever came to others", to: bobs, from: "Bank", copies: "111111", says: "copied 111111 (OSC 52"},
		{name: "with a filter, the newest that matches", from: "Bank", then: press("/", "acme", "enter"), copies: "111111", says: "copied 111111; a newer code arrived: 222222"},
		{name: "with a filter, from the inboxes", from: "Bank", then: press("/", "acme", "enter", "h"), copies: "111111", says: "copied 111111 from Acme; a newer code arrived: 222222"},
		{name: "that of an older mail, after moving to it", then: press("j"), copies: "111111", says: "copied 111111; a newer code arrived: 222222 (OSC 52"},
		{name: "that of the open message", before: []string{"enter"}, selected: "111111", copies: "111111", says: "copied 111111; a newer code arrived: 222222 (OSC 52"},
		{name: "that of the open message, left behind by new mail", before: []string{"enter"}, then: press("h"), selected: "111111", copies: "111111", says: "a newer code arrived: 222222"},
		{name: "the newest, once the user goes back to it", then: func(h *harness) {
			h.press("j", "g")
			h.deliver(adas, coded("Acme", "333333", 0))
		}, selected: "333333", copies: "333333", says: "copied 333333 (OSC 52"},
		{name: "beside marked rows", then: func(h *harness) {
			h.press("space")
			h.deliver(adas, coded("Acme", "333333", 0))
		}, selected: "111111", copies: "111111", says: "a newer code arrived: 333333"},
		{name: "of the newest while following", before: []string{"F", "enter"}, copies: "222222", says: "copied 222222 (OSC 52"},
		{name: "of a mail that came under a dialog", before: []string{"d"}, then: func(h *harness) {
			h.step("n", "Your verification code is 222222")
		}, copies: "222222", says: "copied 222222 (OSC 52"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := with(two)
			if c.columns == 1 {
				set.width, set.height = 60, 14
			}
			play(t, set, func(h *harness) {
				h.press("h", "g", "j", "j", "enter")
				h.deliver(adas, coded("Acme", "111111", 0))
				h.press(c.before...)
				h.deliver(cmp.Or(c.to, adas), coded(cmp.Or(c.from, "Acme"), "222222", 0))
				if c.then != nil {
					c.then(h)
				}
				if c.selected != "" {
					h.selected("Code " + c.selected)
				}
				h.press("c")
				h.copies(c.copies)
				h.see(c.says)
			})
		})
	}
}

func TestACodeIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  apitest.Fault
		then   func(h *harness)
		copies []string
		says   string
	}{
		{"it is copied once it is read", apitest.None, func(*harness) {}, []string{"222222"}, "copied 222222"},
		{"not when something else is copied meanwhile", apitest.None, func(h *harness) { h.press("y") }, []string{adas}, "copied " + adas},
		{"nothing when it cannot be read", apitest.InternalError, func(*harness) {}, nil, "! read the message from Acme"},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, with(ada), func(h *harness) {
				h.deliver(adas, coded("Acme", "111111", 0))
				bodies := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/messages/") }
				h.server.FailIf(c.fault, -1, bodies)
				h.server.SetDelay(time.Second)
				h.mail(adas, coded("Acme", "222222", 0))
				h.wait(500 * time.Millisecond)
				h.see("Code 222222")
				h.step("c", "Reading the message from Acme…")
				c.then(h)
				h.wait(20 * time.Second)
				if !slices.Equal(h.copied, c.copies) {
					t.Errorf("copied %q", h.copied)
				}
				if c.copies == nil {
					h.press("c")
					h.wait(5 * time.Second)
				}
				if c.fault != apitest.None {
					h.see(c.says)
				}
			})
		})
	}
}

func TestTheLinkThatIsOpenedIsTheNewest(t *testing.T) {
	play(t, with(ada), func(h *harness) {
		h.deliver(adas, coded("Acme", "111111", 0))
		h.press("h")
		h.deliver(adas, coded("Bank", "222222", 0))
		h.step("o", "token=222222", "The link from Bank")
		h.step("esc l j o", "token=111111", "The link; a newer one arrived")
	})
}

func TestAutocopy(t *testing.T) {
	set := with(two)
	set.config = "[ui]\nautocopy = true\n"
	play(t, set, func(h *harness) {
		h.see("autocopy ·")
		h.press("k")                                                 // from now on the selection stays
		h.deliver("bob@"+apitest.Domain, coded("Bank", "111111", 0)) // the selected one
		h.copies("111111")
		h.see("copied the new code 111111 from Bank (OSC 52")
		h.deliver(adas, coded("Acme", "222222", 0)) // not on the screen
		h.wait(5 * time.Second)
		h.copies("222222")
		h.see("copied the new code 222222 from Acme for ada")
		h.send(tea.BlurMsg{})
		h.mail("bob@"+apitest.Domain, coded("Acme", "333333", 1))
		h.mail("bob@"+apitest.Domain, coded("Acme", "444444", 0))
		h.deliver("bob@"+apitest.Domain, plain("Acme"))
		h.copies("444444")
		h.press("C")
		h.dontSee("autocopy ·")
		h.see("No autocopy")
		h.deliver("bob@"+apitest.Domain, coded("Acme", "555555", 0))
		h.copies("444444")
	})
}

func TestFollowingFromTheStart(t *testing.T) {
	set := with(two)
	set.config = "[ui]\nfollow = true\n"
	play(t, set, func(h *harness) {
		h.see("following")
		h.wait(6 * time.Second) // both inboxes are listed
		h.deliver(adas, coded("Acme", "111111", 0))
		h.see("Your verification code is 111111")
	})
}

func TestABurstIsAnnouncedOnce(t *testing.T) {
	play(t, with(two), func(h *harness) {
		h.send(tea.BlurMsg{})
		for n := range 6 {
			h.deliver("bob@"+apitest.Domain, coded("Acme", fmt.Sprint(111111+n), 0))
			h.wait(20 * time.Millisecond)
		}
		h.wait(5 * time.Second)
		if len(h.raw) != 1 || !strings.Contains(h.raw[0], "Mail for bob: 6 new messages, the newest from Acme: Code 111116") {
			t.Errorf("the terminal got %q", h.raw)
		}
	})
}

func TestTheKeysBetweenPanes(t *testing.T) {
	for _, size := range sizes[:3] {
		play(t, setting{width: size.w, height: size.h, before: someMail, service: extended}, func(h *harness) {
			for _, c := range []struct {
				key  string
				want theme.Pane
			}{
				{"h", theme.Inboxes}, {"h", theme.Inboxes}, {"l", theme.Messages}, {"l", theme.Reader}, {"l", theme.Reader}, {"right", theme.Reader},
				{"tab", theme.Inboxes}, {"tab", theme.Messages}, {"tab", theme.Reader}, {"tab", theme.Inboxes},
				{"shift+tab", theme.Reader}, {"shift+tab", theme.Messages}, {"left", theme.Inboxes}, {"left", theme.Inboxes},
			} {
				h.press(c.key)
				if h.app.focus != c.want {
					t.Fatalf("at %d columns, %s leads to pane %d, want %d", size.w, c.key, h.app.focus, c.want)
				}
			}
		})
	}
}

func TestMovingInTheListPreviews(t *testing.T) {
	long := func(h *harness) {
		in := h.inboxNamed("ada", time.Hour)
		for n := range 3 {
			h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: fmt.Sprint("Mail ", n), ReceivedAt: time.Now().Add(time.Duration(n-9) * time.Minute),
				Text: fmt.Sprint("Begin ", n, strings.Repeat("\n\nmore", 80), "\n\nEnd ", n)})
		}
	}
	play(t, with(long), func(h *harness) {
		h.press("j")
		h.wait(time.Second)
		h.see("Begin 1")
		h.step("l G", "End 1")
		h.press("h", "j")
		h.wait(time.Second)
		h.see("Begin 0")
		h.step("k", "Begin 1")
	})
}

// restarted quits the application and starts it again on the same machine and service. While it does
// not run, meanwhile happens.
func (h *harness) restarted(dir string, meanwhile func()) *harness {
	h.t.Helper()
	h.cancel()
	fortest.Must(h.t, h.app.close())
	meanwhile()
	time.Sleep(time.Minute)
	again := newHarness(h.t, with(func(again *harness) { again.server = h.server }), dir)
	again.wait(6 * time.Second)
	return again
}

func TestUnreadSurvivesARestart(t *testing.T) {
	for _, c := range []struct {
		name      string
		before    func(dir string) // with the state folder
		meanwhile func(h *harness)
		want      []string
	}{
		{"what came before", nil, func(*harness) {}, []string{"1 of 3 unread", "0 of 1 unread", "1/4"}},
		{"what came while it did not run", nil, func(h *harness) { h.mail(adas, plain("Late")) }, []string{"2 of 4 unread", "0 of 1 unread"}},
		{"to an inbox that is new", nil, func(h *harness) {
			in := h.inboxNamed("eve", time.Hour)
			h.mail(in.Email, plain("Late"))
		}, []string{"1 of 3 unread", "0 of 1 unread", "1 of 1 unread"}},
		{"where nothing can be kept", func(dir string) {
			fortest.Must(t, os.RemoveAll(filepath.Join(dir, "registry")))
			fortest.Must(t, os.WriteFile(filepath.Join(dir, "registry"), nil, 0o600))
		}, func(*harness) {}, []string{"3 of 3 unread", "1 of 1 unread"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, with(func(h *harness) {
					two(h)
					h.mail("bob@"+apitest.Domain, plain("Old"))
				}), dir)
				h.wait(6 * time.Second)
				h.press("h", "j")
				h.send(tea.BlurMsg{})
				for _, from := range []string{"One", "Two", "Three"} {
					time.Sleep(time.Second)
					h.deliver(adas, plain(from))
				}
				h.see("3 of 3 unread")
				h.send(tea.FocusMsg{})
				h.press("l", "j", "enter", "h", "j", "enter", "u")
				h.wait(2 * time.Second)
				h.see("1 of 3 unread", "0 of 1 unread")
				if c.before != nil {
					c.before(dir)
				}
				again := h.restarted(dir, func() { c.meanwhile(h) })
				defer again.leave()
				again.see(c.want...)
			})
		})
	}
}

// The list begins where the newest unread mail is, until the user has chosen another inbox. From then on, what
// comes elsewhere is said with its code, and a key goes there.
func TestTheNewestUnreadMail(t *testing.T) {
	play(t, with(func(h *harness) {
		two(h)
		h.mail(adas, plain("Early"))
	}), func(h *harness) {
		h.wait(200 * time.Millisecond) // Ada's mail is not in view
		h.selected("Early")
		h.press("h", "k")
		h.selected("bob")
		h.deliver(adas, coded("Acme", "222222", 0))
		h.see("222222 for ada: ", ". goes there")
		h.press(".")
		h.selected("Acme")
		h.dontSee("goes there")
		h.step(".", "No unread messages")
	})
}

func TestTwoApplicationsAgreeOnWhatIsUnread(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		one := newHarness(t, with(ada), dir)
		two := newHarness(t, with(func(two *harness) { two.server = one.server }), dir)
		agree := func(when string, unread int, on time.Duration) {
			t.Helper()
			for end := time.Now().Add(on); time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
				one.settle()
				two.settle()
			}
			if a, b := one.app.store.Unread(), two.app.store.Unread(); a != unread || b != unread {
				t.Errorf("%s: %d and %d are unread, want %d", when, a, b, unread)
			}
		}
		agree("at the start", 0, 2*time.Second)
		for n, from := range []string{"One", "Two", "Three"} {
			one.mail(adas, plain(from))
			agree("as mail arrives", n+1, 10*time.Second)
		}
		one.press("j")
		agree("looked at two in one", 1, 2*time.Second)
		two.press("u")
		agree("marked one unread in the other", 2, time.Second)
		one.press("u")
		two.press("u")
		agree("marked in both at once", 2, time.Second)
		three := newHarness(t, with(func(three *harness) { three.server = one.server }), dir)
		three.wait(2 * time.Second)
		agree("in a third", three.app.store.Unread(), time.Millisecond)
		for _, h := range []*harness{two, three} {
			h.cancel()
			if err := h.app.close(); err != nil {
				t.Error(err)
			}
		}
		one.leave()
	})
}

// Starting, quitting and a held key are no looking.
func TestWhatIsNotLookedAt(t *testing.T) {
	many := func(h *harness) {
		ada(h)
		for n := range 12 {
			h.mail(adas, plain(fmt.Sprint("Sender", n)))
		}
	}
	play(t, with(many), func(h *harness) {
		unread := func(when string, want int) {
			t.Helper()
			if got := h.app.store.Unread(); got != want {
				t.Errorf("%s: %d are unread, want %d", when, got, want)
			}
		}
		h.wait(5 * time.Second)
		unread("after the start", 12)
		h.press("j")
		unread("shown for five seconds, then a key", 11)
		h.wait(500 * time.Millisecond) // until the key repeats
		for range 5 {
			h.send(tea.KeyPressMsg{Code: 'j', Text: "j"}) // as terminals without event types send it
			h.wait(40 * time.Millisecond)
		}
		unread("a held key", 11)
		h.wait(time.Second)
		unread("where it stops", 10)
		h.press("j")
		h.wait(200 * time.Millisecond)
		h.press("c")
		unread("acted upon", 9)
		h.press("j")
		h.wait(200 * time.Millisecond)
		h.press("q")
		unread("quitting", 9)
	})
}

// The next start is where the last one ended, unless newer mail came.
func TestTheApplicationOpensWhereItWasLeft(t *testing.T) {
	for name, newer := range map[string]bool{"nothing new": false, "newer mail": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				h := newHarness(t, with(func(h *harness) {
					two(h)
					for n := range 3 {
						h.mail(adas, plain(fmt.Sprint("Sender", n)))
						time.Sleep(time.Second)
					}
				}), dir)
				h.wait(2 * time.Second)
				h.press("j")
				h.wait(2 * time.Second)
				h.selected("Sender1")
				again := h.restarted(dir, func() {
					if newer {
						h.mail("bob@"+apitest.Domain, plain("Late"))
					}
				})
				defer again.leave()
				again.wait(2 * time.Second)
				again.selected(map[bool]string{false: "Sender1", true: "Late"}[newer])
				if unread := again.app.store.Unread(); unread != map[bool]int{false: 1, true: 2}[newer] {
					t.Errorf("%d are unread", unread)
				}
			})
		})
	}
}
