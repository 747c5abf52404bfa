package ui

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/ui/session"
	"mayfly/ui/theme"
)

// What a dialog asks for belongs to the service on which it was opened.
func TestADialogAsksTheServiceThatItWasOpenedOn(t *testing.T) {
	for name, keys := range map[string][2][]string{
		"delete a message": {{"D"}, {"y"}}, "delete an inbox": {{"d"}, {"y"}}, "empty an inbox": {{"h", "D"}, {"y"}}, "more time": {{"+"}, {"enter"}},
		"a new inbox": {{"N"}, {"enter"}}, "add an inbox": {{"A"}, {"inbox_9", "enter"}}, "send on": {{"R"}, {"enter"}}, "save a file": {{"a"}, {"s", "enter", "enter"}},
	} {
		t.Run(name, func(t *testing.T) {
			set := setting{width: 120, height: 36, service: apitest.Options{Extensions: true, RelayAllow: []string{"bob@example.org"}}, profiles: []session.Profile{{Name: "local"}, {Name: "other", BaseURL: "https://other.example"}}}
			set.before = func(h *harness) {
				in := h.inboxNamed("ada", time.Hour)
				h.mail(in.Email, apitest.Mail{Subject: "One", Text: "1", Attachments: []api.Attachment{{Filename: "a.txt", ContentType: "text/plain", Content: []byte("a")}}})
			}
			play(t, set, func(h *harness) {
				h.wait(2 * time.Second)
				h.press(keys[0]...)
				if len(h.app.dialogs) != 1 {
					t.Fatalf("%q opens %d dialogs", keys[0], len(h.app.dialogs))
				}
				first, other := h.server, apitest.New(h.t, apitest.Options{Extensions: true, RelayAllow: []string{"bob@example.org"}})
				defer other.Close()
				h.server, h.other = other, "https://other.example"
				h.run(h.app.connection.Connect(session.Target{Profile: "other", BaseURL: h.other}, time.Now()))
				h.wait(time.Second)
				before := len(first.Requests())
				h.press(keys[1]...)
				h.wait(time.Second)
				for _, r := range append(other.Requests(), first.Requests()[before:]...) {
					if r.Method != http.MethodGet {
						t.Errorf("a service was asked: %s %s", r.Method, r.Path)
					}
				}
				h.server = first
			})
		})
	}
}

// Two with the same words are two.
func TestTwoMessagesOfOneSubject(t *testing.T) {
	play(t, setting{width: 120, height: 36, service: apitest.Options{Extensions: true}, before: func(h *harness) {
		in := h.inboxNamed("ada", time.Hour)
		for range 2 {
			h.mail(in.Email, apitest.Mail{Subject: "Your code", Text: "1"})
			time.Sleep(time.Second)
		}
	}}, func(h *harness) {
		h.wait(2 * time.Second)
		h.server.SetDelay(2 * time.Second)
		h.press("D", "y", "j", "D", "y")
		h.wait(5 * time.Second)
		if n := h.asked(http.MethodDelete); n != 2 || len(h.app.store.Messages) != 0 {
			t.Errorf("%d were deleted, %d are left", n, len(h.app.store.Messages))
		}
	})
}

func TestAFormIsAnsweredByItsOwnRequest(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: ada}, func(h *harness) {
		h.server.SetDelay(2 * time.Second)
		h.press("n")
		h.wait(time.Second)
		h.press("N", "enter")
		h.wait(1500 * time.Millisecond)
		if len(h.app.dialogs) != 1 {
			t.Error("the form is closed by the answer to n")
		}
		h.wait(2 * time.Second)
		if n := h.asked(http.MethodPost); n != 2 || len(h.app.dialogs) != 0 {
			t.Errorf("%d inboxes were made, %d dialogs are open", n, len(h.app.dialogs))
		}
	})
}

