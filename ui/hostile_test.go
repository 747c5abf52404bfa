package ui

import (
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/apitest"
	"mayfly/ui/uitest"
)

// evil is hostile text of characters whose width no terminal doubts.
var evil = strings.Replace(uitest.Hostile, uitest.Joined+" ", "", 1)

// checkHarmless fails when something of a mail could reach the terminal as more than text.
func (h *harness) checkHarmless(doing string) {
	h.t.Helper()
	h.t.Log(doing) // shown on failure
	v := h.app.View()
	uitest.DrawLast(h.t, strings.Split(v.Content, "\n"), h.app.width)
	for _, text := range append(h.raw, v.WindowTitle) {
		if strings.HasPrefix(text, "\x1b]9;") {
			text = strings.TrimSuffix(strings.TrimPrefix(text, "\x1b]9;"), "\a\a")
		}
		for _, r := range text {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				h.t.Fatalf("the terminal gets %U: %q", r, text)
			}
		}
	}
}

func TestNothingInAMailReachesTheTerminal(t *testing.T) {
	play(t, setting{width: 120, height: 36, service: extended, before: func(h *harness) {
		in := h.inboxNamed("ada", time.Hour)
		for range 2 {
			h.mail(in.Email, apitest.Mail{
				From: "a" + evil + "@b.example", FromName: "Name" + evil, Subject: "Your code is 123456 " + evil, Text: "Text " + evil,
				HTML:        "<p>" + evil + "</p><a href=\"https://x.example/confirm?t=" + evil + "\">Confirm " + evil + "</a><p>code 482913</p>",
				Attachments: []api.Attachment{{Filename: "../" + evil + ".sh", ContentType: "text/" + evil, Content: []byte(evil)}},
			})
		}
	}}, func(h *harness) {
		for _, keys := range [][]string{
			{}, {"enter"}, {"v"}, {"v"}, {"v"}, {"v"}, {"v"}, {"1", "x", "z"}, {"f"}, {"a"}, {"o"}, {"esc"}, {"a"}, {"s"}, {"c"},
			{"h", "space", "j", "space", "="}, {"v"}, {"v"}, {"esc"}, {"?"}, {"esc"}, {"g", "h", "g", "l"}, {"/"}, {"end", "esc", "b"},
		} {
			h.press(keys...)
			h.checkHarmless(strings.Join(keys, " "))
		}
		h.send(tea.PasteMsg{Content: evil})
		h.checkHarmless("paste")
		h.press("L")
		h.send(tea.PasteMsg{Content: evil})
		h.press("enter")
		h.checkHarmless("label")
		h.send(tea.BlurMsg{})
		h.deliver(adas, apitest.Mail{From: "a@b.example", FromName: evil, Subject: evil})
		h.checkHarmless("notification")
	})
}

func TestAKeyIsNeverShown(t *testing.T) {
	play(t, setting{width: 120, height: 36, before: ada}, func(h *harness) {
		h.server.Fail(apitest.Echo, -1)
		for _, k := range []string{"n", "r", "d", "y", "N", "enter", "enter", "enter"} {
			h.press(k)
			h.wait(time.Second)
			h.dontSee(apitest.Key)
		}
	})
}
