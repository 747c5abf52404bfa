package html

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/doc"
)

// maxColumns bounds how many columns a cell may span.
const maxColumns = 64

// openCell opens a cell of a row. Elsewhere a td is a block like any other.
func (b *builder) openCell(f *frame) {
	if row := b.container(); row == nil || row.Kind != doc.Row {
		return
	}
	cell := &doc.Block{Kind: doc.Cell, Columns: 1, Align: f.style.Align}
	if span, ok := attr(f.node, "colspan"); ok {
		if n, err := strconv.Atoi(strings.TrimSpace(span)); err == nil {
			cell.Columns = min(max(n, 1), maxColumns)
		}
	}
	b.push(f, cell)
}

// tracks arranges the cells of a grid in rows.
func tracks(cells []*doc.Block, columns int) []*doc.Block {
	var rows []*doc.Block
	room := 0
	for _, c := range asCells(cells) {
		c.Columns = min(c.Columns, columns)
		if room < c.Columns {
			rows = append(rows, &doc.Block{Kind: doc.Row})
			room = columns
		}
		room -= c.Columns
		row := rows[len(rows)-1]
		row.Children = append(row.Children, c)
	}
	return rows
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

// closeRow adds a row to its table. Outside a table it lays out its cells.
func (b *builder) closeRow(row *doc.Block, f *frame) {
	row.Children = asCells(row.Children)
	for i := 0; i+1 < len(row.Children); i++ {
		if repeatsNext(b.doc, row.Children[i], row.Children[i+1]) || sameTarget(b.doc, row.Children[i], row.Children[i+1]) {
			row.Children[i].Children = nil
		}
	}
	for i := len(b.frames) - 2; i > 0; i-- {
		if made := b.frames[i].made; made != nil {
			if made.Kind == doc.Table {
				*b.out = append(*b.out, row)
				return
			}
			break
		}
	}
	*b.out = append(*b.out, flattenRow(row)...)
}

// asCells makes cells of the children of a row that are not cells.
func asCells(children []*doc.Block) []*doc.Block {
	for i, c := range children {
		if c.Kind != doc.Cell {
			children[i] = &doc.Block{Kind: doc.Cell, Columns: 1, Children: []*doc.Block{c}}
		}
	}
	return children
}

// closeTable decides whether a table holds data, whose columns have a meaning, or only lays out its
// content.
func (b *builder) closeTable(table *doc.Block, f *frame) {
	var rows []*doc.Block
	top := table
	for _, c := range table.Children {
		if c.Kind == doc.Row {
			rows = append(rows, c)
			continue
		}
		// A caption, or text between the rows.
		if top == table && len(rows) == 0 {
			top = c
		}
		*b.out = append(*b.out, c)
	}
	role, _ := attr(f.node, "role")
	if data := keepRows(rows); isData(data, role == "presentation" || role == "none") {
		table.Children = data
		top.Gap = true
		b.margin = gapHeight
		table.Head = headRows(table.Children)
		setItemsApart(table.Children)
		alignNumbers(table)
		clearGaps(table)
		*b.out = append(*b.out, table)
		return
	}
	stacked := false
	for _, row := range rows {
		several := filled(row) > 1
		blocks := flattenRow(row)
		if stacked && len(blocks) > 0 {
			blocks[0].Gap = true
		}
		stacked = several && len(blocks) > 1
		*b.out = append(*b.out, blocks...)
	}
}

// keepRows returns the rows that show something, rules aside.
func keepRows(rows []*doc.Block) []*doc.Block {
	var kept []*doc.Block
	for _, r := range rows {
		if slices.ContainsFunc(r.Children, func(c *doc.Block) bool {
			return slices.ContainsFunc(c.Children, func(l *doc.Block) bool { return l.Kind != doc.Rule })
		}) {
			kept = append(kept, r)
		}
	}
	return kept
}

// filled returns how many cells of a row have content.
func filled(row *doc.Block) int {
	n := 0
	for _, c := range row.Children {
		if len(c.Children) > 0 {
			n++
		}
	}
	return n
}

// cellLook describes a cell, to tell data from layout.
type cellLook struct {
	width   int  // characters of its longest line
	lines   int  // leaves
	simple  bool // only text, or buttons
	button  bool
	linked  bool
	image   bool
	numeric bool
	head    bool
}

func look(cell *doc.Block) cellLook {
	l := cellLook{simple: true, head: cell.Head > 0}
	var visit func(b *doc.Block)
	visit = func(b *doc.Block) {
		switch b.Kind {
		case doc.Rule:
		case doc.Cell, doc.Item, doc.List:
			l.simple = l.simple && b.Kind == doc.Cell
		case doc.Paragraph, doc.Heading:
			for line := range strings.SplitSeq(b.Text(), "\n") {
				l.lines++
				l.width = max(l.width, utf8.RuneCountInString(line))
			}
			for i := range b.Spans {
				l.button = l.button || b.Spans[i].Button
				l.linked = l.linked || b.Spans[i].Link > 0
				l.image = l.image || b.Spans[i].Image > 0
			}
		default:
			l.simple = false
		}
		for _, c := range b.Children {
			visit(c)
		}
	}
	visit(cell)
	l.numeric = l.lines == 1 && numeric(cell.Text())
	return l
}

// isData reports whether a table holds data: it has headers, or short cells with a column of
// numbers, or is a list of names and values.
func isData(rows []*doc.Block, presentation bool) bool {
	columns, full := extent(rows)
	if columns < 2 || full < 2 || columns > maxColumns {
		return false
	}
	t, ok := lookAt(rows, columns)
	if !ok {
		return false
	}
	if t.heads >= 2 && !presentation {
		return true
	}
	if t.buttons || t.widest > 120 || t.deep && t.widest > maxDetail {
		return false
	}
	many, title := 0, 0
	if columns > 2 && titleRow(rows) {
		title = 1
	}
	for i := range columns {
		if t.used[i] > 0 {
			many++
		}
		if i > 0 && t.numbers[i] >= 2-title && t.numbers[i]*10 >= (t.used[i]-title)*6 {
			return true
		}
	}
	return many == 2 && namesAndValues(rows) || !t.deep && many > 2 && many <= 7 && t.widest <= 32 && aligned(rows, many)
}

// extent returns the number of columns, and of rows with more than one cell that has content.
func extent(rows []*doc.Block) (columns, full int) {
	for _, r := range rows {
		columns = max(columns, len(r.Children))
		if filled(r) > 1 {
			full++
		}
	}
	return columns, full
}

// tableLook describes the cells of a table together.
type tableLook struct {
	heads         int   // header cells with text
	widest        int   // characters of the longest line
	deep          bool  // a cell has more than two lines
	buttons       bool  // a cell has a button
	used, numbers []int // cells with text, and numeric cells, in each column
}

// lookAt looks at the cells of a table. It reports false if one has too much in it for a table of
// data.
func lookAt(rows []*doc.Block, columns int) (t tableLook, ok bool) {
	t.used, t.numbers = make([]int, columns), make([]int, columns)
	for _, r := range rows {
		at := 0
		for _, c := range r.Children {
			l := look(c)
			if !l.simple || l.lines > 4 || l.width > 240 {
				return t, false
			}
			if l.head && l.lines > 0 {
				t.heads++
			}
			t.buttons = t.buttons || l.button
			t.widest = max(t.widest, l.width)
			if at < columns && l.lines > 0 && c.Columns == 1 {
				t.used[at]++
				t.deep = t.deep || l.lines > 2
				if l.numeric {
					t.numbers[at]++
				}
			}
			at += c.Columns
		}
	}
	return t, true
}

// aligned reports rows with a short line in each column: cells below one another belong together,
// such as numbers above their names.
func aligned(rows []*doc.Block, columns int) bool {
	for _, r := range rows {
		n := 0
		for _, c := range r.Children {
			if l := look(c); l.lines > 0 {
				n++
				if l.lines > 1 {
					return false
				}
			}
		}
		if n != columns {
			return false
		}
	}
	return true
}

// namesAndValues reports rows that are a short name and a short value. A value may be missing.
func namesAndValues(rows []*doc.Block) bool {
	pairs := 0
	for _, r := range rows {
		var cells []cellLook
		for _, c := range r.Children {
			if l := look(c); l.lines > 0 {
				cells = append(cells, l)
			}
		}
		switch {
		case len(cells) == 0:
		case len(cells) == 1 && len(r.Children) == 2 && len(r.Children[1].Children) == 0 && cells[0].lines == 1 && cells[0].width <= 32:
		case len(cells) != 2 || cells[0].lines != 1 || cells[0].width > 32 || cells[1].width > 100 ||
			cells[1].lines > 1 && cells[1].width > maxDetail || cells[1].lines > 2 && cells[0].image:
			return false
		default:
			pairs++
		}
	}
	return pairs >= 2
}

// numeric reports whether a text is a number, an amount, a percentage or a count: digits with their
// signs, and at most one short word before or after, a currency or a unit.
func numeric(s string) bool {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 24 || strings.Contains(s, ", ") {
		return false
	}
	digits, letters, words := 0, 0, 0
	last := ' '
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			if letters++; !unicode.IsLetter(last) {
				words++
			}
		case unicode.IsLetter(last) && strings.ContainsRune("-–", r): // A-1234
			return false
		case unicode.Is(unicode.Sc, r), strings.ContainsRune("+-−–.,' %()*×:\u00a0", r):
		default:
			return false
		}
		last = r
	}
	first, _ := utf8.DecodeRuneInString(s)
	return digits > 0 && letters <= 3 && words <= 1 && (letters == 0 || unicode.IsLetter(first) || unicode.IsLetter(last) || letters == 1)
}

