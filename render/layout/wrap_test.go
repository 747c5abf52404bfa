package layout

import (
	"strings"
	"testing"

	"mayfly/render/doc"
)

// TestSpansBreakNoLine checks that a line breaks only where there is a space, whatever spans meet in
// a word.
func TestSpansBreakNoLine(t *testing.T) {
	const text = "On Monday Ana Pop <ana@tea.example> wrote: (see “this”, or [that])! Tea costs $4.50, 五."
	styles := map[string]doc.Span{"bold": {Style: doc.Style{Bold: true}}, "link": {Link: 1}, "filled": {Style: doc.Style{Background: doc.Color{R: 200, Set: true}}}}
	for _, width := range []int{24, 31, 47} {
		for name, span := range styles {
			for from := range text {
				for to := range text {
					if to <= from || text[from] == ' ' || text[to-1] == ' ' {
						continue
					}
					one := span
					one.Text = text[from:to]
					b := &doc.Block{Spans: []doc.Span{{Text: text[:from]}, one, {Text: text[to:]}}}
					got := strings.ReplaceAll(strings.ReplaceAll(lay(Options{Width: width}, b), "\n", " "), "¹", "")
					if got != text {
						t.Fatalf("%s %q in %d columns: %q", name, one.Text, width, got)
					}
				}
			}
		}
	}
}

func TestBreaksBesideButtons(t *testing.T) {
	button := func(text string) doc.Span { return doc.Span{Text: text, Link: 1, Button: true} }
	for _, c := range []struct {
		spans []doc.Span
		width int
		want  string
	}{
		{[]doc.Span{{Text: "Tea ("}, button("Brew"), {Text: ")."}}, 14, "Tea\n([ Brew ]¹)."},
		{[]doc.Span{button("Brew"), {Text: "Pour", Button: true}}, 14, "[ Brew ]¹\n[ Pour ]"},
		{[]doc.Span{button("Brew"), {Text: "or pour"}}, 12, "[ Brew ]¹or\npour"},
		{[]doc.Span{button("Brew"), {Text: "tomorrow"}}, 12, "[ Brew ]¹\ntomorrow"},
	} {
		if got := lay(Options{Width: c.width}, &doc.Block{Spans: c.spans}); got != c.want {
			t.Errorf("%v in %d columns: %q, want %q", c.spans, c.width, got, c.want)
		}
	}
}
