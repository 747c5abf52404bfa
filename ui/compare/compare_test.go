package compare

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mayfly/api"
	"mayfly/mail"
	"mayfly/message"
	"mayfly/ui/dialog"
	"mayfly/ui/theme"
)

func side(subject, html string, headers ...mail.Field) *message.Message {
	m := message.New("inbox_1", api.Message{Subject: subject, HTML: html})
	m.Fields = headers
	return m
}

func lines(d Difference, part int) string { return strings.Join(d.lines[part], "\n") }

func TestOf(t *testing.T) {
	older := side("Your code", `<p>Your code is 482913</p><p>Thanks</p><a href="https://a.example/1">Confirm</a>`,
		mail.Field{Name: "From", Value: "a@b.example"}, mail.Field{Name: "X-Mailer", Value: "one"})
	newer := side("Your code again", `<p>Your code is 731002</p><p>Thanks</p><a href="https://a.example/2">Confirm</a>`,
		mail.Field{Name: "From", Value: "a@b.example"}, mail.Field{Name: "X-Mailer", Value: "two"})
	d := Of(older, newer)
	for part, want := range [][]string{
		{"-Your code is 482913\n+Your code is 731002", "\n Thanks"},
		{"-Confirm  https://a.example/1\n+Confirm  https://a.example/2"},
		{" From: a@b.example\n-X-Mailer: one\n+X-Mailer: two"},
	} {
		for _, w := range want {
			if got := lines(d, part); !strings.Contains(got, w) || !strings.HasPrefix(got, "@@") {
				t.Errorf("%s:\n%s\nwithout\n%s", parts[part], got, w)
			}
		}
	}
	d = Of(older, older)
	for part, name := range parts {
		if got := lines(d, part); got != "No difference in the "+name+"." {
			t.Errorf("a message and itself: %q", got)
		}
	}
}

func TestNothingInAMailReachesTheTerminal(t *testing.T) {
	const evil = "\x1b]0;owned\x07\x1b[2J\u009b31m\r\n\t\x00\x7f\u202e\u2066\u200bend"
	d := Of(side(evil, "<p>"+evil+`</p><a href="https://x.example/`+evil+`">`+evil+"</a>", mail.Field{Name: "X" + evil, Value: evil}), side("plain", "<p>plain</p>"))
	s := newScreen(NewDialog(d))
	for range parts {
		for _, row := range s.rows(t, 120, 36) {
			if strings.ContainsFunc(row, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Bidi_Control) }) {
				t.Errorf("on the screen: %q", row)
			}
		}
		s.press("v")
	}
}

type screen struct{ d dialog.Dialog }

func newScreen(d dialog.Dialog) screen { return screen{d} }

// rows draws the dialog over a screen of dots and checks that each row keeps its width.
func (s screen) rows(t *testing.T, w, h int) []string {
	t.Helper()
	s.d.Fit(w, h)
	rows := make([]string, h)
	for n := range rows {
		rows[n] = strings.Repeat(".", w)
	}
	s.d.Draw(&theme.Theme{}, rows, w)
	for n, r := range rows {
		if rows[n] = ansi.Strip(r); ansi.StringWidth(r) != w {
			t.Errorf("row %d of %d×%d is not as wide: %q", n, w, h, r)
		}
	}
	return rows
}

func (s screen) press(key string) dialog.Result {
	codes := map[string]rune{"tab": tea.KeyTab, "esc": tea.KeyEscape, "enter": tea.KeyEnter}
	if code, ok := codes[key]; ok {
		return s.d.Update(tea.KeyPressMsg{Code: code})
	}
	return s.d.Update(tea.KeyPressMsg{Code: rune(key[0]), Text: key})
}

func TestTheDialog(t *testing.T) {
	var before, after strings.Builder
	for n := range 100 {
		fmt.Fprintf(&before, "<p>line %d</p>", n)
		fmt.Fprintf(&after, "<p>line %d</p>", n*2)
	}
	s := newScreen(NewDialog(Of(side("The older", before.String()), side("The newer", after.String()))))
	see := func(texts ...string) {
		t.Helper()
		got := strings.Join(s.rows(t, 60, 16), "\n")
		for _, text := range texts {
			if !strings.Contains(got, text) {
				t.Errorf("%q is not on the screen:\n%s", text, got)
			}
		}
	}
	see("╭ Compare ─", "│ - The older", "│ + The newer", "│ text  links  headers   v next  esc back", "│ ╌╌╌╌╌╌╌╌", "line 0 ")
	s.press("G")
	see("+line 198")
	s.press("tab")
	see("No difference in the links.")
	s.press("h")
	see("line 0 ")
	for _, size := range [][2]int{{20, 6}, {200, 60}, {40, 12}, {5, 3}, {1, 1}} {
		got := strings.Join(s.rows(t, size[0], size[1]), "\n")
		if size[0] >= 20 && (!strings.Contains(got, "line 0") || !strings.Contains(got, "text  links")) {
			t.Errorf("%d×%d:\n%s", size[0], size[1], got)
		}
	}
	if s.press("x").Close {
		t.Error("x closed it")
	}
	for _, key := range []string{"esc", "q", "enter", "="} {
		if r := s.press(key); !r.Close || r.Intent != nil {
			t.Errorf("%s led to %+v", key, r)
		}
	}
}
