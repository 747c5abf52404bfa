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

// full is a text of about five megabytes made of a part again and again.
func full(part string) string { return strings.Repeat(part, 5<<20/len(part)) }

// counted is full with the part's number in the place of each %d.
func counted(part string) string {
	var b strings.Builder
	for i := 0; b.Len() < 5<<20; i++ {
		b.WriteString(strings.ReplaceAll(part, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

// greedy are mails that would take much memory, each of about five megabytes.
var greedy = map[string]func() mail.Message{
	"attributes of a tag":   func() mail.Message { return html("<p " + counted("a%d=v ") + ">x") },
	"attributes of tags":    func() mail.Message { return html(full("<p " + strings.Repeat("a=b ", 2000) + ">x</p>")) },
	"an attribute":          func() mail.Message { return html(`<p title="` + full("x") + `">x`) },
	"an unclosed attribute": func() mail.Message { return html(`x<p title="` + full("x")) },
	"classes":               func() mail.Message { return html(`<style>.a{color:red}</style><p class="` + full("a ") + `">x`) },
	"a style attribute":     func() mail.Message { return html(`<p style="` + full("color:red;") + `">x`) },
	"style attributes":      func() mail.Message { return html(counted(`<p style="color:#%d;padding:%dpx;margin:1px">x`)) },
	"a target":              func() mail.Message { return html(`<a href="https://a.example/` + full("x") + `">x`) },
	"targets":               func() mail.Message { return html(counted(`<a href="https://a.example/%d">link %d</a> `)) },
	"an image":              func() mail.Message { return html(`<img alt=x src="data:image/png;base64,` + full("A") + `">x`) },
	"images": func() mail.Message {
		return html(full(`<img src="https://a.example/x.png" alt="alt" width=9 height=9>`))
	},
	"a background": func() mail.Message {
		return html(`<p style="background:url(data:image/png;base64,` + full("A") + `)">x`)
	},
	"a word":         func() mail.Message { return html(full("x")) },
	"words":          func() mail.Message { return html(full(strings.Repeat("x", 1<<20) + " ")) },
	"brackets":       func() mail.Message { return html(full("<")) },
	"references":     func() mail.Message { return html(full("&amp;")) },
	"spaces":         func() mail.Message { return html(full("&nbsp;") + "x") },
	"small elements": func() mail.Message { return html(full("<b>x</b>")) },
	"empty elements": func() mail.Message { return html(full("<i></i>") + "x") },
	"paragraphs":     func() mail.Message { return html(full("<p>x")) },
	"breaks":         func() mail.Message { return html(full("x<br>")) },
	"cells":          func() mail.Message { return html("<table>" + full("<tr>"+strings.Repeat("<td>1", 10))) },
	"cells of a tree": func() mail.Message {
		return html("<table>" + strings.Repeat("<tr>"+strings.Repeat("<td>1", 10), 1800))
	},
	"blocks of a tree": func() mail.Message { return html(strings.Repeat("<div>x</div>", 15_000)) },
	"wide cells": func() mail.Message {
		return html("<table>" + full("<tr>"+strings.Repeat("<td colspan=1000000>x", 50)))
	},
	"floats": func() mail.Message { return html(counted(`<div style="float:left;width:30%">%d</div>`)) },
	"nested columns": func() mail.Message {
		return html(strings.Repeat("<table><tr><td>a</td><td>", 60) + strings.Repeat("<p>x</p>", 15_000))
	},
	"fields":         func() mail.Message { return html(full("<input value=x>")) },
	"options":        func() mail.Message { return html("<select>" + full("<option>x")) },
	"a drawing":      func() mail.Message { return html("<svg>" + full(`<path d="M0 0"/>`) + "</svg>x") },
	"a script":       func() mail.Message { return html("<script>" + full("x=1;") + "</script>x") },
	"a comment":      func() mail.Message { return html("<!--" + full("x") + "-->x") },
	"empty comments": func() mail.Message { return html(full("<!-->") + "x") },
	"odd comments":   func() mail.Message { return html(full("</ >") + "x") },
	"a title":        func() mail.Message { return html("<title>" + full("x")) },
	"hidden text":    func() mail.Message { return html("<p hidden>" + full("hidden ") + "<p>x") },
	"preformatted":   func() mail.Message { return html("<pre>" + full("a\tb\n")) },
	"rules":          func() mail.Message { return html("<style>" + counted(".c%d td.x > a#i%d{color:red}") + "</style>x") },
	"selectors":      func() mail.Message { return html("<style>" + counted(".c%d,") + "p{color:red}</style><p>x") },
	"declarations":   func() mail.Message { return html("<style>p{" + full("color:red;") + "}</style><p>x") },
	"text":           func() mail.Message { return mail.Message{Text: full("lorem ipsum dolor ")} },
	"a line":         func() mail.Message { return mail.Message{Text: full("x")} },
	"lines":          func() mail.Message { return mail.Message{Text: full("x\n")} },
	"quoted lines":   func() mail.Message { return mail.Message{Text: full(strings.Repeat(">", 90) + "x\n")} },
	"flowed lines":   func() mail.Message { return mail.Message{Text: full("flowed text goes on \n"), Flowed: true} },
	"flowed quotes":  func() mail.Message { return mail.Message{Text: full("> flowed text goes on \n"), Flowed: true} },
	"addresses":      func() mail.Message { return mail.Message{Text: counted("http://a.example/%d ")} },
	"numbers":        func() mail.Message { return mail.Message{Text: full("123456 ")} },
	"bytes":          func() mail.Message { return mail.Message{Text: full("\xff")} },
	"Markdown": func() mail.Message {
		return mail.Message{Text: full("# Head\n\ntext **bold** [l](http://a.example/)\n\n* item\n"), TextType: "text/markdown"}
	},
	"Markdown tables": func() mail.Message {
		return mail.Message{Text: strings.Repeat("|a", 60) + "\n" + strings.Repeat("|-", 60) + "\n" + strings.Repeat(strings.Repeat("|a", 60)+"\n", 200), TextType: "text/markdown"}
	},
}

// maxAllocated bounds the memory that is allocated, in all, for a mail to be opened and laid out,
// in bytes. It is far more than what is in use at any time, and far less than what a bound that is
// missing lets such a mail take.
const maxAllocated = 110 << 20

func TestMemoryIsBounded(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(greedy)) {
		t.Run(name, func(t *testing.T) {
			m := greedy[name]()
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
		m := greedy[name]()
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
