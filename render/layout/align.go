package layout

import (
	"strings"
	"unicode/utf8"

	"mayfly/render/doc"
)

// leastCentered is the width below which only single lines are centred.
const leastCentered = 41

// alignment returns where the lines of a leaf stand within a width.
func (l *layouter) alignment(b *doc.Block, width int) doc.Align {
	switch {
	case b.RTL && b.Align == doc.Start:
		return doc.Start
	case l.flush:
		return doc.Start
	case l.end && b.Align == doc.Start:
		return doc.End
	case b.Align == doc.Center && l.page < leastCentered && l.textExtent(b).max > width:
		return doc.Start
	}
	return b.Align
}

// aligned moves a line to where it stands within a width.
func (l *layouter) aligned(line []piece, align doc.Align, width int) []piece {
	taken := measure(line)
	left := l.start(align, l.rtl, taken, width)
	if align == doc.Center {
		left = min(l.start(align, l.rtl, taken-numbered(line), width), max(l.room()-taken, 0))
	}
	if left == 0 {
		return line
	}
	return append([]piece{spaces(left)}, line...)
}

// start returns how many columns are before what is so wide. What is written from right to left
// begins at the right.
func (l *layouter) start(align doc.Align, rtl bool, taken, width int) int {
	left := 0
	switch spare := max(width-taken, 0); {
	case align == doc.Center:
		left = spare / 2
	case (align == doc.End) != rtl:
		left = spare
	}
	if rtl {
		left += l.room() - width
	}
	return max(min(left, l.room()-taken), 0)
}

// numbered returns how wide the number of a link is that ends a line: it does not count where the
// line is centred.
func numbered(line []piece) int {
	if len(line) == 0 {
		return 0
	}
	last := &line[len(line)-1]
	if r, _ := utf8.DecodeRuneInString(last.text()); last.link > 0 && strings.ContainsRune(superscripts, r) {
		return last.width
	}
	return 0
}
