package compare

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/internal/mail"
	"mayfly/internal/message"
	"mayfly/ui/dialog"
	"mayfly/ui/uitest"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

func mailOf(subject, html string, headers ...mail.Field) *message.Message {
	at := time.Date(2026, 3, 4, 12, len(subject), 0, 0, time.UTC)
	m := message.New("inbox_1", api.Message{Subject: subject, HTML: html, To: "ada@b.example", ReceivedAt: at})
	m.Fields = headers
	return m
}

// written writes down a part: what differs, with the words in brackets.
func written(p part) string {
	var b strings.Builder
	for _, q := range p.passages {
		for side, lines := range q.Lines {
			sign := " "
			if q.Changed {
				sign = [...]string{"-", "+"}[side]
			}
			for _, l := range lines {
				b.WriteString(sign + strings.NewReplacer(string(marked), "[", "\x1b[m", "]").Replace(l) + "\n")
			}
		}
	}
	return b.String()
}

func TestMarkedWordsAreMarkedInEveryRow(t *testing.T) {
	want := []half{{"-", "one " + marked.On("two")}, {"-", marked.On("three")}, {"-", "four"}}
	if got := wrap("-", "one "+marked.On("two three")+" four", 8); !slices.Equal(got, want) {
		t.Errorf("the rows are %q", got)
	}
}

func TestWhatIsCompared(t *testing.T) {
	older := mailOf("Your code", `<p>Your code is 482913</p><table><tr><td>Thanks</td></tr></table><ul><li>One</li></ul><a href="https://a.example/1">Confirm</a>`,
		mail.Field{Name: "From", Value: "a@b.example"}, mail.Field{Name: "X-Mailer", Value: "one"},
		mail.Field{Name: "Message-ID", Value: "<1@b.example>"}, mail.Field{Name: "Content-Type", Value: `multipart/mixed; boundary="1"`})
	newer := mailOf("Your code again", `<p>Your code is 731002</p><table><tr><td>Thanks</td></tr></table><ul><li>One</li></ul><a href="https://a.example/2">Confirm</a>`,
		mail.Field{Name: "From", Value: "a@b.example"}, mail.Field{Name: "X-Mailer", Value: "two"},
		mail.Field{Name: "Message-ID", Value: "<2@b.example>"}, mail.Field{Name: "Content-Type", Value: `multipart/mixed; boundary="2"`})
	older.Text, newer.Text = "Your code: 1", "Your code: 2"
	want := map[string][]string{
		"rich":     {"-Your code is [482913]\n+Your code is [731002]\n", " Thanks\n", " • One\n"},
		"text":     {"-Your code: [1]\n+Your code: [2]\n"},
		"links":    {"-Confirm  https://a.example/[1]\n+Confirm  https://a.example/[2]\n"},
		"html":     {"-<p>Your code is [482913]</p><table>", "+<p>Your code is [731002]</p><table>"},
		"headers":  {" From: a@b.example\n-X-Mailer: [one]\n+X-Mailer: [two]\n Content-Type: multipart/mixed\n"},
		allHeaders: {"-Message-ID: <[1]@b.example>\n"},
	}
	for _, p := range Of(older, newer).parts {
		for _, w := range want[p.name] {
			if got := written(p); !strings.Contains(got, w) || p.changes == 0 {
				t.Errorf("%s, %d changes:\n%s\nwithout\n%s", p.name, p.changes, got, w)
			}
		}
		delete(want, p.name)
	}
	if len(want) > 0 {
		t.Errorf("not compared: %v", want)
	}
	for _, p := range Of(older, older).parts {
		if p.changes != 0 {
			t.Errorf("a message and itself differ in the %s", p.name)
		}
	}
	if d := Of(message.New("a", api.Message{}), message.New("a", api.Message{})); len(d.parts) != 1 {
		t.Errorf("two empty messages have the parts %+v", d.parts)
	}
}

func TestLargeMessagesAreComparedInPart(t *testing.T) {
	huge := mailOf("Huge", strings.Repeat("<p>Some text in a paragraph</p>", 200_000))
	other := mailOf("Huge", strings.Repeat("<p>Other text in a paragraph</p>", 200_000))
	d := New(Of(huge, other))
	uitest.DrawDialog(t, d, 80, 24)
	press(d, "G")
	uitest.DrawDialog(t, d, 80, 24).See("… compared up to here")
}

// press presses keys on a screen of 80 by 24 cells.
func press(d dialog.Dialog, keys ...string) (r dialog.Result) {
	for _, k := range uitest.Keys(keys...) {
		r = d.Update(k)
		d.Fit(80, 24)
	}
	return r
}

// pair is two messages with differences that are far apart.
func pair() Difference {
	var before, after strings.Builder
	for n := range 40 {
		text := fmt.Sprintf("<p>Paragraph %d is as it was.</p>", n)
		switch before.WriteString(text); {
		case n == 5 || n == 30:
			text = fmt.Sprintf("<p>Paragraph %d is better than it was, and long enough to be wrapped wherever it stands.</p>", n)
		case n == 35:
			text = ""
		}
		after.WriteString(text)
	}
	return Of(mailOf("Older", before.String()), mailOf("The newer one", after.String()))
}

