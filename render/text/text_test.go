package text

import (
	"fmt"
	"strings"
	"testing"

	"mayfly/render/doc"
)

var kinds = [...]string{"p", "h", "pre", "code", "hr", "list", "item", "quote", "sig"}

// dump writes a document as nested brackets: p(text) for a paragraph, [text]1 for link 1.
func dump(blocks []*doc.Block) string {
	var all []string
	for _, b := range blocks {
		var in strings.Builder
		for _, s := range b.Spans {
			if s.Link > 0 {
				fmt.Fprintf(&in, "[%s]%d", s.Text, s.Link)
			} else {
				in.WriteString(s.Text)
			}
		}
		in.WriteString(dump(b.Children))
		s := kinds[b.Kind] + b.Marker
		if b.Kind != doc.Rule {
			s += "(" + in.String() + ")"
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

func TestRead(t *testing.T) {
	wide := strings.Repeat("word ", 13) // 65 columns: wrapped by the sender's program
	for name, c := range map[string]struct {
		text string
		o    Options
		want string
	}{
		"paragraphs":              {"a\n\n\nb\n", Options{}, "p(a) p(b)"},
		"lines":                   {"Dear Ada,\nshort\nlines", Options{}, "p(Dear Ada,\nshort\nlines)"},
		"wrapped":                 {wide + "\nand more", Options{}, "p(" + wide + "and more)"},
		"wrapped, the end":        {wide + "\nEnd.\nNew line", Options{}, "p(" + wide + "End.\nNew line)"},
		"line ends":               {"a\r\nb\rc\u2028d", Options{}, "p(a\nb\nc\nd)"},
		"a list":                  {"- a\n* b\n  goes on\n• c", Options{}, "list(item•(p(a)) item•(p(b\ngoes on)) item•(p(c)))"},
		"numbers":                 {"1. a\n2) b\n10. c", Options{}, "list(item1.(p(a)) item2)(p(b)) item10.(p(c)))"},
		"no list":                 {"1.5 times\n-5 degrees\n2026. A year", Options{}, "p(1.5 times\n-5 degrees\n2026. A year)"},
		"a rule":                  {"a\n-----\nb\n=====", Options{}, "p(a) hr p(b) hr"},
		"quotes":                  {"> a\n>> b\n> > c\nd", Options{}, "quote(p(a) quote(p(b\nc))) p(d)"},
		"a mailbox's From":        {">From here", Options{}, "p(From here)"},
		"a signature":             {"a\n-- \nAda\nb", Options{}, "p(a) sig(p(Ada\nb))"},
		"two signatures":          {"a\n-- \nb\n-- \nc", Options{}, "p(a\n--\nb) sig(p(c))"},
		"a quoted signature":      {"> a\n> -- \n> b", Options{}, "quote(p(a\n--\nb))"},
		"no signature":            {"a\n--\nb", Options{}, "p(a\n--\nb)"},
		"flowed":                  {"a \nb \nc\nd", Options{Flowed: true}, "p(a b c\nd)"},
		"flowed, spaces deleted":  {"a \nb \nc", Options{Flowed: true, DelSp: true}, "p(abc)"},
		"flowed quotes":           {"> a \n> b\n>> c", Options{Flowed: true}, "quote(p(a b) quote(p(c)))"},
		"flowed, stuffed":         {" > a\n From b", Options{Flowed: true}, "p(> a\nFrom b)"},
		"flowed, a signature":     {"a \n-- \nAda", Options{Flowed: true}, "p(a) sig(p(Ada))"},
		"flowed, other depth":     {"> a \nb", Options{Flowed: true}, "quote(p(a)) p(b)"},
		"columns":                 {"Name    Runs\nunit    1200", Options{}, "pre(Name    Runs\nunit    1200)"},
		"a drawn table":           {"+---+---+\n| a | b |\n+---+---+", Options{}, "pre(+---+---+\n| a | b |\n+---+---+)"},
		"a diff":                  {"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b", Options{}, "pre(--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b)"},
		"set in":                  {"    a\n      b", Options{}, "pre(    a\n      b)"},
		"tabs":                    {"a\tb\nlonger\tc", Options{}, "pre(a       b\nlonger  c)"},
		"a URL":                   {"see https://a.example/b, ok", Options{}, "p(see [https://a.example/b]1, ok)"},
		"a host":                  {"www.a.example", Options{}, "p([www.a.example]1)"},
		"a URL twice":             {"https://a.example https://a.example", Options{}, "p([https://a.example]1 [https://a.example]1)"},
		"a URL over lines":        {"<https://a.example/0123456789\nabc/def>", Options{}, "p(<[https://a.example/0123456789abc/def]1>)"},
		"a long URL over lines":   {"https://a.example/" + strings.Repeat("x", 60) + "\n?token=abc", Options{}, "p([https://a.example/" + strings.Repeat("x", 60) + "?token=abc]1)"},
		"a URL and the next line": {"https://a.example/confirm/0123\nBye", Options{}, "p([https://a.example/confirm/0123]1\nBye)"},
		"written backwards":       {"Now \u202e!eviL\u202c here\n\u202eשלום\u202c", Options{}, "p(Now Live! here\nשלום)"},
		"nothing":                 {" \n\n ", Options{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := dump(Read(c.text, c.o).Blocks); got != c.want {
				t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"long":  {strings.Repeat("x", maxText+1), "the text is cut: it is longer than 1 MB"},
		"lines": {strings.Repeat("x\n", maxLines+1), "the text is cut: it has more than 30000 lines"},
		"both":  {"short", ""},
	} {
		if got := Read(c.text, Options{}).Simplified; got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	depth := 0
	for b := Read(strings.Repeat(">", 99)+" deep", Options{}).Blocks[0]; len(b.Children) > 0; b = b.Children[0] {
		depth++
	}
	if depth != maxDepth {
		t.Errorf("%d quotes within quotes", depth)
	}
}
