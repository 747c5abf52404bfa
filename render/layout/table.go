package layout

import (
	"slices"

	"mayfly/render/doc"
)

const (
	columnGap = 2 // columns between the columns of a table
	besideGap = 3 // between short cells side by side
	leastCell = 8 // columns per cell below which a table becomes records
	flowing   = 4 // number of cells from which they may wrap
)

// cellLines lays out a cell by itself.
func (l *layouter) cellLines(cell *doc.Block, width int, strong bool) [][]piece {
	var lines [][]piece
	emit := func(line []piece) { lines = append(lines, append([]piece(nil), line...)) }
	var visit func(b *doc.Block)
	visit = func(b *doc.Block) {
		if len(b.Spans) > 0 {
			beside := l.beside
			l.beside = true
			l.wrap.reset(width, emit)
			l.fill(b)
			l.wrap.end()
			l.beside = beside
		}
		for _, c := range b.Children {
			visit(c)
		}
	}
	visit(cell)
	if strong {
		for _, line := range lines {
			for i := range line {
				line[i].pen.attrs |= bold
				line[i].pen.attrs &^= faint
			}
		}
	}
	return lines
}

func widest(lines [][]piece) int {
	n := 0
	for _, line := range lines {
		n = max(n, measure(line))
	}
	return n
}

// row puts a few short cells side by side, or one below another if they do not fit. Many cells take
// as many lines as needed. Cells of several lines are laid out as in a table.
func (l *layouter) row(b *doc.Block) {
	total, most := -besideGap, 0
	var parts [][][]piece
	for _, c := range b.Children {
		lines := l.cellLines(c, 1<<20, false)
		total += widest(lines) + besideGap
		most = max(most, widest(lines))
		parts = append(parts, lines)
	}
	single := true
	for _, lines := range parts {
		single = single && len(lines) == 1
	}
	if !single && l.aligned(&doc.Block{Kind: doc.Table, Children: []*doc.Block{b}}) {
		return
	}
	if !single || most > l.room() || total > l.room() && len(parts) < flowing {
		for _, c := range b.Children {
			l.blocks(c.Children)
		}
		return
	}
	l.imagesBeforeRow(b)
	if leaf := firstLeaf(b); leaf != nil {
		l.begin(leaf)
	}
	var line []piece
	for _, lines := range parts {
		width := measure(lines[0])
		if at := measure(line); at > 0 && at+besideGap+width > l.room() {
			l.emit(line)
			line = nil
		}
		if len(line) > 0 {
			line = append(line, spaces(besideGap))
		}
		line = append(line, lines[0]...)
	}
	l.emit(line)
}

// grid is a table being laid out.
type grid struct {
	l       *layouter
	b       *doc.Block
	columns int
	natural []int // width of each column without wrapping
	least   []int // width of its longest word
	width   []int
	rtl     bool // mirrored
	left    int  // columns of space before each row
}

// table aligns the cells of a data table. If the columns do not fit, cells wrap. If they would be
// too narrow, each row becomes a record.
func (l *layouter) table(b *doc.Block) {
	if !l.aligned(b) {
		l.records(b)
	}
}

// aligned lays out a table in columns, and reports whether they fit.
func (l *layouter) aligned(b *doc.Block) bool {
	g := &grid{l: l, b: b}
	if leaf := firstLeaf(b); leaf != nil && leaf.RTL {
		g.mirror()
	}
	g.measure()
	if !g.fit(l.room()) {
		return false
	}
	if g.rtl {
		g.left = l.room() - g.span(0, g.columns)
	}
	if g.columns > 0 {
		g.rows()
	}
	return true
}

// mirror puts the first column on the right, for a table written from right to left.
func (g *grid) mirror() {
	g.rtl = true
	mirrored := *g.b
	mirrored.Children = make([]*doc.Block, len(g.b.Children))
	for i, row := range g.b.Children {
		r := *row
		r.Children = slices.Clone(row.Children)
		slices.Reverse(r.Children)
		mirrored.Children[i] = &r
	}
	g.b = &mirrored
}

// rows writes all rows, with a line below the headers.
func (g *grid) rows() {
	l, b := g.l, g.b
	for i, row := range b.Children {
		l.gap = l.gap || row.Gap
		l.imagesBeforeRow(row)
		if leaf := firstLeaf(row); leaf != nil {
			l.begin(leaf)
		}
		g.row(row, i < b.Head)
		if i == b.Head-1 && i < len(b.Children)-1 {
			total := g.span(0, g.columns)
			l.emit([]piece{spaces(g.left), text1(repeat("─", total), total, l.ink.dim())})
		}
	}
}

