package ui

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/internal/registry"
	"mayfly/keys"
	"mayfly/ui/session"
)

// asked counts the requests of a method that the service got.
func (h *harness) asked(method string) (n int) {
	for _, r := range h.server.Requests() {
		if r.Method == method {
			n++
		}
	}
	return n
}

func TestWhatWasAskedForIsShownAtOnceAndOnce(t *testing.T) {
	for _, size := range sizes {
		set := setting{width: size.w, height: size.h, before: ada}
		play(t, set, func(h *harness) {
			h.server.SetDelay(4 * time.Second)
			h.step("n", "creating an inbox…")
			h.step("n n", "still creating an inbox…")
			h.wait(5 * time.Second)
			made := h.copied[0]
			h.see("✓ copied " + made[:8])
			if n := h.asked(http.MethodPost); n != 1 {
				t.Errorf("%d inboxes were made", n)
			}
			h.step("d y", "deleting "+made[:8])
			h.wait(5 * time.Second)
			h.see("✓ deleted " + made[:8])
		})
	}
}

func TestOnlyTheLocalServiceStartsWithAnInbox(t *testing.T) {
	for _, size := range sizes {
		play(t, setting{width: size.w, height: size.h}, func(h *harness) {
			if n := h.asked(http.MethodPost); n != 0 {
				t.Errorf("%d inboxes were made unasked", n)
			}
			h.see("There are no inboxes.", "n creates one")
		})
	}
	play(t, setting{width: 120, height: 36, smtp: "127.0.0.1:2525"}, func(h *harness) {
		if n := h.asked(http.MethodPost); n != 1 {
			t.Errorf("the local service started with %d inboxes", n)
		}
		if len(h.copied) != 0 {
			t.Errorf("the clipboard was taken without being asked: %q", h.copied)
		}
	})
}

func TestALimitIsSaidAtOnceWithHowLong(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: ada}, func(h *harness) {
		h.server.Fail(apitest.Limited, -1)
		h.step("n", "! Rate limit reached: retry in 2 s")
		if n := strings.Count(strings.Join(h.text(), "\n"), "Rate limit reached: retry in"); n != 3 {
			t.Errorf("header, list and bottom line say it %d times:\n%s", n, strings.Join(h.text(), "\n"))
		}
		h.press("n")
		if n := h.asked(http.MethodPost); n != 1 {
			t.Errorf("%d requests to make an inbox", n)
		}
		h.see("Rate limit reached: retry in 2 s")
		h.wait(1100 * time.Millisecond)
		h.see(" Rate limit reached: retry in 1 s")
		h.dontSee("in 2 s")
		h.wait(time.Second)
		h.step("r", "! Rate limit reached: retry in ")
	})
}

func TestTheHeaderTellsTheLastFailure(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: ada}, func(h *harness) {
		h.server.Fail(apitest.LimitedNoTime, -1)
		h.press("n")
		h.wait(time.Second)
		h.see("Rate limit reached")
		h.server.Fail(apitest.Cut, -1)
		h.wait(6 * time.Second)
		h.step("n", "✕ Offline")
		h.dontSee("limit reached")
		h.server.Fail(apitest.None, 0)
		h.wait(time.Minute)
		h.see("● polling")
	})
}

func TestAServiceThatIsAwayIsSaidAtOnce(t *testing.T) {
	for _, o := range []apitest.Options{{}, extended} {
		play(t, setting{width: 120, height: 36, before: ada, service: o}, func(h *harness) {
			h.wait(time.Minute)
			h.server.Fail(apitest.Cut, -1)
			h.step("n", "! Offline: retry in 1 s", "✕ Offline: retry in 1 s", "○ 59 min left")
			h.step("n", "Offline: retry in 1 s, r tries now")
			h.step("r", "refreshing…")
			h.wait(5 * time.Second)
			h.see("! Offline", "✕ Offline")
			h.server.Fail(apitest.None, 0)
			h.step("r", "✓ refreshed just now")
			h.dontSee("Offline")
		})
	}
}

// One request may fail although the service is well: the header says so no longer than that.
func TestTheHeaderIsWellAgainWithTheFirstSuccess(t *testing.T) {
	for _, o := range []apitest.Options{{}, extended} {
		play(t, setting{width: 120, height: 36, before: ada, service: o}, func(h *harness) {
			h.wait(time.Minute)
			h.server.FailIf(apitest.Cut, -1, func(r *http.Request) bool { return r.Method == http.MethodPost })
			h.step("n", "✕ Offline: retry in 1 s")
			h.wait(time.Second)
			h.dontSee("Offline")
		})
	}
}

func TestRefreshingAnswersAlways(t *testing.T) {
	for name, set := range map[string]setting{
		"polled": {before: ada}, "live": {before: ada, service: extended}, "local": {smtp: "127.0.0.1:2525", service: extended},
	} {
		set.width, set.height = 80, 24
		t.Run(name, func(t *testing.T) {
			play(t, set, func(h *harness) {
				h.wait(time.Minute)
				h.step("r", "✓ refreshed just now")
				h.wait(10 * time.Second)
				h.server.SetDelay(2 * time.Second)
				h.step("r", "refreshing…")
				h.step("r", "still refreshing…")
				h.wait(4 * time.Second)
				h.see("✓ refreshed just now")
			})
		})
	}
}

