package html

import (
	"slices"

	"mayfly/render/doc"
)

// joinTotals joins a table of amounts and the table of their sums below it, so that the amounts
// line up. A rule between them becomes a gap.
func joinTotals(blocks []*doc.Block) []*doc.Block {
	out := blocks[:0]
	for i := 0; i < len(blocks); i++ {
		sums := i
		if blocks[i].Kind == doc.Rule && i+1 < len(blocks) {
			sums++
		}
		if n := len(out); n > 0 && joinsTo(out[n-1], blocks[sums]) {
			if i = sums; i+1 < len(blocks) {
				blocks[i+1].Gap = true
			}
			continue
		}
		out = append(out, blocks[i])
	}
	return out
}

// joinsTo adds rows of sums to a table, if they belong to it. A single row becomes a table.
func joinsTo(table, sums *doc.Block) bool {
	things, rows := rowsOf(table), rowsOf(sums)
	if len(things) == 0 || sums.Head > 0 ||
		!amounts(things[table.Head:]) || !amounts(rows) {
		return false
	}
	for _, r := range rows {
		if filled(r) != 2 || look(lastCell(r)).lines != 1 {
			return false
		}
	}
	if table.Kind == doc.Row {
		row := *table
		row.Gap = false
		*table = doc.Block{Kind: doc.Table, Gap: table.Gap, Children: []*doc.Block{&row}}
		alignNumbers(table)
	}
	columns, used := 0, map[int]bool{}
	eachCell(table, func(_, column int, c *doc.Block) {
		columns = max(columns, column+c.Columns)
		if c.Columns == 1 && len(c.Children) > 0 {
			used[column] = true
		}
	})
	for i, r := range rows {
		r.Children = slices.DeleteFunc(r.Children, func(c *doc.Block) bool { return len(c.Children) == 0 })
		label, sum := r.Children[0], r.Children[1]
		if label.Columns = columns - 1; len(used) > 2 {
			label.Align = doc.End
		}
		sum.Columns, sum.Align = 1, doc.End
		r.Gap = i == 0
		table.Children = append(table.Children, r)
	}
	return true
}

// rowsOf returns the rows of a table, or a single row itself.
func rowsOf(b *doc.Block) []*doc.Block {
	switch b.Kind {
	case doc.Table:
		return b.Children
	case doc.Row:
		return []*doc.Block{b}
	}
	return nil
}

// amounts reports whether most rows end in an amount of money.
func amounts(rows []*doc.Block) bool {
	n := 0
	for _, r := range rows {
		if c := lastCell(r); c != nil && numeric(c.Text()) && money(c.Text()) {
			n++
		}
	}
	return n > 0 && n*10 >= len(rows)*6
}

// lastCell returns the last cell of a row, or nil if it is empty.
func lastCell(r *doc.Block) *doc.Block {
	if n := len(r.Children); n > 1 && len(r.Children[n-1].Children) > 0 {
		return r.Children[n-1]
	}
	return nil
}
