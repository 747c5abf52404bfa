package html

import (
	"cmp"
	"slices"

	"golang.org/x/net/html/atom"

	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// maxColumns bounds how many columns a cell may span.
const maxColumns = 64

// openCell opens a cell of a row, or of a table without rows. Elsewhere a td is a block like any other.
func (b *builder) openCell(f *frame) {
	if in := b.container(); in == nil || in.Kind != doc.Row && in.Kind != doc.Table {
		return
	}
	cell := newCell(&f.style)
	if n, _ := number(f.node, "colspan"); n > 1 {
		cell.Columns = min(n, maxColumns)
	}
	if f.node.DataAtom == atom.Th && f.style.Text == css.ToStart && (cell.Columns > 1 || alone(f)) { // a title rather than a name
		f.style.Text = css.ToCenter
	}
	n, _ := number(f.node, "rowspan")
	cell.Rows = min(max(n, 0), maxColumns)
	b.push(f, cell)
}

// spanRows puts an empty cell into each row that a cell above it reaches into.
func spanRows(rows []*doc.Block) {
	var reach [maxColumns]int // rows left, by column
	for _, r := range rows {
		if r.Kind != doc.Row {
			continue
		}
		at := 0
		var cells []*doc.Block
		pad := func() {
			for ; at < maxColumns && reach[at] > 0; at++ {
				reach[at]--
				cells = append(cells, &doc.Block{Kind: doc.Cell, Columns: 1})
			}
		}
		for _, c := range r.Children {
			pad()
			cells = append(cells, c)
			if c.Kind == doc.Cell {
				for i := at; c.Rows > 1 && i < min(at+c.Columns, maxColumns); i++ {
					reach[i] = c.Rows - 1
				}
				at += c.Columns
			}
		}
		pad()
		r.Children = cells
	}
}

// newCell returns a cell for a box.
func newCell(s *css.Style) *doc.Block {
	return &doc.Block{Kind: doc.Cell, Columns: max(s.Span, 1), Width: width(s), VAlign: s.VAlign}
}

// width returns the width that a box asks for.
func width(s *css.Style) doc.Width {
	if s.Width.Unit == '%' {
		return doc.Width{Percent: min(s.Width.Value, 100)}
	}
	return doc.Width{Px: max(s.Width.Px(s.Size, 0), 0)}
}

// container returns the innermost open container.
func (b *builder) container() *doc.Block {
	for i := len(b.frames) - 2; i > 0; i-- {
		if made := b.frames[i].made; made != nil {
			return made
		}
	}
	return nil
}

// closeRow adds a row to its table. Outside of one it is a table of its own.
func (b *builder) closeRow(row *doc.Block, f *frame) {
	if in := b.container(); in != nil && in.Kind == doc.Table {
		*b.out = append(*b.out, row)
		return
	}
	if n := len(row.Children); f.style.Spread && n > 1 {
		atEnd(row.Children[n-1].Children, f.style.RTL)
	}
	b.closeTable(&doc.Block{Kind: doc.Table, Children: []*doc.Block{row}}, f)
}

// closeTable puts rows with several cells side by side. What else is in a table follows in order.
func (b *builder) closeTable(table *doc.Block, f *frame) {
	t := columns{b: b, rtl: f.style.RTL, centred: f.style.BoxAlign == doc.Center}
	if f.style.Display != css.TableRow {
		t.width = width(&f.style)
	}
	if (f.style.Display == css.FlexRow || f.style.Display == css.Grid) && t.width == (doc.Width{}) {
		t.width.Percent = 100
	}
	rows := within(table.Children, true, doc.Block{Kind: doc.Row}) // cells in no row
	spanRows(rows)
	for _, c := range rows {
		if c.Kind == doc.Row {
			t.row(c)
		} else { // a caption, or text between the rows
			t.end()
			*b.out = append(*b.out, c)
		}
	}
	t.end()
}

// boxes puts boxes side by side that have no table, on as many rows as their widths need.
func (b *builder) boxes(blocks []*doc.Block, in *css.Inherited) []*doc.Block {
	if !slices.ContainsFunc(blocks, func(b *doc.Block) bool { return b.Kind == doc.Cell }) {
		return blocks
	}
	var out []*doc.Block
	outer := b.out
	b.out = &out
	for i := 0; i < len(blocks); {
		j := i
		for j < len(blocks) && blocks[j].Kind == doc.Cell {
			j++
		}
		if j == i {
			out = append(out, blocks[i])
			i++
			continue
		}
		b.loose -= j - i
		cells := slices.Clip(blocks[i:j])
		if j < len(blocks) && len(blocks[j].Spans) > 0 && !slices.ContainsFunc(cells, func(c *doc.Block) bool { return !b.far[c] || !brief(c) }) {
			cells = append(cells, &doc.Block{Kind: doc.Cell, Columns: 1, Children: []*doc.Block{blocks[j]}}) // beside what floats
			j++
		}
		t := columns{b: b, rtl: in.RTL, align: in.Text.Within(in.RTL), width: doc.Width{Percent: 100}}
		for _, row := range pack(cells, rowPart) {
			row.Children = b.floatApart(row.Children)
			t.row(row)
		}
		t.end()
		i = j
	}
	b.out = outer
	return out
}

// floatApart returns the boxes of a row as they stand: those that float at its end are there, the first of them last.
func (b *builder) floatApart(cells []*doc.Block) []*doc.Block {
	var near, far []*doc.Block
	for _, c := range cells {
		if b.far[c] {
			far = append(far, c)
		} else {
			near = append(near, c)
		}
	}
	slices.Reverse(far)
	return append(near, far...)
}

// atEnd moves what begins where lines do to where they end.
func atEnd(blocks []*doc.Block, rtl bool) {
	for _, l := range blocks {
		if l.Align != doc.Center && (l.Align == doc.Start) == (l.RTL == rtl) {
			l.Align = doc.End - l.Align
		}
	}
}

// rowPart returns the part of a row that a box takes.
func rowPart(cell *doc.Block) float32 { return max(cell.Width.Percent/100, cell.Width.Px/640) }

// tracks arranges the cells of a grid in rows of n columns.
func tracks(cells []*doc.Block, n int, even bool) []*doc.Block {
	return pack(asCells(cells), func(c *doc.Block) float32 {
		c.Columns = min(c.Columns, n)
		part := float32(c.Columns) / float32(n)
		if even {
			c.Width = doc.Width{Percent: 100 * part}
		}
		return part
	})
}

// pack fills rows with cells that each take a part of one.
func pack(cells []*doc.Block, part func(cell *doc.Block) float32) []*doc.Block {
	var rows []*doc.Block
	taken := float32(2)
	for _, c := range cells {
		if taken += part(c); taken > 1.01 {
			rows = append(rows, &doc.Block{Kind: doc.Row})
			taken = part(c)
		}
		row := rows[len(rows)-1]
		row.Children = append(row.Children, c)
	}
	return rows
}

// asCells puts the children of a row that are not cells into cells.
func asCells(children []*doc.Block) []*doc.Block {
	return within(children, false, doc.Block{Kind: doc.Cell, Columns: 1})
}

// within puts children that are cells, or those that are not, into boxes like one that the message
// does not name: those that follow one another into one (CSS 2.1, 17.2.1).
func within(children []*doc.Block, cells bool, like doc.Block) []*doc.Block {
	var out []*doc.Block
	var open *doc.Block
	for _, c := range children {
		if (c.Kind == doc.Cell) != cells {
			out, open = append(out, c), nil
			continue
		}
		if open == nil {
			box := like
			open = &box
			out = append(out, open)
		}
		open.Children = append(open.Children, c)
	}
	return out
}

// columns collects the successive rows of a table that have several cells with content.
type columns struct {
	b     *builder
	rtl   bool
	align doc.Align
	width doc.Width
	rows  []*doc.Block
	rule  *doc.Block // below the last row
	under bool       // the last row has a border below it
	reach int        // rows that cells reach into, from the last one on

	centred bool // the box of the table
}

// ruled tells the borders above and below a row or a cell.
type ruled struct{ over, under bool }

func (r ruled) with(o ruled) ruled { return ruled{r.over || o.over, r.under || o.under} }

// between adds what is in a cell with the lines above and below it.
func (b *builder) between(cell *doc.Block, r ruled) {
	if r.over {
		b.border(&css.Style{})
	}
	*b.out = append(*b.out, cell.Children...)
	if r.under {
		b.border(&css.Style{})
	}
}

// row adds a row.
func (t *columns) row(row *doc.Block) {
	filled := t.clear(row)
	if len(filled) == 0 {
		return
	}
	t.reach--
	for _, c := range filled {
		if c.Rows > 1 && (c != filled[0] || len(filled) > 1) {
			t.reach = max(t.reach, c.Rows)
		}
	}
	title := t.centred && len(row.Children) == 1 && brief(filled[0]) && filled[0].First().Align == doc.Center
	if title { // the columns are in the middle, as it is
		t.align = doc.Center
	}
	last := row.Children[len(row.Children)-1]
	ends := filled[0] == last && len(row.Children) > 1
	if len(filled) == 1 && t.reach <= 0 && (len(t.rows) == 0 || !brief(filled[0]) && (!ends || last.Columns <= 1) || title) {
		t.end()
		if len(last.Children) == 0 && brief(filled[0]) && !last.Blank && last.Width == filled[0].Width {
			for leaf := range filled[0].Leaves() {
				if leaf.Align == doc.End { // in the middle, at images that are not shown
					leaf.Align = doc.Center
				}
			}
		}
		if t.b.far[filled[0]] || ends && rowPart(last) > 0 {
			for _, c := range filled[0].Children {
				if c.Kind == doc.Table { // it is at the end as a whole
					c.Width, c.Align = filled[0].Width, doc.End
				}
			}
		}
		t.b.between(filled[0], t.b.ruled[row].with(t.b.ruled[filled[0]]))
		return
	}
	if len(filled) > 1 {
		if one := joined(t.b.doc, filled); one != nil {
			t.end()
			*t.b.out = append(*t.b.out, one)
			return
		}
	}
	row.Ruled = t.rule != nil && len(t.rows) > 0 || t.under
	t.rule, t.under = nil, false
	for _, c := range append(slices.Clone(row.Children), row) {
		row.Ruled = row.Ruled || t.b.ruled[c].over
		t.under = t.under || t.b.ruled[c].under
	}
	t.rows = append(t.rows, row)
}

// clear removes from a row what says nothing beside the rest, and returns its cells with content. If
// there is none but a rule, that is kept to be drawn.
func (t *columns) clear(row *doc.Block) (filled []*doc.Block) {
	row.Children = asCells(row.Children)
	var rule *doc.Block
	for i, c := range row.Children {
		if i+1 < len(row.Children) && repeats(t.b.doc, c, row.Children[i+1]) {
			c.Children = nil
		}
		if len(c.Children) == 1 && c.Children[0].Kind == doc.Rule {
			rule, c.Children = c.Children[0], nil
		}
		if len(c.Children) > 0 {
			filled = append(filled, c)
		}
	}
	if len(filled) == 0 { // beside text it is the edge of an empty cell
		t.rule = cmp.Or(rule, t.rule)
	}
	for _, c := range row.Children {
		c.Blank = c.Blank && c.Width != (doc.Width{}) && slices.ContainsFunc(filled, func(o *doc.Block) bool { return o.Width == c.Width })
	}
	if len(filled) == 0 && len(t.rows) == 0 {
		t.end()
	}
	return filled
}

// brief reports a cell of one paragraph, which may be alone in its row without ending the columns.
func brief(c *doc.Block) bool {
	return len(c.Children) == 1 && len(c.Children[0].Spans) > 0
}

// end adds the table of the rows so far.
func (t *columns) end() {
	b := t.b
	if links := navigation(t.rows); links != nil {
		between := "\u00a0\u00a0 " // as wide as columns are apart
		if t.rtl {
			between = " · " // terminals that reorder text do so between wider spaces
		}
		*b.out = append(*b.out, joinCells(links, between))
	} else if len(t.rows) > 0 {
		table := newTable(t.rows, t.width, t.rtl)
		table.Align = t.align
		*b.out = append(*b.out, table)
	}
	if t.under {
		b.border(&css.Style{})
	}
	if t.rule != nil {
		if len(*b.out) > 0 || b.room(b.top()) > halfPage { // a dash begins a narrow cell
			b.divide(t.rule)
		}
	}
	t.rows, t.rule, t.under, t.reach = nil, nil, false, 0
}

// navigation returns the cells of a single row of nothing but links, and marks between them, that stand alike, or nil:
// in a line they are apart evenly, where columns are not.
func navigation(rows []*doc.Block) (cells []*doc.Block) {
	links, align := 0, doc.Start
	for i := 0; len(rows) == 1 && i < len(rows[0].Children); i++ {
		c := rows[0].Children[i]
		if len(c.Children) == 0 {
			continue
		}
		l, one := look(c), c.Children[0]
		if !brief(c) || l.lines > 1 || l.linked && links > 0 && one.Align != align || slices.ContainsFunc(one.Spans, func(s doc.Span) bool { return s.Link == 0 && fold(s.Text) != "" }) {
			return nil
		}
		if l.linked {
			links, align = links+1, one.Align
		}
		cells = append(cells, c)
	}
	if links < 3 {
		return nil
	}
	return cells
}

// newTable makes a table of rows.
func newTable(rows []*doc.Block, width doc.Width, rtl bool) *doc.Block {
	table := &doc.Block{Kind: doc.Table, Children: rows, Width: width, RTL: rtl}
	for _, row := range rows {
		for _, c := range row.Children {
			if len(c.Children) > 0 {
				row.Gap = row.Gap || c.Children[0].Gap
				c.Children[0].Gap = false
			}
		}
	}
	table.Gap, rows[0].Gap = rows[0].Gap, false
	if !slices.ContainsFunc(rows, isEntry) && !slices.ContainsFunc(rows[1:], func(r *doc.Block) bool { return !r.Gap }) {
		for _, row := range rows { // a gap above all of them says nothing
			row.Gap = false
		}
	}
	return table
}

// isEntry reports a row of several lines, which a gap tells from the others.
func isEntry(row *doc.Block) bool { return anyCell(row, func(l cellLook) bool { return l.lines > 1 }) }

// dropColumns removes the columns that are empty in all rows: gutters, and those of images. One that is as wide as
// those with content stays: what is beside it is under the head of another table.
func dropColumns(rows []*doc.Block) {
	var used [maxColumns + 1]bool
	eachCell(rows, func(row, column int, c *doc.Block) {
		used[column] = used[column] || c.Columns == 1 && len(c.Children) > 0 || c.Blank && filled(rows[row]) > 1
	})
	for _, r := range rows {
		at, kept := 0, r.Children[:0]
		for _, c := range r.Children {
			n := 0
			for i := at; i < at+c.Columns && i < maxColumns; i++ {
				if used[i] {
					n++
				}
			}
			at += c.Columns
			if n > 0 || len(c.Children) > 0 {
				c.Columns = max(n, 1) // 0 beyond the last column that counts
				kept = append(kept, c)
			}
		}
		r.Children = kept
	}
}

// eachCell calls f for each cell of rows with its first column.
func eachCell(rows []*doc.Block, f func(row, column int, c *doc.Block)) {
	for i, r := range rows {
		at := 0
		for _, c := range r.Children {
			if at >= maxColumns {
				break
			}
			f(i, at, c)
			at += c.Columns
		}
	}
}

// joined returns what a row is that is not columns: a code with a box for every character, or a strip of
// icons. Otherwise it returns nil.
func joined(d *doc.Document, cells []*doc.Block) *doc.Block {
	switch {
	case spelled(cells):
		return joinCells(cells, "")
	case !slices.ContainsFunc(cells, func(c *doc.Block) bool { return !brief(c) || !iconStrip(d, c.Children[0]) }):
		return joinCells(cells, " ")
	}
	return nil
}

// spelled reports cells of one character each.
func spelled(cells []*doc.Block) bool {
	return len(cells) >= 4 && len(cells) <= 10 && !slices.ContainsFunc(cells, func(c *doc.Block) bool {
		l := look(c)
		return l.width != 1 || l.lines != 1 || l.linked
	})
}

// joinCells makes one leaf of those in cells, with something between them.
func joinCells(cells []*doc.Block, between string) *doc.Block {
	joined := cells[0].Children[0]
	joined.Kind = doc.Paragraph
	for _, c := range cells[1:] {
		if between != "" {
			joined.Spans = append(joined.Spans, doc.Span{Text: between})
		}
		joined.Spans = append(joined.Spans, c.Children[0].Spans...)
	}
	return joined
}
