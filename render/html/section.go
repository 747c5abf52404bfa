package html

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// box is an element with a fill, a frame or a bar at its left.
type box struct {
	around *box
	depth  int // of boxes around it
	fill   doc.Color
	hue    doc.Color // of its border
	framed bool
	bar    bool
	joined bool    // it is a cell without an edge to the next one
	above  float32 // px of space above it and in what is around it
	padded bool    // there is space above or below its text, within it
	gap    bool    // there is space between it and what is above it
	small  bool    // it is narrower than text is
	frame  bool    // it may be drawn as a frame
	left   float32 // px, of its edge
	leaves int
	weight int  // characters, small print at a quarter, images not at all
	ground bool // it is a background of the mail itself: its page or its sheet
	card   bool // it is one of several sheets

	marks []*mark
	known bool // marks are
}

// position is where a leaf is.
type position struct {
	in     *box    // the innermost one, or nil
	left   float32 // px, of its text
	weight int
}

// Bounds on nesting: of sections, of backgrounds of the mail, of all boxes.
const (
	maxMarks   = 3
	maxGrounds = 4
	maxBoxes   = 16
)

// mark is how the content of a box is marked: by a band, or else by a bar beside it.
type mark struct {
	box  *box
	band bool
	pale bool // it has a tint
}

// same reports whether two marks make one section: bands of one colour do, and tints without space
// between them.
func (m *mark) same(o *mark) bool {
	if m == o || m == nil || o == nil {
		return m == o
	}
	return m.band == o.band && css.Same(m.box.fill, o.box.fill) && (m.band || m.box.adjoins() && o.box.adjoins() && (!m.box.gap || m.box.joined && o.box.joined))
}

// card reports a box with a border or a fill around several paragraphs, or one that looks like such a box.
func (s *sections) card(b *box) bool { return b.apart() && (b.leaves > 1 || s.cards[b.look()]) }

// apart reports a box that has an edge of its own.
func (b *box) apart() bool { return !b.joined && (b.framed || b.padded && b.fill.Set) }

// boxLook is how a box looks, and on what.
type boxLook struct{ fill, hue, on doc.Color }

func (b *box) look() boxLook { return boxLook{b.fill, b.hue, b.on()} }

// on returns the fill that a box is on.
func (b *box) on() doc.Color {
	if b.around == nil || !b.around.fill.Set {
		return css.White
	}
	return b.around.fill
}

// plain reports a box without a border.
func (b *box) plain() bool { return !b.framed && !b.bar }

// adjoins reports a box that one of the same fill beside it goes on.
func (b *box) adjoins() bool { return b.plain() || b.inCell() }

// inCell reports a box that fills a cell of a table.
func (b *box) inCell() bool { return !b.bar && (b.joined || !b.framed) && isTint(b.fill, b.on()) }

const (
	smallBox     = 200 // px, the width below which a filled box is rather a mark in the text
	leastPadding = 6   // px, that a reader sees
	leastEdge    = 8   // px, the same between boxes
)

// openBox starts the box of an element that has one.
func (b *builder) openBox(f *frame) {
	s, around := &f.style, f.box
	above := b.margin + b.space - min(max(s.Padding[css.Top].Px(s.Size, 0), 0), maxPad)
	f.left += max(s.Margin[css.Left].Px(s.Size, 0), 0)
	depth := 0
	if around != nil {
		depth = around.depth + 1
	}
	if f.link == 0 && depth < maxBoxes && (s.OwnBackground || s.Border || s.Bar) {
		f.box = &box{around: around, depth: depth, fill: s.Background, hue: s.Hue, framed: s.Border, bar: s.Bar, joined: s.Display == css.TableCell && (!s.Border || s.Collapsed && !alone(f)),
			above: above,
			gap:   above-b.inside >= leastEdge,
			small: b.shrinks(s, smallBox),
			frame: s.Border && b.shrinks(s, halfPage),
			left:  f.left}
	}
	f.left += max(s.Padding[css.Left].Px(s.Size, 0), 0)
}

// shrinks reports whether a box that is opened is as wide as its text, or narrower than so many px.
func (b *builder) shrinks(s *css.Style, px float32) bool {
	for i := len(b.frames) - 1; ; i-- {
		switch {
		case s.Width.Unit == 'p':
			return s.Width.Value < px
		case !s.Width.IsSet() && (s.Display == css.Table || s.Display == css.InlineBlock):
			return true
		case i <= 0:
			return false
		}
		s = &b.frames[i].style
	}
}

