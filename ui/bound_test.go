package ui

import (
	"net/http"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/ui/session"
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
				first, other := h.server, apitest.New(apitest.Options{Extensions: true, RelayAllow: []string{"bob@example.org"}})
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
