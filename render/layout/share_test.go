package layout

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mayfly/render/doc"
)

func TestShare(t *testing.T) {
	for name, c := range map[string]struct {
		columns      []extent
		asked        []int
		wanted, room int
		want         []int
	}{
		"as wide as the content":         {[]extent{{3, 10}, {4, 4}}, []int{0, 0}, 0, 40, []int{10, 4}},
		"as wide as asked":               {[]extent{{3, 10}, {4, 4}}, []int{20, 20}, 0, 40, []int{20, 20}},
		"halves, whatever is in them":    {[]extent{{9, 70}, {8, 8}}, []int{30, 30}, 60, 60, []int{30, 30}},
		"the rest by the content":        {[]extent{{3, 10}, {5, 30}}, []int{0, 0}, 60, 70, []int{15, 45}},
		"the rest for what is free":      {[]extent{{3, 10}, {5, 30}}, []int{20, 0}, 60, 70, []int{20, 40}},
		"labels before text":             {[]extent{{3, 10}, {5, 60}}, []int{0, 0}, 0, 40, []int{10, 30}},
		"text by its length":             {[]extent{{9, 84}, {9, 44}}, []int{0, 0}, 0, 60, []int{33, 27}},
		"a width that is too small":      {[]extent{{12, 12}, {5, 60}}, []int{4, 0}, 0, 50, []int{12, 38}},
		"a table that is too narrow":     {[]extent{{12, 12}, {9, 20}}, []int{0, 0}, 10, 50, []int{12, 20}},
		"an empty column":                {[]extent{{}, {5, 12}}, []int{30, 0}, 0, 20, []int{0, 12}},
		"words as long as there is room": {[]extent{{26, 26}, {4, 4}}, []int{0, 0}, 0, 28, []int{24, 4}},
		"text that is too narrow":        {[]extent{{6, 80}, {6, 80}}, []int{0, 0}, 0, 35, nil},
		"labels that are":                {[]extent{{9, 20}, {9, 20}}, []int{0, 0}, 0, 17, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got, ok := share(c.columns, c.asked, c.wanted, c.room); !slices.Equal(got, c.want) || ok != (c.want != nil) {
				t.Errorf("%v, %v, want %v", got, ok, c.want)
			}
		})
	}
}

// TestShareHolds checks of random columns that none is below its least, and that all fit.
func TestShareHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		columns, asked := make([]extent, 1+r.IntN(7)), make([]int, 7)
		for i := range columns {
			least := r.IntN(30)
			columns[i], asked[i] = extent{least, least + r.IntN(70)}, r.IntN(40)*r.IntN(2)
		}
		room := r.IntN(200)
		widths, ok := share(columns, asked[:len(columns)], r.IntN(room+1), room)
		least := 0
		for i, e := range columns {
			least += e.least()
			if ok && widths[i] < e.least() {
				t.Fatalf("%v in %d: %v", columns, room, widths)
			}
		}
		if ok != (least <= room) || sum(widths) > room {
			t.Fatalf("%v in %d: %v, %v", columns, room, widths, ok)
		}
	}
}

// TestColumnsKeepTheirPlace joins columns of words in several scripts at every width: each word
// stands once, where its column is.
func TestColumnsKeepTheirPlace(t *testing.T) {
	words := func(mark string) *doc.Block {
		var text strings.Builder
		for i := range 12 {
			fmt.Fprintf(&text, "%s%d ", mark, i)
		}
		return box(doc.Cell, p(strings.TrimSpace(text.String())))
	}
	for _, marks := range [][]string{{"left", "right"}, {"a", "👍", "ccc"}, {"ab", "שלום", "e\u0301e", "👨‍👩‍👧"}} {
		row := box(doc.Row)
		for _, mark := range marks {
			row.Children = append(row.Children, words(mark))
		}
		for width := 20; width <= 200; width++ {
			got := lay(Options{Width: width}, box(doc.Table, row))
			for line := range strings.Lines(got) {
				if n := stringWidth(strings.TrimRight(line, "\n")); n > width {
					t.Fatalf("%d of %d columns: %q", n, width, line)
				}
			}
			for _, mark := range marks {
				column := -1
				for i := range 12 {
					word := fmt.Sprint(mark, i)
					if n := count(got, word); n != 1 {
						t.Fatalf("%d times %s in %d columns:\n%s", n, word, width, got)
					}
				}
				for line := range strings.Lines(got) {
					if at := strings.Index(line, mark); at >= 0 {
						if at = stringWidth(line[:at]); column >= 0 && at != column {
							t.Fatalf("%s at %d and %d of %d columns:\n%s", mark, column, at, width, got)
						}
						column = at
					}
				}
			}
		}
	}
}

// count returns how many words of a text are one word.
func count(text, word string) int {
	n := 0
	for _, w := range strings.Fields(text) {
		if w == word {
			n++
		}
	}
	return n
}
