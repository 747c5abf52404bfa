package html

import (
	"fmt"
	"strings"
	"testing"

	"mayfly/render/doc"
)

var kinds = [...]string{"p", "h", "pre", "code", "hr", "list", "item", "quote", "sig", "footer", "section", "table", "row", "cell"}

// dump writes a document as nested brackets: p(text) for a paragraph, [text]1 for link 1, <text>1
// for a button, item1.(…) for an item that is marked otherwise than by a dot, section_ for a band with space within.
func dump(blocks []*doc.Block) string {
	var all []string
	for _, b := range blocks {
		s := kinds[b.Kind]
		if b.Kind == doc.Heading {
			s += fmt.Sprint(b.Level)
		}
		if b.Columns > 1 {
			s += fmt.Sprint(b.Columns)
		}
		if b.Padded && !b.Hue.Set {
			s += "_"
		}
		var in strings.Builder
		for _, span := range b.Spans {
			switch {
			case span.Button:
				fmt.Fprintf(&in, "<%s>%d", span.Text, span.Link)
			case span.Link > 0:
				fmt.Fprintf(&in, "[%s]%d", span.Text, span.Link)
			default:
				in.WriteString(span.Text)
			}
		}
		if b.Kind == doc.Item && b.Marker != "•" {
			s += strings.TrimSpace(b.Marker)
		}
		in.WriteString(dump(b.Children))
		if b.Kind != doc.Rule {
			s += "(" + in.String() + ")"
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

// checkBlocks reads each HTML and compares its dump.
func checkBlocks(t *testing.T, cases map[string]struct{ html, want string }) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := dump(Read(c.html).Blocks); got != c.want {
				t.Errorf("%s\n got %q\nwant %q", c.html, got, c.want)
			}
		})
	}
}

// spans are the texts of some spans of a document.
func spans(d *doc.Document, is func(doc.Span) bool) string {
	var all []string
	for leaf := range d.Leaves() {
		for _, s := range leaf.Spans {
			if is(s) {
				all = append(all, s.Text)
			}
		}
	}
	return strings.Join(all, " ")
}

