// Package compare shows how two messages differ, by words, on the whole screen.
//
// compare.go finds the differences, words.go those within lines, rows.go lays them out for a width,
// and screen.go is the dialog.
package compare

import (
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff/lcs"

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

// passage is adjacent lines that are the same in both messages, that differ, or that moved.
type passage struct {
	kind  kind
	lines [2][]line // of the older and of the newer; the same ones in both where they are equal
}

type kind uint8

const (
	equal   kind = iota
	changed      // the older lines became the newer ones
	away         // the older lines stand elsewhere in the newer message
	here         // the newer lines stood elsewhere in the older message
)

// line is the runs of a line, one after another.
type line []run

// run is adjacent words of a line.
type run struct {
	text    string
	changed bool // these words are what differs in the line
}

// maxPart bounds how much of each part is compared, in bytes.
const maxPart = 256 << 10

// Of compares two messages. It fetches nothing, and is slow for large ones.
func Of(older, newer *message.Message) Difference {
	d := Difference{sides: [2]side{sideOf(older), sideOf(newer)}}
	for _, p := range []struct {
		name string
		text func(m *message.Message) string
	}{{"rich", rich}, {"text", plain}, {"links", links}, {"html", source}, {"headers", headers}} {
		before, after := p.text(older), p.text(newer)
		if p.name == "rich" || before != "" || after != "" {
			d.parts = append(d.parts, compared(p.name, split(before), split(after)))
		}
	}
	return d
}

func sideOf(m *message.Message) side {
	return side{theme.Steady(render.Clean(m.Subject)), theme.Steady(render.Clean(m.Recipients())), m.ReceivedAt}
}

// split returns the lines of a text for the screen, up to the bound. Empty lines do not count.
func split(text string) []string {
	var lines []string
	for l := range strings.Lines(strings.ToValidUTF8(text[:min(len(text), maxPart)], "")) {
		if l = strings.TrimRight(theme.Steady(l), "\n "); l != "" {
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
	same := func(from, to int) {
		if from < to {
			l := whole(before[from:to])
			p.passages = append(p.passages, passage{equal, [2][]line{l, l}})
		}
	}
	at := 0
	for _, d := range lcs.DiffLines(before, after) {
		same(at, d.Start)
		at = d.End
		p.changes++
		p.passages = append(p.passages, passage{changed, compareWords(before[d.Start:d.End], after[d.ReplStart:d.ReplEnd])})
	}
	same(at, len(before))
	p.findMoved()
	return p
}

// whole is lines without marks.
func whole(texts []string) []line {
	lines := make([]line, len(texts))
	for n, t := range texts {
		lines[n] = line{{text: t}}
	}
	return lines
}

// findMoved finds the passages that were only removed in one place and only added in another.
func (p *part) findMoved() {
	added := map[string]*passage{}
	for n := range p.passages {
		if q := &p.passages[n]; q.kind == changed && len(q.lines[0]) == 0 {
			added[textOf(q.lines[1])] = q
		}
	}
	for n := range p.passages {
		q := &p.passages[n]
		if q.kind != changed || len(q.lines[1]) > 0 {
			continue
		}
		text := textOf(q.lines[0])
		if to := added[text]; to != nil {
			q.kind, to.kind = away, here
			delete(added, text)
		}
	}
}

// textOf is the text of lines without marks.
func textOf(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l[0].text + "\n")
	}
	return b.String()
}

// rich is the body as a reader sees it, a line for each paragraph, so that it does not matter where
// lines are wrapped.
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

func headers(m *message.Message) string {
	var b strings.Builder
	for _, h := range m.Fields {
		b.WriteString(render.Clean(h.Name) + ": " + render.Clean(h.Value) + "\n")
	}
	return b.String()
}
