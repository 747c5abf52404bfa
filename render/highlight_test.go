package render

import (
	"strings"
	"testing"

	"mayfly/render/doc"
)

func TestHighlighting(t *testing.T) {
	long := strings.Repeat("x", longLine)
	for source, want := range map[string]string{
		"<p class=\"a\" id=b hidden>Text</p>": "A<p|W class|=|G\"a\"|W id|=|Gb|W hidden|A>|Text|A</p>",
		"<!-- a\nb --><br/>":                  "S<!-- a|\n|Sb -->|A<br|W/|A>",
		"<style>a{b:c;/* d */}</style>":       "A<style|A>|Aa|{|Wb|:|Gc|;|S/* d */|}|A</style>",
		"a < b & c":                           "a < b & c",
		"<a href='x":                          "<a href='x",
		"<p>\n<table><tr></p><br>" + long + "</table>\n<p></p>": "A<p|A>|\n|A<table|A>|~|    |A<tr|A>|~|A</p>|~|A<br|A>|" + long + "|A</table>|\n|A<p|A>|A</p>",
		"<style>a{b:c}" + long + "{}</style>":                   "A<style|A>|Aa|{|Wb|:|Gc|}|~|  |A" + long + "|{|}|~|A</style>",
	} {
		var got []string
		for n, row := range highlight(source) {
			switch {
			case row.Offset > 0:
				got = append(got, "~")
			case n > 0:
				got = append(got, "\n")
			}
			for _, s := range row.Spans {
				got = append(got, [...]string{doc.Own: "", doc.Accent: "A", doc.Good: "G", doc.Warning: "W", doc.Secondary: "S"}[s.Style.Role]+s.Text)
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q is %q, want %q", source, strings.Join(got, "|"), want)
		}
	}
}

func FuzzHighlight(f *testing.F) {
	for _, s := range []string{"<p a='b' c=\"d\" e=f>x</p>", "<style>a{b:c}/*", "<script><!--</script>", "<a =\n>", "</\n", "<!doctype", "<textarea><b></textarea>", "<p><b>" + strings.Repeat("x", longLine) + "</b><i></i></p>\n<style>a{b:c}" + strings.Repeat("d;", longLine) + "</style>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		var b strings.Builder
		begin := 0
		for n, row := range highlight(source) {
			switch {
			case row.Offset > 0 && len(row.Spans) > 0 && strings.Trim(row.Spans[0].Text, " ") == "":
				row.Spans = row.Spans[1:] // the indentation
			case row.Offset == 0 && n > 0:
				b.WriteString("\n")
				begin = b.Len()
			}
			if b.Len()-begin != row.Offset {
				t.Errorf("%q: row %d begins at %d, and says %d", source, n, b.Len()-begin, row.Offset)
			}
			for _, s := range row.Spans {
				b.WriteString(s.Text)
			}
		}
		if b.String() != source {
			t.Errorf("%q became %q", source, b.String())
		}
	})
}
