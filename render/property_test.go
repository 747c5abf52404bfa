package render_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
		if strings.HasPrefix(l.Plain, "This message cannot be") {
			t.Fatal("it panicked")
		}
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

// tries returns how much a test tries: with -short, usually, and with MAYFLY_LONG=1.
func tries(short, usual, all int) int {
	switch {
	case os.Getenv("MAYFLY_LONG") != "":
		return all
	case testing.Short():
		return short
	}
	return usual
}

// TestEveryWidth lays out all fixtures in all views, widths and themes.
func TestEveryWidth(t *testing.T) {
	t.Parallel()
	step := tries(60, 30, 7)
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
	for range 1 + g.r.IntN(6) {
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
	`a href="https://a.example/x"`, `a href="javascript:x"`, "center", `td colspan="3"`, `div dir="rtl"`, "section", "form", "button"}

// looks are the styles of random elements.
var looks = []string{"color:#aaa", "background:#000;color:#fff", "background:#dedede;padding:5px", "background:#f3f3f3;padding:5px;font-weight:bold",
	"border:1px solid #ccc;padding:12px", "border:1px solid", "border-left:4px solid #36c;padding-left:8px", "text-align:center", "text-align:right",
	"direction:rtl", "float:left;width:45%", "display:inline-block;width:50%", "font-size:32px;font-weight:bold", "margin:24px 0",
	"border-top:1px solid #ddd;padding-top:16px", "background:#1a73e8;color:#fff;padding:10px 20px", "width:50%;vertical-align:middle"}

// between are what stands between elements.
var between = []string{"<br>", "<br><br>", "&nbsp;", "<p>&nbsp;</p>", "<hr>", `<img src="x.png" alt="a picture" width="200">`, `<img src="x.png" width="16">`}

// some returns one of several texts, or none.
func (g *grown) some(texts []string, chance float64) string {
	if g.r.Float64() >= chance {
		return ""
	}
	return texts[g.r.IntN(len(texts))]
}

func (g *grown) open(tag string) {
	if look := g.some(looks, .5); look != "" {
		tag += ` style="` + look + `"`
	}
	fmt.Fprintf(&g.out, "<%s>", tag)
}

// content is text, elements, or both.
func (g *grown) content(depth int) {
	if depth > 0 && g.r.IntN(4) == 0 {
		g.element(depth-1, false)
	} else {
		g.text(false)
	}
}

// table is one with cells of all kinds, now and then left open.
func (g *grown) table(depth int) {
	g.open("table" + g.some([]string{` width="100%"`, ` border="1"`}, .6))
	for range 1 + g.r.IntN(4) {
		g.out.WriteString("<tr>")
		for range 1 + g.r.IntN(4) {
			cell := []string{"td", "td", "td", "th"}[g.r.IntN(4)]
			g.open(cell + g.some([]string{" colspan=2", " rowspan=2"}, .3))
			for range 1 + g.r.IntN(3) {
				g.content(depth)
			}
			g.out.WriteString(g.some([]string{"</" + cell + ">"}, .7))
		}
	}
	g.out.WriteString("</table>")
}

func (g *grown) element(depth int, hidden bool) {
	for range 1 + g.r.IntN(3) {
		g.out.WriteString(g.some(between, .2))
		if !hidden && g.r.IntN(4) == 0 {
			g.table(depth)
			continue
		}
		tag := tags[g.r.IntN(len(tags))]
		name, _, _ := strings.Cut(tag, " ")
		if gone := hidden || g.r.IntN(10) == 0; gone {
			tag, name = `div style="display:none"`, "div"
			fmt.Fprintf(&g.out, "<%s>", tag)
			g.text(true)
			if depth > 0 {
				g.element(depth-1, true)
			}
			g.out.WriteString("</div>")
		} else {
			g.open(tag)
			g.text(false)
			if depth > 0 {
				g.element(depth-1, false)
			}
			g.out.WriteString(g.some([]string{"</" + name + ">"}, .9)) // now and then one is left open
		}
		g.text(hidden)
	}
}

// TestGrownDocuments checks documents of random elements: what holds for every mail, and that no
// visible word is lost at any width.
func TestGrownDocuments(t *testing.T) {
	t.Parallel()
	word := regexp.MustCompile(`w[0-9]+q`)
	for seed := range uint64(tries(10, 100, 2000)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := &grown{r: rand.New(rand.NewPCG(seed, 1))}
			g.element(2, false)
			defer func() {
				if t.Failed() {
					t.Log(g.out.String())
				}
			}()
			mail := render.Open(mail.Message{HTML: g.out.String()})
			for _, width := range []int{24, 44, 80, 120} {
				lines := mail.Lines(render.Rich, render.Options{Width: width, Theme: themes()["dark-256"], Links: true, Unfold: true})
				holds(t, lines, width)
				have := make(map[string]bool)
				for _, l := range lines {
					for _, w := range word.FindAllString(l.Plain, -1) {
						have[w] = true
					}
				}
				if i := slices.IndexFunc(g.shown, func(w string) bool { return !have[w] }); i >= 0 {
					t.Fatalf("%s is lost at %d columns", g.shown[i], width)
				}
			}
		})
	}
}
