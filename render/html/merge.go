package html

import (
	"slices"

	"mayfly/render/doc"
)

// mergeTables makes one table of successive ones that belong together, with rules between them or
// not: in some messages every line of a receipt is a table of its own, and the sums are another.
func mergeTables(blocks []*doc.Block) []*doc.Block {
	out := blocks[:0]
	for i := 0; i < len(blocks); i++ {
		b := blocks[i]
		b.Children = mergeTables(b.Children)
		out = append(out, b)
		if b.Kind != doc.Table {
			continue
		}
		merged := i
		for next, rule := after(blocks, i); next > 0 && continues(b, blocks[next]); next, rule = after(blocks, next) {
			addRows(b, blocks[next], rule)
			merged = next
		}
		if merged > i {
			finishRows(b)
			if i = merged; i+1 < len(blocks) {
				blocks[i+1].Gap = true
			}
		}
	}
	return out
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

// continues reports whether the rows of a table go on below another one: they have the same columns,
// or both end in amounts.
func continues(above, below *doc.Block) bool {
	last, first := above.Children[len(above.Children)-1], below.Children[0]
	if below.Head > 0 || !quiet(last) || !plain([]*doc.Block{last}) || !plain(below.Children) || !slices.ContainsFunc(below.Children, quiet) {
		return false
	}
	if slices.EqualFunc(last.Children, first.Children, func(a, b *doc.Block) bool { return a.Columns == b.Columns && a.Width == b.Width }) {
		return true
	}
	return amount(last) && !slices.ContainsFunc(below.Children, func(r *doc.Block) bool { return filled(r) != 2 }) &&
		slices.ContainsFunc(below.Children, amount)
}

// quiet reports a row without buttons.
func quiet(row *doc.Block) bool {
	return !slices.ContainsFunc(row.Children, func(c *doc.Block) bool { return look(c).button })
}

// amount reports a row that ends in an amount of money.
func amount(row *doc.Block) bool {
	last := row.Children[len(row.Children)-1]
	return len(row.Children) > 1 && numeric(last.Text()) && money(last.Text())
}

// addRows adds the rows of a table to another one. Those with fewer columns are sums: the label of a
// sum takes all columns but the last.
func addRows(table, more *doc.Block, rule bool) {
	columns := 0
	eachCell(table.Children[:1], func(_, column int, c *doc.Block) { columns = max(columns, column+c.Columns) })
	for i, row := range more.Children {
		row.Ruled = row.Ruled || rule && i == 0
		if n := len(row.Children); n > 1 && n < columns {
			row.Children[0].Columns += columns - n
			if columns > 2 {
				row.Children[0].Align = doc.End
			}
			row.Gap = row.Gap || i == 0 && !rule
		}
		for _, c := range row.Children {
			c.Width = doc.Width{}
		}
		table.Children = append(table.Children, row)
	}
}

// finishRows does for merged rows what is done for those of one table. A rule that follows the first
// row makes it a header.
func finishRows(table *doc.Block) {
	rows := table.Children
	if table.Head == 0 {
		if table.Head = headRows(rows); rows[1].Ruled && titled(rows) {
			table.Head = 1
		}
	}
	keepRules(table)
	alignNumbers(table)
}

// keepRules removes the rules between successive rows, which are only decoration: one that is drawn
// sets apart what is below it, such as a total. A row that names those below it has one under it.
func keepRules(table *doc.Block) {
	rest := table.Children[min(max(table.Head, 1), len(table.Children)):]
	for i := 0; i < len(rest); i++ {
		from := i
		for i < len(rest) && rest[i].Ruled {
			i++
		}
		for j := from; j < i && i-from > 1; j++ {
			rest[j].Ruled = j > 0 && j == i-1 && strong(rest[j]) && !strong(rest[j-1])
		}
	}
	rest = table.Children[table.Head:]
	for i, r := range rest[:max(len(rest)-1, 0)] { // those that name what is below them
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

// titled reports whether rows of one line each are below a row of words.
func titled(rows []*doc.Block) bool {
	for i, r := range rows {
		for _, c := range r.Children {
			if l := look(c); l.lines > 1 || i == 0 && (l.numeric || l.lines == 0) {
				return false
			}
		}
	}
	return true
}
