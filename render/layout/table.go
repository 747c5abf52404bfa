package layout

import (
	"slices"
	"strings"

	"mayfly/render/doc"
)

const (
	columnGap = 2   // between columns that are read downwards
	besideGap = 3   // between what only stands side by side
	mark      = 3   // as wide as a bullet or a number is that stands at a text
	fewWords  = 10  // as wide as a few words are at least in a layout
	mailWidth = 640 // px, for which widths in a message are meant
	maxNested = 5   // columns within columns
)

// grid is a table whose columns are being laid out.
type grid struct {
	l         *layouter
	b         *doc.Block
	columns   []extent
	specified []doc.Width
	widths    []int
	gap       int
	rtl       bool // the first column is on the right
	left      int  // columns of space before each row
	pad       int  // beside the text of each cell, if there are fills: they touch as in a browser
}

// table puts the cells of each row side by side. Where there is no room each row becomes a record if
// its columns have names, else its cells stand one below another.
func (l *layouter) table(b *doc.Block) {
	switch g := l.fitting(b); {
	case g != nil:
		g.rows()
	case b.Head > 0:
		l.records(b)
	default:
		for i, row := range b.Children {
			values := 0
			for _, c := range row.Children {
				values += min(len(c.Children), 1-c.Head)
			}
			if i > 0 && row.Ruled {
				l.gap = false
				l.rule(&doc.Block{})
			} else {
				l.gap = l.gap || row.Gap || i > 0 && values > 1
			}
			l.filled(row, l.room(), func() { l.stack(row) })
		}
	}
}

// stack writes the cells of a row one below another. Those of several blocks are set apart.
func (l *layouter) stack(row *doc.Block) {
	names := func(i int) bool { // whether a cell names the next one
		return i >= 0 && i+1 < len(row.Children) && row.Children[i].Head > row.Children[i+1].Head && len(row.Children[i+1].Children) > 0
	}
	blocks := 0 // of the last cell
	for i, c := range row.Children {
		switch {
		case names(i - 1):
			l.value(c, row.Children[i-1])
		case !names(i) && len(c.Children) > 0:
			l.gap = l.gap || blocks > 0 && (max(blocks, len(c.Children)) > 1 || c.Children[0].Kind == doc.Section)
			l.filled(c, l.room(), func() { l.blocks(c.Children) })
			blocks = len(c.Children)
		}
	}
}

// fitting returns the columns of a table, those of all tables like it if these fit, or nil if there is no room for them.
func (l *layouter) fitting(b *doc.Block) *grid {
	if l.nested == maxNested {
		return nil
	}
	if all := l.alike[b]; all != nil && all.fit(l.room()) {
		one := *all
		one.b = b
		return &one
	}
	if g := newGrid(l, b); g.fit(l.room()) {
		return g
	}
	return nil
}

// newGrid measures the columns of a table.
func newGrid(l *layouter, b *doc.Block) *grid {
	g := &grid{l: l, b: b, rtl: b.RTL}
	if slices.ContainsFunc(b.Children, onFill) {
		g.pad = cellPad
	}
	n := 0
	g.each(func(_ *doc.Block, _, end int) { n = max(n, end) })
	g.columns, g.specified = make([]extent, n), make([]doc.Width, n)
	g.each(func(c *doc.Block, at, end int) {
		if end-at == 1 {
			g.columns[at].grow(g.of(c))
			w := &g.specified[at]
			w.Px, w.Percent = max(w.Px, c.Width.Px), max(w.Percent, c.Width.Percent)
		}
	})
	g.each(func(c *doc.Block, at, end int) {
		if end-at > 1 {
			g.stretch(at, end, g.of(c))
		}
	})
	if b.Head == 0 && !slices.ContainsFunc(g.columns, func(e extent) bool { return e.max > 0 && e.max < fewWords }) {
		for i := range g.columns { // a price or a key stays beside its text, however narrow that is
			e := &g.columns[i]
			e.min = max(e.min, min(e.max, fewWords))
		}
	}
	if g.gap = columnGap - 2*g.pad; b.Head == 0 && !g.marked() && (len(b.Children) == 1 || slices.ContainsFunc(g.columns, func(e extent) bool { return e.max > 2*narrow })) {
		g.gap = besideGap - 2*g.pad
	}
	return g
}

