package html

import (
	"fmt"
	"slices"

	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// tidy does what needs the whole document.
func (b *builder) tidy() {
	d := b.doc
	b.measure()
	d.Blocks = b.finishTables(b.boxes(d.Blocks, &css.Inherited{RTL: d.RTL}))
	applyAltText(d)
	b.markFaint()
	b.headings()
	d.Blocks = trimRules(d.Blocks)
	gapButtons(d.Blocks)
	d.Blocks = foldFooter(d, b.bodySize())
	joinLinks(d)
	joinNumbers(d.Blocks)
	b.sections()
	if len(d.Blocks) == 0 {
		b.fillEmpty()
	}
	numberLinks(d)
}

// numberLinks numbers the links in reading order. Links that are not shown, or lead nowhere, are last.
func numberLinks(d *doc.Document) {
	number, order := make([]int, len(d.Links)+1), make([]doc.Link, 0, len(d.Links))
	next := func(n int) {
		if n > 0 && number[n] == 0 {
			order = append(order, d.Links[n-1])
			number[n] = len(order)
			order[number[n]-1].N = number[n]
		}
	}
	for leaf := range d.Leaves() {
		for _, s := range leaf.Spans {
			if s.Link > 0 && !d.Links[s.Link-1].Nowhere {
				next(s.Link)
			}
		}
	}
	for i := range d.Links {
		next(i + 1)
	}
	d.Links = order
	for leaf := range d.Leaves() {
		for i := range leaf.Spans {
			leaf.Spans[i].Link = number[leaf.Spans[i].Link]
		}
	}
	for i := range d.Images {
		d.Images[i].Link = number[d.Images[i].Link]
	}
}

// joinLinks notes where a link continues one in the leaf before, as in a card.
func joinLinks(d *doc.Document) {
	last := 0
	for leaf := range d.Leaves() {
		first := &leaf.Spans[0]
		first.Continues = first.Element > 0 && first.Element == last
		last = leaf.Spans[len(leaf.Spans)-1].Element
	}
}

// gapButtons adds a gap between buttons on lines of their own and what is around them.
func gapButtons(blocks []*doc.Block) {
	for i, l := range blocks {
		if i > 0 && standsAlone(l) && standsAlone(blocks[i-1]) && pressable(l) != pressable(blocks[i-1]) {
			l.Gap = true
		}
		gapButtons(l.Children)
	}
}

// standsAlone reports whether a block is on lines of its own that a gap may separate.
func standsAlone(l *doc.Block) bool {
	return l.Kind != doc.Rule && l.Kind != doc.Item && l.Kind != doc.Row && l.Kind != doc.Cell
}

// pressable reports whether a block is nothing but buttons.
func pressable(l *doc.Block) bool {
	return len(l.Spans)+len(l.Children) > 0 &&
		!slices.ContainsFunc(l.Spans, func(s doc.Span) bool { return !s.Button || s.Link != l.Spans[0].Link }) &&
		!slices.ContainsFunc(l.Children, func(c *doc.Block) bool { return len(c.Spans)+len(c.Children) > 0 && !pressable(c) })
}

// bodySize returns the font size, in px, of most of the text. Small print and bold text count less: the footer
// of a short message is longer than its body, and so are its headings.
func (b *builder) bodySize() float32 {
	size, most := float32(16), 0
	for s, n := range b.weight {
		if s <= finePrint {
			n /= 4
		}
		if n > most || n == most && s < size {
			size, most = s, n
		}
	}
	return size
}

// finePrint is the greatest size in px of what is usually below or beside the text.
const finePrint = 13

// trimRules drops rules at both ends, and all but one of several in a row.
func trimRules(blocks []*doc.Block) []*doc.Block {
	before := doc.Rule
	out := slices.DeleteFunc(blocks, func(l *doc.Block) bool {
		drop := l.Kind == doc.Rule && before == doc.Rule
		before = l.Kind
		return drop
	})
	if n := len(out); n > 0 && out[n-1].Kind == doc.Rule {
		return out[:n-1]
	}
	return out
}

// fillEmpty fills a document that has no text to show with its images, or with its title.
func (b *builder) fillEmpty() {
	d := b.doc
	only, images := doc.Span{Style: doc.Style{Size: 16}}, 0
	b.order++
	for i := range d.Images {
		im := &d.Images[i]
		if im.Leaf, im.Offset = b.order, 0; im.Spacer {
			continue
		}
		if images++; images == 1 {
			only.Text, only.Image, only.Link = placeholder(im), im.N, im.Link
		} else {
			only.Text = fmt.Sprintf("[%d images]", images)
		}
	}
	if len(d.Images) == 0 && len(d.Hidden) == 0 && d.Title != "" {
		only.Text, d.Simplified = d.Title, "all text of this mail is in its title: it is shown here"
	}
	if only.Text != "" {
		d.Blocks = append(d.Blocks, &doc.Block{Kind: doc.Paragraph, Order: b.order, Spans: []doc.Span{only}})
	}
}

// finishTables completes tables, which depend on those beside them. It makes one table of successive ones that belong
// together, with rules between them or not: in some messages every line of a receipt is a table of its own, and the
// sums are another.
func (b *builder) finishTables(blocks []*doc.Block) []*doc.Block {
	var alike []*doc.Block // the rows of tables with the columns of the last one
	for i, last := 0, 0; i < len(blocks); i++ {
		table := blocks[i]
		table.Children = b.finishTables(table.Children)
		if table.Kind != doc.Table {
			continue
		}
		if len(alike) > 0 && !blocks[last].SameColumns(table) {
			dropColumns(alike)
			alike = nil
		}
		alike, last = append(alike, table.Children...), i
	}
	dropColumns(alike)
	out := blocks[:0]
	for i := 0; i < len(blocks); i++ {
		table := blocks[i]
		out = append(out, table)
		if table.Kind != doc.Table {
			continue
		}
		for next, rule := after(blocks, i); next > 0 && b.goesOn(table, blocks[next]); next, rule = after(blocks, i) {
			addRows(table, blocks[next], rule)
			i = next
		}
		finishTable(table)
	}
	return out
}

// bandAt returns the fill of the band that the first leaf of a block is on, if any.
func (b *builder) bandAt(l *doc.Block) doc.Color {
	if leaf := l.First(); leaf != nil {
		if in := b.positions[leaf.Order-1].in; in != nil && isFill(in.fill, in.on()) {
			return in.fill
		}
	}
	return doc.Color{}
}

// after returns the index of the table that follows a block, 0 if none does, and whether there is a
// rule between them.
func after(blocks []*doc.Block, i int) (next int, rule bool) {
	next = i + 1
	if next < len(blocks) && blocks[next].Kind == doc.Rule {
		next, rule = next+1, true
	}
	if next < len(blocks) && blocks[next].Kind == doc.Table {
		return next, rule
	}
	return 0, false
}

// goesOn reports whether a table is more of the one above it: it is in the same band, or below names of its columns in
// a band of their own.
func (b *builder) goesOn(above, below *doc.Block) bool {
	band := b.bandAt(above.Children[len(above.Children)-1])
	if band == b.bandAt(below) {
		return continues(above, below)
	}
	names, first := above.Children[0], below.Children[0]
	return band.Set && len(above.Children) == 1 && (filled(names) > 2 || above.SameColumns(below)) && wordy(names) && len(names.Children) == len(first.Children) &&
		anyCell(first, func(l cellLook) bool { return l.numeric }) && plain(below.Children) && headRows(below.Children) == 0
}

// continues reports whether the rows of a table go on below another one: they have the same columns,
// or both end in amounts.
func continues(above, below *doc.Block) bool {
	last := above.Children[len(above.Children)-1]
	if !quiet(last) || !plain([]*doc.Block{last}) || !plain(below.Children) || headRows(below.Children) > 0 || !slices.ContainsFunc(below.Children, quiet) {
		return false
	}
	if above.SameColumns(below) {
		return above.RTL == below.RTL
	}
	return amount(last) && !slices.ContainsFunc(below.Children, func(r *doc.Block) bool { return filled(r) != 2 }) &&
		slices.ContainsFunc(below.Children, amount)
}

// quiet reports a row without buttons.
func quiet(row *doc.Block) bool { return !anyCell(row, func(l cellLook) bool { return l.button }) }

// amount reports a row that ends in an amount of money.
func amount(row *doc.Block) bool {
	cells := row.Children
	for len(cells) > 1 && len(cells[len(cells)-1].Children) == 0 {
		cells = cells[:len(cells)-1]
	}
	last := cells[len(cells)-1].Text()
	return len(cells) > 1 && numeric(last) && money(last)
}

// addRows adds the rows of a table to another one. Those with fewer columns are sums: the label of a
// sum takes all columns but the last.
func addRows(table, more *doc.Block, rule bool) {
	columns := 0
	eachCell(table.Children[:1], func(_, column int, c *doc.Block) { columns = max(columns, column+c.Columns) })
	for i, row := range more.Children {
		row.Ruled = row.Ruled || rule && i == 0
		row.Gap = row.Gap || i == 0 && more.Gap && (len(more.Children) > 1 || isEntry(row) || isEntry(table.Children[len(table.Children)-1]))
		if n := len(row.Children); n > 1 && n < columns {
			row.Children[0].Columns += columns - n
			row.Gap = row.Gap || i == 0 && !rule
		}
		for _, c := range row.Children {
			c.Width = doc.Width{}
		}
		table.Children = append(table.Children, row)
	}
}

// finishTable finds the headers, numbers and rules of a table of data.
func finishTable(table *doc.Block) {
	rows := table.Children
	if plain(rows) {
		table.Head = headRows(rows)
		alignNumbers(table)
	}
	ruleNames(table)
}

// ruleNames puts a line under each row that names those below it.
func ruleNames(table *doc.Block) {
	rest := table.Children[table.Head:]
	for i, r := range rest[:max(len(rest)-1, 0)] {
		_, back := rowLook(r)
		if back.Set && strong(r) && filled(r) > 1 && !strong(rest[i+1]) {
			r.Gap, rest[i+1].Ruled = r.Gap || i > 0, true
		}
	}
}

// strong reports whether all of a row is bold.
func strong(row *doc.Block) bool {
	bold, _ := rowLook(row)
	return bold
}
