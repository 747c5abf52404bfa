package layout

import (
	"cmp"
	"slices"

	"mayfly/render/doc"
)

// ground is a band that lines are drawn on.
type ground struct {
	around *ground
	prefix int // pieces of the prefix that are not on it
	width  int // columns
	text   ink
	fill   ink
}

// draw puts a line, with its prefix, on a band and on those around it. With end it reaches their right
// edges.
func (g *ground) draw(line []piece, end bool) []piece {
	line = slices.Clone(line)
	for ; g != nil; g = g.around {
		from := min(g.prefix, len(line))
		if left := g.width - measure(line[from:]); end && left > 0 {
			line = append(line, spaces(left))
		}
		for i := range line[from:] {
			g.under(&line[from+i])
		}
	}
	return line
}

// under puts a band under a piece. Its spaces are drawn in reverse: programs erase coloured ones, and
// not every terminal erases in colour.
func (g *ground) under(p *piece) {
	switch {
	case p.pen.bg != 0, p.pen.attrs&reverse != 0:
	case blankPiece(p):
		p.pen = pen{fg: g.fill, attrs: reverse}
	default:
		p.pen.bg = g.fill
	}
	if p.pen.fg == 0 {
		p.pen.fg = g.text
	}
}

// section lays out what is filled, tinted or framed as a whole: as a band of its colour, or with a bar
// at its side.
func (l *layouter) section(b *doc.Block) {
	if b.Hue.Set {
		l.callout(b)
	} else if on := l.ink.on(b.Background, firstInk(b)); on != nil {
		l.band(b, on)
	} else {
		l.gap = l.w.any()
		l.blocks(b.Children)
		l.gap = true
	}
}

// band lays out a section on a ground as wide as text. Bands that follow one another join.
func (l *layouter) band(b *doc.Block, ink *inks) {
	width := l.drawn()
	g := &ground{around: l.ground, prefix: len(l.prefix), width: width, text: ink.text, fill: ink.fill}
	above := l.above
	if above != nil && (above.ground.around != l.ground || above.ground.prefix != g.prefix || above.ground.width != width || l.gap) {
		above = nil
	}
	switch {
	case l.first != nil: // of a list item, which stands before text
		l.writeDue()
	case above != nil && (above.padded || b.Padded):
		l.edge("▄", l.prefix, g, above.ground)
	case above == nil && b.Padded:
		l.gap = false
		l.writeDue()
		l.edge("▄", l.prefix, g, l.ground)
	case above == nil:
		l.writeDue()
	}
	l.above, l.gap = nil, false
	outer, inks, room := l.ground, l.ink, l.opts.Width
	l.ground, l.ink = g, ink
	pad := 2
	if width < 2*narrow {
		pad = 1
	}
	if l.docWidth < Unwrapped {
		l.opts.Width = l.indent + width - pad
	}
	l.within(spaces(pad), spaces(pad), func() { l.blocks(b.Children) })
	l.gap = false
	l.writeDue()
	l.ground, l.ink, l.opts.Width = outer, inks, room
	l.above = &lower{g, slices.Clone(l.prefix), b.Padded}
}

// filled calls f, and puts the fill of a row, if it has one, under what f writes.
func (l *layouter) filled(row *doc.Block, width int, f func()) {
	outer, inks := l.ground, l.ink
	if l.ink = l.inksOf(row); l.ink != inks {
		l.writeDue()
		l.ground = &ground{around: outer, prefix: len(l.prefix), width: width, text: l.ink.text, fill: l.ink.fill}
	}
	f()
	l.ground, l.ink = outer, inks
}

// inksOf returns the inks on a row.
func (l *layouter) inksOf(row *doc.Block) *inks {
	if !row.Background.Set {
		return l.ink
	}
	return cmp.Or(l.ink.on(row.Background, firstInk(row)), l.ink)
}

// firstInk returns the colour of the first text on the fill of a block, unset if there is none.
func firstInk(b *doc.Block) doc.Color {
	for leaf := range b.Leaves() {
		if s := &leaf.Spans[0].Style; !s.Background.Set && (!leaf.Background.Set || leaf.Background == b.Background) {
			return s.Color
		}
	}
	return doc.Color{}
}

// lower is the lower edge of a band, which is not drawn where another band follows.
type lower struct {
	ground *ground
	prefix []piece
	padded bool
}

// edge draws half a line of a band above or below its text, on the band behind it.
func (l *layouter) edge(half string, prefix []piece, g, on *ground) {
	line := append(slices.Clone(prefix), text1(repeat(half, g.width), g.width, pen{fg: g.fill}))
	l.w.line(nil, on.draw(line, true))
}

// writeDue writes what is due before the next line: the lower edge of a band, then an empty line.
func (l *layouter) writeDue() {
	above := l.above
	l.above = nil
	if above != nil && above.padded {
		l.edge("▀", above.prefix, above.ground, above.ground.around)
	}
	switch {
	case !l.gap || !l.w.any() || l.w.endsEmpty():
	case l.ground == nil:
		l.w.line(l.prefix, l.barsAfter(nil))
	default:
		l.w.line(nil, l.ground.draw(slices.Concat(l.prefix, l.barsAfter(nil)), true))
	}
	l.gap = false
}

// callout lays out a section with a bar at its side. A code has a box of its own, and the bar of a quote is that of
// its section.
func (l *layouter) callout(b *doc.Block) {
	switch one := b.Children; {
	case len(one) == 1 && one[0].Kind == doc.Code:
		l.blocks(one)
	case len(one) == 1 && one[0].Kind == doc.Quote:
		l.quote(one[0], "▎", l.ink.bar(b.Hue))
	default:
		l.barred(b, "▎", l.ink.bar(b.Hue))
	}
}

// barred lays out the children of a block beside a bar, which is at the right of text from right to left.
func (l *layouter) barred(b *doc.Block, bar string, p pen) {
	if l.first == nil { // the empty line is not part of it
		l.writeDue()
	}
	blocks := func() {
		l.blocks(b.Children)
		l.gap = false
		l.writeDue()
	}
	leaf := b.First()
	if leaf == nil || !leaf.RTL || leaf.Align == doc.End || l.docWidth == Unwrapped || l.room() < narrow {
		left := text1(bar+" ", 2, p)
		l.within(left, left, blocks)
		return
	}
	width, bars := l.opts.Width, l.bars
	l.opts.Width, l.bars = width-2, append([]piece{text1(" ▕", 2, p)}, bars...)
	blocks()
	l.opts.Width, l.bars = width, bars
}

// barsAfter adds the bars at the right of a line.
func (l *layouter) barsAfter(line []piece) []piece {
	if len(l.bars) == 0 {
		return line
	}
	return append(append(line, spaces(max(l.room()-measure(line), 0))), l.bars...)
}
