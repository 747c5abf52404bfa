package layout

import (
	"slices"
	"unicode/utf8"

	"mayfly/render/doc"
)

// column is a cell laid out by itself, to be joined with those beside it.
type column struct {
	cell  *doc.Block
	lines []Line
	at    int // where it begins
	fill  *ground
	pad   int     // columns of its fill before its text
	rest  []piece // where it has no lines
	top   int     // lines of its row above it
}

// column lays out a cell in a width. end aligns its text at the right edge.
func (l *layouter) column(cell *doc.Block, width int, end bool) column {
	outer := *l
	l.w = &writer{theme: outer.w.theme, links: outer.w.links, buffers: true, limit: outer.w.limit - len(outer.w.lines), block: outer.w.block}
	l.first, l.prefix, l.bars, l.indent, l.lead = nil, nil, nil, 0, ""
	l.ground, l.above = nil, nil
	l.opts.Width, l.gap, l.beside, l.end = width, false, true, end
	l.nested++
	l.blocks(cell.Children)
	l.gap = false
	l.writeDue()
	made := column{cell: cell, lines: l.w.trimmed()}
	inner := *l
	*l = outer
	l.hidden, l.leaves, l.wrap, l.pics = inner.hidden, inner.leaves, inner.wrap, inner.pics
	return made
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
	l.w.lines = slices.Grow(l.w.lines, min(height, l.w.limit-len(l.w.lines)))
	block, offset := 0, 0 // of the text that a line is found by: they never go back
	var line []piece
	for i := range height {
		line = line[:0]
		x, empty := 0, true
		for j := range columns {
			c := &columns[j]
			kept := &Line{}
			if i >= c.top && i-c.top < len(c.lines) {
				kept = &c.lines[i-c.top]
			} else if kept.pieces = c.rest; c.fill == nil && c.rest == nil {
				continue
			}
			if empty && (kept.Block > block || kept.Block == block && kept.Offset > offset) {
				block, offset = kept.Block, kept.Offset
			}
			if c.at > x {
				line = append(line, spaces(c.at-x))
				x = c.at
			}
			pieces := kept.pieces
			if c.fill != nil {
				pieces = c.fill.draw(slices.Concat([]piece{spaces(c.pad)}, pieces), true)
			}
			line = append(line, pieces...)
			x += measure(pieces)
			empty = false
		}
		if !empty {
			l.w.block = block
			l.put(line, offset)
		}
	}
}

// cellPad is how many columns of its fill a cell has beside its text, where there is room.
const cellPad = 1

// extent is how wide a block can be, in columns of the terminal: with lines broken wherever they may
// be, and with none broken.
type extent struct{ min, max int }

func (e *extent) grow(o extent) {
	e.min, e.max = max(e.min, o.min), max(e.max, o.max)
}

// leastText is the least width of a column of text that breaks anywhere, as Chinese does.
const leastText = 8

// narrow is the width from which on text can be read comfortably.
const narrow = 18

// least is the width below which a column is no longer put beside others: its longest word, and for
// running text or longer words a width that can be read.
func (e extent) least() int {
	if e.max > 2*narrow {
		return narrow
	}
	return min(e.min, narrow)
}

// label is how wide a text may be that is broken last, such as a name or a date.
const label = 24

// share divides a width among columns that hold content of some extent, 0 for none, as browsers do: wanted columns of the
// terminal, or what the content takes if that is 0. As far as there is room, each gets what its longest word needs, then
// what labels do, what the message asks for it, 0 for nothing, and what leaves no line broken. The rest is for those that
// it asks nothing for. It reports false if a column would get less than its least.
func share(columns []extent, asked []int, wanted, room int) (widths []int, ok bool) {
	var levels [6][]int
	free := 0
	for i, e := range columns {
		if asked[i] == 0 {
			free += e.max
		}
	}
	for i, e := range columns {
		word := max(e.least(), e.min)
		text := max(word, min(e.max, label))
		fill := text
		if e.max > 0 {
			fill = max(text, asked[i])
		}
		whole := max(fill, e.max)
		if asked[i] > 0 { // letters are narrower than columns of the terminal
			whole = max(fill, min(e.max, asked[i]*6/5))
		}
		rest := whole
		if free == 0 || asked[i] == 0 {
			rest += whole * wanted
		}
		for level, width := range [...]int{e.least(), word, text, fill, whole, rest} {
			levels[level] = append(levels[level], width)
		}
	}
	if sum(levels[0]) > room {
		return nil, false
	}
	if wanted == 0 {
		wanted = sum(levels[4])
	}
	wanted = min(max(wanted, sum(levels[2])), room)
	for i, level := range levels[1:] {
		if sum(level) >= wanted {
			return between(levels[i], level, wanted), true
		}
	}
	return levels[5], true
}

// between returns widths between two others that add up to total.
func between(from, to []int, total int) []int {
	widths := slices.Clone(from)
	left, more := total-sum(from), sum(to)-sum(from)
	for i := range widths {
		if d := to[i] - from[i]; d > 0 {
			add := left * d / more
			widths[i], left, more = widths[i]+add, left-add, more-d
		}
	}
	return widths
}

func sum(widths []int) int {
	n := 0
	for _, w := range widths {
		n += w
	}
	return n
}

// extent measures a block. The cells of tables are measured once.
func (l *layouter) extent(b *doc.Block) extent {
	switch b.Kind {
	case doc.Paragraph, doc.Heading, doc.Pre:
		if !b.Hue.Set {
			return l.textExtent(b)
		}
		fallthrough
	case doc.Code:
		width := stringWidth(b.Text()) + 8
		return extent{width, width}
	case doc.Rule:
		return extent{1, 1}
	case doc.Table:
		return newGrid(l, b).extent()
	case doc.Cell:
		e, ok := l.extents[b]
		if !ok {
			if e = l.widest(b.Children); b.Blank {
				e = extent{1, 1}
			}
			l.extents[b] = e
		}
		return e
	}
	e := l.widest(b.Children)
	indent := 2
	if b.Kind == doc.Section && !b.Hue.Set {
		indent = 4
	}
	if b.Kind == doc.Item {
		indent += stringWidth(b.Marker) + 1
	}
	return extent{e.min + indent, e.max + indent}
}

func (l *layouter) widest(blocks []*doc.Block) extent {
	var e extent
	for _, b := range blocks {
		e.grow(l.extent(b))
	}
	return e
}

// widestCell bounds the lines of cells where no others are broken: what is beside them is on every line.
const widestCell = 1000

// textExtent measures a leaf.
func (l *layouter) textExtent(b *doc.Block) extent {
	var e extent
	beside := l.beside
	l.beside, l.measuring = true, true
	l.wrap.reset(1<<20, func(line []piece) { e.max = max(e.max, measure(line)) })
	l.wrap.pre = b.Kind == doc.Pre
	l.fill(b)
	l.wrap.end()
	l.beside, l.measuring = beside, false
	most := Measure
	if l.docWidth == Unwrapped {
		most = widestCell
	}
	if e.max = min(e.max, most); b.Kind == doc.Pre {
		return extent{e.max, e.max}
	}
	least := l.wrap.longest
	if text := b.Text(); len(text) > utf8.RuneCountInString(text)*2 { // a script without spaces
		least = max(least, leastText)
	}
	return extent{min(least, e.max), e.max}
}
