package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api/apitest"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

func TestALongLinkHidesNeitherWarningNorAnswers(t *testing.T) {
	link := "https://accounts.example.evil.test/" + strings.Repeat("path/", 500) + "?end=1"
	set := with(func(h *harness) {
		in := h.inboxNamed("ada", time.Hour)
		h.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Sign in", HTML: `<p><a href="` + link + `">https://bank.example/signin</a></p>`})
	})
	for _, size := range [][2]int{{120, 36}, {40, 12}, {20, 6}} {
		set.width, set.height = size[0], size[1]
		play(t, set, func(h *harness) {
			h.press("enter", "enter", "f", "a")
			h.see("Open this link?", "→ ", ".test", "! ", "o open", "y copy", "esc")
			if h.app.width > 40 {
				h.see("→ accounts.example.evil.test", "bank.example", "https://accounts.example.evil.test/", "…", "?end=1")
			}
			h.press("o")
			if len(h.opened) != 1 || h.opened[0] != link {
				t.Errorf("opened %.80q", h.opened)
			}
		})
	}
}

func TestAskingHasItsAnswersOnTheSmallestScreen(t *testing.T) {
	set := with(func(h *harness) {
		for n := range 12 {
			h.inboxNamed(fmt.Sprint("inbox-of-a-long-name-", n), time.Hour)
		}
	})
	for _, size := range [][2]int{{120, 36}, {40, 12}, {20, 6}} {
		set.width, set.height = size[0], size[1]
		play(t, set, func(h *harness) {
			for h.app.focus != theme.Inboxes {
				h.press("h")
			}
			h.press("g", "j", "d")
			h.see("y delete", "esc", "inbox")
			h.press("esc")
			for range 12 {
				h.press("space")
			}
			h.press("D")
			h.see("Delete 12", "0 messages", "y delete", "esc")
			if h.app.height > 6 {
				h.see("more")
			}
			h.press("y")
			h.see("deleted 12")
		})
	}
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