// Focus that came back by the keyboard swallows no click later.
func TestAClickAfterFocusCameBack(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: ada}, func(h *harness) {
		h.wait(2 * time.Second)
		h.send(tea.BlurMsg{})
		h.send(tea.FocusMsg{})
		h.press("j", "k")
		r := h.app.layout.Panes[theme.Inboxes]
		h.click(r.X+3, r.Y+2)
		if h.app.focus != theme.Inboxes {
			t.Errorf("the click does nothing: pane %v has focus", h.app.focus)
		}
	})
}

func TestATextAttachmentInAnotherCharset(t *testing.T) {
	play(t, setting{width: 120, height: 36, service: apitest.Options{Extensions: true}, before: func(h *harness) {
		in := h.inboxNamed("ada", time.Hour)
		h.mail(in.Email, apitest.Mail{Subject: "list", Text: "hi", Attachments: []api.Attachment{{Filename: "l.csv", ContentType: "text/csv", Content: []byte("Gr\xfc\xdfe;caf\xe9")}}})
	}}, func(h *harness) {
		h.wait(2 * time.Second)
		h.press("enter", "a", "enter")
		h.wait(time.Second)
		h.see("Grüße;café")
	})
}

// The filter and the search know the same of a row: words may be in its subject and in its code.
func TestTheFilterFindsWhatTheSearchFinds(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: func(h *harness) {
		ada(h)
		h.mail(adas, apitest.Mail{Subject: "Welcome", Text: "Your verification code is 482913."})
		h.mail(adas, apitest.Mail{Subject: "Welcome back", Text: "Hello"})
	}}, func(h *harness) {
		h.wait(3 * time.Second)
		h.press("/", "welcome 482913", "enter")
		if n := h.app.messages.Len(); n != 1 {
			t.Errorf("the filter finds %d", n)
		}
		h.press("esc", "ctrl+f", "welcome 482913")
		h.wait(time.Second)
		h.see("1 found")
	})
}

// Scripts keep their letters, and the cursor of the terminal is where text is typed.
func TestLettersAndTheCursor(t *testing.T) {
	const subject = "आपका सत्यापन कोड"
	play(t, setting{width: 120, height: 36, before: func(h *harness) {
		ada(h)
		h.mail(adas, apitest.Mail{Subject: subject, Text: "1"})
	}}, func(h *harness) {
		h.wait(2 * time.Second)
		h.see(subject)
		if h.app.View().Cursor != nil {
			t.Error("there is a cursor while nothing is typed")
		}
		h.press("/", "সত্য")
		at := h.app.View().Cursor
		if at == nil {
			t.Fatal("there is no cursor")
		}
		if got := h.text()[at.Y]; !strings.Contains(got, "/সত্য") {
			t.Errorf("the cursor is in the row %q", got)
		}
	})
}

func TestOrderReadAllAndManyToDelete(t *testing.T) {
	play(t, setting{width: 120, height: 36, service: apitest.Options{Extensions: true}, before: func(h *harness) {
		two(h)
		for n := range 60 {
			h.mail(adas, plain(fmt.Sprint("Sender", n)))
		}
	}}, func(h *harness) {
		h.wait(3 * time.Second)
		h.step("h g l * D", "Delete 60 messages?", "Type 60 to delete them.")
		h.step("6 enter", "! type 60 to delete them")
		if h.press("0"); h.asked(http.MethodDelete) != 0 {
			t.Error("something is deleted before the number is typed")
		}
		h.press("enter")
		h.wait(time.Minute)
		if n := len(h.app.store.Messages); n != 0 {
			t.Errorf("%d messages are left", n)
		}
		for n := range 3 {
			h.mail(adas, plain(fmt.Sprint("Late", n)))
		}
		h.wait(2 * time.Second)
		h.press("U")
		if h.see("All listed messages are marked as read"); h.app.store.Unread() != 0 {
			t.Errorf("%d are unread", h.app.store.Unread())
		}
		order := func() string { return strings.Join(h.app.inboxes.IDs(), " ") }
		before := order()
		h.press("O")
		if h.see("Inboxes with the newest mail first"); order() == before {
			t.Errorf("the order stays %s", before)
		}
		h.step(": forward", "Release the message")
	})
}