// onFill reports a row with a fill, or with one of a cell.
func onFill(row *doc.Block) bool {
	return row.Background.Set || slices.ContainsFunc(row.Children, func(c *doc.Block) bool { return c.Background.Set })
}

// of returns the extent of a cell.
func (g *grid) of(c *doc.Block) extent {
	e := g.l.extent(c)
	if e.max > 0 {
		e.min, e.max = e.min+2*g.pad, e.max+2*g.pad
	}
	return e
}

// marked reports texts that each stand at a bullet or a number.
func (g *grid) marked() bool {
	return len(g.columns) == 2 && g.columns[0].max <= mark && g.columns[1].max > narrow
}

// findAlike measures as one the tables among blocks that follow one another with the same columns, so that these line
// up: in some carts each item is a table.
func (l *layouter) findAlike(blocks []*doc.Block) (found map[*doc.Block]*grid) {
	var run []*doc.Block
	measure := func() {
		if len(run) > 1 {
			all := *run[0]
			all.Children = nil
			for _, b := range run {
				all.Children = append(all.Children, b.Children...)
			}
			if found == nil {
				found = make(map[*doc.Block]*grid)
			}
			g := newGrid(l, &all)
			for _, b := range run {
				found[b] = g
			}
		}
		run = nil
	}
	for _, b := range blocks {
		if b.Kind != doc.Table {
			continue
		}
		if len(run) > 0 && (b.Width == (doc.Width{}) || b.Width != run[0].Width || !b.SameColumns(run[0]) || !endsAlike(b, run[0])) {
			measure()
		}
		run = append(run, b)
	}
	measure()
	return found
}

// endsAlike reports whether two tables end at the right edge or neither does, as far as their first rows tell.
func endsAlike(a, b *doc.Block) bool {
	a, b = a.Children[0], b.Children[0]
	a, b = a.Children[len(a.Children)-1], b.Children[len(b.Children)-1]
	x, y := a.First(), b.First()
	return x == nil || y == nil || (max(a.Align, x.Align) == doc.End) == (max(b.Align, y.Align) == doc.End)
}

// each calls f for each cell with the columns [at, end) that it spans.
func (g *grid) each(f func(c *doc.Block, at, end int)) {
	for _, row := range g.b.Children {
		at := 0
		for _, c := range row.Children {
			end := at + max(c.Columns, 1)
			f(c, at, end)
			at = end
		}
	}
}

// stretch makes columns wide enough for a cell that spans them.
func (g *grid) stretch(at, end int, e extent) {
	widest, used := at, 0
	var have extent
	for i := at; i < end; i++ {
		if g.columns[i].max > 0 {
			used++
		}
		if g.columns[i].max > g.columns[widest].max {
			widest = i
		}
		have.min += g.columns[i].min
		have.max += g.columns[i].max
	}
	gaps := g.gap * max(used-1, 0)
	w := &g.columns[widest]
	w.min += max(e.min-have.min-gaps, 0)
	w.max = max(w.min, w.max+max(e.max-have.max-gaps, 0))
}

// gaps returns how many columns of the terminal are between those of the table.
func (g *grid) gaps() int {
	used := 0
	for _, e := range g.columns {
		if e.max > 0 {
			used++
		}
	}
	return g.gap * max(used-1, 0)
}

// extent is that of the whole table.
func (g *grid) extent() extent {
	e := extent{g.gaps(), g.gaps()}
	for i, c := range g.columns {
		e.min += c.min
		e.max += max(c.max, g.l.cells(g.specified[i].Px))
	}
	return e
}

// needed is the width below which words of a column are broken, except very long ones.
func (g *grid) needed() int {
	width := g.gaps()
	for _, e := range g.columns {
		width += max(e.least(), min(e.min, Measure/2))
	}
	return width
}

// cells converts px.
func (l *layouter) cells(px float32) int {
	return int(px * float32(min(l.docWidth, Measure)) / mailWidth)
}

// fit sets the widths of the columns, closer together if need be, and reports whether they fit.
func (g *grid) fit(room int) bool {
	if g.fitColumns(room) {
		return true
	}
	g.gap = columnGap - 2*g.pad
	return g.fitColumns(room)
}

