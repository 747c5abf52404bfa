package html

import (
	"fmt"
	"strings"
	"testing"

	"mayfly/render/doc"
)

// TestSelectors marks what a selector picks out of a small document.
func TestSelectors(t *testing.T) {
	const body = `<div id="top" class="a b"><p class="a">one</p><p class="b c" title="t">two</p><table><tr><td><a href="#" class="btn">three</a></td></tr></table></div><p>four</p>`
	for selector, want := range map[string]string{
		"p": "one two four", ".a": "one two three", "p.a": "one", "#top p": "one two", "#top > p": "one two", "#top > a": "", "table a": "three",
		"div td > a.btn": "three", "p + p": "two", "P.C": "", "p.c": "two", "[title]": "two", "p[title=t]": "two", `[title^="t:"], a[href*="#"]`: "three", `a[href^="#"].btn`: "three", `p[class~="c"]:first-child`: "", "*": "one two three four", "p:first-child": "one",
		"a:hover": "", "p::before": "", "h1, p.a , .btn": "one three", ".a.b p.c": "two", "p ~ p": "", "": "", "p >": "", "td, th { } p": "one two four",
		"body #top table tr td a.btn": "three", "div div p": "", ".a > .a": "one",
	} {
		d := Read("<style>" + selector + "{text-decoration:line-through}</style>" + body)
		if got := spans(d, func(s doc.Span) bool { return s.Style.Strike }); got != want {
			t.Errorf("%q picks %q, want %q", selector, got, want)
		}
	}
}

// TestCascade: which of several declarations counts.
func TestCascade(t *testing.T) {
	for name, c := range map[string]struct {
		css, style string
		bold       bool
	}{
		"a rule":                     {"p{font-weight:bold}", "", true},
		"the attribute wins":         {"p{font-weight:bold}", "font-weight:normal", false},
		"important wins":             {"p{font-weight:bold!important}", "font-weight:normal", true},
		"important in the attribute": {"p{font-weight:bold!important}", "font-weight:normal!important", false},
		"the later one":              {"p{font-weight:bold} p{font-weight:400}", "", false},
		"the more specific one":      {"p.x{font-weight:bold} p{font-weight:400}", "", true},
		"an ID":                      {"#i{font-weight:700} p.x.y{font-weight:400}", "", true},
		"media":                      {"@media (max-width:600px){p{font-weight:bold}}", "", false},
		"behind media":               {"@media print{p{color:red}} p{font-weight:bold}", "", true},
		"a wide screen":              {"@media only screen and (min-width:600px){p{font-weight:bold}}", "", true},
		"a very wide screen":         {"@media (min-width:1400px){p{font-weight:bold}}", "", false},
		"a tablet":                   {"@media screen and (max-device-width:1024px){p{font-weight:bold}}", "", true},
		"dark colours":               {"@media (prefers-color-scheme: dark){p{font-weight:bold}}", "", false},
		"light colours":              {"@media (prefers-color-scheme:light){p{font-weight:bold}}", "", true},
		"one of two media":           {"@media print,screen{p{font-weight:bold}}", "", true},
		"media in media":             {"@media screen{@media (min-width:30em){p{font-weight:bold}}}", "", true},
		"print in media":             {"@media screen{@media print{p{font-weight:bold}}}", "", false},
		"not a screen":               {"@media not screen{p{font-weight:bold}}", "", false},
		"a browser's own":            {"@media screen and (-webkit-min-device-pixel-ratio:0){p{font-weight:bold}}", "", false},
		"what may be supported":      {"@supports (display:grid){p{font-weight:bold}}", "", false},
		"an import":                  {"@import url(x.css); p{font-weight:bold}", "", true},
		"a comment":                  {"/* p{font-weight:400} */ p/**/{font-weight:bold} <!-- -->", "", true},
		"not closed":                 {"p{font-weight:bold", "", true},
		"the shorthand":              {"p{font:italic bold 14px/1.5 Arial,sans-serif}", "", true},
		"the shorthand, light":       {"p{font-weight:bold} p{font:normal 14px Arial}", "", false},
		"a number":                   {"p{font-weight:600}", "", true},
		"a lesser number":            {"p{font-weight:500}", "", false},
	} {
		d := Read(`<style>` + c.css + `</style><p id="i" class="x y" style="` + c.style + `">text</p>`)
		if got := d.Blocks[0].Spans[0].Style.Bold; got != c.bold {
			t.Errorf("%s: bold %v", name, got)
		}
	}
}

