// Package compare shows how two messages differ, by words, on the whole screen.
//
// compare.go finds the differences; screen.go is the dialog, and lays them out for a width.
package compare

import (
	"regexp"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff/lcs"
	uax29 "github.com/clipperhouse/uax29/v2/words"

	"mayfly/internal/message"
	"mayfly/render"
	"mayfly/render/doc"
	"mayfly/ui/theme"
)

// Difference is how two messages differ.
type Difference struct {
	sides [2]side // the older and the newer
	parts []part
}

// side is what the screen says of a message.
type side struct {
	subject, inbox string
	received       time.Time
}

// part is one aspect of both messages, such as their links.
type part struct {
	name     string
	passages []passage
	changes  int // passages that differ
}

// passage is adjacent lines that are the same in both messages, or that differ: those words are [marked].
type passage struct {
	changed bool
	lines   [2][]string // of the older and of the newer; without the newer where they are equal
}

const marked = theme.Bold + theme.Underline

// maxPart bounds how much of each part is compared, in bytes.
const maxPart = 256 << 10

// Of compares two messages. It fetches nothing, and is slow for large ones.
func Of(older, newer *message.Message) Difference {
	d := Difference{sides: [2]side{sideOf(older), sideOf(newer)}}
	for _, p := range []struct {
		name string
		text func(m *message.Message) string
	}{{"rich", rich}, {"text", plain}, {"links", links}, {"html", source}, {"headers", steady}, {allHeaders, headers}} {
		before, after := p.text(older), p.text(newer)
		if p.name == "rich" || before != "" || after != "" {
			d.parts = append(d.parts, compared(p.name, split(before), split(after)))
		}
	}
	return d
}

func sideOf(m *message.Message) side {
	return side{theme.StableWidth(render.Clean(m.Subject)), theme.StableWidth(render.Clean(m.Recipients())), m.ReceivedAt}
}

// split returns the lines of a text for the screen, up to the bound. Empty lines do not count.
func split(text string) []string {
	var lines []string
	for l := range strings.Lines(strings.ToValidUTF8(text[:min(len(text), maxPart)], "")) {
		if l = strings.TrimRight(theme.StableWidth(l), "\n "); l != "" {
			lines = append(lines, l)
		}
	}
	if len(text) > maxPart {
		lines = append(lines, "… compared up to here")
	}
	return lines
}

// compared finds the passages in which two texts are equal and in which they differ.
func compared(name string, before, after []string) part {
	p := part{name: name}
	at := 0
	same := func(to int) {
		if at < to {
			p.passages = append(p.passages, passage{lines: [2][]string{before[at:to]}})
		}
	}
	for _, d := range lcs.DiffLines(before, after) {
		same(d.Start)
		at = d.End
		p.changes++
		p.passages = append(p.passages, passage{true, compareWords(before[d.Start:d.End], after[d.ReplStart:d.ReplEnd])})
	}
	same(len(before))
	return p
}

// compareWords marks the words in which lines differ. Where lines have little in common, or there are none
// to compare them with, no word is marked: all of them differ.
func compareWords(before, after []string) [2][]string {
	a, b := words(before), words(after)
	changedA, changedB := make([]bool, len(a)), make([]bool, len(b))
	for _, d := range lcs.DiffLines(a, b) {
		for n := d.Start; n < d.End; n++ {
			changedA[n] = true
		}
		for n := d.ReplStart; n < d.ReplEnd; n++ {
			changedB[n] = true
		}
	}
	if alike(a, changedA) && alike(b, changedB) {
		return [2][]string{mark(a, changedA), mark(b, changedB)}
	}
	return [2][]string{before, after}
}

// words are the words, spaces and signs of lines, as UAX #29 has them, with a newline after each line.
func words(lines []string) []string {
	var all []string
	for _, l := range lines {
		for w := uax29.FromString(l); w.Next(); {
			all = append(all, w.Value())
		}
		all = append(all, "\n")
	}
	return all
}

// alike reports whether at least a third of what is not space is unchanged.
func alike(words []string, changed []bool) bool {
	same, all := 0, 0
	for n, w := range words {
		if strings.TrimSpace(w) != "" {
			all += len(w)
			if !changed[n] {
				same += len(w)
			}
		}
	}
	return all > 0 && 3*same >= all
}

// mark joins words to lines.
func mark(words []string, changed []bool) []string {
	var text, run strings.Builder // run is the adjacent words that differ
	for n, w := range words {
		if changed[n] && w != "\n" {
			run.WriteString(w)
			continue
		}
		text.WriteString(marked.On(run.String()) + w)
		run.Reset()
	}
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}

// rich is the body as a reader sees it, a line for each paragraph, wherever lines are wrapped.
func rich(m *message.Message) string {
	var b strings.Builder
	for _, block := range m.Mail().Document().Blocks {
		write(&b, block, "")
	}
	return b.String()
}

// write adds a block and what is in it; marker is that of the item it begins.
func write(b *strings.Builder, block *doc.Block, marker string) {
	switch {
	case block.Kind == doc.Row:
		b.WriteString(strings.ReplaceAll(block.Text(), "\t", "   ") + "\n")
		return
	case block.Kind == doc.Item:
		marker = block.Marker + " "
	case len(block.Spans) > 0:
		b.WriteString(marker + block.Text() + "\n")
	}
	for _, child := range block.Children {
		write(b, child, marker)
		marker = ""
	}
}

// plain is the text part of a message that has HTML too.
func plain(m *message.Message) string {
	if m.HTML == "" {
		return ""
	}
	return render.CleanLines(m.Text[:min(len(m.Text), maxPart+1)])
}

func links(m *message.Message) string {
	var b strings.Builder
	for _, l := range m.Mail().Links() {
		b.WriteString(strings.TrimSpace(render.Clean(l.Text)+"  "+render.Clean(l.URL)) + "\n")
	}
	return b.String()
}

// longLine is the length in bytes above which a line of the source is broken between tags.
const longLine = 160

func source(m *message.Message) string {
	lines := strings.Split(render.CleanLines(m.HTML[:min(len(m.HTML), maxPart+1)]), "\n")
	for n, l := range lines {
		if len(l) > longLine {
			lines[n] = strings.ReplaceAll(l, "><", ">\n<")
		}
	}
	return strings.Join(lines, "\n")
}

// allHeaders is the part that has the fields as they are, shown only when it is gone to.
const allHeaders = "all headers"

// ownFields are the fields in which any two messages differ, and boundary what differs of another.
var (
	ownFields = regexp.MustCompile(`(?im)^(message-id|date|received|x-received): .*\n`)
	boundary  = regexp.MustCompile(`(?i);\s*boundary=("[^"]*"|[^;\s]*)`)
)

// steady are the headers without what differs in any two messages.
func steady(m *message.Message) string {
	return boundary.ReplaceAllString(ownFields.ReplaceAllString(headers(m), ""), "")
}

func headers(m *message.Message) string {
	var b strings.Builder
	for _, h := range m.Fields {
		b.WriteString(render.Clean(h.Name) + ": " + render.Clean(h.Value) + "\n")
	}
	return b.String()
}
