package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mayfly/api/apitest"
	"mayfly/ui/theme"
)

// TestASmallReaderBeginsWithTheCode: in the first line of the opened mail, in each of its views, whatever its
// body begins with.
func TestASmallReaderBeginsWithTheCode(t *testing.T) {
	const banner = "<table width=600><tr><td style='border:1px solid #888;padding:40px'><h1>Welcome to Acme</h1><p>%s</p></td></tr></table>"
	for _, size := range []struct{ w, h int }{{100, 12}, {60, 16}, {40, 12}, {24, 8}, {20, 6}} {
		for body, want := range map[string]string{
			"Your verification code is <b>482 913</b>":             "482913 · ",
			"<a href=https://acme.example/confirm?t=1>Confirm</a>": "↗ Confirm · ",
			"Nothing to do.": "Confirm your e",
		} {
			set := setting{width: size.w, height: size.h, before: func(h *harness) {
				in := h.inboxNamed("ada", time.Hour)
				h.mail(in.Email, apitest.Mail{From: "no-reply@acme.example", FromName: "Acme", Subject: "Confirm your e-mail address", HTML: fmt.Sprintf(banner, body)})
			}}
			play(t, set, func(h *harness) {
				h.press("enter")
				for _, view := range []string{"1", "3", "6"} {
					h.press(view)
					pane := h.app.layout.Panes[theme.Reader]
					if row := []rune(h.text()[pane.Y]); !strings.HasPrefix(strings.TrimSpace(string(row[min(pane.X, len(row)):])), want) {
						h.t.Fatalf("%d×%d, view %s: the first line is %q, want %q:\n%s", size.w, size.h, view, string(row), want, strings.Join(h.text(), "\n"))
					}
				}
			})
		}
	}
}