func TestSizes(t *testing.T) {
	for html, want := range map[string]float32{
		`<p>x`: 16, `<p style="font-size:12px">x`: 12, `<p style="font-size:2em">x`: 32, `<p style="font-size:50%">x`: 8, `<p style="font-size:large">x`: 18,
		`<p style="font:bold 20px Arial">x`: 20, `<p style="font:12px/30px Arial">x`: 12, `<font size=5>x`: 24, `<font size="+1">x`: 18, `<font size="-9">x`: 10,
		`<small>x`: 16 / 1.2, `<big>x`: 19.2, `<p style="font-size:smaller">x`: 16 / 1.2, `<p style="font-size:-4px">x`: 16, `<p style="font-size:1e9px">x`: 16,
		`<div style="font-size:10px"><p style="font-size:1.5em">x`: 15, `<div style="font-size:20px"><p style="font-size:2rem">x`: 32,
	} {
		if got := Read(html).Blocks[0].Spans[0].Style.Size; got < want-.01 || got > want+.01 {
			t.Errorf("%s: %v px, want %v", html, got, want)
		}
	}
}

// TestHiding: each line has a way to hide, or one that only seems to be one.
func TestHiding(t *testing.T) {
	for html, want := range map[string]string{
		`<p style="display:none">`: "display: none", `<p hidden>`: "display: none", `<p style="visibility:hidden">`: "visibility: hidden",
		`<p style="opacity:0">`: "opacity: 0", `<p style="opacity:0%">`: "opacity: 0", `<p style="opacity:.5">`: "", `<p style="font-size:0">`: "font size", `<p style="font-size:1px">`: "font size",
		`<p style="font-size:2px">`: "", `<p style="max-height:0;overflow:hidden">`: "no height", `<p style="height:0;overflow:hidden">`: "no height", `<p style="height:0">`: "", `<p style="max-height:4px;overflow-y:hidden">`: "no height", `<p style="max-height:9px;overflow:hidden">`: "",
		`<p style="height:0;overflow:hidden;padding-bottom:50%">`: "", `<p style="width:0;overflow:hidden">`: "no height", `<p style="position:absolute;left:-9999px">`: "off-screen",
		`<p style="position:relative;left:-9999px">`: "", `<p style="text-indent:-9999px">`: "off-screen", `<p style="margin-left:-999px">`: "off-screen",
		`<p style="clip:auto">`: "", `<p style="mso-hide:all">`: "", `<p style="color:#fff">`: "colour of the background", `<p style="color:#fff;background:#fff">`: "colour of the background",
		`<p style="color:#fff;background-color:#000;background-image:none">`: "", `<p style="background:#fff url(x.png);background-image:none;color:#fff">`: "colour of the background",
		`<p style="color:#fff;background:#000">`: "", `<p style="color:#fff;background:url(x.png)">`: "", `<p style="color:#ffffee">`: "colour of the background", `<p style="color:#ffe">`: "colour of the background", `<p style="color:#ffffaa">`: "", `<p style="color:transparent">`: "transparent", `<p style="color:rgba(0,0,0,0)">`: "transparent",
		`<table bgcolor="#333"><tr><td><font color="#333333">`: "colour of the background", `<p style="background:linear-gradient(#000,#333);color:#fff">`: "",
	} {
		d := Read("<p>seen</p>" + html + "secret")
		got := ""
		if len(d.Hidden) > 0 {
			got = d.Hidden[0].Reason
		}
		shown := strings.Contains(d.Text(), "secret")
		if got != want || shown != (want == "") {
			t.Errorf("%s: %q, shown %v, want %q", html, got, shown, want)
		}
	}
}

