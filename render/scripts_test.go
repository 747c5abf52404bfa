package render_test

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"mayfly/internal/mail"
	"mayfly/render"
)

// scripts are words with signs that terminals count in more than one way.
var scripts = map[string]string{
	"Sinhala": "ශ්\u200dරී ලංකාව සිංහල", "Thai": "ภาษาไทย น้ำ กำ ที่", "Khmer": "ភាសាខ្មែរ ស្រុក",
	"Burmese": "မြန်မာဘာသာ ကျွန်ုပ်", "Devanagari": "हिन्दी क्षत्रिय श्रीमान्", "Bengali": "বাংলা ক্ষমা", "Tamil": "தமிழ் க்ஷௌ கொ",
	"Arabic": "العربيّة ـــــ مُحَمَّد", "Tibetan": "ཨོཾ་མ་ཎི", "Korean": "각 한국어", "Latin": "e\u0301\u0301a\u0328",
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