// setItemsApart adds gaps between rows of several lines each, such as the items of an order.
func setItemsApart(rows []*doc.Block) {
	tall := func(r *doc.Block) bool {
		return slices.ContainsFunc(r.Children, func(c *doc.Block) bool { return look(c).lines > 2 })
	}
	for i, r := range rows {
		r.Gap = i > 0 && (tall(r) || tall(rows[i-1]))
	}
}

// headRows returns how many of the first rows are headers.
func headRows(rows []*doc.Block) int {
	if titleRow(rows) {
		return 1
	}
	n := 0
	for _, r := range rows {
		for _, c := range r.Children {
			if len(c.Children) > 0 && c.Head == 0 {
				return n
			}
		}
		n++
	}
	if n == len(rows) {
		return min(n, 1)
	}
	return n
}

// titleRow reports whether the first row is words set apart from the other rows by bold type or
// background.
func titleRow(rows []*doc.Block) bool {
	if len(rows) < 3 && (len(rows) < 2 || len(rows[0].Children) < 3) {
		return false
	}
	bold, back := rowLook(rows[0])
	for _, c := range rows[0].Children {
		if l := look(c); l.lines != 1 || l.numeric {
			return false
		}
	}
	coloured := back.Set
	for i, r := range rows[1:] {
		b, c := rowLook(r)
		bold = bold && (!b || i+2 == len(rows)) // the last row may be a total
		coloured = coloured && c != back
	}
	return bold || coloured
}

