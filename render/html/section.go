package html

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// box is an area that differs from what is around it by its fill or a border: a strong fill is a band, any other has a bar beside
// it, cells that touch are filled, and a line in a small box is filled or framed. Only how a box looks counts, not how it is
// written, and what most of the mail is on, its page and its sheet, is none.
type box struct {
	around *box
	fill   doc.Color
	hue    doc.Color // of its border
	framed bool
	bar    bool
	joined bool    // it is a cell, or a row of cells, without space to the next one
	above  float32 // px of space above it and in what is around it
	padded bool    // there is space above or below its text, within it
	gap    bool    // there is space between it and what is before it
	small  bool
	left   float32 // px, of its edge
	before int     // leaves before it
	leaves int
	text   int    // weight of the text before it
	weight int    // of its text
	ground bool   // it is a background of the mail itself: its page or its sheet
	band   bool   // it is marked as one, or else by a bar beside it
	marks  []*box // it and those around it that are marked, the outermost first
}

// position is where a leaf is.
type position struct {
	in     *box    // the innermost one, or nil
	width  float32 // px, in one line
	weight int     // its lines, each oneLine, small print at a quarter, images not at all
	apart  bool    // there is an empty line, and half of one, above it, without what is within boxes that end there
}

const oneLine = 4

// Bounds on nesting: of sections, of backgrounds of the mail.
const (
	maxMarks   = 3
	maxGrounds = 4
)

// goesOn reports whether a box is more of the one before it, or beside it: they are one area to the eye.
func (b *box) goesOn(before *box, beside bool) bool {
	if b == nil || before == nil || b == before {
		return b == before
	}
	return (beside && b.joined || !beside && !b.gap) && b.band == before.band && b.fill == before.fill && b.hue == before.hue
}

// on returns the fill that a box is on.
func (b *box) on() doc.Color {
	if b.around == nil || !b.around.fill.Set {
		return css.White
	}
	return b.around.fill
}

// edged reports a box with a border that is seen. Those of cells that touch are lines of a table.
func (b *box) edged() bool {
	return b.bar || b.framed && !b.joined && lightnessGap(b.hue, b.on()) >= leastBorder
}

const (
	smallBox     = halfPage // px, the width below which a box is rather a mark in the text
	lineWidth    = 560      // px, of a line of text
	leastPadding = 6        // px, that a reader sees
	leastEdge    = 8        // px, the same between boxes
	leastBorder  = .03      // difference in lightness by which a border is seen
)

// openBox starts the box of an element that has one.
func (b *builder) openBox(f *frame) {
	s, around := &f.style, f.box
	above := b.margin + b.space
	f.left += max(s.Margin[css.Left].Px(s.Size, 0), 0)
	if spare := b.room(b.top()); s.Width.IsSet() && s.BoxAlign != doc.Start {
		if spare -= s.Width.Px(s.Size, spare); s.BoxAlign == doc.Center {
			spare /= 2
		}
		f.left += max(spare, 0)
	}
	if f.link == 0 && (s.OwnBackground || s.Border || s.Bar) {
		joined := s.CellSpace.Px(s.Size, 0) < leastEdge && touches(f.node)
		f.box = &box{around: around, fill: s.Background, hue: s.Hue, framed: s.Border, bar: s.Bar, joined: joined,
			above:  above,
			gap:    above-b.inside >= leastEdge || s.Border && !joined,
			left:   f.left,
			before: b.order}
		b.areas = append(b.areas, f.box)
	}
	f.left += max(s.Padding[css.Left].Px(s.Size, 0), 0)
}

// touches reports a row or rows, or a cell that spans columns or has text in the one beside it.
func touches(n *html.Node) bool {
	if n.DataAtom != atom.Td && n.DataAtom != atom.Th {
		return n.DataAtom == atom.Tr || n.DataAtom == atom.Thead
	}
	var last *html.Node
	for c := range n.Parent.ChildNodes() {
		if c.Type == html.ElementNode {
			if last != nil && (last == n || c == n) && !blankCell(last) && !blankCell(c) {
				return true
			}
			last = c
		}
	}
	span, _ := number(n, "colspan")
	return span > 1
}

