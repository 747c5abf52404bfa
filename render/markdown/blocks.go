package markdown

import (
	"slices"
	"strings"

	"mayfly/render/doc"
	"mayfly/render/link"
)

// reader makes blocks of lines.
type reader struct {
	doc   *doc.Document
	links link.Set
	order int
}

// sections makes blocks of the lines, those quoted deeper than depth as quotes.
func (r *reader) sections(lines []line, depth int) []*doc.Block {
	var blocks []*doc.Block
	gap := false
	add := func(b *doc.Block) {
		b.Gap = len(blocks) > 0 && (gap || b.Kind != doc.Paragraph)
		gap = false
		blocks = append(blocks, b)
	}
	for i := 0; i < len(lines); {
		l := &lines[i]
		j := i + 1
		same := func(f func(*line) bool) {
			for j < len(lines) && lines[j].quotes == l.quotes && f(&lines[j]) {
				j++
			}
		}
		switch {
		case l.quotes > depth:
			for j < len(lines) && lines[j].quotes > depth {
				j++
			}
			if children := r.sections(lines[i:j], depth+1); len(children) > 0 {
				gap = true
				add(&doc.Block{Kind: doc.Quote, Quoted: depth + 1, Children: children})
				gap = true
			}
		case l.rule:
			gap = true
			add(&doc.Block{Kind: doc.Rule})
			gap = true
		case l.block:
			same(func(n *line) bool { return n.block })
			add(r.pre(lines[i:j], depth))
			gap = true
		case l.table || l.ruled:
			same(func(n *line) bool { return n.table || n.ruled })
			add(r.table(lines[i:j], depth))
			gap = true
		case l.blank():
			gap = true
		case l.level > 0:
			gap = true
			h := r.leaf(doc.Heading, l.spans, depth)
			h.Level = l.level
			add(h)
			gap = true
		case l.marker != "":
			same(func(n *line) bool { return !n.blank() && !n.rule && n.level == 0 && !n.table && !n.block })
			gap = true
			add(r.list(lines[i:j], depth))
			gap = true
		default:
			same(func(n *line) bool {
				return !n.blank() && !n.rule && n.level == 0 && !n.table && !n.block && n.marker == ""
			})
			gap = true
			add(r.leaf(doc.Paragraph, joined(lines[i:j]), depth))
		}
		i = j
	}
	return blocks
}

// joined is the text of lines, each on its own.
func joined(lines []line) []doc.Span {
	var spans []doc.Span
	for i := range lines {
		if i > 0 {
			spans = append(spans, doc.Span{Text: "\n", Style: doc.Style{Size: 16}})
		}
		spans = append(spans, lines[i].spans...)
	}
	return spans
}

// pre makes a block of the lines of a code block, without the empty ones at its end.
func (r *reader) pre(lines []line, depth int) *doc.Block {
	for len(lines) > 1 && len(lines[len(lines)-1].spans) == 0 {
		lines = lines[:len(lines)-1]
	}
	return r.leaf(doc.Pre, joined(lines), depth)
}

// list makes a list of its lines, deeper ones as lists of their items.
func (r *reader) list(lines []line, depth int) *doc.Block {
	list := &doc.Block{Kind: doc.List}
	base := lines[0].indent
	for i := 0; i < len(lines); {
		j := i + 1
		for j < len(lines) && lines[j].indent <= base && lines[j].marker == "" {
			j++
		}
		item := &doc.Block{Kind: doc.Item, Marker: lines[i].marker}
		if spans := joined(lines[i:j]); len(spans) > 0 {
			item.Children = append(item.Children, r.leaf(doc.Paragraph, spans, depth))
		}
		from := j
		for j < len(lines) && lines[j].indent > base {
			j++
		}
		if j > from {
			item.Children = append(item.Children, r.list(lines[from:j], depth))
		}
		if len(item.Children) > 0 {
			list.Children = append(list.Children, item)
		}
		i = j
	}
	return list
}

// table makes a table; the lines above its rule are its headers.
func (r *reader) table(lines []line, depth int) *doc.Block {
	table := &doc.Block{Kind: doc.Table}
	for i := range lines {
		if lines[i].ruled {
			table.Head = len(table.Children)
			continue
		}
		row := &doc.Block{Kind: doc.Row}
		var spans []doc.Span
		end := func() {
			cell := &doc.Block{Kind: doc.Cell, Columns: 1}
			if spans, right := trimmed(spans); len(spans) > 0 {
				if cell.Children = []*doc.Block{r.leaf(doc.Paragraph, spans, depth)}; right {
					cell.Align = doc.End
				}
			}
			row.Children = append(row.Children, cell)
			spans = nil
		}
		for _, s := range lines[i].spans {
			if s.Text == cellEnd {
				end()
				continue
			}
			spans = append(spans, s)
		}
		end()
		table.Children = append(table.Children, row)
	}
	for _, row := range table.Children[:min(table.Head, len(table.Children))] {
		for _, c := range row.Children {
			c.Head = 1
		}
	}
	return table
}

// trimmed is a cell's text without what pads it; right reports that it was padded on the left.
func trimmed(spans []doc.Span) (_ []doc.Span, right bool) {
	if len(spans) == 0 {
		return nil, false
	}
	first, last := &spans[0], &spans[len(spans)-1]
	lead := len(first.Text) - len(strings.TrimLeft(first.Text, " "))
	trail := len(last.Text) - len(strings.TrimRight(last.Text, " "))
	first.Text = strings.TrimLeft(first.Text, " ")
	last.Text = strings.TrimRight(last.Text, " ")
	kept := spans[:0]
	for _, s := range spans {
		if s.Text != "" {
			kept = append(kept, s)
		}
	}
	return kept, lead > 1 && trail <= 1
}

// leaf makes a block of text.
func (r *reader) leaf(kind doc.Kind, spans []doc.Span, depth int) *doc.Block {
	r.order++
	spans = slices.DeleteFunc(spans, func(s doc.Span) bool { return s.Text == cellEnd }) // outside a table
	return &doc.Block{Kind: kind, Spans: spans, Order: r.order, Quoted: depth}
}