func TestRead(t *testing.T) {
	const long = "A text that is long enough not to stand beside the mark"
	checkBlocks(t, map[string]struct{ html, want string }{
		"white space":                {"<p> a \n\t b&nbsp;&nbsp;c <b> d</b> </p>", "p(a b\u00a0\u00a0c d)"},
		"line breaks":                {"a<br>b<br>", "p(a\nb)"},
		"an empty line":              {"a<br><br>b", "p(a) p(b)"},
		"many blanks":                {"a&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;b&nbsp; &nbsp; &nbsp;c", "p(a\u00a0\u00a0b\u00a0 \u00a0 \u00a0c)"},
		"indented by blanks":         {"a<br>&nbsp;&nbsp;&nbsp;&nbsp;b", "p(a\n\u00a0\u00a0\u00a0\u00a0b)"},
		"preformatted":               {"<pre>\n a\n\tb \n</pre>", "pre( a\n        b)"},
		"white-space":                {`<p style="white-space:pre-line">a  b` + "\n" + `c</p>`, "p(a b\nc)"},
		"headings":                   {"<h1>a</h1><p>text text text</p><h3>b</h3>", "h1(a) p(text text text) h2(b)"},
		"large type":                 {`<p>text text text</p><p style="font-size:30px">big</p><p style="font-size:22px">less</p>`, "p(text text text) h1(big) h2(less)"},
		"sized by its runs":          {`<div><font style="font-size:13px">text text text text text</font></div><div><font style="font-size:18px">big</font></div>`, "p(text text text text text) h1(big)"},
		"ranks":                      {`<p>text text text</p><p style="font-size:30px">big</p><p style="font-size:22px">less</p><h4 style="font-size:18px">least</h4>`, "p(text text text) h1(big) h2(less) h3(least)"},
		"a little larger":            {`<p>text text text</p><p style="font-size:30px">big</p><p style="font-size:19.2px">less</p><p style="font-size:19px">text</p>`, "p(text text text) h1(big) h2(less) p(text)"},
		"a heading like text":        {`<p>text text text</p><h1>big</h1><h5 style="font-weight:400;font-size:16px">by Ada</h5><h6>LABEL</h6><h4>less</h4>`, "p(text text text) h1(big) p(by Ada) p(LABEL) p(less)"},
		"two titles":                 {`<p>text text text</p><p style="font-size:30px">big</p><p>text</p><p style="font-size:28px">big too</p><h3>less</h3>`, "p(text text text) h1(big) p(text) h1(big too) h2(less)"},
		"text beside small print":    {`<h1 style="font-size:22px">Your week in review</h1><p>Hello Ada</p><p style="font-size:13px">New companies and late orders</p>`, "h1(Your week in review) p(Hello Ada) p(New companies and late orders)"},
		"no title among equals":      {`<p>text text text</p>` + strings.Repeat(`<p style="font-size:30px">big</p>`, 4) + `<h3>less</h3>`, "p(text text text) h2(big) h2(big) h2(big) h2(big) h3(less)"},
		"a large number":             {`<p>text text text</p><p style="font-size:28px">big</p><p style="font-size:60px">1234</p><p>miles</p><h3>less</h3>`, "p(text text text) h1(big) h0(1234) p(miles) h2(less)"},
		"a logo":                     {`<p style="font-size:24px"><a href="https://a.example">Acme</a></p><h2 style="font-size:26px">Hello</h2><p>text text text</p>`, "p([Acme]1) h1(Hello) p(text text text)"},
		"a logo in a band":           {`<div style="background:#036;color:#fff;font-size:28px">Acme</div><h2 style="font-size:26px">Hello</h2><p>text text text text text text text text</p>`, "section(p(Acme)) h1(Hello) p(text text text text text text text text)"},
		"a linked title":             {`<h1><a href="https://a.example">A title longer than a logo</a></h1><p>text text text text text text text</p>`, "h1([A title longer than a logo]1) p(text text text text text text text)"},
		"a picture in a title":       {`<h2 style="font-size:30px">Your order <img src="https://a.example/b.png" alt="a basket"></h2><p>text text text</p>`, "h1(Your order a basket) p(text text text)"},
		"a title above larger type":  {`<p style="font-size:24px">Your year</p><p>A text long enough to be that of a mail, which it is.</p><p style="font-size:30px">July</p>`, "h1(Your year) p(A text long enough to be that of a mail, which it is.) h1(July)"},
		"no title in a column":       {`<p>text text text</p><table><tr><td style="font-size:30px">big<td>what is beside it is more than one short line</table>`, "p(text text text) table(row(cell(h2(big)) cell(p(what is beside it is more than one short line))))"},
		"a title beside a date":      {`<table><tr><td style="font-size:30px">Your receipt<td>14 March</table><p>text text text</p>`, "table(row(cell(h1(Your receipt)) cell(p(14 March)))) p(text text text)"},
		"links from right to left":   {`<table dir=rtl><tr><td><a href="https://a.example/1">תה</a><td><a href="https://a.example/2">כוסות</a><td><a href="https://a.example/3">עזרה</a></table>`, "p([תה]1 · [כוסות]2 · [עזרה]3)"},
		"links far apart, likewise":  {`<p dir=rtl><a href="https://a.example/1" style="margin:0 16px">תה</a> <a href="https://a.example/2">כוסות</a>`, "p([תה]1 [כוסות]2)"},
		"links and marks":            {`<table><tr><td><a href="https://a.example/1">Tea</a><td>|<td><a href="https://a.example/2">Cups</a><td>|<td><a href="https://a.example/3">Help</a></table>`, "p([Tea]1\u00a0\u00a0 |\u00a0\u00a0 [Cups]2\u00a0\u00a0 |\u00a0\u00a0 [Help]3)"},
		"links far apart":            {`<a href="https://a.example/1" style="margin:0 6px;font-size:13px">Tea</a> <a href="#" style="padding:0 6px;font-size:13px">Green cups</a> <b style="margin-left:4px">Help</b>`, "p([Tea]1\u00a0\u00a0 Green cups Help)"},
		"links beside text":          {`<table><tr><td><a href="https://a.example/1">Tea</a><td><a href="https://a.example/2">Cups</a><td><a href="https://a.example/3">Help</a><td>since 1906</table>`, "table(row(cell(p([Tea]1)) cell(p([Cups]2)) cell(p([Help]3)) cell(p(since 1906))))"},
		"a logo in a heading":        {`<h1><img src="https://a.example/b.png" alt="Acme"></h1><p>text text text</p>`, "p(Acme) p(text text text)"},
		"rules":                      {"<hr>a<hr><hr>b<hr>", "p(a) hr p(b)"},
		"rules made of borders":      {`a<div style="border-top:1px solid #ccc"></div>b<p style="border-top:4px solid red;font-size:1px"></p>c`, "p(a) hr p(b) hr p(c)"},
		"a rule in a cell":           {`<table><tr><td>a</td></tr><tr><td><hr></td></tr><tr><td style="border-top:1px solid #ccc"></td></tr><tr><td>b</td></tr></table>`, "p(a) hr p(b)"},
		"a stripe of colour":         {`a<table width="600"><tr><td style="background:#ff8c00;height:15px">&nbsp;</td></tr></table>b`, "p(a) hr p(b)"},
		"no rule":                    {`a<div style="border:none;border-top:0"></div>b`, "p(a) p(b)"},
		"quotes":                     {"<blockquote>a<blockquote>b</blockquote></blockquote>", "quote(p(a) quote(p(b)))"},
		"set in, no quote":           {`<blockquote style="border:none">a</blockquote>`, "p(a)"},
		"a list":                     {"<ul><li>a<li>b<ul><li>c</ul></ul>", "list(item(p(a)) item(p(b) list(item◦(p(c)))))"},
		"tables in a line":           {`<div><table style="display:inline-table"><tr><td>a</table><table style="display:inline-table"><tr><td>b</table></div>c`, "table(row(cell(p(a)) cell(p(b)))) p(c)"},
		"a table alone in a line":    {`<table style="display:inline-table"><tr><th>a<th>b<tr><td>c<td>1</table>`, "table(row(cell(p(a)) cell(p(b))) row(cell(p(c)) cell(p(1))))"},
		"folded by a control":        {`<style>input + div{display:none}</style><input type=checkbox style="display:none"><div>a</div>`, "p(a)"},
		"values above buttons":       {`<div style="display:flex"><b>Name</b><i>Ada</i></div><div style="display:flex"><b>Place</b><i>London</i></div><div style="display:flex"><a href="https://a.example/" style="background:#08c;padding:9px">go</a><a href="https://b.example/">b</a></div>`, "table(row(cell(p(Name)) cell(p(Ada))) row(cell(p(Place)) cell(p(London)))) table(row(cell(p(<go>1)) cell(p([b]2))))"},
		"text in a list":             {"<ul>stray<li>a</ul>", "list(item(p(stray)) item(p(a)))"},
		"a number in a list":         {"<ul><li>100</ul>points", "list(item(p(100))) p(points)"},
		"terms":                      {"<dl><dt>a<dd>b</dl>", "p(a) item(p(b))"},
		"a link":                     {`<a href="https://a.example/">a</a> b`, "p([a]1 b)"},
		"a link twice":               {`<a href="https://a.example/">a</a> <a href="https://a.example/">b</a>`, "p([a b]1)"},
		"links as they are read":     {`<a href="https://a.example/"><img src="a.png"></a><a href="#b">b</a> <a href="https://c.example/">c</a> <a href="https://a.example/">a</a>`, "p([b]3 [c]1 [a]2)"},
		"a break behind a link":      {`<a href="https://a.example/">a</a><br>b`, "p([a]1\nb)"},
		"a URL":                      {"see https://a.example/b?c=d, or www.b.example.", "p(see [https://a.example/b?c=d]1, or [www.b.example]2.)"},
		"a URL in a link":            {`<a href="https://a.example/">https://b.example/</a>`, "p([https://b.example/]1)"},
		"a URL in code":              {"<pre>x https://a.example/</pre>", "pre(x [https://a.example/]1)"},
		"a map":                      {`<map><area href="https://a.example/" alt="here"></map>`, "p([here]1)"},
		"a button":                   {`<a href="https://a.example/" style="background:#08c;padding:9px">go</a>`, "p(<go>1)"},
		"a button by its cell":       {`<table><tr><td bgcolor="#0088cc"><a href="https://a.example/">go</a></td></tr></table>`, "p(<go>1)"},
		"a button of a border":       {`<a href="https://a.example/" style="border:1px solid;padding:9px">go</a>`, "p(<go>1)"},
		"a real button":              {`<button><a href="https://a.example/">go</a></button>`, "p(<go>1)"},
		"a button to nowhere":        {`<a href="#" style="background:#08c;padding:9px">go</a> <a href="#">a</a>`, "p(<go>0 a)"},
		"an image in a bar":          {`<table><tr><td bgcolor="#0088cc"><a href="https://a.example/"><img src="https://a.example/l.png" alt="Logo" width="90"></a></td></tr></table>`, "p([a.example]1)"},
		"a marked word":              {`<a href="https://a.example/" style="background:#ff0">go</a> there`, "p([go]1 there)"},
		"a long button":              {`<a href="https://a.example/" style="background:#08c;padding:9px">` + strings.Repeat("go ", 60) + `</a>`, "p([" + strings.TrimSpace(strings.Repeat("go ", 60)) + "]1)"},
		"a header and its rows":      {"<table><tr><th>a<th>b<tr><td>c<td>1</table>", "table(row(cell(p(a)) cell(p(b))) row(cell(p(c)) cell(p(1))))"},
		"a rule between rows":        {"<table><tr><th>a<th>b<tr><td colspan=2><hr><tr><td>c<td>1</table>", "table(row(cell(p(a)) cell(p(b))) row(cell(p(c)) cell(p(1))))"},
		"spans":                      {"<table><tr><th>a<th>b<tr><td colspan=2>c</table>", "table(row(cell(p(a)) cell(p(b))) row(cell2(p(c))))"},
		"names and values":           {"<table><tr><td>Name<td>Ada<tr><td>Place<td>London</table>", "table(row(cell(p(Name)) cell(p(Ada))) row(cell(p(Place)) cell(p(London))))"},
		"a value is missing":         {"<table><tr><td>Name<td>Ada<tr><td>Room<td><tr><td>Place<td>London</table>", "table(row(cell(p(Name)) cell(p(Ada))) row(cell(p(Room)) cell()) row(cell(p(Place)) cell(p(London))))"},
		"a thing and its price":      {"<table><tr><td>Tea<br>Green<br>Qty: 2<td>€ 9.80</table>", "table(row(cell(p(Tea\nGreen\nQty: 2)) cell(p(€ 9.80))))"},
		"things, each in a table":    {"<table><tr><td>Tea<br>Green<td>€ 9.80</table><table><tr><td>Cup<td>€ 4.00</table>", "table(row(cell(p(Tea\nGreen)) cell(p(€ 9.80))) row(cell(p(Cup)) cell(p(€ 4.00))))"},
		"a text and a number":        {"<table><tr><td>" + long + "<br>More of it<td>17</table>", "table(row(cell(p(A text that is long enough not to stand beside the mark\nMore of it)) cell(p(17))))"},
		"a link of each number":      {`<table><tr><td><a href="https://a.example/1">1</a><td><a href="https://a.example/2">2</a><td><a href="https://a.example/3">3</a><td><a href="https://a.example/4">4</a></table>`, "p([1]1\u00a0\u00a0 [2]2\u00a0\u00a0 [3]3\u00a0\u00a0 [4]4)"},
		"an address":                 {"<table><tr><td>Name<td>Ada<tr><td>Place<td>12 Quay St<br>London<br>England</table>", "table(row(cell(p(Name)) cell(p(Ada))) row(cell(p(Place)) cell(p(12 Quay St\nLondon\nEngland))))"},
		"buttons below a header":     {`<table><tr><th>a<th>b<tr><td>c<td>1<tr><td><td><a href="https://a.example/" style="background:#08c;padding:9px">go</a></table>`, "table(row(cell(p(a)) cell(p(b))) row(cell(p(c)) cell(p(1))) row(cell() cell(p(<go>1))))"},
		"a row below its titles":     {"<table><tr bgcolor=#ddd><td>a<td>b<td>c<tr><td>d<td>2<td>$3.00</table>", "table(row(cell(p(a)) cell(p(b)) cell(p(c))) row(cell(p(d)) cell(p(2)) cell(p($3.00))))"},
		"an image of the thing":      {`<table><tr><td><a href="https://a.example/"><img src="https://a.example/p.png" width=100 height=100></a><td><a href="https://a.example/">Tea</a><br>Green<td>€ 9.80</table>`, "table(row(cell(p([Tea]1\nGreen)) cell(p(€ 9.80))))"},
		"sums in another table":      {"<table><tr><th>a<th>b<th>c<tr><td>d<td>2<td>$3.00<tr><td>e<td>1<td>$1.00</table><hr><table><tr><td>Sum<td>$4.00<tr><td>Sent<td>Free<tr><td>All<td>$4.00</table>", "table(row(cell(p(a)) cell(p(b)) cell(p(c))) row(cell(p(d)) cell(p(2)) cell(p($3.00))) row(cell(p(e)) cell(p(1)) cell(p($1.00))) row(cell2(p(Sum)) cell(p($4.00))) row(cell2(p(Sent)) cell(p(Free))) row(cell2(p(All)) cell(p($4.00))))"},
		"sums of one thing":          {"<table><tr><td>Tea<br>Green<td>$3.00</table><table><tr><td>Sent<td>$1.00<tr><td>All<td>$4.00</table>", "table(row(cell(p(Tea\nGreen)) cell(p($3.00))) row(cell(p(Sent)) cell(p($1.00))) row(cell(p(All)) cell(p($4.00))))"},
		"sums below a text":          {"<table><tr><td>d<td>$3.00<tr><td>e<td>$1.00</table>Paid<table><tr><td>Sum<td>$4.00</table>", "table(row(cell(p(d)) cell(p($3.00))) row(cell(p(e)) cell(p($1.00)))) p(Paid) table(row(cell(p(Sum)) cell(p($4.00))))"},
		"no sums":                    {"<table><tr><td>d<td>3<tr><td>e<td>1</table><table><tr><td>Sum<td>$4.00<tr><td>All<td>$4.00</table>", "table(row(cell(p(d)) cell(p(3))) row(cell(p(e)) cell(p(1))) row(cell(p(Sum)) cell(p($4.00))) row(cell(p(All)) cell(p($4.00))))"},
		"numbers and their names":    {"<table><tr><td>1<td>2<td>3<tr><td>a<td>b<td>c</table>", "table(row(cell(p(1)) cell(p(2)) cell(p(3))) row(cell(p(a)) cell(p(b)) cell(p(c))))"},
		"a table in a table":         {"<table><tr><td><table><tr><td>a</table></table>", "p(a)"},
		"side by side":               {"<table><tr><td>a<td>b</table>", "table(row(cell(p(a)) cell(p(b))))"},
		"cells that are blocks":      {`<table><tr><td style="display:block">a<td style="display:block">b</table>`, "p(a) p(b)"},
		"boxes side by side":         {`<div style="display:inline-block;width:50%">a</div><div style="display:inline-block;width:50%">b</div>`, "table(row(cell(p(a)) cell(p(b))))"},
		"a box alone":                {`<div style="display:inline-block;width:50%">a</div><p>b`, "p(a) p(b)"},
		"flex":                       {`<div style="display:flex"><span>a</span><span>b</span></div>`, "table(row(cell(p(a)) cell(p(b))))"},
		"flex, downwards":            {`<div style="display:flex;flex-direction:column"><p>a</p><p>b</p></div>`, "p(a) p(b)"},
		"links in flex":              {`<div style="display:flex"><a href="https://a.example/" style="background:#08c;padding:9px">go</a><a href="https://b.example/">b</a></div>`, "table(row(cell(p(<go>1)) cell(p([b]2))))"},
		"text in flex":               {`<div style="display:flex">a <b>b</b></div>`, "table(row(cell(p(a)) cell(p(b))))"},
		"an image in flex":           {`<div style="display:flex"><img src="https://a.example/l.png" alt="Acme"><b>a</b></div>`, "table(row(cell(p(Acme)) cell(p(a))))"},
		"lists in flex":              {`<div style="display:flex"><ul><li>a<li>b</ul><ol><li>c<li>d</ol></div>`, "table(row(cell(list(item(p(a)) item(p(b)))) cell(list(item1.(p(c)) item2.(p(d))))))"},
		"a table in flex":            {`<div style="display:flex"><table><tr><th>a<th>b<tr><td>c<td>1</table></div>`, "table(row(cell(p(a)) cell(p(b))) row(cell(p(c)) cell(p(1))))"},
		"what a wide screen hides":   {`<style>.m{display:none}@media (max-width:480px){.m{display:block!important}}@media (min-width:481px){.n{display:none}}</style><p class=m>no<p class=n>no<p>yes`, "p(yes)"},
		"a link laid out by itself":  {`<a href="https://a.example/" style="display:flex;background:#08c;padding:9px">go</a>`, "p(<go>1)"},
		"names and values in a grid": {`<div style="display:grid;grid-template-columns:auto 1fr"><b>Name</b><i>Ada</i><b>Place</b><i>London</i></div>`, "table(row(cell(p(Name)) cell(p(Ada))) row(cell(p(Place)) cell(p(London))))"},
		"a grid with a title":        {`<div style="display:grid;grid-template-columns:repeat(2, minmax(0, 1fr))"><b style="grid-column:1 / -1">t</b><b>a</b><b>b</b></div>`, "p(t) table(row(cell(p(a)) cell(p(b))))"},
		"a grid of one column":       {`<div style="display:grid"><p>a</p><p>b</p></div>`, "p(a) p(b)"},
		"digits in cells":            {"<table><tr><td>4<td>8<td>2<td>9</table>", "p(4829)"},
		"a mark beside a text":       {"<table><tr><td>✓<td>" + long + "<p>More</p></table>", "table(row(cell(p(✓)) cell(p(" + long + ") p(More))))"},
		"a product":                  {`<img src="https://a.example/p.png" alt="Tea"><br>Tea<br>3.00`, "p(Tea\n3.00)"},
		"an icon beside its link":    {`<table><tr><td><a href="https://a.example/"><img src="i.png" width=20 height=20 alt="icon"></a><td><a href="https://a.example/">Site</a></table>`, "p([Site]1)"},
		"an image with other words":  {`<img src="https://a.example/p.png" alt="Tea"><br>Coffee`, "p(Tea\nCoffee)"},
		"an image that leads":        {`<a href="https://a.example/"><img src="https://a.example/p.png" alt="Tea"></a><br>Tea`, "p([Tea]1\nTea)"},
		"a spacer":                   {`a<img src="https://a.example/spacer.gif" width=300 height=1>b`, "p(ab)"},
		"forms":                      {`<form>Name <input placeholder="Ada"> <input type=checkbox checked> <input type=radio> <input type=submit> <input type=hidden value=x><select><option>one<option>two</select></form>`, "p(Name [Ada] [x] ( ) <Submit>0 one two)"},
		"ruby and quotes":            {"<ruby>漢<rt>kan</rt></ruby> <q>said</q>", "p(漢(kan) “said”)"},
		"Outlook's part":             {"<!--[if mso]>no<![endif]--><!--[if !mso]><!-->yes<!--<![endif]-->", "p(yes)"},
		"what Outlook alone hides":   {`<!--[if !mso]><!--><p style="mso-hide:all">yes</p><!--<![endif]--><p style="mso-hide:all">yes</p>`, "p(yes) p(yes)"},
		"no script":                  {"<script>no</script><noscript>yes</noscript><style>no</style><template>no</template><title>no</title>", "p(yes)"},
		"what nobody sees of a form": {`a<div style="visibility:hidden"><input value=no><img src="https://a.example/x.png" alt=no></div>`, "p(a)"},
		"a footer":                   {`<p>Thank you for your order, which we have received.</p><p style="font-size:11px">© Acme</p>`, "p(Thank you for your order, which we have received.) footer(p(© Acme))"},
		"a grey mail":                {`<div style="color:#777"><p>Thank you for your order, which we have received.</p><p>Yours, Ada</p><p style="font-size:11px">© Acme</p></div>`, "p(Thank you for your order, which we have received.) p(Yours, Ada) footer(p(© Acme))"},
		"more on bands than beside":  {`<body bgcolor="#e8f4fd"><div style="background:#fff"><div style="background:#e67e22"><p>Register your free place for the talk on Saturday, with tea.</p></div><p>You will learn a lot, and meet others.</p></div>`, "section_(p(Register your free place for the talk on Saturday, with tea.)) p(You will learn a lot, and meet others.)"},
		"a tint from edge to edge":   {`<div style="padding:20px"><p>Some text that is on the page, and more of it</p></div><div style="background:#f4f4f4;padding:20px"><p>Beside it</p></div>`, "p(Some text that is on the page, and more of it) section(p(Beside it))"},
		"rows on another band":       {`<body bgcolor="#123"><div style="background:#ffe"><table width="100%"><tr><td>Tea<td>2.00 €</table></div><div style="background:#cca"><table width="100%"><tr><td>Total<td>2.00 €</table></div>`, "section(table(row(cell(p(Tea)) cell(p(2.00 €))))) section(table(row(cell(p(Total)) cell(p(2.00 €)))))"},
		"one sheet with a strip":     {`<body bgcolor="#eee"><div style="background:#fff;padding:20px"><p>One sheet has all of the mail on it.</p></div><div style="padding:20px"><p>But for a strip of the page here.</p></div><div style="background:#fff;padding:20px"><p>Goodbye, and come again soon.</p></div>`, "p(One sheet has all of the mail on it.) p(But for a strip of the page here.) p(Goodbye, and come again soon.)"},
		"cards on a page":            {`<body bgcolor="#eee"><div style="background:#fff;padding:20px;margin:20px"><p>One card has half of it.</p></div><div style="background:#fff;padding:20px;margin:20px"><p>The other one the rest.</p></div>`, "section(p(One card has half of it.)) section(p(The other one the rest.))"},
		"cards without padding":      {`<body bgcolor="#eee">` + strings.Repeat(`<div style="background:#fff;margin:20px">A card</div>`, 2), "section(p(A card)) section(p(A card))"},
		"rules within cards":         {strings.Repeat(`<div style="background:#f4f4f4;padding:20px;margin:20px"><p>One</p><hr><p>Two</p><hr></div>`, 2), "section(p(One) hr p(Two)) section(p(One) hr p(Two))"},
		"a band by its empty rows":   {`<p>Some text that is on the page, and more of it, too</p><table bgcolor="#226622" width="600"><tr><td height="30"></td></tr><tr><td>A band</td></tr></table>`, "p(Some text that is on the page, and more of it, too) section_(p(A band))"},
		"a card at the edge of one":  {`<p>Some text<p>that is<p>on the page</p><div style="border:1px solid #ccc"><p>Sent</p><div style="border:1px solid #ccc"><p>By boat</p></div></div>`, "p(Some text) p(that is) p(on the page) section(p(Sent) p(By boat))"},
		"a sheet on a dark page":     {`<body bgcolor="#222222"><div style="background:#fff;color:#555"><p>Thank you for your order, which we have received.</p><p>Yours, Ada</p></div><p style="color:#888">© Acme</p>`, "p(Thank you for your order, which we have received.) p(Yours, Ada) footer(p(© Acme))"},
		"grey text below a heading":  {`<p style="font-size:21px">The game night takes place on Friday at seven, in the hall.</p><h4 style="font-size:28px">About</h4><p style="color:#777">We play.</p><p style="color:#777">Look at our site. <a href="https://a.example/">Read more</a></p>`, "p(The game night takes place on Friday at seven, in the hall.) h1(About) p(We play.) p(Look at our site. [Read more]1)"},
		"small print above a rule":   {`<p>Thank you for your order, which we have received.</p><p style="font-size:12px">The link is good for an hour.</p><hr><p style="font-size:11px">© Acme</p>`, "p(Thank you for your order, which we have received.) p(The link is good for an hour.) hr footer(p(© Acme))"},
		"no footer below a heading":  {`<p>Thank you for your order, which we have received.</p><h3>More</h3><p style="font-size:11px">Small text</p><p style="font-size:11px">© Acme</p>`, "p(Thank you for your order, which we have received.) h2(More) p(Small text) footer(p(© Acme))"},
		"words that are no footer":   {`<p>Thank you for your order, which we have received.</p><p>Bye</p>`, "p(Thank you for your order, which we have received.) p(Bye)"},
		"overridden direction":       {"<p>a \u202e!eviL won\u202c b<p>\u202edetrats<p style=\"unicode-bidi:bidi-override;direction:rtl\">.uoy knahT<p>\u202eשלום", "p(a now Live! b) p(started) p(Thank you.) p(שלום)"},
		"a bdo":                      {`<p>50 $ <bdo dir="rtl">!eerf</bdo> <bdo dir="ltr">abc</bdo> <bdo dir="rtl">שלום</bdo>`, "p(50 $ free! abc שלום)"},
		"only hidden":                {`<p style="display:none">a</p>`, ""},
		"only images":                {`<img src="https://a.example/p.png">`, "p([image])"},
		"nothing":                    {"  ", ""},
	})
}