// blankCell reports a cell that is nothing but space.
func blankCell(n *html.Node) bool {
	c := n.FirstChild
	return c == nil || c.NextSibling == nil && (c.DataAtom == atom.Img || c.Type == html.TextNode && strings.Trim(c.Data, white+blank) == "")
}

// narrow reports whether the innermost element is narrow in the room that it has, or as wide as its only line.
func (b *builder) narrow() bool {
	for i := len(b.frames) - 1; i > 0; i-- {
		f := &b.frames[i]
		switch s := &f.style; {
		case s.Display == css.TableCell && !alone(f):
			return false
		case s.Width.IsSet() && (s.Width.Unit != '%' || s.Width.Value < 100):
			return s.Width.Px(s.Size, b.room(&b.frames[i-1])) < smallBox
		case !s.Width.IsSet() && b.order == f.leaves+1 && (s.Display == css.Table || s.Display == css.InlineBlock):
			line := b.positions[f.leaves].width
			return line > 0 && line < smallBox
		}
	}
	return false
}

// boxed records the box of a leaf with so many px of space above it.
func (b *builder) boxed(l *doc.Block, above float32) {
	at := position{in: b.top().box, apart: above-b.inside >= (leastGap+.5)*fontHeight*l.Spans[0].Style.Size}
	for i := range l.Spans {
		if s := &l.Spans[i]; s.Image == 0 {
			at.width += float32(len(s.Text)) * s.Style.Size / 2
			at.weight += oneLine * strings.Count(s.Text, "\n")
		}
	}
	if at.width > 0 {
		at.weight += oneLine * (1 + int(at.width/lineWidth))
	}
	if l.Spans[0].Style.Size <= 12 {
		at.weight /= oneLine
	}
	b.positions = append(b.positions[:l.Order-1], at)
	for in := at.in; in != nil && in.before == l.Order-1; in = in.around {
		in.padded = in.padded || above-in.above >= leastPadding
	}
}

// measure counts what is in each box, and drops those that are empty.
func (b *builder) measure() {
	for i := range b.positions {
		at := &b.positions[i]
		for in := at.in; in != nil; in = in.around {
			if in.leaves++; in.leaves == 1 {
				in.text = b.written
			}
			in.weight += at.weight
		}
		b.written += at.weight
	}
	b.areas = slices.DeleteFunc(b.areas, func(in *box) bool { return in.leaves == 0 })
}

// sections makes sections of filled and framed boxes.
func (b *builder) sections() {
	for range maxGrounds {
		b.deeper()
	}
	for _, in := range b.areas {
		in.mark()
	}
	s := sections{positions: b.positions, lines: b.lines, shared: make(map[*doc.Block][]*box)}
	for _, block := range b.doc.Blocks {
		s.collect(block)
	}
	b.doc.Blocks = s.group(b.doc.Blocks, 0)
}

// deeper marks the next nested background of the mail: its page, then its sheet, and so on. A background holds two thirds of the
// text, three quarters if its fill is strong, or a quarter if it is as white as paper and no text is above it. Boxes of one colour
// count as one, unless they are cards: several with nothing but space between them, none of which is the sheet.
func (b *builder) deeper() {
	type part struct{ weight, above int }
	parts := make(map[doc.Color]part)
	for _, in := range b.areas {
		if p, known := parts[in.fill]; !in.ground {
			if p.weight += in.weight; !known {
				p.above = in.text
			}
			parts[in.fill] = p
		}
	}
	var found []*box
	end, cards, sheet := -1, false, false
	for _, in := range b.areas {
		p := parts[in.fill]
		enough := p.weight*3 >= b.written*2
		if !isTint(in.fill, css.White) {
			enough = enough || p.above < oneLine && p.weight*4 >= b.written
		} else if isFill(in.fill, in.on()) {
			enough = p.weight*4 >= b.written*3
		}
		if enough && !in.ground && in.before >= end {
			cards = cards || in.before == end && in.gap
			sheet = sheet || in.weight*3 > b.written*2
			found, end = append(found, in), in.before+in.leaves
		}
	}
	for _, in := range found {
		in.ground = sheet || !cards
	}
}

// sections finds the sections of a document.
type sections struct {
	positions []position            // by the order of leaves
	lines     map[*doc.Block]*box   // around rules
	shared    map[*doc.Block][]*box // the marks that all leaves of a block have; none of a block without leaves
}

