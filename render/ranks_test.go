package render_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"mayfly/internal/mail"
	"mayfly/render"
	"mayfly/render/layout"
)

// prominence returns how much a line stands out: a title that is underlined most, then what is bold and has a colour, bold,
// plain and dim.
func prominence(lines []render.Line, i int, mark string) int {
	before, _, _ := strings.Cut(lines[i].Styled, mark)
	looks := append(sgr.FindAllString(before, -1), "")
	codes := ";" + strings.Trim(looks[max(len(looks)-2, 0)], "\x1b[m") + ";"
	switch has := func(code string) bool { return strings.Contains(codes, code) }; {
	case i+1 < len(lines) && strings.Contains(lines[i+1].Plain, "━"):
		return 4
	case has(";1;") && has(";38;"):
		return 3
	case has(";1;"):
		return 2
	case has(";2;"):
		return 0
	}
	return 1
}

// TestLargerTextIsNotLessProminent: of lines of one weight, a larger one never stands out less than a smaller one, and lines that
// look alike in a browser look alike here, whatever their elements are.
func TestLargerTextIsNotLessProminent(t *testing.T) {
	sizes := []int{12, 13, 14, 16, 20, 24, 32, 48}
	elements := []string{
		"<div style=%q>%s</div>", "<p style=%q>%s</p>", "<h1 style=%q>%s</h1>", "<h2 style=%q>%s</h2><hr>", "<h3 style=%q>%s</h3>", "<h4 style=%q>%s</h4>", "<h6 style=%q>%s</h6>",
		"<table><tr><td style=%q>%s</td></tr></table>", "<table><tr><td style=%q>%s</td><td>14 March</td></tr></table>", "<ul><li style=%q>%s</li></ul>",
	}
	mark := regexp.MustCompile(`w[0-9]+q`)
	type line struct {
		size int
		bold bool
		text string
	}
	for seed := range uint64(tries(50, 200, 2000)) {
		r := rand.New(rand.NewPCG(seed, 2))
		var body strings.Builder
		all := map[string]line{}
		for i := range 2 + r.IntN(5) {
			l := line{sizes[r.IntN(len(sizes))], r.IntN(2) == 0, ""}
			style := fmt.Sprintf("font-size:%dpx;font-weight:%d;margin:20px 0", l.size, map[bool]int{false: 400, true: 700}[l.bold])
			l.text = fmt.Sprintf(elements[r.IntN(len(elements))], style, fmt.Sprintf("w%dq and more", i))
			all[fmt.Sprintf("w%dq", i)] = l
			fmt.Fprintf(&body, "%s\n<p>%s</p>\n", l.text, strings.Repeat("The text of the mail. ", 4))
		}
		lines := render.Open(mail.Message{HTML: body.String()}).Lines(render.Rich, render.Options{Width: 80, Theme: themes()["light-true"], Unfold: true})
		seen := map[string]int{}
		for i := range lines {
			if m := mark.FindString(lines[i].Plain); m != "" {
				seen[m] = prominence(lines, i, m)
			}
		}
		for a, more := range all {
			for b, less := range all {
				if more.bold == less.bold && (more.size > less.size && seen[a] < seen[b] || more.size == less.size && seen[a] != seen[b]) {
					t.Fatalf("%d: %q is %d, %q %d", seed, more.text, seen[a], less.text, seen[b])
				}
			}
		}
	}
}

// TestTones: in a mail whose text is greyer than its headings, they are bright, and it is softer than what has no colour.
func TestTones(t *testing.T) {
	body := `<h2 style="color:#111">Head</h2><p style="color:#64748b">` + strings.Repeat("The text of the mail. ", 4) + `</p><p>And so on for all</p>`
	for _, test := range []struct {
		guessed    bool
		head, text string
	}{{false, "1;38;2;255;255;255", "38;2;176;176;176"}, {true, "1", ""}} {
		lines := render.Open(mail.Message{HTML: body}).Lines(render.Rich, render.Options{Width: 99, Theme: render.Theme{Dark: true, Guessed: test.guessed, Profile: layout.TrueColor}})
		look := func(i int, text string) string {
			before, _, _ := strings.Cut(lines[i].Styled, text)
			before = before[max(strings.LastIndex(before, "\x1b"), 0):]
			return strings.Trim(before, "\x1b[m")
		}
		if got := look(0, "Head") + look(3, "The"); got != test.head+test.text {
			t.Errorf("guessed %v: %q", test.guessed, got)
		}
	}
}