// TestFaint: what is secondary in a mail, beside its body.
func TestFaint(t *testing.T) {
	const more = " and a few more words, which make it the body of the mail"
	for name, c := range map[string]struct{ html, color, faint string }{
		"a grey mail is the body":      {`<p style="color:#8c8c8c">one` + more + `<p style="color:#525f7f">two`, "8c8c8c", ""},
		"fainter than the body":        {`<p style="color:#525f7f">one` + more + `<p style="color:#8c8c8c">two<p style="color:#233654">three`, "525f7f", "two"},
		"grey beside black":            {`<p style="color:#111">one` + more + `<p style="color:#737373">two`, "111111", "two"},
		"a grey that is strong enough": {`<p style="color:#333">one` + more + `<p style="color:#5c5c5c">two`, "333333", ""},
		"fainter than a grey body":     {`<p style="color:#777">one` + more + `<p style="color:#aaa">two`, "777777", "two"},
		"small print is not the body":  {`<p style="color:#444">one, which is short<p style="color:#999;font-size:11px">two` + more, "444444", "two" + more},
		"an alert is not the body":     {`<p style="color:#7f1d1d">one` + more + `<p>Date: today, late<p style="color:#6b7280;font-size:12px">two`, "", "two"},
		"white on a band":              {`<p>one` + more + `<div style="background:#4dbfbf;color:#fff">two</div>`, "", ""},
		"a dark mail":                  {`<body bgcolor="#111111"><p style="color:#eee">one` + more + `<p style="color:#666">two`, "eeeeee", "two"},
		"a sheet on a dark page":       {`<body bgcolor="#111111"><div style="background:#fff;color:#333"><p>one` + more + `<p style="color:#999">two</div>`, "333333", "two"},
		"a colour is not faint":        {`<p>one` + more + `<p style="color:#f0a0a0">two`, "", ""},
		"a smaller grey":               {`<p style="color:#333">one` + more + `<p style="color:#666;font-size:13px">two`, "333333", "two"},
		"what is bold":                 {`<p>one` + more + `<p style="color:#aaa"><b>two</b>`, "", "two"},
		"a heading":                    {`<p>one` + more + `<h2 style="color:#aaa;font-weight:400">two</h2>`, "", "two"},
		"on a fill of its own":         {`<p>one` + more + ` <span style="color:#999;background:#555">two</span>`, "", ""},
	} {
		d := Read(c.html)
		color := ""
		if d.Color.Set {
			color = fmt.Sprintf("%02x%02x%02x", d.Color.R, d.Color.G, d.Color.B)
		}
		if got := spans(d, func(s doc.Span) bool { return s.Style.Role == doc.Secondary }); got != c.faint || color != c.color {
			t.Errorf("%s: the body is %q and %q is faint, want %q and %q", name, color, got, c.color, c.faint)
		}
	}
}

func TestListMarkers(t *testing.T) {
	for html, want := range map[string]string{
		`<ul><li>a<li>b`: "• •", `<ol><li>a<li>b`: "1. 2.", `<ol start=9><li>a<li>b`: "9. 10.", `<ol type=a><li>a<li>b`: "a. b.", `<ol type=A start=27><li>a`: "AA.",
		`<ol type=i><li>a<li>b<li value=9>c<li>d`: "i. ii. ix. x.", `<ol type=I start=1999><li>a`: "MCMXCIX.", `<ol type=I start=4000><li>a`: "4000.", `<ol type=a start=0><li>a`: "0.",
		`<ul type=square><li>a`: "▪", `<ul style="list-style:none"><li>a`: "", `<ul style="list-style-type:circle"><li>a`: "◦", `<ol style="list-style:lower-roman inside"><li>a`: "i.",
		`<ul><li>a<ul><li>b<ul><li>c`: "• ◦ ▪", `<ol start=x><li>a`: "1.", `<li>alone`: "•", `<ol><li value=x>a`: "1.", `<dl><dt>t<dd>d`: " ",
	} {
		var all []string
		var visit func([]*doc.Block)
		visit = func(blocks []*doc.Block) {
			for _, b := range blocks {
				if b.Kind == doc.Item {
					all = append(all, b.Marker)
				}
				visit(b.Children)
			}
		}
		visit(Read(html).Blocks)
		if got := strings.Join(all, " "); got != want {
			t.Errorf("%s: %q, want %q", html, got, want)
		}
	}
}