func (g *grid) measure() {
	for _, row := range g.b.Children {
		n := 0
		for _, c := range row.Children {
			n += max(c.Columns, 1)
		}
		g.columns = max(g.columns, n)
	}
	g.natural, g.least = make([]int, g.columns), make([]int, g.columns)
	for i, row := range g.b.Children {
		at := 0
		for _, c := range row.Children {
			if c.Columns == 1 {
				lines := g.l.cellLines(c, 1<<20, i < g.b.Head)
				g.natural[at] = max(g.natural[at], widest(lines))
				g.least[at] = max(g.least[at], longestWord(lines))
			}
			at += max(c.Columns, 1)
		}
	}
}

// longestWord returns the width of the widest word.
func longestWord(lines [][]piece) int {
	most, run := 0, 0
	for _, line := range lines {
		run = 0
		for i := range line {
			text, from := line[i].text(), 0
			for j := 0; j <= len(text); j++ {
				if j == len(text) || text[j] == ' ' {
					run += stringWidth(text[from:j])
					most = max(most, run)
					if j < len(text) {
						run = 0
					}
					from = j + 1
				}
			}
		}
	}
	return most
}

// fit sets the widths of the columns, and reports whether they fit.
func (g *grid) fit(room int) bool {
	g.width = append([]int(nil), g.natural...)
	total := 0
	used := 0
	for _, w := range g.width {
		if w > 0 {
			used++
		}
		total += w
	}
	room -= columnGap * max(used-1, 0)
	if total <= room {
		return true
	}
	floor := make([]int, g.columns)
	least := 0
	for i := range floor {
		floor[i] = min(g.natural[i], max(min(g.least[i], 24), leastCell))
		least += floor[i]
	}
	if least > room {
		return false
	}
	for total > room { // narrow the widest
		at := -1
		for i, w := range g.width {
			if w > floor[i] && (at < 0 || w > g.width[at]) {
				at = i
			}
		}
		g.width[at]--
		total--
	}
	return true
}

// span returns the width of several columns, empty ones left out.
func (g *grid) span(from, to int) int {
	total := 0
	for _, w := range g.width[from:to] {
		if w > 0 {
			total += w + columnGap
		}
	}
	return max(total-columnGap, 0)
}

// row writes the lines of one row.
func (g *grid) row(row *doc.Block, head bool) {
	type column struct {
		lines     [][]piece
		at, width int
		align     doc.Align
	}
	var columns []column
	at, x, height := 0, g.left, 0
	for _, c := range row.Children {
		width := g.span(at, min(at+max(c.Columns, 1), g.columns))
		at += max(c.Columns, 1)
		if width > 0 && len(c.Children) > 0 {
			lines := g.l.cellLines(c, width, head)
			height = max(height, len(lines))
			columns = append(columns, column{lines: lines, at: x, width: width, align: c.Align})
		}
		if width > 0 {
			x += width + columnGap
		}
	}
	for i := range height {
		var line []piece
		x := 0
		for _, c := range columns {
			if i >= len(c.lines) {
				continue
			}
			start := c.at
			if c.align == doc.End || g.rtl {
				start += max(c.width-measure(c.lines[i]), 0)
			}
			if start > x {
				line = append(line, spaces(start-x))
				x = start
			}
			line = append(line, c.lines[i]...)
			x += measure(c.lines[i])
		}
		g.l.emit(line)
	}
}

// records writes each row as names and values, one below another.
func (l *layouter) records(b *doc.Block) {
	var names []*doc.Block
	if b.Head > 0 {
		names = b.Children[b.Head-1].Children
	}
	for i, row := range b.Children {
		if i < b.Head {
			continue
		}
		if i > b.Head {
			l.gap = true
		}
		for j, c := range row.Children {
			if len(c.Children) == 0 {
				continue
			}
			name := ""
			if j < len(names) && len(names) == len(row.Children) {
				name = names[j].Text()
			}
			if name == "" {
				l.blocks(c.Children)
				continue
			}
			label := name + ": "
			width := stringWidth(label)
			if width > l.room()/2 {
				l.dimmed(func() { l.blocks(names[j].Children) })
				l.within(spaces(2), spaces(2), func() { l.blocks(c.Children) })
				continue
			}
			l.within(text1(label, width, l.ink.dim()), spaces(2), func() { l.blocks(c.Children) })
		}
	}
}