func TestALaterAttemptIsMentionedToo(t *testing.T) {
	set, takes := setting{width: 80, height: 24}, 500*time.Millisecond
	set.connect = func(*harness) (*session.Service, error) {
		time.Sleep(takes)
		return nil, api.ErrUnavailable
	}
	play(t, set, func(h *harness) {
		h.wait(time.Second)
		h.see("✕ Offline: retry in 2 s")
		takes = 8 * time.Second
		h.wait(5 * time.Second)
		h.see("○ connecting", "Connecting…")
		h.wait(6 * time.Second)
		h.see("✕ Offline")
	})
}

func TestTheServiceIsNamedWithoutAKey(t *testing.T) {
	for _, p := range []session.Profile{{BaseURL: "https://mail.example/v2"}, {Name: "work", BaseURL: "https://mail.example/v2"}} {
		set := setting{width: 80, height: 24, start: p}
		set.connect = func(*harness) (*session.Service, error) {
			return nil, fmt.Errorf("%w for https://mail.example/v2", keys.ErrNone)
		}
		play(t, set, func(h *harness) {
			name, flag := "mail.example", "--base-url"
			if p.Name != "" {
				name, flag = "work", "--profile work"
			}
			h.step("esc", " mayfly  "+name+" ", "○ No API key", "mayfly key set "+flag)
			h.step("K", "> https://mail.example/v2")
			h.step("secret-key enter", "There are no inboxes.", "✓ connected to mail.example")
			want := session.Target{Profile: p.Name, BaseURL: p.BaseURL, Key: "secret-key"}
			if n := len(h.targets); h.targets[n-1] != want {
				t.Errorf("connected to %+v", h.targets)
			}
		})
	}
}

func TestDeletingSaysDeletedThoughTheWatcherSawItFirst(t *testing.T) {
	play(t, with(ada), func(h *harness) {
		h.wait(time.Minute)
		h.server.FailIf(apitest.Late, 1, func(r *http.Request) bool { return r.Method == http.MethodDelete })
		h.press("d", "y")
		h.wait(3 * time.Second)
		h.see("✓ deleted ada@apitest.example")
	})
}

func TestADialogStaysOpenWhenTheServiceChanges(t *testing.T) {
	set := with(ada)
	set.profiles = []session.Profile{{Name: "local"}, {Name: "work", BaseURL: "https://work.example"}}
	play(t, set, func(h *harness) {
		h.press("d")
		id := h.app.inbox().ID
		old := h.server
		h.server = apitest.New(h.t, apitest.Options{})
		defer old.Close()
		h.other, h.registry = "https://work.example", registry.Open(t.TempDir(), "work", "https://work.example")
		h.run(h.app.connection.Connect(session.Target{Profile: "work"}, time.Now()))
		h.settle()
		h.see("Delete this inbox?")
		h.step("y", "ada@apitest.example is no longer on the list")
		h.send(tea.WindowSizeMsg{Width: 40, Height: 12})
		h.see("ada@apitest.example…longer on the list")
		if slices.ContainsFunc(h.server.Requests(), func(r apitest.Request) bool { return strings.Contains(r.Path, id) }) {
			t.Error("an inbox of the service before was asked for")
		}
	})
}

func TestSavingAnOpenMessageAsksForNothing(t *testing.T) {
	set := with(someMail)
	set.smtp = "127.0.0.1:2525"
	play(t, set, func(h *harness) {
		h.press("enter")
		before := h.asked(http.MethodGet)
		h.step("s", "✓ saved ")
		h.step("b", "✓ opened a safe copy")
		for _, r := range h.server.Requests()[before:] {
			if strings.Contains(r.Path, "/messages/") {
				t.Errorf("asked for %s", r.Path)
			}
		}
	})
}

func TestWhatAConnectionCutShortIsSaid(t *testing.T) {
	play(t, setting{width: 120, height: 36, service: extended, before: func(h *harness) {
		in := h.inboxNamed("ada", time.Hour)
		h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Files", Text: "x", Attachments: []api.Attachment{
			{Filename: "one.txt", ContentType: "text/plain", Content: []byte("1")},
			{Filename: "two.txt", ContentType: "text/plain", Content: []byte("2")},
		}})
	}}, func(h *harness) {
		h.press("enter")
		h.server.SetDelay(time.Second)
		h.step("a all enter", "saving 2 attachments")
		h.run(h.app.connection.Connect(h.app.connection.Target, time.Now()))
		h.wait(3 * time.Second)
		h.see("! stopped saving 2 attachments: the connection changed")
	})
}

func TestAConnectionThatFailsIsSaid(t *testing.T) {
	set := with(ada)
	set.profiles = []session.Profile{{Name: "local"}, {Name: "work", BaseURL: "https://work.example"}}
	set.connect = onlyOnce(func() error {
		time.Sleep(time.Second)
		return errors.New("work.example: no such host")
	})
	play(t, set, func(h *harness) {
		h.step("P work enter", "connecting to work…")
		h.wait(2 * time.Second)
		h.see("! work.example: no such host")
	})
}