func TestNumeric(t *testing.T) {
	for s, want := range map[string]bool{
		"12": true, "1,234.56": true, "€ 12,00": true, "12.00 EUR": true, "$48": true, "-3": true, "12 %": true, "(12)": true, "2 × 12.00": true, "2x": true, "4.5k": true, "kr 12": true,
		"12:45": true, "¥3,200": true, "12 pcs": true, "٣": true, "120.00 ر.س": true, "5.566,00 kr.": true,
		"٤٬٨٥٠ ر.س": true, "12 345 678": true, "12.00 (3)": true,
		"0721 555 019": false, "+1 555 123 4567": false, "(555) 123": false, "": false, "-": false, "abc": false, "21 Nov 2026": false, "SEP 29, 2012": false, "A-20318": false, "12 items": false, "v2": true, "1 2 3 4 5 6 7 8 9 10 11 12 13": false, "a 1 b": false, "1/2": false, "010-3279-0440": false, "12–14": false, "10.0.0.4": false, "1.234.567": true,
	} {
		if got := numeric(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// TestGaps: before what of a mail there is an empty line, which is a stroke here.
func TestGaps(t *testing.T) {
	for html, want := range map[string]string{
		`<p>a</p><table><tr><td>b<tr style="height:30px"><tr><td>c<tr><td>d</table>`:                                                             "a/b/cd",
		`<p>a</p><table><tr><td>b<tr><td height=30><tr><td>c</table>`:                                                                            "a/b/c",
		`<p>a</p><table><tr><td>b<tr><td style="font-size:0"><p style="margin:0;font-size:30px">c<tr><td style="height:60px">d<tr><td>e</table>`: "a/bc/d/e",
		`<div style="display:grid;gap:20px;grid-template-columns:1fr 1fr"><b>a<br>b</b><b>c</b><b>d<br>e</b><b>f</b></div>`:                      "a\nbc/d\nef",
		`<div style="display:grid;gap:2px;grid-template-columns:1fr 1fr"><b>a<br>b</b><b>c</b><b>d<br>e</b><b>f</b></div>`:                       "a\nbcd\nef",
	} {
		got := ""
		var visit func([]*doc.Block)
		visit = func(blocks []*doc.Block) {
			for _, b := range blocks {
				if b.Gap {
					got += "/"
				}
				if len(b.Spans) > 0 {
					got += b.Text()
				}
				visit(b.Children)
			}
		}
		if visit(Read(html).Blocks); strings.TrimPrefix(got, "/") != want {
			t.Errorf("%s: %q, want %q", html, got, want)
		}
	}
}

// TestDirection: which paragraphs run from right to left.
func TestDirection(t *testing.T) {
	for body, want := range map[string]bool{
		"<p>Hello": false, "<p>שלום": true, "<div dir=RTL><p>Hello": true, "<div dir=rtl><p dir=ltr>Hello": false,
		"<div dir=rtl><p dir=auto>Hello": false, "<div dir=auto><p>שלום": true, "<div dir=rtl><p dir=x>Hello": true,
		"<p>שלום<p>Hello": false, "<div dir=rtl><p style='direction:inherit'>Hello": true, "<p>Hello שלום": false,
	} {
		var got bool
		for leaf := range Read(body).Leaves() {
			got = leaf.RTL // of the last
		}
		if got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

// TestSides: text stands at the side that the markup tells, whatever script it is in.
func TestSides(t *testing.T) {
	for body, want := range map[string]doc.Align{
		"<p>שלום": doc.End, "<p align=right>שלום": doc.Start, "<p align=center>שלום": doc.Center, "<div dir=rtl><p>שלום": doc.Start, "<div dir=rtl align=left><p>שלום": doc.End, "<div dir=auto><p>שלום": doc.Start,
		"<table><tr><th>Tea<th>Cups<th>Price<tr><td>a<td align=center>b<td align=right>c</table>": doc.Start, "<table><tr><th colspan=2>Tea<tr><td>a<td>b</table>": doc.Center, "<table><tr><th>Tea<tr><td>a</table>": doc.Center,
		"<div style='float:right'>Tea</div>": doc.End, "<div dir=rtl><div style='float:right'>Tea</div>": doc.Start, "<div dir=rtl><div style='float:left'>Tea</div>": doc.End,
	} {
		if leaf := Read(body).Blocks[0].First(); leaf.Align != want {
			t.Errorf("%s: %v, want %v", body, leaf.Align, want)
		}
	}
}

// TestLargeRun: what is as large as a heading is bold in a line with smaller text.
func TestLargeRun(t *testing.T) {
	d := Read(`<p>The text of a mail, in its usual size.</p><p><s style="padding-right:9px">$30.00</s><span style="font-size:22px">$20.00</span></p>`)
	line := d.Blocks[1]
	if got := line.Text(); got != "$30.00 $20.00" {
		t.Errorf("prices: %q", got)
	}
	if first, last := line.Spans[0], line.Spans[len(line.Spans)-1]; first.Style.Bold || !last.Style.Bold {
		t.Errorf("bold: %v and %v, want only the larger one", first.Style.Bold, last.Style.Bold)
	}
}

// TestBoxesWithinALine holds boxes side by side in a line, whatever is in them.
func TestBoxesWithinALine(t *testing.T) {
	const box = `<div style="display:inline-block">`
	checkBlocks(t, map[string]struct{ html, want string }{
		"a paragraph in each": {`<div>` + box + `<p>Paid</p></div><p style="display:inline-block;margin:0 8px">:</p>` + box + `<p>Sent</p></div></div>`, "p(Paid : Sent)"},
		"an image in each":    {`<div><a href="https://facebook.com/a" style="display:inline-block;margin:0 8px"><img src="a.png" alt="Facebook" width=24 height=24 style="display:block"></a><a href="https://x.com/a" style="display:inline-block;margin:0 8px"><img src="b.png" alt="X" width=24 height=24 style="display:block"></a></div>`, "p([Facebook]1 · [X]2)"},
		"one alone":           {`<p>Left:</p>` + box + `<p>12</p><p>Days</p></div>`, "p(Left:) p(12) p(Days)"},
		"in a sentence":       {`Starts in <span style="display:inline-block">12 days</span>, at noon`, "p(Starts in 12 days, at noon)"},
	})
}

// TestFillsWithinALine: all words of a filled run are on its fill, unless it is cut to their shape, which colours them.
func TestFillsWithinALine(t *testing.T) {
	red := doc.Color{R: 255, Set: true}
	for html, want := range map[string]doc.Style{
		`<span style="background:red">`: {Background: red},
		`<span style="background:linear-gradient(red,red);color:transparent;-webkit-background-clip:text">`: {Color: red},
	} {
		for _, s := range Read(html + "one <i>two</i></span>").Blocks[0].Spans {
			if s.Style.Background != want.Background || s.Style.Color != want.Color {
				t.Errorf("%s: %q has %+v", html, s.Text, s.Style)
			}
		}
	}
}

// TestFilledHead: heads with fills and borders that touch are a filled row.
func TestFilledHead(t *testing.T) {
	const head = `style="border:1px solid #ddd;background:#f2f2f2"`
	d := Read(`<p>The status of all readers as of today:</p><table style="border-collapse:collapse"><tr><th ` + head + `>Reader<th ` + head + `>Desk<tr><td>Iris<td>upstairs</table>`)
	if row := d.Blocks[1].Children[0]; !row.Background.Set {
		t.Error(dump(d.Blocks))
	}
}