// group puts successive blocks that share a mark into a section. They are within depth marks already.
func (s *sections) group(blocks []*doc.Block, depth int) []*doc.Block {
	marks := make([]*box, len(blocks))
	for i, b := range blocks {
		marks[i] = s.common(b, depth)
	}
	var out []*doc.Block
	for i := 0; i < len(blocks); {
		j := i + 1
		for j < len(blocks) && marks[j].goesOn(marks[j-1], false) {
			j++
		}
		run, in := blocks[i:j:j], marks[i]
		i = j
		switch {
		case in == nil || !slices.ContainsFunc(run, func(b *doc.Block) bool { return b.Kind != doc.Rule }):
			for _, b := range run {
				s.within(b, depth)
			}
			out = append(out, run...)
		case s.badge(run, in):
			out = append(out, run...)
		case !in.band && !in.bar && !in.framed && i < len(blocks) && blocks[i].Kind == doc.Table && !blocks[i].Gap: // its title
			out = append(out, asRow(run, in))
		default:
			out = append(out, s.section(run, in, depth))
			if in.band && in.padded && i < len(blocks) { // whose lower edge is half a line
				at := s.at(blocks[i].First())
				blocks[i].Gap = blocks[i].Gap && (at == nil || at.apart)
			}
		}
	}
	return out
}

// asRow makes a row that is filled of blocks.
func asRow(blocks []*doc.Block, in *box) *doc.Block {
	gap := blocks[0].Gap
	blocks[0].Gap = false
	row := &doc.Block{Kind: doc.Row, Background: in.fill, Children: []*doc.Block{{Kind: doc.Cell, Columns: 1, Children: blocks}}}
	return &doc.Block{Kind: doc.Table, Width: doc.Width{Percent: 100}, Children: []*doc.Block{row}, Gap: gap}
}

// section makes a section of blocks.
func (s *sections) section(blocks []*doc.Block, in *box, depth int) *doc.Block {
	made := &doc.Block{Kind: doc.Section, Background: in.fill, Padded: in.padded}
	if !in.band {
		made.Hue = cmp.Or(in.hue, in.fill)
	}
	made.Children = trimRules(s.group(blocks, depth+1)) // its edges are lines enough
	// The space above its text is around it.
	made.Children[0].Gap, made.Gap = false, in.gap || !(in.band && in.padded) && made.Children[0].Gap
	return made
}

// within makes sections inside a block that is none as a whole.
func (s *sections) within(b *doc.Block, depth int) {
	switch b.Kind {
	case doc.List, doc.Footer:
	case doc.Table:
		for _, row := range b.Children {
			s.row(row, depth)
		}
	default:
		b.Children = s.group(b.Children, depth)
	}
}

// row fills a row, or its cells, where they are filled as a whole, and makes sections inside its cells.
func (s *sections) row(row *doc.Block, depth int) {
	if in := s.common(row, depth); in != nil && !in.edged() && (in.joined || filled(row) > 1) {
		in.under(row)
		depth++
	}
	for _, c := range row.Children {
		at := depth
		if in := s.common(c, depth); in != nil && in.joined && !in.bar {
			in.under(c)
			at++
		}
		c.Children = s.group(c.Children, at)
	}
}

// under fills a row or a cell.
func (b *box) under(cell *doc.Block) {
	cell.Background = b.fill
	for leaf := range cell.Leaves() {
		leaf.Background = doc.Color{}
	}
}

// collect records the marks that all leaves of a block have, and the same of its children.
func (s *sections) collect(b *doc.Block) {
	if line, ok := s.lines[b]; ok {
		s.shared[b] = line.marked()
	} else if len(b.Spans) > 0 {
		s.shared[b] = s.of(b)
	}
	for _, c := range b.Children {
		s.collect(c)
		in, text := s.shared[c]
		if !text {
			continue
		}
		all, more := s.shared[b]
		if !more {
			all = in
		}
		n := 0
		for n < min(len(all), len(in)) && in[n].goesOn(all[n], b.Kind == doc.Row) {
			n++
		}
		s.shared[b] = all[:n]
	}
}

// common returns the mark at a depth that all leaves and rules of a block have, or nil.
func (s *sections) common(b *doc.Block, depth int) *box {
	if all := s.shared[b]; len(all) > depth {
		return all[depth]
	}
	return nil
}