// boxed records the box of a leaf with so many px of space above it.
func (b *builder) boxed(l *doc.Block, above float32) {
	at := position{in: b.top().box, left: b.top().left}
	for i := range l.Spans {
		if l.Spans[i].Image == 0 {
			at.weight += len(l.Spans[i].Text)
		}
	}
	if l.Spans[0].Style.Size <= 12 {
		at.weight = (at.weight + 3) / 4
	}
	b.positions = append(b.positions[:l.Order-1], at)
	for in := at.in; in != nil; in = in.around {
		in.padded = in.padded || in.leaves == 0 && above-in.above >= leastPadding
		in.leaves++
		in.weight += at.weight
	}
}

// sections makes sections of filled and framed boxes.
func (b *builder) sections() {
	if !slices.ContainsFunc(b.positions, func(at position) bool { return at.in != nil }) {
		return
	}
	s := sections{positions: b.positions, lines: b.lines, shared: make(map[*doc.Block]shared), cards: make(map[boxLook]bool)}
	for i := range s.positions {
		s.all += s.positions[i].weight
		in := s.positions[i].in
		for in != nil && !in.apart() {
			in = in.around
		}
		if in != nil && in.leaves > 1 {
			s.cards[in.look()] = true
		}
	}
	for range maxGrounds {
		s.deeper()
	}
	s.findEdge()
	for _, block := range b.doc.Blocks {
		s.collect(block)
	}
	b.doc.Blocks = s.group(b.doc.Blocks, 0)
}

// sections finds the sections of a document.
type sections struct {
	positions []position          // by the order of leaves
	lines     map[*doc.Block]*box // around rules
	all       int                 // weight of the whole text
	edge      float32             // px, where most of the text on the ground begins
	beside    int                 // in so many rows of cells
	shared    map[*doc.Block]shared
	cards     map[boxLook]bool // those with several paragraphs
}

// deeper marks the next nested background of the mail: its page, then its card, and so on. A background
// holds three quarters of the text or, if it is as white as paper, a quarter. Boxes of one colour count as one.
func (s *sections) deeper() {
	weights := make(map[doc.Color]int)
	for i := range s.positions {
		for in := s.positions[i].in; in != nil && !in.ground; in = in.around {
			if in.around == nil || in.around.fill != in.fill {
				weights[in.fill] += s.positions[i].weight
			}
		}
	}
	found := make([]*box, len(s.positions))
	for i := range s.positions {
		for in := s.positions[i].in; in != nil && !in.ground; in = in.around {
			paper := in.fill.Set && !isTint(in.fill, css.White)
			weight := in.weight // of a frame alone
			if in.fill.Set {
				weight = weights[in.fill]
			}
			enough := weight*4 >= s.all*3 || paper && weight*4 >= s.all && !s.setIn(in)
			if enough && (in.around == nil || in.around.fill != in.fill) {
				found[i] = in
			}
		}
	}
	if s.several(found) {
		return
	}
	for _, b := range found {
		if b != nil {
			b.ground = true
		}
	}
}

// setIn reports a box with a border to the right of where text around it begins.
func (s *sections) setIn(b *box) bool {
	return b.framed && b.gap && slices.ContainsFunc(s.positions, func(at position) bool { return at.in == b.around && at.weight > 0 && at.left+leastEdge < b.left })
}

// several reports whether boxes, by leaves, are cards with nothing but space between them, none of which is the mail's
// sheet, and notes that.
func (s *sections) several(boxes []*box) bool {
	var one, last *box
	cards := false
	for _, b := range boxes {
		if b != nil {
			if one = cmp.Or(one, b); b.weight*4 >= s.all*3 || b.look() != one.look() {
				return false
			}
			cards = cards || last != nil && b != last && b.weight > 0 && b.gap
		}
		last = b
	}
	for _, b := range boxes {
		if b != nil {
			b.card = cards
		}
	}
	return cards
}

// onGround returns the outermost box around a leaf that is not the background of the mail, or nil.
func (at *position) onGround() (out *box) {
	for in := at.in; in != nil && !in.ground; in = in.around {
		out = in
	}
	return out
}

// findEdge finds the left edge of most of the text on the background.
func (s *sections) findEdge() {
	lefts := make(map[float32]int)
	for i := range s.positions {
		if at := &s.positions[i]; at.onGround() == nil {
			lefts[at.left] += at.weight
			if n, most := lefts[at.left], lefts[s.edge]; n > most || n == most && at.left < s.edge {
				s.edge = at.left
			}
		}
	}
}

