package html

import (
	"cmp"
	"maps"
	"slices"
	"unicode/utf8"

	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// box is an element that is painted unlike what it stands on: filled, framed, or with a bar at its
// left.
type box struct {
	around *box
	fill   doc.Color
	hue    doc.Color // of its border
	framed bool
	bar    bool
	padded bool // there is space above its text
	gap    bool // and above it
	small  bool // it is narrower than text is
	leaves int
	weight int // characters, small print at a quarter

	marks []*mark
	known bool // marks are
}

// maxMarks bounds how many sections are in one another.
const maxMarks = 3

// mark is a way in which what is in a box stands out: a band, or else a bar beside it.
type mark struct {
	box  *box
	band bool
}

// same reports whether two marks make one section: bands of one colour do.
func (m *mark) same(o *mark) bool {
	return m == o || m != nil && o != nil && m.band && o.band && css.Same(m.box.fill, o.box.fill)
}

const (
	smallBox     = 200 // px, the width below which a filled box is rather a mark in the text
	leastPadding = 6   // px, that a reader sees
	leastEdge    = 8   // px, the same between boxes
)

// openBox notes the box that an element makes, if it makes one.
func (b *builder) openBox(f *frame) {
	s, around := &f.style, f.box
	padding := max(s.Padding[css.Top].Px(s.Size, 0), 0)
	if around != nil && around.leaves == 0 {
		around.padded = around.padded || padding >= leastPadding
	}
	if f.link == 0 && (s.OwnBackground || s.Border || s.Bar) {
		f.box = &box{around: around, fill: s.Background, hue: s.Hue, framed: s.Border, bar: s.Bar,
			padded: padding >= leastPadding,
			gap:    b.margin+b.space-min(padding, 200)-b.inside >= leastEdge,
			small:  b.shrinks(s)}
	}
}

// shrinks reports whether a box that is opened is as wide as its text, or not much wider.
func (b *builder) shrinks(s *css.Style) bool {
	for i := len(b.frames) - 1; ; i-- {
		switch {
		case s.Width.Unit == 'p':
			return s.Width.Value < smallBox
		case s.Width.Unit == 0 && (s.Display == css.Table || s.Display == css.InlineBlock):
			return true
		case i <= 0:
			return false
		}
		s = &b.frames[i].style
	}
}

// boxed notes the box that a leaf is in.
func (b *builder) boxed(l *doc.Block) {
	in := b.top().box
	b.boxOf = append(b.boxOf[:l.Order-1], in)
	n := 0
	for i := range l.Spans {
		n += len(l.Spans[i].Text)
	}
	if l.Spans[0].Style.Size <= 12 {
		n /= 4
	}
	fill := css.White
	if in != nil && in.fill.Set {
		fill = in.fill
	}
	b.papers[fill] += n
	for ; in != nil; in = in.around {
		in.leaves++
		in.weight += n
	}
}

// sections puts what is filled or framed as a whole into sections. What the message mostly stands on is
// its canvas, and not special.
func (b *builder) sections() {
	if !slices.ContainsFunc(b.boxOf, func(in *box) bool { return in != nil }) {
		return
	}
	s := sections{boxOf: b.boxOf, canvas: b.canvas(), shared: make(map[*doc.Block]shared)}
	for _, n := range b.papers {
		s.all += n
	}
	for _, block := range b.doc.Blocks {
		s.share(block)
	}
	b.doc.Blocks = s.group(b.doc.Blocks, 0, false)
}

// canvas returns the colour that a message stands on: white, if a part of its text is on white or on a
// tint of it, else the fill with most of the text.
func (b *builder) canvas() doc.Color {
	fills := slices.SortedFunc(maps.Keys(b.papers), func(x, y doc.Color) int {
		return cmp.Or(cmp.Compare(b.papers[y], b.papers[x]), cmp.Compare(x.R, y.R), cmp.Compare(x.G, y.G), cmp.Compare(x.B, y.B))
	})
	all, light, canvas := 0, 0, doc.Color{}
	for _, fill := range fills {
		all += b.papers[fill]
		if !isFill(fill, css.White) {
			light += b.papers[fill]
		} else if !canvas.Set {
			canvas = fill
		}
	}
	if !canvas.Set || light*4 >= all {
		return css.White
	}
	return canvas
}

// sections finds the sections of a document.
type sections struct {
	boxOf  []*box // by the order of leaves
	canvas doc.Color
	all    int // weight of the whole text
	shared map[*doc.Block]shared
}

// group puts successive blocks that share a mark into a section. They are within depth marks already.
func (s *sections) group(blocks []*doc.Block, depth int, inCell bool) []*doc.Block {
	marks := make([]*mark, len(blocks))
	any := false
	for i, b := range blocks {
		m, leaves := s.common(b, depth)
		if !leaves && i > 0 && i+1 < len(blocks) { // a rule is where what is around it is
			if next, ok := s.common(blocks[i+1], depth); ok && next.same(marks[i-1]) {
				m = next
			}
		}
		marks[i] = m
		any = any || m != nil
	}
	if !any {
		for _, b := range blocks {
			s.within(b, depth)
		}
		return blocks
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
		case m == nil:
			for _, b := range run {
				s.within(b, depth)
			}
			out = append(out, run...)
		case s.pill(run, m, inCell):
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
	made.Children = s.group(blocks, depth+1, false)
	made.Children[0].Gap, made.Gap = false, m.box.gap
	return made
}

// within looks for sections in a block that is none as a whole.
func (s *sections) within(b *doc.Block, depth int) {
	switch b.Kind {
	case doc.List, doc.Footer:
		return
	case doc.Table:
		if b.Head == 0 {
			for _, row := range b.Children {
				for _, c := range row.Children {
					c.Children = s.group(c.Children, depth, true)
				}
			}
		}
	default:
		b.Children = s.group(b.Children, depth, false)
	}
}

// shared is the marks that all leaves of a block have.
type shared struct {
	marks []*mark
	any   bool // it has leaves
}

// share notes the marks that all leaves of a block have, and of those in it.
func (s *sections) share(b *doc.Block) shared {
	var all shared
	if len(b.Spans) > 0 {
		all = shared{s.of(b), true}
	}
	for _, c := range b.Children {
		in := s.share(c)
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
	if b.Kind == doc.Footer {
		for n, m := range all.marks {
			if !m.band {
				all.marks = all.marks[:n]
				break
			}
		}
	}
	s.shared[b] = all
	return all
}

// common returns the mark at a depth that all leaves of a block share, and whether it has leaves.
func (s *sections) common(b *doc.Block, depth int) (*mark, bool) {
	all := s.shared[b]
	if len(all.marks) > depth {
		return all.marks[depth], true
	}
	return nil, all.any
}

// of returns the marks around a leaf. A button is not a box besides.
func (s *sections) of(l *doc.Block) []*mark {
	if l.Order == 0 || l.Order > len(s.boxOf) {
		return nil
	}
	in := s.boxOf[l.Order-1]
	for pressable(l) && in != nil && in.leaves == 1 {
		in = in.around
	}
	return s.marks(in)
}

// marks returns what makes a box and those around it stand out, from the outermost one.
func (s *sections) marks(b *box) []*mark {
	if b == nil {
		return nil
	}
	if b.known {
		return b.marks
	}
	around := s.marks(b.around)
	b.known, b.marks = true, around
	if len(around) == maxMarks {
		return b.marks
	}
	if n := len(around); n == 0 || !around[n-1].band {
		b.marks = s.onCanvas(b, around)
	} else {
		b.marks = s.onBand(b, around, around[n-1].box)
	}
	return b.marks
}

// onCanvas adds the mark of a box on the canvas to those around it, if it has one.
func (s *sections) onCanvas(b *box, around []*mark) []*mark {
	if isFill(b.fill, s.canvas) {
		return append(slices.Clip(around), &mark{b, true})
	}
	if len(around) == 0 && s.aside(b) {
		return []*mark{{b, false}}
	}
	return around
}

// onBand does the same for one on a band. A sheet of paper is the canvas again, and a band as large as
// the mail is the page around the others.
func (s *sections) onBand(b *box, around []*mark, band *box) []*mark {
	switch {
	case css.Same(b.fill, band.fill):
		return around
	case !isFill(b.fill, s.canvas):
		return nil
	case !isFill(b.fill, band.fill):
		return around
	case s.most(band):
		around = nil
	}
	return append(slices.Clip(around), &mark{b, true})
}

// most reports a box that has most of the text.
func (s *sections) most(b *box) bool { return b.weight*5 > s.all*3 }

// aside reports a box on the canvas that is tinted or framed, and is not what the mail is about: one
// with a third of the text, or more if it has a colour.
func (s *sections) aside(b *box) bool {
	tinted := isTint(b.fill, s.canvas)
	return (tinted || b.framed || b.bar) && (b.weight*3 <= s.all || !s.most(b) && (tinted || hue(b.hue) >= 48))
}

// isFill reports whether a fill stands out from what is around it more than a tint does.
func isFill(fill, ground doc.Color) bool {
	return fill.Set && (apart(fill, ground) >= .1+luma(ground)/10 || hue(fill) >= 96 && !css.Same(fill, ground))
}

// isTint reports whether a fill differs visibly from what is around it.
func isTint(fill, ground doc.Color) bool {
	return fill.Set && (apart(fill, ground) >= .022 || hue(fill) >= 12 && !css.Same(fill, ground))
}

// apart returns how far the lightness of two colours is apart, 0 to 1.
func apart(a, b doc.Color) float32 { return max(luma(a)-luma(b), luma(b)-luma(a)) }

// hue returns how far the channels of a colour are apart: 0 is a grey.
func hue(c doc.Color) int { return int(max(c.R, c.G, c.B)) - int(min(c.R, c.G, c.B)) }

// maxPill is how many characters a filled box has that is a word in the text.
const maxPill = 24

// pill fills the text of a small box instead, and reports whether it is one.
func (s *sections) pill(blocks []*doc.Block, m *mark, inCell bool) bool {
	l := blocks[0]
	if !m.band || len(blocks) > 1 || l.Kind > doc.Heading || len(l.Spans) == 0 || !inCell && !m.box.small || utf8.RuneCountInString(l.Text()) > maxPill {
		return false
	}
	for i := range l.Spans {
		if p := &l.Spans[i]; !p.Button && !p.Style.Background.Set {
			p.Style.Background, p.Style.Role = m.box.fill, doc.Own
		}
	}
	l.Background = doc.Color{}
	return true
}