// TestWordsApart checks what separates words that have no white space between them.
func TestWordsApart(t *testing.T) {
	for in, want := range map[string]string{
		`Order:<span style="margin-left:4px">1234</span>`:                                      "p(Order: 1234)",
		`<s>$30.00</s><span style="padding-left:10px">$22.50</span>`:                           "p($30.00 $22.50)",
		`Best tea<b style="margin-left:.25em">20% off</b>`:                                     "p(Best tea 20% off)",
		`<span style="padding-right:2px">tea</span><span style="padding-left:2px">cups</span>`: "p(tea cups)",
		`<div style="font-size:10px"><b style="margin-right:2px">tea</b>3</div>`:               "p(tea 3)",
		`<span style="padding:0 5px">tea</span>, cups (<b style="margin:0 5px">all</b>)`:       "p(tea, cups (all))",
		`<span style="padding:0 2px">tea</span>cups`:                                           "p(teacups)",
		`<span style="margin:0 5px"><b style="margin:0 -5px">tea</b></span>cups`:               "p(teacups)",
		`<span style="color:red;font-size:30px">O</span>nce, m<b>id</b>dle`:                    "p(Once, middle)",
		`Mail:&nbsp;<b style="margin:0 5px">a</b>&nbsp;b`:                                      "p(Mail:\u00a0a\u00a0b)",
		`<table align=left width="100%" style="max-width:300px"><tr><td>Left</table><a href="https://a.example/" style="display:inline-block;background:#000;color:#fff;padding:9px">Go</a>`:  "table(row(cell(p(Left)) cell(p(<Go>1))))",
		`<table align=left width="100%" style="max-width:480px"><tr><td>Above</table><a href="https://a.example/" style="display:inline-block;background:#000;color:#fff;padding:9px">Go</a>`: "p(Above) p(<Go>1)",
		`<p style="color:#333;background:#333"><b style="color:#fff">tea,</b> <b style="color:#fff">cups</b>`:                                                                                 "p(tea, cups)",
		`<span style="float:left;font-size:40px">O</span>nce`:                                             "p(Once)",
		`<p style="text-align:right">סהכ <b style="padding-left:25px">262.00</b>`:                         "p(סהכ 262.00)",
		`Made by<img src="https://a.example/x.png" alt="Tea House" width=90 height=20>and others`:         "p(Made by Tea House and others)",
		`<img src="https://a.example/x.png" alt="O" width=9 height=9>nce`:                                 "p(Once)",
		`<img src="https://a.example/x.png" alt="Tea" width=9 height=9>, <img src=y alt="Cups" width=9>.`: "p(Tea, Cups.)",
	} {
		if got := dump(Read(in).Blocks); got != want {
			t.Errorf("%s\n got %q\nwant %q", in, got, want)
		}
	}
}

