package render

import (
	"strings"
	"unicode/utf8"

	"mayfly/render/doc"
)

// Plain is the body as plain text, for a pipe, a search or a program: what a reader sees, with
// nothing drawn, paragraphs on a line each, and links followed by where they lead in angle brackets
// (RFC 3986, appendix C). It is clean.
func (m *Mail) Plain() string {
	p := &plain{links: m.body.Links}
	p.blocks(m.body.Blocks)
	return strings.TrimRight(p.text.String(), "\n")
}

// maxPrefix is how many bytes quotes and lists within one another put before a line at most.
const maxPrefix = 32

// plain writes blocks as lines of text.
type plain struct {
	text   strings.Builder
	links  []doc.Link
	first  string // before the next line, if prefix is not
	prefix string // before every line
	gap    bool   // an empty line is due before the next line
	opened bool   // the next line is the first of a quote or an item
}

func (p *plain) blocks(blocks []*doc.Block) {
	for _, b := range blocks {
		p.block(b)
	}
}

func (p *plain) block(b *doc.Block) {
	p.gap = p.gap || b.Gap
	switch {
	case b.Kind == doc.Item && b.Marker != "":
		p.within(b.Marker+" ", strings.Repeat(" ", utf8.RuneCountInString(b.Marker)+1), b.Children)
	case b.Kind == doc.Quote:
		p.within("> ", "> ", b.Children)
	case b.Kind == doc.Rule:
		p.line("---")
	case b.Kind == doc.Table:
		for _, row := range b.Children {
			p.row(row, true)
		}
		p.gap = true
	case b.Kind == doc.Row && p.row(b, false):
	default:
		if len(b.Spans) > 0 {
			for line := range strings.SplitSeq(p.spans(b), "\n") {
				p.line(line)
			}
		}
		p.blocks(b.Children)
		p.gap = p.gap || b.Kind == doc.Code
	}
}

// within writes blocks with more before their lines.
func (p *plain) within(first, rest string, blocks []*doc.Block) {
	before := p.prefix
	if len(before)+len(rest) > maxPrefix {
		p.blocks(blocks)
		return
	}
	p.blank()
	p.first, p.prefix, p.opened = p.start()+first, before+rest, true
	p.blocks(blocks)
	p.first, p.prefix, p.opened = "", before, false
}

// start is what comes before the next line.
func (p *plain) start() string {
	if p.first != "" {
		return p.first
	}
	return p.prefix
}

// blank writes the empty line that is due.
func (p *plain) blank() {
	if p.gap && !p.opened && p.text.Len() > 0 {
		p.text.WriteString(strings.TrimRight(p.prefix, " ") + "\n")
	}
	p.gap = false
}

func (p *plain) line(text string) {
	p.blank()
	p.text.WriteString(strings.TrimRight(p.start()+text, " ") + "\n")
	p.first, p.opened = "", false
}

// row writes the cells of a row on a line. Outside of a table it does so only if each cell is a text
// of one line, and reports whether it did.
func (p *plain) row(b *doc.Block, table bool) bool {
	var cells []string
	for _, cell := range b.Children {
		var texts []string
		for leaf := range (&doc.Document{Blocks: cell.Children}).Leaves() {
			texts = append(texts, p.spans(leaf))
			if !table && (len(texts) > 1 || strings.Contains(texts[0], "\n")) {
				return false
			}
		}
		if texts != nil {
			cells = append(cells, strings.ReplaceAll(strings.Join(texts, " "), "\n", " "))
		}
	}
	p.line(strings.Join(cells, " | "))
	return true
}

// spans is the text of a leaf with its links.
func (p *plain) spans(b *doc.Block) string {
	var s strings.Builder
	for i, span := range b.Spans {
		s.WriteString(strings.ReplaceAll(span.Text, "\u00a0", " "))
		last := i+1 == len(b.Spans) || b.Spans[i+1].Link != span.Link
		if span.Link == 0 || !last || span.Continues {
			continue
		}
		if link := p.links[span.Link-1]; !link.Blocked && link.Host != "" && !strings.HasSuffix(s.String(), link.Target) {
			s.WriteString(" <" + Clean(link.Target) + ">")
		}
	}
	return s.String()
}