func (g *grid) fitColumns(room int) (ok bool) {
	if g.l.docWidth == Unwrapped {
		room = max(Measure, g.extent().max)
	}
	drawn := min(room, g.l.drawn())
	wanted := max(g.target(drawn)-g.gaps(), 0)
	asked := make([]int, len(g.specified))
	for i, w := range g.specified {
		if asked[i] = g.l.cells(w.Px); w.Percent > 0 {
			asked[i] = int(w.Percent / 100 * float32(wanted))
		}
	}
	if g.widths, ok = share(g.columns, asked, wanted, room-g.gaps()); ok {
		g.left = g.l.start(g.b.Align, g.rtl, g.span(0, len(g.widths)), drawn)
	}
	return ok
}

// fullWidth is the width in px from which on a table fills the page.
const fullWidth = 480

// target is how wide the message wants the table to be, 0 for as wide as its content.
func (g *grid) target(room int) int {
	switch w := g.b.Width; {
	case w.Percent > 0:
		return min(int(w.Percent/100*float32(room)), room)
	case w.Px >= fullWidth:
		return room
	default:
		return min(g.l.cells(w.Px), room)
	}
}

// span returns the width of several columns, empty ones left out.
func (g *grid) span(from, to int) int {
	total := 0
	for _, w := range g.widths[from:min(to, len(g.widths))] {
		if w > 0 {
			total += w + g.gap
		}
	}
	return max(total-g.gap, 0)
}

// rows writes all rows, with lines below the headers and above ruled rows.
func (g *grid) rows() {
	l := g.l
	total := g.span(0, len(g.widths))
	rule := []piece{spaces(g.left), text1(repeat("─", total), total, l.ink.dim())}
	tall := false // the last row
	for i, row := range g.b.Children {
		ruled := i > 0 && (row.Ruled || i == g.b.Head)
		if above := l.inksOf(g.b.Children[max(i-1, 0)]); ruled && (above == l.inksOf(row) || above == l.ink && i == g.b.Head) { // the edge of a fill is a line, too
			l.filled(row, g.left+total, func() { l.emit(rule) })
		}
		if leaf := row.First(); leaf != nil {
			l.imagesBeforeRow(row)
			l.begin(leaf)
		}
		inks := l.ink
		l.ink = l.inksOf(row)
		columns := g.row(row, i < g.b.Head)
		l.ink = inks
		before := tall
		tall = isTall(columns)
		l.gap = l.gap || !ruled && (row.Gap || i > g.b.Head && (before || tall))
		l.filled(row, g.left+total, func() { l.join(columns) })
	}
}

// tallCell is how many lines of a cell make a row that gaps separate from others.
const tallCell = 3

// isTall reports whether a cell of a row has several lines even without a width, or more than one has
// them in its width.
func isTall(columns []column) bool {
	n := 0
	for i := range columns {
		if len(columns[i].lines) < tallCell {
			continue
		}
		if n++; n > 1 || strings.Count(columns[i].cell.Text(), "\n") >= tallCell-1 {
			return true
		}
	}
	return false
}

// row lays out the cells of a row from left to right.
func (g *grid) row(row *doc.Block, head bool) (columns []column) {
	at, x, total := 0, 0, g.span(0, len(g.widths))
	for _, c := range row.Children {
		width := g.span(at, at+max(c.Columns, 1))
		at += max(c.Columns, 1)
		next := x + width + g.gap
		if width == 0 {
			continue
		}
		if len(c.Children) > 0 {
			if leaf := c.First(); c.Align == doc.End && leaf != nil && leaf.Align != doc.End && !c.Background.Set { // numbers end together, where their column may go on
				width = min(width, max(g.columns[at-1].max, g.of(c).max))
			}
			col := g.cell(c, width)
			if col.at += g.left + x; g.rtl {
				col.at += total - 2*x - width
			}
			if head {
				for _, line := range col.lines {
					for i := range line.pieces {
						if p := &line.pieces[i].pen; *p != g.l.ink.dim() {
							p.attrs |= bold
						}
					}
				}
			}
			columns = append(columns, col)
		}
		x = next
	}
	if g.rtl {
		slices.Reverse(columns)
	}
	return columns
}