// TestTransform checks that text is in the case in which a browser shows it.
func TestTransform(t *testing.T) {
	for in, want := range map[string]string{
		`<p style="text-transform:uppercase">Grüße, <b>Ana</b> <i style="text-transform:none">Only</i></p>Tea`:                                                            "p(GRÜSSE, ANA Only) p(Tea)",
		`<html lang=tr><p style="text-transform:uppercase">sipariş</p><p style="text-transform:capitalize">iki ılık</p><p lang=en style="text-transform:uppercase">items`: "p(SİPARİŞ) p(İki Ilık) p(ITEMS)",
		`<div lang=el style="text-transform:uppercase">παράδοση</div><div style="text-transform:lowercase">ΟΔΟΣ`:                                                          "p(ΠΑΡΑΔΟΣΗ) p(οδος)",
		`<p style="text-transform:lowercase">TEA Time`:                                                "p(tea time)",
		`<p style="text-transform:capitalize">o<b>ur</b> TEA, don't “miss” it: e-mail 2nd <i>cup</i>`: "p(Our TEA, Don't “Miss” It: E-Mail 2nd Cup)",
		`<p style="text-transform:capitalize">tea<br>time</p><p>cups`:                                 "p(Tea\nTime) p(cups)",
		`<pre style="text-transform:uppercase">a  b`:                                                  "pre(A  B)",
		`<p style="text-transform:uppercase">see https://a.example/Tea</p>`:                           "p(SEE [https://a.example/Tea]1)",
		`<p style="text-transform:uppercase"><a href="https://a.example/Tea">Tea</a></p>`:             "p([TEA]1)",
		`<p style="text-transform:uppercase"><button>Brew</button></p>`:                               "p(<Brew>0)",
	} {
		d := Read(in)
		if got := dump(d.Blocks); got != want {
			t.Errorf("%s\n got %q\nwant %q", in, got, want)
		}
		if len(d.Links) > 0 && d.Links[0].URL != "https://a.example/Tea" {
			t.Errorf("%s leads to %s", in, d.Links[0].URL)
		}
	}
}

