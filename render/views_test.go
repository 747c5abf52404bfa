package render_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"mayfly/internal/mail"
	"mayfly/render"
)

func TestPlainText(t *testing.T) {
	for html, want := range map[string]string{
		`<p>Hello&nbsp;Ada</p><p>Enter <b>482913</b>.</p><p><a href="https://a.example/c?t=1&amp;u=(2)">Confirm</a> or <a href="https://a.example/">https://a.example/</a></p>`: "Hello Ada\n\nEnter 482913.\n\nConfirm ( https://a.example/c?t=1&u=(2) ) or https://a.example/",
		`<p>One</p><ul><li>first<ul><li>nested</li></ul></li><li><p>second</p></li></ul><ol start="9"><li>nine</li><li>ten</li></ol>`:                                           "One\n\n* first\n\n◦ nested\n\n* second\n\n9. nine\n10. ten",
		`<p>Me</p><blockquote><p>You</p><blockquote><p>Me again</p></blockquote></blockquote><hr><pre>  a
    b</pre>`: "Me\n\n> \n> You\n>> Me again\n> \n> \n\n---\n\n a\n   b",
		`<table><tr><th>Title</th><th>Price</th></tr><tr><td>Kindred<br>paperback</td><td>8.50</td></tr><tr><td>Total</td><td>8.50</td></tr></table><p>Bye</p>`: "Title | Price\nKindred paperback | 8.50\nTotal | 8.50\n\nBye",
		`<p>in<b>sep</b>arable</p>`: "inseparable",
		`<p>Seen</p><div style="display:none">unseen</div><p><a href="javascript:alert(1)">Do not</a></p>`: "Seen\n\nDo not",
	} {
		if got := render.Open(mail.Message{HTML: html}).Plain(); got != want {
			t.Errorf("%s\nbecame\n%s\nwant\n%s", html, got, want)
		}
	}
}

// Nothing is drawn where the code stands alone, which the rich view puts in a box.
func TestPlainTextDrawsNothing(t *testing.T) {
	raw, err := os.ReadFile("../assets/samples/1-confirm.eml")
	must(t, err)
	const want = `Welcome, Ada

Enter this code to finish signing up:

482 913

or use the button:

Confirm e-mail ( https://app.acme.example/confirm?token=5b1f9a )

The code is good for ten minutes. If you did not sign up, ignore this mail.

---

Acme Inc., 1 Example Street · unsubscribe ( https://app.acme.example/unsubscribe )`
	if got := render.Open(*mail.Parse(raw)).Plain(); got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestCleanDirection: words that are written backwards are shown as they are read. The name of a file
// is not: its ending would look like another.
func TestCleanDirection(t *testing.T) {
	const s = "invoice\u202efdp.exe"
	if got := render.Clean(s); got != "invoiceexe.pdf" {
		t.Errorf("Clean: %q", got)
	}
	if got := render.CleanWhole(s); got != "invoiceexe.pdf" {
		t.Errorf("CleanWhole: %q", got)
	}
	if got := render.CleanName(s); got != "invoicefdp.exe" {
		t.Errorf("CleanName: %q", got)
	}
}

// scripts are words with signs that terminals count in more than one way.
var scripts = map[string]string{
	"Sinhala": "ශ්\u200dරී ලංකාව සිංහල", "Thai": "ภาษาไทย น้ำ กำ ที่", "Khmer": "ភាសាខ្មែរ ស្រុក",
	"Burmese": "မြန်မာဘာသာ ကျွန်ုပ်", "Devanagari": "हिन्दी क्षत्रिय श्रीमान्", "Bengali": "বাংলা ক্ষমা", "Tamil": "தமிழ் க்ஷௌ கொ",
	"Persian": "می\u200cتوانید برنامه\u200cها", "Arabic": "العربيّة ـــــ مُحَمَّد", "Tibetan": "ཨོཾ་མ་ཎི", "Korean": "각 한국어", "Latin": "e\u0301\u0301a\u0328",
}

// TestScripts: no line is wider than the width, whether a terminal counts what is written as one
// sign or each part of it.
func TestScripts(t *testing.T) {
	for name, words := range scripts {
		all := ""
		for range 12 {
			all += words + " "
		}
		for kind, m := range map[string]mail.Message{
			"text": {Text: all}, "paragraph": html("<p>" + all + "<p>" + words + words + words),
			"columns": html(fmt.Sprintf("<table><tr><td>%s<td>%s<td>12.00</table>", words, words)),
			"link":    html(`<p>` + words + ` <a href="https://a.example/">` + all + `</a>`),
			"button":  html(`<p><a style="background:#000;color:#fff;padding:9px" href="https://a.example/">` + words + `</a>`),
			"list":    html("<ul><li>" + all + "</ul>"),
		} {
			for _, width := range []int{4, 13, 20, 40, 79} {
				lines := render.Open(m).Lines(render.Rich, render.Options{Width: width})
				holds(t, lines, width)
				for _, l := range lines {
					if n := ansi.StringWidthWc(l.Plain); n > width {
						t.Fatalf("%s, %s: %d of %d columns: %q", name, kind, n, width, l.Plain)
					}
				}
			}
		}
	}
}