// rowLook returns whether all text of a row is bold, and the background of all of it if it has one.
func rowLook(r *doc.Block) (bold bool, back doc.Color) {
	bold, first := true, true
	for leaf := range (&doc.Document{Blocks: []*doc.Block{r}}).Leaves() {
		if first {
			back, first = leaf.Background, false
		} else if leaf.Background != back {
			back = doc.Color{}
		}
		for _, s := range leaf.Spans {
			bold = bold && (s.Style.Bold || strings.TrimSpace(s.Text) == "")
		}
	}
	return bold, back
}

// alignNumbers aligns columns of numbers, and their headers, at their end.
func alignNumbers(table *doc.Block) {
	var numbers, used [maxColumns]int
	eachCell(table, func(row, column int, c *doc.Block) {
		if row >= table.Head && c.Columns == 1 && len(c.Children) > 0 {
			used[column]++
			if numeric(c.Text()) {
				numbers[column]++
			}
		}
	})
	eachCell(table, func(row, column int, c *doc.Block) {
		last := column + c.Columns - 1
		isNumber := c.Columns == 1 || row >= table.Head && numeric(c.Text())
		switch {
		case last < maxColumns && isNumber && numbers[last]*2 > used[last]:
			c.Align = doc.End
		case c.Columns > 1 && c.Align == doc.End:
		default:
			c.Align = doc.Start
		}
	})
}