// TestHeaders counts the rows of a table that are headers.
func TestHeaders(t *testing.T) {
	for name, c := range map[string]struct {
		rows string
		want int
	}{
		"th":                   {"<tr><th>a<th>b<tr><td>c<td>1<tr><td>d<td>2", 1},
		"bold":                 {"<tr><td><b>a</b><td><b>b</b><tr><td>c<td>1<tr><td>d<td>2", 1},
		"bold, and a total":    {"<tr><td><b>a</b><td><b>b</b><tr><td>c<td>1<tr><td><b>d</b><td><b>2</b>", 1},
		"a colour behind":      {"<tr bgcolor=#ddd><td>a<td>b<tr><td>c<td>1<tr><td>d<td>2", 1},
		"all bold":             {"<tr><td><b>a</b><td><b>b</b><tr><td><b>c</b><td><b>1</b><tr><td>d<td>2", 0},
		"every other coloured": {"<tr bgcolor=#ddd><td>a<td>b<tr><td>c<td>1<tr bgcolor=#ddd><td>d<td>2", 0},
		"numbers":              {"<tr><td><b>a</b><td><b>7</b><tr><td>c<td>1<tr><td>d<td>2", 0},
		"names":                {"<tr><td><b>a</b><td>b<tr><td><b>c</b><td>1<tr><td><b>d</b><td>2", 0},
		"names and values":     {"<tr><td><b>a</b><td><b>b</b><tr><td>c<td>d<tr><td>e<td>f", 0},
		"a line below":         {"<tr style='border-bottom:1px solid #ccc'><td>a<td>b<td>c<tr><td>d<td>e<td>f<tr><td>g<td>h<td>i", 1},
		"all with lines":       {"<tr><td style='border-bottom:1px solid #ccc'>a<td>b<tr><td style='border-bottom:1px solid #ccc'>c<td>d<tr><td>e<td>f", 0},
		"two rows":             {"<tr><td><b>a</b><td><b>b</b><tr><td>c<td>d", 0},
	} {
		if d := Read("<table>" + c.rows + "</table>"); len(d.Blocks) != 1 || d.Blocks[0].Head != c.want {
			t.Errorf("%s: %d of %s", name, d.Blocks[0].Head, dump(d.Blocks))
		}
	}
}
