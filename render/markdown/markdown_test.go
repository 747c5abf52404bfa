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
		"code in an item":              {"- a\n\n  ```\n  x\n\n    y\n  ```\n", "a\nx\n  y"},
		"a fence within a fence":       {"````\n```\n- a\n\n  b\n````\n", "```\n- a\n  b"},
		"a link":                       {"[a](https://a.example/) b", "a b"},
		"a quote":                      {"> a\n>> b", "a\nb"},
		"a table":                      {"| a | b |\n|---|---|\n| c | d |", "a\tb\nc\td"},
		"references":                   {"&#27;[31m &#x1b;x &amp; &#65; &copy;", "�[31m �x & A ©"},
		"references without semicolon": {"&#27[31m &#11A &#9B &#x7f &#1C &#65 x", "�[31m �A �B � �C A x"},
		"references to tabs":           {"a&Tab;b", "a       b"},
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

func TestWhatIsTooMuch(t *testing.T) {
	r := strings.Repeat
	for name, source := range map[string]string{
		"long": r("word ", maxSource/5+1), "deep quotes": r(">", maxDepth+1) + " a", "set in": r(" ", maxIndent+1) + "- a",
		"columns": r("|a", maxBars+1), "marks": r("*a", maxMarks+1), "brackets": r("[", maxMarks+1),
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