func TestBelowOneAnother(t *testing.T) {
	uitest.DrawDialog(t, New(pair()), 60, 16).Is(`
 Compare   rich 3  html 3                            1 of 3
 - 4 Mar 12:05:00  ada@b.example  Older
 + 4 Mar 12:13:00  ada@b.example  The newer one
────────────────────────────────────────────────────────────
 ⋯ 2 equal lines
   Paragraph 2 is as it was.
   Paragraph 3 is as it was.
   Paragraph 4 is as it was.
▌- Paragraph 5 is as it was.
▌+ Paragraph 5 is better than it was, and long enough to be
▌+ wrapped wherever it stands.
   Paragraph 6 is as it was.
   Paragraph 7 is as it was.
   Paragraph 8 is as it was.
────────────────────────────────────────────────────────────
 n next  N previous  v part  z unfold  j k scroll  esc back
`)
}

func TestSideBySide(t *testing.T) {
	uitest.DrawDialog(t, New(pair()), 120, 18).Is(`
 Compare   rich 3  html 3                                                                                        1 of 3
 - 4 Mar 12:05:00  ada@b.example  Older                     │+ 4 Mar 12:13:00  ada@b.example  The newer one
────────────────────────────────────────────────────────────┼───────────────────────────────────────────────────────────
 ⋯ 2 equal lines
   Paragraph 2 is as it was.                                │  Paragraph 2 is as it was.
   Paragraph 3 is as it was.                                │  Paragraph 3 is as it was.
   Paragraph 4 is as it was.                                │  Paragraph 4 is as it was.
▌- Paragraph 5 is as it was.                                │+ Paragraph 5 is better than it was, and long enough to be
▌                                                           │+ wrapped wherever it stands.
   Paragraph 6 is as it was.                                │  Paragraph 6 is as it was.
   Paragraph 7 is as it was.                                │  Paragraph 7 is as it was.
   Paragraph 8 is as it was.                                │  Paragraph 8 is as it was.
 ⋯ 18 equal lines
   Paragraph 27 is as it was.                               │  Paragraph 27 is as it was.
   Paragraph 28 is as it was.                               │  Paragraph 28 is as it was.
   Paragraph 29 is as it was.                               │  Paragraph 29 is as it was.
────────────────────────────────────────────────────────────┴───────────────────────────────────────────────────────────
 n next  N previous  v part  z unfold  j k scroll  esc back
`)
}

func TestSmallScreens(t *testing.T) {
	d := New(pair())
	uitest.DrawDialog(t, d, 40, 12).Is(`
 Compare   rich 3  html 3        1 of 3
 - 12:05:00  ada  Older
 + 12:13:00  ada  The newer one
 ⋯ 2 equal lines
   Paragraph 2 is as it was.
   Paragraph 3 is as it was.
   Paragraph 4 is as it was.
▌- Paragraph 5 is as it was.
▌+ Paragraph 5 is better than it was,
▌+ and long enough to be wrapped
▌+ wherever it stands.
 n next  N previous  v part  esc back
`)
	uitest.DrawDialog(t, d, 20, 6).Is(`
 rich 3  pa… 1 of 3
   it was.
▌- Paragraph 5 is as
▌- it was.
▌+ Paragraph 5 is
 n next  esc back
`)
	for _, size := range [][2]int{{200, 60}, {5, 3}, {1, 1}} {
		uitest.DrawDialog(t, d, size[0], size[1])
	}
}

func TestKeys(t *testing.T) {
	d := New(pair())
	see := func(keys, count, marked string) {
		t.Helper()
		press(d, keys)
		got := uitest.DrawDialog(t, d, 80, 24)
		got.See(count)
		for _, row := range got.Rows {
			if strings.HasPrefix(row, "▌") {
				if !strings.Contains(row, marked) {
					t.Errorf("after %q the difference is %q, want %q", keys, row, marked)
				}
				return
			}
		}
		t.Errorf("after %q no difference is marked:\n%s", keys, got)
	}
	see("", "1 of 3", "- Paragraph 5 ")
	see("n", "2 of 3", "- Paragraph 30 ")
	see("]", "3 of 3", "- Paragraph 35 ")
	see("n", "1 of 3", "- Paragraph 5 ")
	see("N", "3 of 3", "- Paragraph 35 ")
	see("[", "2 of 3", "- Paragraph 30 ")
	see("gz", "2 of 3", "- Paragraph 30 ")
	see("g", "1 of 3", "- Paragraph 5 ")
	see("G", "2 of 3", "- Paragraph 30 ") // it is still on the screen
	uitest.DrawDialog(t, d, 80, 24).See("Paragraph 39", "z fold")
	see("v", "1 of 3", "- <p>Paragraph 5 ")
	see("h", "1 of 3", "- Paragraph 5 ")
	if press(d, "x").Close {
		t.Error("x closed it")
	}
	for _, key := range []string{"esc", "q", "enter", "="} {
		if r := press(d, key); !r.Close || r.Do != nil {
			t.Errorf("%s led to %+v", key, r)
		}
	}
}

func TestWithoutADifference(t *testing.T) {
	m := mailOf("Same", "<p>One</p><p>Two</p>")
	uitest.DrawDialog(t, New(Of(m, m)), 60, 10).See("no difference", "= No differences in this part.", "⋯ 2 equal lines")
}

func TestAHostileMessage(t *testing.T) {
	h := uitest.Hostile
	evil := mailOf(h, "<p>"+h+"</p>"+strings.Repeat(h, 20)+`<a href="https://x.example/`+h+`">`+h+"</a>", mail.Field{Name: "X" + h, Value: h})
	evil.Text = h
	for _, other := range []*message.Message{mailOf("plain", "<p>plain</p>"), evil} {
		d := New(Of(evil, other))
		for _, size := range [][2]int{{120, 36}, {40, 12}, {20, 6}} {
			for range 5 {
				uitest.DrawDialog(t, d, size[0], size[1])
				press(d, "v", "z")
			}
		}
	}
}
