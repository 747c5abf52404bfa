package html

import (
	"fmt"

	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// tidy does what needs the whole document.
func (b *builder) tidy() {
	d := b.doc
	d.Blocks = mergeTables(b.boxes(d.Blocks, &css.Inherited{RTL: d.RTL}))
	sayImages(d)
	b.headings()
	d.Blocks = trimRules(d.Blocks)
	setButtonsApart(d.Blocks)
	b.markFaint()
	d.Blocks = foldFooter(d, b.bodySize())
	joinLinks(d)
	b.joinUnits(d.Blocks)
	b.joinToHeadings(d.Blocks)
	b.sections()
	if len(d.Blocks) == 0 {
		b.fillEmpty()
	}
}

// joinLinks notes where a link continues in the next leaf, such as that of a card.
func joinLinks(d *doc.Document) {
	var last *doc.Span
	for leaf := range d.Leaves() {
		if first := &leaf.Spans[0]; last != nil && first.Link > 0 && first.Link == last.Link && !first.Button {
			last.Continues = true
		}
		last = &leaf.Spans[len(leaf.Spans)-1]
	}
}

// setButtonsApart adds a gap between buttons on lines of their own and what is around them.
func setButtonsApart(blocks []*doc.Block) {
	for i, l := range blocks {
		if i > 0 && stands(l) && stands(blocks[i-1]) && pressable(l) != pressable(blocks[i-1]) {
			l.Gap = true
		}
		setButtonsApart(l.Children)
	}
}

// stands reports whether a block stands on lines of its own that a gap may set apart.
func stands(l *doc.Block) bool {
	return l.Kind != doc.Rule && l.Kind != doc.Item && l.Kind != doc.Row && l.Kind != doc.Cell
}

// joinUnits removes the small gaps in cells that are one unit: a number and its label, a product.
func (b *builder) joinUnits(blocks []*doc.Block) {
	for _, l := range blocks {
		b.joinUnits(l.Children)
		if l.Kind == doc.Cell {
			b.joinUnit(l)
		}
	}
}

func (b *builder) joinUnit(cell *doc.Block) {
	l := look(cell)
	for i, c := range cell.Children {
		c.Gap = c.Gap && i > 0 && (!l.simple || l.lines > maxUnit || l.width > maxPlain || b.height(c) >= nearHeight)
	}
}

// maxUnit is how many lines a unit has at most.
const maxUnit = 6

// pressable reports whether a block is nothing but buttons.
func pressable(l *doc.Block) bool {
	for _, s := range l.Spans {
		if !s.Button || s.Link != l.Spans[0].Link {
			return false
		}
	}
	for _, c := range l.Children {
		if !pressable(c) && (len(c.Spans) > 0 || len(c.Children) > 0) {
			return false
		}
	}
	return len(l.Spans) > 0 || len(l.Children) > 0
}

// bodySize returns the font size, in px, of most of the text. Small print counts less: the footer
// of a short message is longer than its body.
func (b *builder) bodySize() float32 {
	size, most := float32(16), 0
	for s, n := range b.weight {
		if s <= 12 {
			n /= 4
		}
		if n > most || n == most && s < size {
			size, most = s, n
		}
	}
	return size
}

// trimRules drops rules at both ends, and all but one of several in a row.
func trimRules(blocks []*doc.Block) []*doc.Block {
	out := blocks[:0]
	for _, l := range blocks {
		if l.Kind == doc.Rule && (len(out) == 0 || out[len(out)-1].Kind == doc.Rule) {
			continue
		}
		out = append(out, l)
	}
	for len(out) > 0 && out[len(out)-1].Kind == doc.Rule {
		out = out[:len(out)-1]
	}
	return out
}

// fillEmpty fills a document that has no text to show with its images, or with its title.
func (b *builder) fillEmpty() {
	d := b.doc
	if len(d.Images) == 0 && len(d.Hidden) == 0 && d.Title != "" {
		b.order++
		d.Blocks = append(d.Blocks, &doc.Block{Kind: doc.Paragraph, Order: b.order, Spans: []doc.Span{{Text: d.Title, Style: doc.Style{Size: 16}}}})
		d.Simplified = "all text of this mail is in its title: it is shown here"
	}
	var first *doc.Image
	n := 0
	for i := range d.Images {
		im := &d.Images[i]
		im.Leaf, im.Offset = b.order+1, 0
		if im.Spacer {
			continue
		}
		if n++; first == nil {
			first = im
		}
	}
	if n == 0 {
		return
	}
	text := placeholder(first)
	if n > 1 {
		text = fmt.Sprintf("[%d images]", n)
	}
	b.order++
	d.Blocks = append(d.Blocks, &doc.Block{Kind: doc.Paragraph, Order: b.order,
		Spans: []doc.Span{{Text: text, Style: doc.Style{Size: 16}, Image: first.N, Link: first.Link}}})
}
