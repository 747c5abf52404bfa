package html

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mayfly/render/doc"
)

// cellLook describes a cell.
type cellLook struct {
	width   int  // characters of its longest line
	lines   int  // of its leaves
	simple  bool // only text, or buttons
	button  bool
	linked  bool
	numeric bool
}

// maxLook is how many lines of a cell are looked at: a cell with more does not belong to a table of data.
const maxLook = 100

func look(cell *doc.Block) cellLook {
	l := cellLook{simple: true}
	var visit func(b *doc.Block)
	visit = func(b *doc.Block) {
		if l.lines > maxLook {
			return
		}
		switch b.Kind {
		case doc.Rule, doc.Cell:
		case doc.Paragraph, doc.Heading:
			for line := range strings.SplitSeq(b.Text(), "\n") {
				l.lines++
				l.width = max(l.width, utf8.RuneCountInString(line))
			}
			for i := range b.Spans {
				l.button = l.button || b.Spans[i].Button
				l.linked = l.linked || b.Spans[i].Link > 0
			}
		default:
			l.simple = false
			l.lines++
		}
		for _, c := range b.Children {
			visit(c)
		}
	}
	visit(cell)
	l.numeric = l.lines == 1 && numeric(cell.Text())
	return l
}

// maxPlain is the longest line, in characters, in a table of data.
const maxPlain = 120

// plain reports rows that have nothing but a few lines of text in each cell, if they have several.
func plain(rows []*doc.Block) bool {
	return !slices.ContainsFunc(rows, func(r *doc.Block) bool {
		return filled(r) > 1 && anyCell(r, func(l cellLook) bool { return !l.simple || l.lines > 4 || l.width > maxPlain })
	})
}

// anyCell reports whether a cell of a row looks as f tells.
func anyCell(row *doc.Block, f func(cellLook) bool) bool {
	return slices.ContainsFunc(row.Children, func(c *doc.Block) bool { return f(look(c)) })
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

// numeric reports whether a text is a number, an amount, a percentage or a count: digits with their
// signs, and at most one short word before or after, a currency or a unit.
func numeric(s string) bool {
	s = strings.TrimRight(strings.TrimSpace(s), ".")
	if s == "" || len(s) > 24 || strings.Contains(s, ", ") || strings.Contains(s, ") ") || dated(s) {
		return false
	}
	digits, letters, words := 0, 0, 0
	last := ' '
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			if letters++; !unicode.IsLetter(last) && (last != '.' || words == 0) { // as in ر.س
				words++
			}
		case (unicode.IsLetter(last) || unicode.IsDigit(last)) && strings.ContainsRune("-–", r): // A-1234, a telephone number, a date
			return false
		case unicode.Is(unicode.Sc, r), strings.ContainsRune("+-−–.,٫٬' %()×:\u00a0", r):
		default:
			return false
		}
		last = r
	}
	first, _ := utf8.DecodeRuneInString(s)
	return digits > 0 && letters <= 3 && words <= 1 && (letters == 0 || unicode.IsLetter(first) || unicode.IsLetter(last) || letters == 1)
}

// dated reports numbers with points or spaces between them that are not thousands: a date, a version, a telephone number.
func dated(s string) bool {
	parts := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(". +\u00a0", r) })
	return len(parts) > 2 && !strings.ContainsFunc(strings.Join(parts, ""), func(r rune) bool { return !unicode.IsDigit(r) }) &&
		(len(parts[0]) > 3 || parts[0][0] == '0' || slices.ContainsFunc(parts[1:], func(p string) bool { return len(p) != 3 }))
}

// headRows returns how many of the first rows are headers.
func headRows(rows []*doc.Block) int {
	if titleRow(rows) {
		return 1
	}
	n := slices.IndexFunc(rows, func(r *doc.Block) bool {
		return slices.ContainsFunc(r.Children, func(c *doc.Block) bool { return len(c.Children) > 0 && c.Head == 0 })
	})
	return max(n, 0) // heads alone are cells of a layout
}

// titleRow reports whether the first row is words that differ from the other rows by bold type, by background or by the
// rule below. In two columns, which may be names and values, it takes two of these, or numbers below.
func titleRow(rows []*doc.Block) bool {
	if len(rows) < 2 || !wordy(rows[0]) {
		return false
	}
	bold, back := rowLook(rows[0])
	onFill, ruled, numbers := back.Set, rows[1].Ruled, true
	if bold && onFill && !strong(rows[1]) {
		return true
	}
	for i, r := range rows[1:] {
		if filled(r) == 1 {
			continue
		}
		strong, fill := rowLook(r)
		last := i > 0 && i+2 == len(rows) // which may be a total
		bold, onFill, ruled = bold && (!strong || last), onFill && fill != back, ruled && (i == 0 || !r.Ruled || last)
		numbers = numbers && look(r.Children[len(r.Children)-1]).numeric
	}
	signs := 0
	for _, sign := range []bool{bold, onFill, ruled, numbers && len(rows) > 2} {
		if sign {
			signs++
		}
	}
	return (bold || onFill || ruled) && (signs > 1 || len(rows[0].Children) > 2)
}

// wordy reports a row with one line of words in each cell.
func wordy(row *doc.Block) bool {
	return !anyCell(row, func(l cellLook) bool { return l.lines != 1 || l.numeric })
}

// rowLook returns whether all text of a row is bold, and the background of all of it if it has one.
func rowLook(r *doc.Block) (bold bool, back doc.Color) {
	bold, first := true, true
	for leaf := range r.Leaves() {
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

// alignNumbers aligns columns of numbers, and their headers, at their end. A centred column stays centred, and its header
// with it. A number in a single row says nothing of what is above or below it.
func alignNumbers(table *doc.Block) {
	if len(table.Children) == 1 || table.RTL { // where numbers begin, they end together
		return
	}
	var numbers, amounts, centred, used [maxColumns]int
	eachCell(table.Children, func(row, column int, c *doc.Block) {
		if text := c.Text(); row >= table.Head && c.Columns == 1 && text != "" {
			used[column]++
			if c.First().Align == doc.Center {
				centred[column]++
			}
			if numeric(text) {
				numbers[column]++
				if money(text) {
					amounts[column]++
				}
			}
		}
	})
	eachCell(table.Children, func(row, column int, c *doc.Block) {
		last := min(column+c.Columns, maxColumns) - 1
		leaf, all := c.First(), centred[last] == used[last]
		switch {
		case leaf == nil || used[last] == 0:
		case all && c.Columns == 1 && row < table.Head:
			leaf.Align = doc.Center
		case !all && (numbers[last] == used[last] || amounts[last]*2 > used[last]) && (c.Columns == 1 || row >= table.Head && numeric(c.Text())):
			switch c.Align = doc.End; {
			case leaf.RTL:
				leaf.Align = doc.Start
			case leaf.Align == doc.Center:
				leaf.Align = doc.End
			}
		}
	})
}

// money reports whether a number is an amount of money: it has a currency or two decimals.
func money(s string) bool {
	s = strings.TrimSpace(s)
	n := len(s)
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Sc, r) }) ||
		n > 3 && (s[n-3] == '.' || s[n-3] == ',') && s[n-1] <= '9' && s[n-2] <= '9'
}
