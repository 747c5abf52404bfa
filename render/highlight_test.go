package render

import (
	"strings"
	"testing"

	"mayfly/render/doc"
)

func TestHighlighting(t *testing.T) {
	for source, want := range map[string]string{
		"<p class=\"a\" id=b hidden>Text</p>": "A<p|W class|=|G\"a\"|W id|=|Gb|W hidden|A>|Text|A</p>",
		"<!-- a\nb --><br/>":                  "S<!-- a|\n|Sb -->|A<br|W/|A>",
		"<style>a{b:c;/* d */}</style>":       "A<style|A>|Aa|{|Wb|:|Gc|;|S/* d */|}|A</style>",
		"a < b & c":                           "a < b & c",
		"<a href='x":                          "<a href='x",
	} {
		var got []string
		for n, line := range highlight(source) {
			if n > 0 {
				got = append(got, "\n")
			}
			for _, s := range line {
				got = append(got, [...]string{doc.Own: "", doc.Accent: "A", doc.Good: "G", doc.Warning: "W", doc.Secondary: "S"}[s.Style.Role]+s.Text)
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q is %q, want %q", source, strings.Join(got, "|"), want)
		}
	}
}

func FuzzHighlight(f *testing.F) {
	for _, s := range []string{"<p a='b' c=\"d\" e=f>x</p>", "<style>a{b:c}/*", "<script><!--</script>", "<a =\n>", "</\n", "<!doctype", "<textarea><b></textarea>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		var lines []string
		for _, line := range highlight(source) {
			var b strings.Builder
			for _, s := range line {
				b.WriteString(s.Text)
			}
			lines = append(lines, b.String())
		}
		if got := strings.Join(lines, "\n"); got != source {
			t.Errorf("%q became %q", source, got)
		}
	})
}