// eachCell calls f for each cell of a table with its first column.
func eachCell(table *doc.Block, f func(row, column int, c *doc.Block)) {
	for i, r := range table.Children {
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

// clearGaps removes the gaps in a table's cells. One before its first row moves before the table.
func clearGaps(table *doc.Block) {
	first := true
	for _, r := range table.Children {
		for _, c := range r.Children {
			for i, l := range c.Children {
				if first && l.Gap {
					table.Gap = true
				}
				if i == 0 || l.Kind == doc.Paragraph {
					l.Gap = false
				}
				first = false
			}
		}
	}
}

// Bounds on cells that stay side by side.
const (
	maxBeside = 48 // characters of a cell
	maxAcross = 84 // characters of a row
)

// flattenRow lays out a row whose columns have no meaning: a few short cells stay side by side,
// others follow one another.
func flattenRow(row *doc.Block) []*doc.Block {
	rule := []*doc.Block(nil)
	cells := row.Children[:0]
	for _, c := range row.Children {
		switch {
		case len(c.Children) == 0:
		case len(c.Children) == 1 && c.Children[0].Kind == doc.Rule:
			rule = c.Children // beside other cells it is only decoration
		default:
			cells = append(cells, c)
		}
	}
	if len(cells) == 0 {
		return rule
	}
	if len(cells) == 1 {
		return cells[0].Children
	}
	if spelled(cells) {
		return []*doc.Block{joinCells(cells)}
	}
	if short(cells) || priced(cells) {
		line := &doc.Block{Kind: doc.Row, Children: cells}
		for _, c := range cells {
			line.Gap = line.Gap || c.Children[0].Gap
			for _, l := range c.Children {
				l.Gap = false
			}
		}
		return []*doc.Block{line}
	}
	if item := bulleted(cells); item != nil {
		return []*doc.Block{item}
	}
	var out []*doc.Block
	for i, c := range cells {
		if i > 0 && len(c.Children[0].Text()) > 0 && (tall(c) || tall(cells[i-1])) {
			c.Children[0].Gap = true
		}
		out = append(out, c.Children...)
	}
	return out
}

// spelled reports cells of one character each: a code with a box for every digit.
func spelled(cells []*doc.Block) bool {
	for _, c := range cells {
		if l := look(c); l.width != 1 || l.lines != 1 || l.linked {
			return false
		}
	}
	return len(cells) >= 4 && len(cells) <= 10
}

// short reports cells of one short line each that have room side by side.
func short(cells []*doc.Block) bool {
	across := 0
	for _, c := range cells {
		l := look(c)
		if l.lines != 1 || l.width > maxBeside || len(c.Children) != 1 {
			return false
		}
		across += l.width + 3
	}
	return across <= maxAcross
}

// maxDetail is the longest line, in characters, of an item beside its price.
const maxDetail = 60

// priced reports a row that ends in an amount of money, after a few lines that say what it is for.
func priced(cells []*doc.Block) bool {
	last := look(cells[len(cells)-1])
	if !last.numeric || last.width > 16 || !money(cells[len(cells)-1].Text()) {
		return false
	}
	for _, c := range cells {
		if l := look(c); !l.simple || l.button || l.lines > 4 || l.width > maxDetail {
			return false
		}
	}
	return true
}

// money reports whether a number is an amount of money: it has a currency or two decimals.
func money(s string) bool {
	s = strings.TrimSpace(s)
	n := len(s)
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Sc, r) }) ||
		n > 3 && (s[n-3] == '.' || s[n-3] == ',') && s[n-1] <= '9' && s[n-2] <= '9'
}

// columns makes rows of boxes that stand side by side without a table.
func columns(blocks []*doc.Block) []*doc.Block {
	if !slices.ContainsFunc(blocks, func(b *doc.Block) bool { return b.Kind == doc.Cell }) {
		return blocks
	}
	var out []*doc.Block
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
		out = append(out, flattenRow(&doc.Block{Kind: doc.Row, Children: blocks[i:j:j]})...)
		i = j
	}
	return out
}

// tall reports whether a cell has more than one line.
func tall(c *doc.Block) bool {
	return len(c.Children) > 1 || strings.Contains(c.Children[0].Text(), "\n")
}

// joinCells joins the texts of cells.
func joinCells(cells []*doc.Block) *doc.Block {
	joined := cells[0].Children[0]
	for _, c := range cells[1:] {
		for _, s := range c.Children[0].Spans {
			last := &joined.Spans[len(joined.Spans)-1]
			if s.Style == last.Style && s.Link == last.Link {
				last.Text += s.Text
			} else {
				joined.Spans = append(joined.Spans, s)
			}
		}
	}
	joined.Kind = doc.Paragraph
	return joined
}

// bulleted makes a list item of a row with a marker or a number beside a text.
func bulleted(cells []*doc.Block) *doc.Block {
	mark := cells[0].Text()
	if len(cells) != 2 || utf8.RuneCountInString(mark) > 3 || len(cells[0].Children) != 1 || cells[0].Children[0].Kind != doc.Paragraph {
		return nil
	}
	for _, s := range cells[0].Children[0].Spans {
		if s.Link > 0 || s.Image > 0 {
			return nil
		}
	}
	item := &doc.Block{Kind: doc.Item, Marker: mark, Children: cells[1].Children, Gap: cells[0].Children[0].Gap}
	item.Children[0].Gap = false
	return &doc.Block{Kind: doc.List, Children: []*doc.Block{item}, Gap: item.Gap}
}
