package markdown

import (
	"strings"
	"testing"

	"mayfly/render/doc"
)

func text(d *doc.Document) string { return d.Text() }

func TestRead(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"a paragraph":                  {"a\nb **c** *d* `e`", "a b c d e"},
		"paragraphs":                   {"a\n\nb", "a\nb"},
		"a heading":                    {"# a\n## b\ntext", "a\nb\ntext"},
		"a list":                       {"- a\n- b\n  - c", "a\nb\nc"},
		"an item's paragraphs":         {"- a\n\n  b\n- c", "a\nb\nc"},
		"the same, beside code":        {"- a\n\n  b\n\n```\ncode\n```\n", "a\nb\ncode"},
		"code in an item":              {"- a\n\n  ```\n  x\n\n    y\n  ```\n", "a\nx\n\n  y"},
		"a fence within a fence":       {"````\n```\n- a\n\n  b\n````\n", "```\n- a\n\n  b"},
		"a link":                       {"[a](https://a.example/) b", "a b"},
		"a quote":                      {"> a\n>> b", "a\nb"},
		"a table":                      {"| a | b |\n|---|---|\n| c | d |", "a\tb\nc\td"},
		"references":                   {"&#27;[31m &#x1b;x &amp; &#65; &copy;", "& A ©"},
		"references without semicolon": {"&#27[31m &#11A &#9B &#x7f &#1C &#65 x", "&#27[31m &#11A &#9B &#x7f &#1C &#65 x"},
		"references to tabs":           {"a&Tab;b", "a b"},
		"tasks":                        {"- [x] a\n- [ ] b ~~c~~", "[x] a\n[ ] b c"},
		"bare links":                   {"https://a.example/ www.b.example ada@c.example", "https://a.example/ www.b.example ada@c.example"},
		"images":                       {"![a *b*](https://a.example/x.png) ![](https://a.example/y.png)", "a b"},
		"tags":                         {"a <b>c</b><br>d <!-- e --> <script>f</script>", "a c\nd"},
		"a block of HTML":              {"<div style='display:none'>\na\n</div>\n\n<p>b *c*\nd</p>", "b *c* d"},
		"controls":                     {"a\x1b[31mb\x06c\x0e\vd", "abcd"},
	} {
		t.Run(name, func(t *testing.T) {
			d, ok := Read(c.source, Options{})
			if !ok {
				t.Fatal("not rendered")
			}
			if got := text(d); got != c.want {
				t.Errorf("%q\n got %q\nwant %q", c.source, got, c.want)
			}
		})
	}
}

// TestReadPlain reads what is only taken for Markdown.
func TestReadPlain(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"lines":           {"a\nb **c**\n\nd", "a\nb c\nd"},
		"tags":            {"Hello <name>, <b>you</b>", "Hello <name>, <b>you</b>"},
		"a block of tags": {"<name>\n<script>\nx < 1\n</script>\n\nb", "<name>\n<script>\nx < 1\n</script>\nb"},
		"a comment":       {"<!-- a\nb --> c\n", "<!-- a\nb --> c"},
	} {
		t.Run(name, func(t *testing.T) {
			if d, ok := Read(c.source, Options{Plain: true}); !ok || text(d) != c.want {
				t.Errorf("%q\n got %q\nwant %q", c.source, text(d), c.want)
			}
		})
	}
}

func TestLinksAndImages(t *testing.T) {
	d, ok := Read("[a](https://a.example/?b=c&d) <https://b.example/> ![c](cid:d) [e](javascript:f) www.acme.example", Options{})
	if !ok || len(d.Links) != 4 || len(d.Images) != 1 {
		t.Fatalf("%+v", d)
	}
	for i, want := range []string{"https://a.example/?b=c&d", "https://b.example/", "http://www.acme.example", "javascript:f"} {
		if l := d.Links[i]; l.URL != want || l.Blocked != (want == "javascript:f") {
			t.Errorf("%+v, want %s", l, want)
		}
	}
	if im := d.Images[0]; im.Src != "cid:d" || im.Alt != "c" {
		t.Errorf("%+v", im)
	}
}

func TestWhatIsTooMuch(t *testing.T) {
	r := strings.Repeat
	for name, source := range map[string]string{
		"long": r("word ", maxSource/5+1), "deep quotes": r(">", maxDepth+1) + " a", "set in": r(" ", maxIndent+1) + "- a",
		"columns": r("|a", maxBars+1), "marks": r("*a", maxMarks+1), "brackets": r("[", maxMarks+1),
		"brackets on lines": r(r("[", 100)+"\n", maxOpen/100+1),
		"cells":             r("|a", 60) + "\n" + r("|-", 60) + "\n" + r("|\n", 10_000),
		"a reference":       "[a]: /" + r("b", 1000) + "\n\n" + r("[a] ", 1000),
	} {
		if _, ok := Read(source, Options{}); ok {
			t.Errorf("%s: rendered", name)
		}
	}
}

func TestIs(t *testing.T) {
	for source, want := range map[string]bool{
		"# Head\n\n**bold** words":                           true,
		"See [this](https://a.example/)\n\n```\ncode\n```":   true,
		"| a | b |\n|---|---|\n| c | d |\n\n# Head":          true,
		"# a comment of a shell":                             false,
		"2 * 3 * 4 and **one thing**":                        false,
		"plain text\n\n- with\n- a list":                     false,
		"[link](not a URL) and # no heading":                 false,
		strings.Repeat("# Head\n**bold**\n", maxSource/16+9): false,
	} {
		if got := Is(source); got != want {
			t.Errorf("%.60q: %v", source, got)
		}
	}
}
