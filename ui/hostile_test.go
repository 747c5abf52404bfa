package ui

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/apitest"
)

const evil = "\x1b]0;owned\x07\x1b[2J\u009b31m\u009d8;;http://x\u009c\r\n\t\x00\x7f\u202e\u2066\u200b\ufeffend"

// ours are the sequences that a frame may hold: SGR, and links of ours (OSC 8).
var ours = regexp.MustCompile("\x1b\\[[0-9;:]*m|\x1b\\]8;[ -~]*?(\x1b\\\\|\a)")

// checkHarmless fails when something of a mail could reach the terminal as more than text.
func (s *stage) checkHarmless(doing string) {
	s.t.Helper()
	v := s.app.View()
	for _, text := range append(s.raw, v.WindowTitle, ours.ReplaceAllString(v.Content, "")) {
		if strings.HasPrefix(text, "\x1b]9;") {
			text = strings.TrimSuffix(strings.TrimPrefix(text, "\x1b]9;"), "\x1b\\\a")
		}
		for _, r := range text {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				s.t.Fatalf("%s: %U on the screen: %q", doing, r, text)
			}
		}
	}
}

func TestNothingInAMailReachesTheTerminal(t *testing.T) {
	play(t, setting{width: 120, height: 36, service: extended, before: func(s *stage) {
		in := s.inboxNamed("ada", time.Hour)
		for range 2 {
			s.mail(in.Email, apitest.Mail{
				From: "a" + evil + "@b.example", FromName: "Name" + evil, Subject: "Your code is 123456 " + evil, Text: "Text " + evil,
				HTML:        "<p>" + evil + "</p><a href=\"https://x.example/confirm?t=" + evil + "\">Confirm " + evil + "</a><p>code 482913</p>",
				Attachments: []api.Attachment{{Filename: "../" + evil + ".sh", ContentType: "text/" + evil, Content: []byte(evil)}},
			})
		}
	}}, func(s *stage) {
		for _, keys := range [][]string{
			{}, {"enter"}, {"v"}, {"v"}, {"v"}, {"v"}, {"v"}, {"1", "x", "z"}, {"f"}, {"a"}, {"o"}, {"esc"}, {"a"}, {"s"}, {"c"},
			{"h", "space", "j", "space", "="}, {"v"}, {"v"}, {"esc"}, {"?"}, {"esc"}, {"g", "h", "g", "l"}, {"/"}, {"end", "esc", "b"},
		} {
			s.press(keys...)
			s.checkHarmless(strings.Join(keys, " "))
		}
		s.send(tea.PasteMsg{Content: evil})
		s.checkHarmless("paste")
		s.press("L")
		s.send(tea.PasteMsg{Content: evil})
		s.press("enter")
		s.checkHarmless("label")
		s.send(tea.BlurMsg{})
		s.mail("ada@"+apitest.Domain, apitest.Mail{From: "a@b.example", FromName: evil, Subject: evil})
		s.settle()
		s.checkHarmless("notification")
	})
}

func TestAKeyIsNeverShown(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: ada}, func(s *stage) {
		s.server.Fail(apitest.Echo, -1)
		for _, k := range []string{"n", "r", "d", "y", "N", "enter", "enter", "enter"} {
			s.press(k)
			s.wait(time.Second)
			s.dontSee(apitest.Key)
		}
	})
}