// cell lays out a cell, on its fill if it has one.
func (g *grid) cell(c *doc.Block, width int) column {
	ink, pad := g.l.ink, min(g.pad, (width-1)/2)
	if c.Children[0].Kind == doc.Section { // which has its own
		pad = 0
	}
	on := g.l.inksOf(c)
	g.l.ink = on
	col := g.l.column(c, width-2*pad, c.Align == doc.End)
	if g.l.ink = ink; on == ink {
		col.at = pad
		if len(c.Children) == 1 && len(col.lines) > 0 && strings.HasPrefix(col.lines[0].Plain, "▎ ") { // which is beside all of it
			col.rest = col.lines[0].pieces[:1]
		}
	} else {
		col.fill, col.pad = &ground{width: width, text: on.text, fill: on.fill}, pad
	}
	return col
}

// records writes the rows as names and values, one row below another. Between successive rows that begin with a cell of
// several columns, such as totals, there is no gap. Names of nothing are above all.
func (l *layouter) records(b *doc.Block) {
	heads, rows := b.Children[:b.Head], b.Children[b.Head:]
	var names []*doc.Block // by column
	for _, c := range heads[b.Head-1].Children {
		names = append(names, slices.Repeat([]*doc.Block{c}, max(c.Columns, 1))...)
	}
	used, records := make(map[*doc.Block]bool), &doc.Block{Kind: doc.Table, RTL: b.RTL}
	for i, row := range rows {
		pairs := pairs(row, names, used)
		for _, first := range pairs[:min(len(pairs), 1)] {
			first.Ruled, first.Gap = i > 0 && row.Ruled, i > 0 && (!sums(row) || !sums(rows[i-1]))
		}
		records.Children = append(records.Children, pairs...)
	}
	for _, row := range heads[:b.Head-1] {
		l.blocks(row.Children)
	}
	l.dimmed(func() {
		for _, c := range heads[b.Head-1].Children {
			if !used[c] {
				l.blocks(c.Children)
				l.gap = true
			}
		}
	})
	flush := l.flush
	l.flush = true
	if len(records.Children) > 0 {
		l.table(records)
	}
	l.flush = flush
}

// sums reports a row that begins with a cell of several columns.
func sums(row *doc.Block) bool {
	i := slices.IndexFunc(row.Children, func(c *doc.Block) bool { return len(c.Children) > 0 })
	return i >= 0 && row.Children[i].Columns > 1
}

// pairs returns the values of a row beside their names, and notes which are used. What is in several columns has none, and
// the label of a sum is its name.
func pairs(row *doc.Block, names []*doc.Block, used map[*doc.Block]bool) (all []*doc.Block) {
	at, sum := 0, sums(row)
	for _, c := range row.Children {
		end := min(at+max(c.Columns, 1), len(names))
		of := names[at:end]
		if at = end; len(c.Children) == 0 {
			continue
		}
		value := *c
		value.Columns, value.Align, value.Width = 2, doc.Start, doc.Width{}
		pair := &doc.Block{Kind: doc.Row, Children: []*doc.Block{&value}}
		all = append(all, pair)
		if len(of) > 0 && of[0] == of[len(of)-1] && nameIn(of[0]) != "" && !(sum && len(all) == 1) {
			used[of[0]] = used[of[0]] || !sum // a sum has its own name
			name := &doc.Block{Spans: []doc.Span{{Text: nameIn(of[0]), Style: doc.Style{Role: doc.Secondary}}}, RTL: value.First() != nil && value.First().RTL}
			value.Columns, pair.Children = 1, []*doc.Block{{Kind: doc.Cell, Columns: 1, Head: 1, Children: []*doc.Block{name}}, &value}
		}
	}
	if sum && len(all) == 2 {
		all[0].Children[0].Head, all[0].Children[0].Columns = 1, 1
		return []*doc.Block{{Kind: doc.Row, Children: []*doc.Block{all[0].Children[0], all[1].Children[len(all[1].Children)-1]}}}
	}
	return all
}

// nameIn returns the name in a cell, without a colon.
func nameIn(c *doc.Block) string {
	return strings.TrimRight(strings.Join(strings.Fields(c.Text()), " "), ":：")
}

// value writes a cell with its name before it, or above what is no text.
func (l *layouter) value(c, name *doc.Block) {
	if leaf := c.Children[0]; leaf.Kind <= doc.Heading && !leaf.Hue.Set {
		l.lead = nameIn(name) + ": "
	} else {
		l.dimmed(func() { l.blocks(name.Children) })
	}
	l.blocks(c.Children)
	l.lead = ""
}
