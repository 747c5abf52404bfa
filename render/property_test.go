package render_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"mayfly/internal/mail"
	"mayfly/render"
)

// ours are the sequences that the writer may write: SGR, and OSC 8 with an id, or to close it.
var (
	sgr   = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	open8 = regexp.MustCompile(`\x1b\]8;id=([0-9]+-[0-9]+);((?i:https?://|mailto:)[\x21-\x7e]*)\x1b\\`)
)

const close8 = "\x1b]8;;\x1b\\"

// bare is a styled line without our sequences.
func bare(styled string) string {
	return sgr.ReplaceAllString(open8.ReplaceAllString(strings.ReplaceAll(styled, close8, ""), ""), "")
}

// holds checks what holds for the lines of every mail.
func holds(t testing.TB, lines []render.Line, width int) {
	t.Helper()
	blank := 2 // none at the start, and at most two, between groups
	for i, l := range lines {
		if w := displaywidth.String(l.Plain); w > width {
			t.Fatalf("line %d takes %d of %d columns: %q", i, w, width, l.Plain)
		}
		if blank++; strings.TrimSpace(l.Plain) != "" {
			blank = 0
		}
		if blank > 2 {
			t.Fatalf("line %d of %d is a third blank line, or one at the start", i, len(lines))
		}
		for _, m := range open8.FindAllStringSubmatch(l.Styled, -1) {
			if !strings.HasSuffix(m[1], fmt.Sprintf("-%d", i)) {
				t.Fatalf("line %d: the hyperlink's id %s is not the row's", i, m[1])
			}
		}
		if opened, closed := len(open8.FindAllString(l.Styled, -1)), strings.Count(l.Styled, close8); opened != closed {
			t.Fatalf("line %d opens %d hyperlinks and closes %d", i, opened, closed)
		}
		if codes := sgr.FindAllString(l.Styled, -1); len(codes) > 0 && codes[len(codes)-1] != "\x1b[m" {
			t.Fatalf("line %d does not end in the default look: %q", i, l.Styled)
		}
		if bare(l.Styled) != l.Plain {
			t.Fatalf("line %d: %q without our sequences is not %q", i, l.Styled, l.Plain)
		}
		for _, r := range l.Plain {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
				r == 0x2028 || r == 0x2029 || r == 0x200b || r >= 0xe0000 && r < 0xe1000 {
				t.Fatalf("line %d has %U: %q", i, r, l.Plain)
			}
		}
		for _, at := range l.Links {
			if at.N < 1 || at.Col < 0 || at.Width < 0 || at.Col+at.Width > width {
				t.Fatalf("line %d: a link at %+v of %d columns", i, at, width)
			}
		}
	}
	if len(lines) > 0 && blank > 0 {
		t.Fatal("the last line is blank")
	}
}

var views = []render.View{render.Rich, render.Text, render.HTML, render.Headers, render.Raw, render.Checks}

// TestEveryWidth lays out all fixtures in all views, widths and themes.
func TestEveryWidth(t *testing.T) {
	t.Parallel()
	step := 7
	if testing.Short() {
		step = 60
	}
	for _, file := range pages(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			mail, again := page(t, file), page(t, file)
			for width := 20; width <= 200; width += step {
				for _, theme := range themes() {
					o := render.Options{Width: width, Theme: theme, Hidden: width%2 == 0, Unfold: width%3 == 0, Links: true}
					lines := mail.Lines(render.Rich, o)
					holds(t, lines, width)
					if text(lines) != text(again.Lines(render.Rich, o)) {
						t.Fatal("the same mail gave different bytes")
					}
				}
				for _, v := range views[1:] {
					holds(t, mail.Lines(v, render.Options{Width: width, Theme: themes()["dark-true"]}), width)
				}
			}
		})
	}
}

func text(lines []render.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Styled)
		b.WriteByte('\n')
	}
	return b.String()
}

// TestNothingHiddenIsShown looks for the texts that the fixture hides, which are shown on request.
func TestNothingHiddenIsShown(t *testing.T) {
	mail := page(t, "testdata/pages/06-hidden.html")
	shown := text(mail.Lines(render.Rich, render.Options{Width: 80}))
	if strings.Contains(shown, "SECRET") || !strings.Contains(shown, "Outlook alone") {
		t.Errorf("hidden text is shown, or what Outlook alone hides is not:\n%s", shown)
	}
	var all strings.Builder
	for _, l := range mail.Lines(render.Rich, render.Options{Width: 60, Hidden: true}) {
		fmt.Fprintln(&all, l.Plain)
	}
	golden(t, "testdata/hidden-shown.golden", all.String())
	for n := 1; n <= 9; n++ {
		if !strings.Contains(all.String(), fmt.Sprintf("SECRET%d", n)) {
			t.Errorf("SECRET%d is not shown on request", n)
		}
	}
}

// grown is a document of random elements, and the words in it that a reader sees and does not see,
// by number.
type grown struct {
	r              *rand.Rand
	out            strings.Builder
	shown, dropped []string
	words          int
}

func (g *grown) word() string {
	g.words++
	return fmt.Sprintf("w%dq", g.words)
}

func (g *grown) text(hidden bool) {
	for range 1 + g.r.IntN(12) {
		w := g.word()
		if hidden {
			g.dropped = append(g.dropped, w)
		} else {
			g.shown = append(g.shown, w)
		}
		g.out.WriteString(w + " ")
	}
}

var tags = []string{"div", "p", "span", "b", "i", "ul", "ol", "li", "blockquote", "h2", "pre", "table", "tr", "td", "th",
	`a href="https://a.example/x"`, `a href="javascript:x"`, "center", `div style="display:inline-block;width:50%"`,
	`td colspan="3"`, `p style="color:#aaa"`, `div dir="rtl"`, `td style="background:#000;color:#fff"`, "section", "form", "button"}

func (g *grown) element(depth int, hidden bool) {
	for range 1 + g.r.IntN(4) {
		tag := tags[g.r.IntN(len(tags))]
		name, _, _ := strings.Cut(tag, " ")
		gone := hidden
		if g.r.IntN(10) == 0 {
			tag, name, gone = `div style="display:none"`, "div", true
		}
		fmt.Fprintf(&g.out, "<%s>", tag)
		g.text(gone)
		if depth > 0 {
			g.element(depth-1, gone)
		}
		if gone || g.r.IntN(12) > 0 { // now and then one is left open
			fmt.Fprintf(&g.out, "</%s>", name)
		}
		g.text(hidden)
	}
}

// TestGrownDocuments checks documents of random elements: what holds for every mail, and that no
// visible word is lost.
func TestGrownDocuments(t *testing.T) {
	t.Parallel()
	seeds := uint64(150)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		g := &grown{r: rand.New(rand.NewPCG(seed, 1))}
		g.element(4, false)
		mail := render.Open(mail.Message{HTML: g.out.String()})
		for _, width := range []int{20, 47, 80, 133} {
			holds(t, mail.Lines(render.Rich, render.Options{Width: width, Theme: themes()["dark-256"], Links: true, Unfold: true}), width)
		}
		var all strings.Builder
		for _, l := range mail.Lines(render.Rich, render.Options{Width: 80, Unfold: true}) {
			all.WriteString(l.Plain + "\n")
		}
		have := make(map[string]bool)
		for _, w := range regexp.MustCompile(`w[0-9]+q`).FindAllString(all.String(), -1) {
			have[w] = true
		}
		for _, w := range g.shown {
			if !have[w] {
				t.Errorf("seed %d: %s is lost", seed, w)
			}
		}
		if t.Failed() {
			t.Fatal(g.out.String())
		}
	}
}