// of returns the marks around a leaf. A button is not a box besides.
func (s *sections) of(l *doc.Block) []*box {
	at := s.at(l)
	if at == nil {
		return nil
	}
	in := at.in
	for pressable(l) && in != nil && in.leaves == 1 {
		in = in.around
	}
	return in.marked()
}

// at returns the position of a leaf, or nil if it has none.
func (s *sections) at(l *doc.Block) *position {
	if l == nil || l.Order == 0 || l.Order > len(s.positions) {
		return nil
	}
	return &s.positions[l.Order-1]
}

// marked returns the marks of a box.
func (b *box) marked() []*box {
	if b == nil {
		return nil
	}
	return b.marks
}

// mark decides whether a box is marked. Those around it are.
func (b *box) mark() {
	var outer *box
	b.marks = b.around.marked()
	if n := len(b.marks); n > 0 {
		outer = b.marks[n-1]
	}
	switch ground, on := b.around.canvas(), b.on(); {
	case b.ground, isTint(b.fill, on) && (outer != nil && outer.band && !isTint(b.fill, ground) || !b.row() && b.strip()): // what is below it is seen
		b.marks = nil
	case len(b.marks) == maxMarks, b.weight == 0 && b.small: // an image covers it
	case !isTint(b.fill, on) && !b.edged():
	case isFill(b.fill, on), outer == nil, outer.band, b.row(), b.left-b.around.left >= leastEdge && b.leaves < outer.leaves: // one bar is both edges
		b.band = isFill(b.fill, on)
		b.marks = append(slices.Clip(b.marks), b)
	}
}

// row reports a box of cells that touch, which is filled.
func (b *box) row() bool { return b.joined && b.leaves > 1 && !b.edged() }

// strip reports a box that does not end within the mail's sheet, as a foot does.
func (b *box) strip() bool {
	sheet := b.around.background()
	return sheet != nil && sheet.around.background() != nil && !isFill(b.fill, sheet.fill) && b.left-sheet.left < leastEdge
}

// background returns the innermost background of the mail with a fill that a box is or is in, or nil.
func (b *box) background() *box {
	for b != nil && !(b.ground && b.fill.Set) {
		b = b.around
	}
	return b
}

// canvas returns the colour of that background.
func (b *box) canvas() doc.Color {
	if b = b.background(); b != nil {
		return b.fill
	}
	return css.White
}

// isFill reports whether a fill differs from what is around it more than a tint does.
func isFill(fill, ground doc.Color) bool {
	return fill.Set && (lightnessGap(fill, ground) >= .1+luma(ground)/10 || hue(fill) >= 96 && !css.Same(fill, ground))
}

// isTint reports whether a fill differs visibly from what is around it.
func isTint(fill, ground doc.Color) bool {
	return fill.Set && (lightnessGap(fill, ground) >= .018 || hue(fill) >= 12 && !css.Same(fill, ground))
}

// lightnessGap returns the difference between the lightness of two colours, 0 to 1.
func lightnessGap(a, b doc.Color) float32 { return max(luma(a)-luma(b), luma(b)-luma(a)) }

// hue returns the difference between the strongest and the weakest channel of a colour: 0 is a grey.
func hue(c doc.Color) int { return int(max(c.R, c.G, c.B)) - int(min(c.R, c.G, c.B)) }

// leastFramed is how many characters have a frame of their own.
const leastFramed = 4

// badge fills or frames the line in a small box instead of making a section, and reports whether it is one.
func (s *sections) badge(blocks []*doc.Block, in *box) bool {
	l := blocks[0]
	if !in.small || in.leaves > 1 || l.Kind > doc.Heading || len(l.Spans) == 0 || strings.Contains(l.Text(), "\n") {
		return false
	}
	if !isTint(in.fill, in.on()) {
		if l.Spans[0].Link == 0 && utf8.RuneCountInString(l.Text()) >= leastFramed {
			l.Hue = cmp.Or(in.hue, l.Spans[0].Style.Color, doc.Color{Set: true})
		}
		return true
	}
	for i := range l.Spans {
		p := &l.Spans[i].Style
		p.Background = cmp.Or(p.Background, in.fill)
	}
	l.Background = doc.Color{}
	return true
}
