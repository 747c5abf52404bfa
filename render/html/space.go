package html

import (
	"unicode/utf8"

	"golang.org/x/net/html/atom"

	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// The least space, in heights of a line, that is an empty line between leaves, and the same beside a rule, which takes a line
// itself.
const (
	leastGap = .58
	ruleGap  = 1.2
)

// fontHeight is the height of letters with their descenders, in em.
const fontHeight = 1.15

// lineHeight returns the height of a line in px.
func lineHeight(s *css.Inherited) float32 {
	if s.LineHeight.IsSet() {
		return s.LineHeight.Px(s.Size, 0)
	}
	return fontHeight * s.Size
}

// blankLine adds a line without text, such as an empty paragraph. The margins on its two sides do not collapse.
func (b *builder) blankLine(height float32) {
	b.space, b.margin = b.space+b.margin+height, 0
}

// maxPad bounds the space in px that one edge or empty box takes.
const maxPad = 200

// pad adds the padding at the top or bottom edge of a block. The margins on its two sides do not
// collapse (CSS 2.1, 8.3.1).
func (b *builder) pad(s *css.Style, edge int) {
	if pad := s.Padding[edge].Px(s.Size, 0); pad > 0 {
		b.space += b.margin + min(pad, maxPad)
		b.margin = 0
	}
}

// beside gives what is in a row the space above that row, as all its cells have.
func (b *builder) beside(row *frame) {
	if row.style.Display == css.TableRow {
		b.space, b.margin = row.above, 0
	}
}

// endCell notes what a row has below it: the most space below a cell with content, or else the height of one without.
func (b *builder) endCell(f *frame) {
	row := &b.frames[len(b.frames)-2]
	switch below := b.space + b.margin; {
	case f.style.Display == css.TableRow && b.order == f.leaves: // it may have a height of its own
		b.space, b.margin = max(below, f.below), 0
	case f.style.Display == css.TableRow:
		b.space, b.margin = f.below, 0
	case row.style.Display != css.TableRow:
	case b.order > f.leaves && f.leaves == row.leaves: // the first with content
		row.below = below
	case b.order > f.leaves || b.order == row.leaves:
		row.below = max(row.below, below)
	}
}

// setGap decides whether an empty line precedes a leaf.
func (b *builder) setGap(l *doc.Block, s *css.Inherited) {
	line, gap := lineHeight(s), b.margin+b.space
	if b.last == nil {
		b.foot = line
	}
	l.Gap = gap >= leastGap*b.foot
	if b.under != nil {
		b.under.Gap, b.under.Padded = b.over >= ruleGap*b.foot, gap-b.over >= ruleGap*line
	}
	b.under, b.foot = nil, line
	b.margin, b.space, b.inside = 0, 0, 0
}

// alignBox gives the only block of a narrow box the alignment of the box: a button in a centred table.
func (b *builder) alignBox(f *frame) {
	out := *b.out
	if len(out) != f.blocks+1 || f.style.Display == css.TableCell || f.style.Display == css.TableRow {
		return
	}
	one := out[f.blocks]
	if one.Kind == doc.Cell || one.Kind == doc.Row {
		return
	}
	around := &b.frames[len(b.frames)-2]
	isNarrow := false
	switch width := width(&f.style); {
	case width.Px > 0:
		isNarrow = width.Px < narrowBox*b.room(around)
	case width.Percent > 0:
		isNarrow = width.Percent < narrowBox*100
	case f.style.Display == css.Table: // as wide as its content
		isNarrow = f.widest < narrowBox*b.room(around) && short(one, narrowBox*b.room(around))
	}
	if isNarrow {
		one.Align = f.style.BoxAlign
	}
}

const (
	narrowBox = .75 // part of its room below which a box is narrow
	fewLeaves = 50
)

// room returns the greatest width of an element in px.
func (b *builder) room(f *frame) float32 {
	room := float32(640)
	for i := range b.frames {
		at := &b.frames[i]
		switch w := width(&at.style); {
		case w.Px > 0:
			room = min(room, w.Px)
		case w.Percent > 0:
			room *= w.Percent / 100
		case at.style.Display == css.TableCell && !alone(at):
			room /= 2
		}
		if at == f {
			break
		}
	}
	return room
}

// alone reports whether a cell has no other beside it.
func alone(f *frame) bool {
	for n := range f.node.Parent.ChildNodes() {
		if n != f.node && (n.DataAtom == f.node.DataAtom || n.DataAtom == atom.Td || n.DataAtom == atom.Th) {
			return false
		}
	}
	return f.node.Data != ""
}

// short reports whether a block has few leaves, and none that takes so many px.
func short(b *doc.Block, px float32) bool {
	leaves := 0
	for leaf := range b.Leaves() {
		if leaves++; leaves > fewLeaves || float32(utf8.RuneCountInString(leaf.Text()))*leaf.Spans[0].Style.Size/2 > px {
			return false
		}
	}
	return true
}