// group puts successive blocks that share a mark into a section. They are within depth marks already.
func (s *sections) group(blocks []*doc.Block, depth int) []*doc.Block {
	marks := make([]*mark, len(blocks))
	for i, b := range blocks {
		marks[i] = s.common(b, depth)
	}
	var out []*doc.Block
	for i := 0; i < len(blocks); {
		j := i + 1
		for j < len(blocks) && marks[j].same(marks[i]) {
			j++
		}
		run, m := blocks[i:j:j], marks[i]
		i = j
		switch {
		case m == nil || !slices.ContainsFunc(run, func(b *doc.Block) bool { return b.Kind != doc.Rule }):
			for _, b := range run {
				s.within(b, depth)
			}
			out = append(out, run...)
		case s.pill(run, m):
			out = append(out, run...)
		default:
			out = append(out, s.section(run, m, depth))
		}
	}
	return out
}

// section makes a section of blocks.
func (s *sections) section(blocks []*doc.Block, m *mark, depth int) *doc.Block {
	made := &doc.Block{Kind: doc.Section, Background: m.box.fill, Padded: m.box.padded}
	if !m.band {
		if made.Hue = m.box.hue; !made.Hue.Set {
			made.Hue = m.box.fill
		}
	}
	made.Children = trimRules(s.group(blocks, depth+1)) // its edges are lines enough
	// The space above its text is around it.
	made.Children[0].Gap, made.Gap = false, m.box.gap || !(m.band && m.box.padded) && made.Children[0].Gap
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

// row fills a row whose cells have one fill, and makes sections inside its cells.
func (s *sections) row(row *doc.Block, depth int) {
	cells := 0
	var last *doc.Block
	for _, c := range row.Children {
		if s.shared[c].any {
			cells++
			last = c
		}
	}
	m := s.common(row, depth)
	whole := m != nil && cells > 1 && (m.band || m.box.joined || s.shared[last].marks[depth] == m) // rather than cards of one colour
	if whole && (m.band || m.box.adjoins()) {
		if row.Background = m.box.fill; m.pale {
			row.Hue = m.box.fill
		}
		depth++
	}
	if cells > 1 {
		s.beside++
		defer func() { s.beside-- }()
	}
	for i, c := range row.Children {
		if i == 1 && whole && !row.Background.Set { // one bar is enough
			depth++
		}
		in := depth
		if marks := s.shared[c].marks; cells > 1 && brief(c) && len(marks) > depth && marks[depth].box.inCell() && !s.card(marks[depth].box) && !pressable(c.Children[0]) {
			c.Background, c.Children[0].Background = marks[depth].box.fill, doc.Color{}
			if marks[depth].pale {
				c.Hue = c.Background
			}
			in++
		}
		c.Children = s.group(c.Children, in)
	}
}

// shared is the marks that all leaves of a block have.
type shared struct {
	marks []*mark
	any   bool // it has leaves
}

// collect records the marks that all leaves of a block have, and the same of its children.
func (s *sections) collect(b *doc.Block) shared {
	var all shared
	if line, ok := s.lines[b]; ok {
		all = shared{s.marks(line), true}
	} else if len(b.Spans) > 0 {
		all = shared{s.of(b), true}
	}
	for _, c := range b.Children {
		in := s.collect(c)
		if !in.any {
			continue
		}
		if !all.any {
			all = in
		}
		n := 0
		for n < min(len(all.marks), len(in.marks)) && all.marks[n].same(in.marks[n]) {
			n++
		}
		all.marks = all.marks[:n]
	}
	s.shared[b] = all
	return all
}

// common returns the mark at a depth that all leaves and rules of a block have. A column beside others has no bar unless
// it is a card.
func (s *sections) common(b *doc.Block, depth int) *mark {
	all := s.shared[b].marks
	if len(all) > depth && (all[depth].band || s.beside == 0 || all[depth].box.card || s.card(all[depth].box)) {
		return all[depth]
	}
	return nil
}

// of returns the marks around a leaf. A button is not a box besides.
func (s *sections) of(l *doc.Block) []*mark {
	if l.Order == 0 || l.Order > len(s.positions) {
		return nil
	}
	in := s.positions[l.Order-1].in
	for pressable(l) && in != nil && in.leaves == 1 {
		in = in.around
	}
	return s.marks(in)
}

// marks returns the marks of a box and of those around it, the outermost first.
func (s *sections) marks(b *box) []*mark {
	if b == nil {
		return nil
	}
	if b.known {
		return b.marks
	}
	around := s.marks(b.around)
	ground, on := b.around.canvas(), b.around.canvas()
	if n := len(around); n > 0 && around[n-1].band {
		on = around[n-1].box.fill
	}
	b.known = true
	switch {
	case b.ground:
	case b.card:
		b.marks = append(slices.Clip(around), &mark{b, false, true})
	case len(around) == maxMarks, b.weight == 0 && !b.padded, on != ground && css.Same(b.fill, on): // an image covers its cell
		b.marks = around
	case on != ground && !isFill(b.fill, ground): // a sheet of paper
	case isFill(b.fill, ground) && isFill(b.fill, on):
		b.marks = append(slices.Clip(around), &mark{b, true, false})
	case b.small && b.leaves == 1 && b.weight <= maxPill && isTint(b.fill, ground) && isTint(b.fill, b.on()):
		b.marks = append(slices.Clip(around), &mark{b, true, true})
	case b.frame && b.leaves == 1 && b.weight > maxBadge && b.weight <= maxPill && !b.joined:
		b.marks = append(slices.Clip(around), &mark{b, false, true})
	case len(around) > 0 && !around[len(around)-1].band && b.left-around[len(around)-1].box.left < leastEdge && !b.bar: // one bar is both edges
		b.marks = around
	case (len(around) == 0 || b.leaves < around[len(around)-1].box.leaves) && s.callout(b):
		b.marks = append(slices.Clip(around), &mark{b, false, true})
	default:
		b.marks = around
	}
	return b.marks
}

// canvas returns the colour of the background of the mail around a box.
func (b *box) canvas() doc.Color {
	for ; b != nil; b = b.around {
		if b.ground && b.fill.Set {
			return b.fill
		}
	}
	return css.White
}

// callout reports whether a box is a callout: it has a bar at its left, or it is tinted or framed and
// set in from the edge of the text.
func (s *sections) callout(b *box) bool {
	most := s.all / 2
	if b.apart() {
		most = s.all * 3 / 4
	}
	if b.small || b.weight > most {
		return false
	}
	on := b.on()
	framed := b.framed && (hue(b.hue) >= 48 || lightnessGap(b.hue, on) >= leastBorder)
	tinted := isTint(b.fill, on) && !css.Same(b.fill, css.White)
	return b.bar || tinted || framed && b.left >= s.edge
}

// leastBorder is the difference in lightness by which a border is seen.
const leastBorder = .03

// isFill reports whether a fill differs from what is around it more than a tint does.
func isFill(fill, ground doc.Color) bool {
	return fill.Set && (lightnessGap(fill, ground) >= .1+luma(ground)/10 || hue(fill) >= 96 && !css.Same(fill, ground))
}

// isTint reports whether a fill differs visibly from what is around it.
func isTint(fill, ground doc.Color) bool {
	return fill.Set && (lightnessGap(fill, ground) >= .022 || hue(fill) >= 12 && !css.Same(fill, ground))
}

// lightnessGap returns the difference between the lightness of two colours, 0 to 1.
func lightnessGap(a, b doc.Color) float32 { return max(luma(a)-luma(b), luma(b)-luma(a)) }

// hue returns the difference between the strongest and the weakest channel of a colour: 0 is a grey.
func hue(c doc.Color) int { return int(max(c.R, c.G, c.B)) - int(min(c.R, c.G, c.B)) }

// Bounds on the bytes of a badge, such as a number with a frame, and of a pill.
const (
	maxBadge = 3
	maxPill  = 24
)

// pill fills or frames the text of a small box, such as a badge, instead of making a section, and reports whether
// the box is one.
func (s *sections) pill(blocks []*doc.Block, m *mark) bool {
	l := blocks[0]
	if len(blocks) > 1 || l.Kind > doc.Heading || len(l.Spans) == 0 || !m.box.small && !m.box.frame || utf8.RuneCountInString(l.Text()) > maxPill || strings.Contains(l.Text(), "\n") {
		return false
	}
	if !m.band {
		l.Hue = cmp.Or(m.box.hue, l.Spans[0].Style.Color, doc.Color{Set: true})
		return l.Spans[0].Link == 0
	}
	for i := range l.Spans {
		if p := &l.Spans[i]; !p.Button && !p.Style.Background.Set {
			p.Style.Background, p.Style.Role = m.box.fill, doc.Own
		}
	}
	l.Background = doc.Color{}
	return true
}
