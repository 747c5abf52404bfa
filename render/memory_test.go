// Under the race detector, pools forget and allocation is not what it is.
//go:build !race

package render_test

import (
	"fmt"
	"maps"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"mayfly/internal/mail"
	"mayfly/render"
)

// greedy are mails that would take much memory, most of about five megabytes: a part again and again,
// with its number in the place of each %d, between two texts.
var greedy = map[string]struct {
	of                  func(body string) mail.Message
	before, part, after string
}{
	"attributes of a tag":   {html, "<p ", "a%d=v ", ">x"},
	"attributes of tags":    {html, "", "<p " + strings.Repeat("a=b ", 2000) + ">x</p>", ""},
	"an attribute":          {html, `<p title="`, "x", `">x`},
	"an unclosed attribute": {html, `x<p title="`, "x", ""},
	"classes":               {html, `<style>.a{color:red}</style><p class="`, "a ", `">x`},
	"a style attribute":     {html, `<p style="`, "color:red;", `">x`},
	"style attributes":      {html, "", `<p style="color:#%d;padding:%dpx;margin:1px">x`, ""},
	"a target":              {html, `<a href="https://a.example/`, "x", `">x`},
	"targets":               {html, "", `<a href="https://a.example/%d">link %d</a> `, ""},
	"an image":              {html, `<img alt=x src="data:image/png;base64,`, "A", `">x`},
	"images":                {html, "", `<img src="https://a.example/x.png" alt="alt" width=9 height=9>`, ""},
	"a background":          {html, `<p style="background:url(data:image/png;base64,`, "A", `)">x`},
	"a word":                {html, "", "x", ""},
	"words":                 {html, "", strings.Repeat("x", 1<<20) + " ", ""},
	"brackets":              {html, "", "<", ""},
	"references":            {html, "", "&amp;", ""},
	"spaces":                {html, "", "&nbsp;", "x"},
	"small elements":        {html, "", "<b>x</b>", ""},
	"empty elements":        {html, "", "<i></i>", "x"},
	"paragraphs":            {html, "", "<p>x", ""},
	"breaks":                {html, "", "x<br>", ""},
	"cells":                 {html, "<table>", "<tr>" + strings.Repeat("<td>1", 10), ""},
	"cells of a tree":       {html, "<table>" + strings.Repeat("<tr>"+strings.Repeat("<td>1", 10), 1800), "", ""},
	"blocks of a tree":      {html, strings.Repeat("<div>x</div>", 15_000), "", ""},
	"wide cells":            {html, "<table>", "<tr>" + strings.Repeat("<td colspan=1000000>x", 50), ""},
	"floats":                {html, "", `<div style="float:left;width:30%">%d</div>`, ""},
	"nested columns":        {html, strings.Repeat("<table><tr><td>a</td><td>", 60) + strings.Repeat("<p>x</p>", 15_000), "", ""},
	"fields":                {html, "", "<input value=x>", ""},
	"options":               {html, "<select>", "<option>x", ""},
	"a drawing":             {html, "<svg>", `<path d="M0 0"/>`, "</svg>x"},
	"a script":              {html, "<script>", "x=1;", "</script>x"},
	"a comment":             {html, "<!--", "x", "-->x"},
	"empty comments":        {html, "", "<!-->", "x"},
	"odd comments":          {html, "", "</ >", "x"},
	"a title":               {html, "<title>", "x", ""},
	"hidden text":           {html, "<p hidden>", "hidden ", "<p>x"},
	"preformatted":          {html, "<pre>", "a\tb\n", ""},
	"rules":                 {html, "<style>", ".c%d td.x > a#i%d{color:red}", "</style>x"},
	"selectors":             {html, "<style>", ".c%d,", "p{color:red}</style><p>x"},
	"declarations":          {html, "<style>p{", "color:red;", "}</style><p>x"},
	"text":                  {plain, "", "lorem ipsum dolor ", ""},
	"a line":                {plain, "", "x", ""},
	"lines":                 {plain, "", "x\n", ""},
	"quoted lines":          {plain, "", strings.Repeat(">", 90) + "x\n", ""},
	"flowed lines":          {flowed, "", "flowed text goes on \n", ""},
	"flowed quotes":         {flowed, "", "> flowed text goes on \n", ""},
	"addresses":             {plain, "", "http://a.example/%d ", ""},
	"numbers":               {plain, "", "123456 ", ""},
	"bytes":                 {plain, "", "\xff", ""},
	"Markdown":              {markdown, "", "# Head\n\ntext **bold** [l](http://a.example/)\n\n* item\n", ""},
	"Markdown tables":       {markdown, strings.Repeat("|a", 60) + "\n" + strings.Repeat("|-", 60) + "\n" + strings.Repeat(strings.Repeat("|a", 60)+"\n", 200), "", ""},
}

func plain(body string) mail.Message    { return mail.Message{Text: body} }
func flowed(body string) mail.Message   { return mail.Message{Text: body, Flowed: true} }
func markdown(body string) mail.Message { return mail.Message{Text: body, TextType: "text/markdown"} }

func greedyMail(name string) mail.Message {
	g := greedy[name]
	if !strings.Contains(g.part, "%d") {
		return g.of(g.before + strings.Repeat(g.part, 5<<20/max(len(g.part), 1)) + g.after)
	}
	var b strings.Builder
	for i := 0; b.Len() < 5<<20; i++ {
		b.WriteString(strings.ReplaceAll(g.part, "%d", fmt.Sprint(i)))
	}
	return g.of(g.before + b.String() + g.after)
}

// maxAllocated bounds the memory that is allocated, in all, for a mail to be opened and laid out,
// in bytes. It is far more than what is in use at any time, and far less than what a bound that is
// missing lets such a mail take.
const maxAllocated = 110 << 20

func TestMemoryIsBounded(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(greedy)) {
		t.Run(name, func(t *testing.T) {
			m := greedyMail(name)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			mail := render.Open(m)
			lines := mail.Lines(render.Rich, render.Options{Width: 80})
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > maxAllocated {
				t.Errorf("%d MB are allocated", n>>20)
			}
			if len(lines) == 0 {
				t.Error("nothing is shown")
			}
		})
	}
}

// BenchmarkGreedy measures the time and the memory that such mails take: peak-MB is the heap at its
// largest, above what it was, garbage included.
func BenchmarkGreedy(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(greedy)) {
		m := greedyMail(name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			runtime.GC()
			peak := watchHeap()
			for b.Loop() {
				render.Open(m).Lines(render.Rich, render.Options{Width: 80})
			}
			b.ReportMetric(float64(peak())/1e6, "peak-MB")
		})
	}
}

// watchHeap samples the size of the heap until the function that it returns is called, which gives
// the growth.
func watchHeap() func() uint64 {
	heap := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	start, stop, done := heap(), make(chan struct{}), make(chan uint64)
	go func() {
		most := start
		tick := time.NewTicker(200 * time.Microsecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				done <- most - start
				return
			case <-tick.C:
				most = max(most, heap())
			}
		}
	}()
	return func() uint64 { close(stop); return <-done }
}
