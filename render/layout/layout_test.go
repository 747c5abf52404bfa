package layout

import (
	"fmt"
	"image/color"
	"strings"
	"testing"

	"mayfly/render/doc"
)

// p is a paragraph of plain text.
func p(text string) *doc.Block {
	return &doc.Block{Kind: doc.Paragraph, Spans: []doc.Span{{Text: text}}}
}

func box(kind doc.Kind, children ...*doc.Block) *doc.Block {
	return &doc.Block{Kind: kind, Children: children, Columns: 1}
}

func row(cells ...string) *doc.Block {
	r := box(doc.Row)
	for _, c := range cells {
		cell := box(doc.Cell)
		if c != "" {
			cell.Children = []*doc.Block{p(c)}
		}
		r.Children = append(r.Children, cell)
	}
	return r
}

// lay is the plain lines of blocks.
func lay(o Options, blocks ...*doc.Block) string {
	d := &doc.Document{Blocks: blocks}
	d.Links = []doc.Link{{N: 1, URL: "https://a.example/", Target: "https://a.example/", Host: "a.example"},
		{N: 2, URL: "javascript:x", Target: "javascript:x", Blocked: true, Warning: "beware"}}
	var all []string
	for _, l := range Lay(d, o) {
		all = append(all, l.Plain)
	}
	return strings.Join(all, "\n")
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three", 7, "one two\nthree"},
		{"one two three", 80, "one two three"},
		{"a\nb\n\nc", 80, "a\nb\n\nc"},
		{"abcdefghij", 4, "abcd\nefgh\nij"},
		{"ab abcdefghij", 6, "ab abc\ndefghi\nj"},
		{"https://a.example/b/c", 12, "https://a.\nexample/b/c"},
		{"x", 1, "x"},
		{"漢字仮名", 4, "漢字\n仮名"},
		{"漢字。仮名", 4, "漢\n字。\n仮名"}, // no line begins with 。
		{"（漢字）", 4, "（漢\n字）"},
		{"漢", 1, "?"},
		{"a 👨‍👩‍👧‍👦 b", 4, "a 👨‍👩‍👧‍👦\nb"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301e\u0301\ne\u0301"},
		{"Vraiment ?", 8, "Vraiment\n?"},
		{"no\u00a0break here", 8, "no break\nhere"},
		{"한국어 문장", 6, "한국어\n문장"},
	} {
		if got := lay(Options{Width: c.width}, p(c.text)); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func aligned(b *doc.Block, a doc.Align) *doc.Block {
	b.Align = a
	return b
}

func TestBlocks(t *testing.T) {
	link := func(text string, n int) doc.Span { return doc.Span{Text: text, Link: n} }
	button := func(text string, n int) *doc.Block {
		return &doc.Block{Kind: doc.Paragraph, Spans: []doc.Span{{Text: text, Link: n, Button: true}}}
	}
	gap := func(b *doc.Block) *doc.Block { b.Gap = true; return b }
	item := func(marker string, children ...*doc.Block) *doc.Block {
		return &doc.Block{Kind: doc.Item, Marker: marker, Children: children}
	}
	rtl := func(b *doc.Block) *doc.Block { b.RTL = true; return b }
	many := func(n int) (all []*doc.Block) {
		for i := range n {
			all = append(all, p(fmt.Sprint("line ", i)))
		}
		return all
	}
	title := func(text string) *doc.Block {
		return &doc.Block{Kind: doc.Heading, Level: 1, Spans: []doc.Span{{Text: text}}}
	}
	head := func(t *doc.Block, n int) *doc.Block { t.Head = n; return t }
	wide := func(row *doc.Block, cell int) *doc.Block { row.Children[cell].Columns = 2; return row }
	names := func(row *doc.Block) *doc.Block { row.Children[0].Head, row.Children[2].Head = 1, 1; return row }
	end := func(t *doc.Block, column int) *doc.Block {
		for _, r := range t.Children {
			r.Children[column].Align = doc.End
		}
		return t
	}
	for name, c := range map[string]struct {
		o      Options
		blocks []*doc.Block
		want   string
	}{
		"gaps":                   {Options{Width: 9}, []*doc.Block{gap(p("a")), p("b"), gap(p("c"))}, "a\nb\n\nc"},
		"a link":                 {Options{Width: 40}, []*doc.Block{{Kind: doc.Paragraph, Spans: []doc.Span{{Text: "see "}, link("this", 1), {Text: "."}}}}, "see this¹."},
		"a warning, once":        {Options{Width: 60}, []*doc.Block{{Kind: doc.Paragraph, Spans: []doc.Span{link("a", 2), {Text: " "}, link("b", 2)}}}, "a² ‹beware› b²"},
		"a link that goes on":    {Options{Width: 40}, []*doc.Block{{Kind: doc.Paragraph, Spans: []doc.Span{link("a", 1)}}, {Kind: doc.Paragraph, Spans: []doc.Span{{Text: "b", Link: 1, Continues: true}}}}, "a¹\nb"},
		"a button":               {Options{Width: 60}, []*doc.Block{button("Go on", 1)}, "[ Go on ]¹"},
		"a button, centred":      {Options{Width: 60}, []*doc.Block{aligned(button("Go on", 1), doc.Center)}, "                         [ Go on ]¹"},
		"a button, narrow":       {Options{Width: 20}, []*doc.Block{button("Go on", 1)}, "[ Go on ]¹"},
		"a button, too long":     {Options{Width: 10}, []*doc.Block{button("Go on with it", 1)}, "Go on with\nit¹"},
		"a button to nowhere":    {Options{Width: 60}, []*doc.Block{button("Go on", 0)}, "[ Go on ]"},
		"a code":                 {Options{Width: 60}, []*doc.Block{p("a"), {Kind: doc.Code, Spans: []doc.Span{{Text: "482 913"}}}, p("b")}, "a\n╭─────────────╮\n│   482 913   │\n╰─────────────╯\nb"},
		"a code, narrow":         {Options{Width: 12}, []*doc.Block{{Kind: doc.Code, Spans: []doc.Span{{Text: "482 913"}}}}, "482 913"},
		"a rule":                 {Options{Width: 5}, []*doc.Block{{Kind: doc.Rule}}, "─────"},
		"a short rule":           {Options{Width: 40}, []*doc.Block{{Kind: doc.Rule, Width: doc.Width{Percent: 20}, Align: doc.Center}}, repeat(" ", 16) + repeat("─", 8)},
		"centred":                {Options{Width: 41}, []*doc.Block{aligned(p(repeat("word ", 9)), doc.Center)}, " word word word word word word word word\n                  word"},
		"centred, wide":          {Options{Width: 120}, []*doc.Block{aligned(p("word"), doc.Center)}, repeat(" ", 38) + "word"},
		"centred, narrow":        {Options{Width: 12}, []*doc.Block{aligned(p("word"), doc.Center), aligned(p("word word word"), doc.Center)}, "    word\nword word\nword"},
		"centred in an item":     {Options{Width: 40}, []*doc.Block{box(doc.List, item("•", aligned(p("word"), doc.Center)))}, "  • word"},
		"at the right":           {Options{Width: 12}, []*doc.Block{aligned(p("word"), doc.End)}, "        word"},
		"from the right, ending": {Options{Width: 8}, []*doc.Block{aligned(rtl(p("אב")), doc.End)}, "אב"},
		"a wide rule":            {Options{Width: 200}, []*doc.Block{{Kind: doc.Rule}}, strings.Repeat("─", Measure)},
		"one measure": {Options{Width: 120}, []*doc.Block{rtl(p("אב")), box(doc.Table, row(repeat("ab ", 25), repeat("ab ", 25))), p(repeat("word ", 17))},
			repeat(" ", 78) + "אב\n" + repeat("ab ", 12) + "ab   " + repeat("ab ", 12) + "ab\n" + repeat("ab ", 11) + "ab      " + repeat("ab ", 11) + "ab\n" + repeat("word ", 15) + "word\nword"},
		"a wide table": {Options{Width: 120}, []*doc.Block{box(doc.Table, row(repeat("x", 30), repeat("y", 30), repeat("z", 30))), {Kind: doc.Rule}, rtl(p("אב"))},
			repeat("x", 30) + "   " + repeat("y", 30) + "   " + repeat("z", 30) + "\n" + repeat("─", 96) + "\n" + repeat(" ", 94) + "אב"},
		"a wide line":            {Options{Width: 120}, []*doc.Block{{Kind: doc.Pre, Spans: []doc.Span{{Text: repeat("x", 90)}}}, {Kind: doc.Rule}}, repeat("x", 90) + "\n" + repeat("─", 90)},
		"a title with a rule":    {Options{Width: 9}, []*doc.Block{title("News"), {Kind: doc.Rule}, p("a")}, "News\n━━━━─────\na"},
		"a title far below one":  {Options{Width: 40}, []*doc.Block{title("Northwind"), gap(title("News")), p("a")}, "Northwind\n━━━━━━━━━\n\nNews\n━━━━\na"},
		"a heading below one":    {Options{Width: 40}, []*doc.Block{title("Northwind"), gap(&doc.Block{Kind: doc.Heading, Level: 2, Spans: []doc.Span{{Text: "News"}}}), gap(p("a"))}, "Northwind\n━━━━━━━━━\n\nNews\n\na"},
		"a title of two lines":   {Options{Width: 40}, []*doc.Block{title("Northwind"), title("News"), p("a")}, "Northwind\nNews\n━━━━\na"},
		"a list":                 {Options{Width: 40}, []*doc.Block{box(doc.List, item("9.", p("a b")), item("10.", p("c"), box(doc.List, item("•", p("d")))))}, "   9. a b\n  10. c\n      • d"},
		"a list, hanging":        {Options{Width: 40}, []*doc.Block{box(doc.List, item("•", p(strings.Repeat("word ", 9))))}, "  • word word word word word word word\n    word word"},
		"a list without marks":   {Options{Width: 40}, []*doc.Block{box(doc.List, item("", p("a")))}, "a"},
		"a list from the right":  {Options{Width: 12}, []*doc.Block{box(doc.List, item("•", rtl(p("אב"))))}, "        • אב"},
		"from the right":         {Options{Width: 8}, []*doc.Block{rtl(p("אב גד הו"))}, "אב גד הו"},
		"from the right, short":  {Options{Width: 8}, []*doc.Block{rtl(p("אב"))}, "      אב"},
		"a quote":                {Options{Width: 20}, []*doc.Block{p("a"), gap(box(doc.Quote, p("b"), gap(p("c"))))}, "a\n\n▏ b\n▏ \n▏ c"},
		"a long quote":           {Options{Width: 40}, []*doc.Block{box(doc.Quote, many(20)...)}, "▏ line 0\n▏ line 1\n▏ line 2\n▏ line 3\n▏ … 16 more quoted lines"},
		"a long quote, unfolded": {Options{Width: 40, Unfold: true}, []*doc.Block{box(doc.Quote, many(3)...)}, "▏ line 0\n▏ line 1\n▏ line 2"},
		"a footer":               {Options{Width: 40}, []*doc.Block{p("a"), box(doc.Footer, many(3)...)}, "a\nline 0\n… 2 more lines"},
		"a footer of two":        {Options{Width: 40}, []*doc.Block{p("a"), box(doc.Footer, many(2)...)}, "a\nline 0\nline 1"},
		"a footer with a note":   {Options{Width: 40}, []*doc.Block{p("a"), box(doc.Footer, append([]*doc.Block{p("1")}, many(3)...)...)}, "a\n1\nline 0\n… 2 more lines"},
		"a footer with a dash":   {Options{Width: 40}, []*doc.Block{p("a"), box(doc.Footer, append([]*doc.Block{p("—")}, many(3)...)...)}, "a\n—\nline 0\n… 2 more lines"},
		"preformatted":           {Options{Width: 8}, []*doc.Block{{Kind: doc.Pre, Spans: []doc.Span{{Text: "  a   b\n\n c"}}}}, "  a   b\n\n c"},
		"raised":                 {Options{Width: 40}, []*doc.Block{{Kind: doc.Paragraph, Spans: []doc.Span{{Text: "x"}, {Text: "2", Style: doc.Style{Sup: true}}, {Text: "H"}, {Text: "2", Style: doc.Style{Sub: true}}, {Text: "st", Style: doc.Style{Sup: true}}}}}, "x²H₂st"},
		"side by side":           {Options{Width: 40}, []*doc.Block{box(doc.Table, row("a", "b", "c"))}, "a   b   c"},
		"below one another":      {Options{Width: 20}, []*doc.Block{box(doc.Table, row("a long text", "another one"))}, "a long text\nanother one"},
		"lines beside a price":   {Options{Width: 40}, []*doc.Block{box(doc.Table, row("Tea\nGreen", "3.00"))}, "Tea     3.00\nGreen"},
		"no room beside":         {Options{Width: 12}, []*doc.Block{box(doc.Table, row("Earl Grey tea\nGreen", "3.00"))}, "Earl    3.00\nGrey\ntea\nGreen"},
		"rows set apart":         {Options{Width: 40}, []*doc.Block{box(doc.Table, row("Tea", "3.00"), gap(row("Cup", "4.00")))}, "Tea  3.00\n\nCup  4.00"},
		"a table":                {Options{Width: 40}, []*doc.Block{head(end(box(doc.Table, row("Name", "Price"), row("Tea", "3.00"), row("Coffee", "14.00")), 1), 1)}, "Name    Price\n─────────────\nTea      3.00\nCoffee  14.00"},
		"a column of nothing":    {Options{Width: 40}, []*doc.Block{box(doc.Table, row("a", "", "b"), row("c", "", "d"))}, "a  b\nc  d"},
		"a column of heads":      {Options{Width: 40}, []*doc.Block{head(box(doc.Table, row("Name", "Photo", "Price"), row("Tea", "", "3.00"), row("Coffee", "", "14.00")), 1)}, "Name    Photo  Price\n────────────────────\nTea            3.00\nCoffee         14.00"},
		"a table that wraps":     {Options{Width: 24}, []*doc.Block{box(doc.Table, row("Name", "A text of some words"), row("Other", "b"))}, "Name   A text of some\n       words\nOther  b"},
		"records":                {Options{Width: 20}, []*doc.Block{head(box(doc.Table, row("Name", "Place", "Year"), row("Lovelace", "London", "18151815"), row("Hopper", "New York", "1906")), 1)}, "Name   Lovelace\nPlace  London\nYear   18151815\n\nName   Hopper\nPlace  New York\nYear   1906"},
		"records, spanned":       {Options{Width: 20}, []*doc.Block{head(box(doc.Table, row("Name", "Place", "Years", "Photo"), wide(row("Hopper", "New York, 1906"), 1), wide(row("All of them", "1"), 0)), 1)}, "Place\n\nYears\n\nPhoto\n\nName         Hopper\nNew York, 1906\n\nAll of them  1"},
		"names and values":       {Options{Width: 20}, []*doc.Block{box(doc.Table, names(row("Name", "Hopper", "Place", "New York")))}, "Name: Hopper\nPlace: New York"},
		"nothing":                {Options{Width: 20}, nil, "This mail is empty."},
		"unwrapped":              {Options{Width: Unwrapped}, []*doc.Block{p(repeat("word ", 90)), aligned(p("word"), doc.Center), rtl(p("אב")), {Kind: doc.Rule}, {Kind: doc.Item, Marker: "!", Children: []*doc.Block{p("a")}}}, repeat("word ", 89) + "word\n" + repeat(" ", 38) + "word\n" + repeat(" ", 78) + "אב\n" + repeat("─", Measure) + "\n  ! a"},
		"unwrapped, in a table":  {Options{Width: Unwrapped}, []*doc.Block{box(doc.Table, row(repeat("word ", 90), "b"))}, repeat("word ", 89) + "word   b"},
		"unwrapped, a long cell": {Options{Width: Unwrapped}, []*doc.Block{box(doc.Table, row(repeat("x", 1500), "b"))}, repeat("x", 1000) + "   b\n" + repeat("x", 500)},
		"no width":               {Options{}, []*doc.Block{p("ab")}, "a\nb"},
		"the list of links":      {Options{Width: 60, Links: true}, []*doc.Block{p("a")}, "a\n\n1  https://a.example/\n2  javascript:x blocked: not a web or mail address beware"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lay(c.o, c.blocks...); got != c.want {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestMirroredTable(t *testing.T) {
	table := box(doc.Table, row("ספר", "12"), row("עט", "3"))
	for _, r := range table.Children {
		r.Children[0].Children[0].RTL = true
	}
	if got, want := lay(Options{Width: 12}, table), "ספר  12\n עט  3"; got != want {
		t.Errorf("words turn a table: %q, want %q", got, want)
	}
	table.RTL = true
	for _, r := range table.Children {
		r.Children[1].Children[0].RTL = true
	}
	if got, want := lay(Options{Width: 12}, table), "     12  ספר\n      3   עט"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestColours: what a colour becomes in each kind of terminal, on dark and on light.
func TestColours(t *testing.T) {
	c := func(hex uint32) doc.Color {
		return doc.Color{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), Set: true}
	}
	for _, test := range []struct {
		style doc.Style
		theme Theme
		want  string
	}{
		{doc.Style{}, Theme{Profile: TrueColor}, ""},
		{doc.Style{Color: c(0x222222)}, Theme{Profile: TrueColor}, ""},
		{doc.Style{Color: c(0x1a1a2e)}, Theme{Profile: TrueColor, Dark: true}, ""},
		{doc.Style{Color: c(0x999999), Role: doc.Secondary}, Theme{Profile: TrueColor}, "2"},
		{doc.Style{Color: c(0x999999), Role: doc.Secondary}, Theme{Profile: TrueColor, Dim: color.RGBA{100, 100, 100, 255}}, "38;2;100;100;100"},
		{doc.Style{Color: c(0xcc0000)}, Theme{Profile: TrueColor}, "38;2;204;0;0"},
		{doc.Style{Color: c(0xcc0000)}, Theme{Profile: ANSI256}, "38;5;160"},
		{doc.Style{Color: c(0xffffff), Background: c(0x7a2e2e)}, Theme{Profile: ANSI256}, "38;5;231;48;5;88"},
		{doc.Style{Color: c(0x1f497d)}, Theme{Profile: TrueColor, Dark: true}, "38;2;150;170;194"}, // as strong as on paper
		{doc.Style{Color: c(0x00aa00)}, Theme{Profile: ANSI16, Dark: true}, "32"},
		{doc.Style{Color: c(0xcc0000)}, Theme{}, ""},
		{doc.Style{Color: c(0xffffff), Background: c(0x0000aa)}, Theme{Profile: TrueColor}, "38;2;255;255;255;48;2;0;0;170"},
		{doc.Style{Color: c(0x000044), Background: c(0x0000aa)}, Theme{Profile: TrueColor}, "38;2;151;151;179;48;2;0;0;170"},
		{doc.Style{Bold: true, Italic: true, Underline: true, Strike: true}, Theme{}, "1;3;4;9"},
	} {
		d := &doc.Document{Blocks: []*doc.Block{{Kind: doc.Paragraph, Spans: []doc.Span{{Text: "x", Style: test.style}}}}}
		want := "x"
		if test.want != "" {
			want = "\x1b[" + test.want + "mx\x1b[m"
		}
		if test.style.Background.Set { // a filled run has a space at both sides
			want = "\x1b[" + test.want + "m x \x1b[m"
		}
		if got := Lay(d, Options{Width: 9, Theme: test.theme})[0].Styled; got != want {
			t.Errorf("%+v: %q, want %q", test.style, got, want)
		}
	}
}

func TestHyperlinks(t *testing.T) {
	for target, want := range map[string]bool{
		"https://a.example/": true, "mailto:a@b.example": true, "HTTP://a.example/": true, "javascript:x": false, "https:": false, "//a.example": false,
		"https://a.example/" + strings.Repeat("x", maxHyperlink): false,
	} {
		d := &doc.Document{
			Blocks: []*doc.Block{{Kind: doc.Paragraph, Spans: []doc.Span{{Text: "x", Link: 1}}}},
			Links:  []doc.Link{{N: 1, URL: target, Target: target}},
		}
		styled := Lay(d, Options{Width: 9, Theme: Theme{Hyperlinks: true}})[0].Styled
		if got := strings.Contains(styled, "\x1b]8;id=1-0;"); got != want || strings.Count(styled, "\x1b]8;") != 2 && want {
			t.Errorf("%.60s: %q", target, styled)
		}
	}
}

func TestLinesAreBounded(t *testing.T) {
	lines := Lay(&doc.Document{Blocks: []*doc.Block{p(strings.Repeat("x\n", maxLines+9))}}, Options{Width: 20})
	if len(lines) != maxLines || lines[len(lines)-1].Plain != "… cut here" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1].Plain)
	}
}

// TestOffsets checks that a line is found again wherever it stands.
func TestOffsets(t *testing.T) {
	text := repeat("word ", 12)
	for _, a := range []doc.Align{doc.Start, doc.Center, doc.End} {
		lines := Lay(&doc.Document{Blocks: []*doc.Block{aligned(p(text), a)}}, Options{Width: 41})
		if len(lines) != 2 || lines[1].Offset != 40 {
			t.Errorf("%d: %+v", a, lines)
		}
	}
}

// TestSpansBreakNoLine checks that a line breaks only where there is a space, whatever spans meet in
// a word.
func TestSpansBreakNoLine(t *testing.T) {
	const text = "On Monday Ana Pop <ana@tea.example> wrote: (see “this”, or [that])! Tea costs $4.50, 「五」。"
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
