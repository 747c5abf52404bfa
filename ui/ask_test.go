package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api/apitest"
)

func TestALongLinkHidesNeitherWarningNorAnswers(t *testing.T) {
	link := "https://accounts.example.evil.test/" + strings.Repeat("path/", 500) + "?end=1"
	set := with(func(s *stage) {
		in := s.inboxNamed("ada", time.Hour)
		s.mail(in.Email, apitest.Mail{From: "a@b.example", Subject: "Sign in", HTML: `<p><a href="` + link + `">https://bank.example/signin</a></p>`})
	})
	for _, size := range [][2]int{{120, 36}, {40, 12}, {20, 6}} {
		set.width, set.height = size[0], size[1]
		play(t, set, func(s *stage) {
			s.press("enter", "enter", "f", "a")
			s.see("Open this link?", "→ ", ".test", "! ", "o open", "y copy", "esc")
			if s.app.width > 40 {
				s.see("→ accounts.example.evil.test", "bank.example", "https://accounts.example.evil.test/", "…", "?end=1")
			}
			s.press("o")
			if len(s.opened) != 1 || s.opened[0] != link {
				t.Errorf("opened %.80q", s.opened)
			}
		})
	}
}

func TestAskingHasItsAnswersOnTheSmallestScreen(t *testing.T) {
	set := with(func(s *stage) {
		for n := range 12 {
			s.inboxNamed(fmt.Sprint("inbox-of-a-long-name-", n), time.Hour)
		}
	})
	for _, size := range [][2]int{{120, 36}, {40, 12}, {20, 6}} {
		set.width, set.height = size[0], size[1]
		play(t, set, func(s *stage) {
			for s.app.focus != paneInboxes {
				s.press("h")
			}
			s.press("g", "j", "d")
			s.see("y delete", "esc", "inbox")
			s.press("esc")
			for range 12 {
				s.press("space")
			}
			s.press("D")
			s.see("Delete 12", "0 messages", "y delete", "esc")
			if s.app.height > 6 {
				s.see("more")
			}
			s.press("y")
			s.see("deleted 12")
		})
	}
}

func TestAHeldKeyActsOnce(t *testing.T) {
	play(t, wide, func(s *stage) {
		held := func(key rune) {
			s.press(string(key))
			for range 20 {
				s.send(tea.KeyPressMsg{Code: key, Text: string(key), IsRepeat: true})
				s.settle()
			}
			s.send(tea.KeyReleaseMsg{Code: key, Text: string(key)})
			s.settle()
		}
		if !s.app.View().KeyboardEnhancements.ReportEventTypes {
			t.Error("the terminal is not asked to tell held keys from pressed ones")
		}
		before := len(s.app.book.order)
		held('n')
		if made := len(s.app.book.order) - before; made != 1 {
			t.Errorf("%d inboxes were made", made)
		}
		s.press("h", "G")
		held('k')
		s.selected(allInboxes)
	})
}
