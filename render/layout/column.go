package layout

import "mayfly/render/doc"

// column is a cell laid out by itself, to be joined with those beside it.
type column struct {
	cell  *doc.Block
	lines []heldLine
	at    int // where it begins
	top   int // lines of its row above it
}

// column lays out a cell in a width. end aligns its text at the right edge.
func (l *layouter) column(cell *doc.Block, width int, end bool) column {
	outer := *l
	l.w = &writer{theme: outer.w.theme, links: outer.w.links, holds: true, limit: outer.w.limit - outer.w.count(), block: outer.w.block}
	l.first, l.prefix, l.indent, l.aside, l.lead = nil, nil, 0, piece{}, ""
	l.ground, l.above = nil, nil
	l.opts.Width, l.gap, l.beside, l.end = width, false, true, end
	l.nested++
	l.blocks(cell.Children)
	l.gap = false
	l.settle()
	held := l.w.release()
	inner := *l
	*l = outer
	l.hidden, l.leaves, l.wrap, l.pics = inner.hidden, inner.leaves, inner.wrap, inner.pics
	return column{cell: cell, lines: held}
}

// embolden makes all text bold.
func (c *column) embolden() {
	for _, line := range c.lines {
		for i := range line.pieces {
			line.pieces[i].pen.attrs |= bold
			line.pieces[i].pen.attrs &^= faint
		}
	}
}

// join writes columns, from left to right, side by side.
func (l *layouter) join(columns []column) {
	height := 0
	for _, c := range columns {
		height = max(height, len(c.lines))
	}
	for i := range columns {
		switch c := &columns[i]; c.cell.VAlign {
		case doc.Middle:
			c.top = (height - len(c.lines)) / 2
		case doc.Bottom:
			c.top = height - len(c.lines)
		}
	}
	l.w.grow(height)
	block, offset := 0, 0 // of the text that a line is found by: they never go back
	var line []piece
	for i := range height {
		line = line[:0]
		x, empty := 0, true
		for j := range columns {
			c := &columns[j]
			if i < c.top || i-c.top >= len(c.lines) {
				continue
			}
			held := &c.lines[i-c.top]
			if empty && (held.Block > block || held.Block == block && held.Offset > offset) {
				block, offset = held.Block, held.Offset
			}
			if c.at > x {
				line = append(line, spaces(c.at-x))
				x = c.at
			}
			line = append(line, held.pieces...)
			x += measure(held.pieces)
			empty = false
		}
		if !empty {
			l.w.block = block
			l.put(line, offset)
		}
	}
}
