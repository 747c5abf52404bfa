package term

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/bidi"
)

// reordered is a row as a terminal shows it that reorders text, beginning at the left.
func reordered(t *testing.T, row string) string {
	t.Helper()
	var p bidi.Paragraph
	if _, err := p.SetString(row, bidi.DefaultDirection(bidi.LeftToRight)); err != nil {
		t.Fatal(err)
	}
	order, err := p.Order()
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for i := range order.NumRuns() {
		run := order.Run(i)
		if text := run.String(); run.Direction() == bidi.RightToLeft {
			shown.WriteString(bidi.ReverseString(text))
		} else {
			shown.WriteString(text)
		}
	}
	return strings.NewReplacer(leftToRightMark, "", rightToLeftEmbedding, "", popDirection, "").Replace(shown.String())
}

func TestKeepPlaces(t *testing.T) {
	t.Parallel()
	marks := strings.NewReplacer("{", leftToRightMark+rightToLeftEmbedding, "}", popDirection+leftToRightMark, "^", leftToRightMark)
	for _, want := range []string{
		" Acme   now │ Welcome ",
		" {אבג}    {דהו} ",            // columns
		" {אבג דהו}  │ {וז}   {חט} │", // panes
		"  {5 אבג, Ada}   │▐ {דה} ▌",  // a button
		"{אבג…} 2 min",
		"{אב: ada@acme.example}",
		"▎ ^Code of דהו^  {אבג}", // a name in a text from left to right
		"\x1b[1m{אב}\x1b[m  \x1b]8;;http://x\x1b\\{גד}\x1b]8;;\x1b\\ ",
	} {
		row, want := strings.NewReplacer("{", "", "}", "", "^", "").Replace(want), marks.Replace(want)
		if got := KeepPlaces(row); got != want {
			t.Errorf("%q becomes %q, want %q", row, got, want)
		}
	}
	if got, want := reordered(t, KeepPlaces(" אב    גדה │ וז ")), " בא    הדג │ זו "; got != want {
		t.Errorf("a terminal that reorders shows %q, want %q", got, want)
	}
}

// BenchmarkKeepPlaces is of a frame of 20 KB without words from right to left.
func BenchmarkKeepPlaces(b *testing.B) {
	frame := strings.Repeat("│ \x1b[38;2;133;139;157mAcme · 2 min\x1b[m  Olá 👋 ❤️  "+strings.Repeat("Welcome ", 16)+"│\n", 110)
	for b.Loop() {
		KeepPlaces(frame)
	}
}
