// Package layout lays out a document as lines for a width and a theme. No line is wider than the
// width, and the same document, width and theme give the same bytes. Only the writer in this
// package writes escape sequences: SGR and OSC 8 in a line's Styled, and what a graphics protocol
// needs in its Draw.
package layout

import (
	"image/color"
	"slices"
	"strings"
	"unicode/utf8"

	"mayfly/render/doc"
	"mayfly/render/image"
)

// Line is one row of the screen.
type Line struct {
	Styled string   // with SGR and OSC 8 sequences, all closed on the line
	Plain  string   // the same text without sequences
	Links  []LinkAt // by column

	// Block is the number of the paragraph, item or source line that the row belongs to, and Offset
	// how many bytes of its text come before the row. They are the same at every width, so that the
	// user stays where they read.
	Block, Offset int

	Image int // number, from 1, of the image that the row belongs to, which is spaces in Plain
	// Draw is written to the terminal after Styled. On the last row of an image it draws the image
	// over the cells. If the image is shown by placeholders, Draw is on its first row and transmits
	// it, which is needed once for each ImageID.
	Draw    string
	ImageID uint32

	pieces []piece // of a line in a column, until it is joined with those beside it
}

// LinkAt is the part of a row that belongs to a link.
type LinkAt struct {
	N          int // number of the link
	Col, Width int // columns, from 0
}

// Profile is the number of colours that a terminal has.
type Profile uint8

const (
	NoColor   Profile = iota // only bold, underline and the like
	ANSI16                   // 16 colours
	ANSI256                  // 256 colours
	TrueColor                // 24 bits
)

// Theme is the colours and capabilities of a terminal. A role that is nil has the default colour.
type Theme struct {
	Dark       bool
	Guessed    bool // Dark is
	Profile    Profile
	Hyperlinks bool        // write OSC 8
	Background color.Color // nil: black or white, according to Dark

	Accent, Good, Warning, Bad, Dim color.Color
}

// Options say how to lay out a document.
type Options struct {
	Width  int
	Theme  Theme
	Hidden bool // show hidden text where the message has it
	Unfold bool // show footers and long quotes in full
	Wide   bool // the mail may be wider than Measure
	Links  bool // list the links at the end

	HiddenKey string // shows hidden text; "" where there is no such key

	Images image.Mode
	Image  func(n int) *image.Image // decodes the document's image n; nil if it cannot be drawn
}

// Measure is the greatest width of a message, in columns. One with a table or lines that need more is as wide as they are.
const Measure = 80

// Unwrapped is the width at which no line is broken, except in the cells of tables beyond 1,000 columns. What is
// drawn, as rules and bands, is as wide as elsewhere.
const Unwrapped = 1 << 20

// Lay lays out a document.
func Lay(d *doc.Document, o Options) []Line {
	o.Width = max(o.Width, 1)
	l := &layouter{doc: d, opts: o, docWidth: o.Width, w: newWriter(o.Theme, d.Links), warned: make(map[int]bool),
		extents: make(map[*doc.Block]extent)}
	l.ink = newInks(o.Theme, d.Color, d.Dark)
	if o.Width > Measure && o.Width < Unwrapped && !o.Wide {
		l.opts.Width = min(o.Width, max(Measure, l.needed(d.Blocks)))
		l.docWidth = l.opts.Width
	}
	l.pics = newImages(o)
	l.blocks(d.Blocks)
	l.gap = l.gap || l.pics.of != nil && l.w.any()
	l.imagesTo(everywhere, 0)
	if o.Hidden {
		l.hiddenBefore(1 << 30)
	}
	if !l.w.any() {
		l.wrap.reset(o.Width, l.emit)
		l.wrap.text(nothing(len(d.Hidden), o.HiddenKey), l.ink.dim(), 0)
		l.wrap.end()
	}
	if o.Links {
		l.opts.Width = o.Width
		l.linkList()
	}
	l.gap = false
	l.writeDue()
	return l.w.finish(o.Width)
}

// nothing returns the line for a message without visible text, and with some hidden texts.
func nothing(hidden int, key string) string {
	if hidden == 0 {
		return "This mail is empty."
	}
	blocks, them := " hidden blocks", "them"
	if hidden == 1 {
		blocks, them = " hidden block", "it"
	}
	text := "This mail shows nothing: " + itoa(hidden) + blocks
	if key != "" {
		text += ", " + key + " shows " + them
	}
	return text
}

// layouter lays out blocks one below another.
type layouter struct {
	doc  *doc.Document
	opts Options
	w    *writer
	ink  *inks

	first  []piece // before the next line; prefix is before all others
	prefix []piece
	indent int     // columns of prefix
	bars   []piece // after every line: of text from right to left
	gap    bool    // an empty line is due before the next line
	dim    bool    // secondary text
	ground *ground // the band behind what is written; nil: the terminal's background
	above  *lower  // the edge that is due before the next line
	lead   string  // before the text of the next leaf: the marker of an item written from right to left
	beside bool    // in a column beside others
	nested int     // in so many columns, one in another
	end    bool    // in a column that is aligned at its right edge
	rtl    bool    // in a leaf from right to left
	flush  bool    // in an item, whose text stays beside its marker
	titled bool    // in the last line of a title, which has a line under it
	ruled  bool    // and above a rule
	under  []piece // the line under a title, until the rule that it is part of is drawn
	hidden int     // hidden texts shown so far
	leaves int     // laid out so far
	warned map[int]bool
	wrap   wrapper
	pics   images

	docWidth  int                   // width of the whole document
	measuring bool                  // nothing is written
	extents   map[*doc.Block]extent // of cells
	alike     map[*doc.Block]*grid  // of tables that are alike, among the blocks being laid out
}

// room returns how many columns are left for the text of a leaf.
func (l *layouter) room() int { return max(l.opts.Width-l.indent, 1) }

// drawn returns how many columns are left for what is aligned or drawn, as rules are.
func (l *layouter) drawn() int {
	if l.docWidth == Unwrapped {
		return Measure
	}
	return l.room()
}

// needed returns how many columns blocks take whose words or lines cannot be broken.
func (l *layouter) needed(blocks []*doc.Block) (columns int) {
	for _, b := range blocks {
		switch b.Kind {
		case doc.Table:
			columns = max(columns, newGrid(l, b).needed())
		case doc.Pre:
			for line := range strings.Lines(b.Text()) {
				columns = max(columns, stringWidth(strings.TrimRight(line, " \n")))
			}
		case doc.Section:
			columns = max(columns, l.needed(b.Children)+4)
		default:
			columns = max(columns, l.needed(b.Children))
		}
	}
	return columns
}

// emit writes a line after the prefix.
func (l *layouter) emit(line []piece) { l.put(line, offset(line)) }

// put writes a line that begins at an offset in its leaf.
func (l *layouter) put(line []piece, offset int) {
	l.writeDue()
	l.w.offset = offset
	line = l.barsAfter(line)
	before := l.prefix
	if l.first != nil {
		before = l.first
		l.first = nil
	}
	switch {
	case l.ground == nil:
		l.w.line(before, line)
	case !slices.ContainsFunc(line, func(p piece) bool { return !blankPiece(&p) }) && l.w.any() && l.w.endsEmpty():
	default:
		l.w.line(nil, l.ground.draw(slices.Concat(before, line), true))
	}
}

// within calls f with a longer prefix: first before the first line, rest before the others, both of
// the same width. If that leaves too little room, the prefix stays as it is.
func (l *layouter) within(first, rest piece, f func()) {
	prefix, indent, outer := l.prefix, l.indent, l.first
	if add := max(first.width, rest.width); l.indent+add <= l.opts.Width/2 {
		head := l.prefix
		if outer != nil {
			head = outer
		}
		l.first = append(append([]piece(nil), head...), first)
		l.prefix = append(append([]piece(nil), prefix...), rest)
		l.indent += add
	}
	f()
	l.prefix, l.indent = prefix, indent
	if l.first != nil {
		l.first = outer
	}
}

// blocks lays out blocks one below another.
func (l *layouter) blocks(blocks []*doc.Block) {
	alike := l.alike
	l.alike = l.findAlike(blocks)
	defer func() { l.alike = alike }()
	var before *doc.Block
	for i, b := range blocks {
		if l.w.full() {
			return
		}
		l.gap = l.gap || l.apart(before, b)
		var next doc.Block
		if i+1 < len(blocks) {
			next = *blocks[i+1]
		}
		l.titled = isTitle(b) && (!isTitle(&next) || next.Gap) // the line is below the last line of a title
		l.ruled = l.titled && next.Kind == doc.Rule
		l.block(b)
		before = b
	}
}

func isTitle(b *doc.Block) bool { return b.Kind == doc.Heading && b.Level == 1 }

// apart reports whether an empty line divides a block from the one before it.
func (l *layouter) apart(before, b *doc.Block) bool {
	switch {
	case before == nil:
		return b.Gap
	case before.Kind == doc.Rule:
		return before.Padded
	case b.Kind == doc.Rule && isTitle(before): // the line under it is in the rule
		return false
	}
	return b.Gap || before.Hue.Set && b.Hue.Set
}

func (l *layouter) block(b *doc.Block) {
	if l.opts.Hidden && b.Order > 0 {
		l.hiddenBefore(b.Order)
	}
	if b.Order > 0 {
		l.imagesBefore(b)
	}
	if len(b.Spans) > 0 {
		l.begin(b)
	}
	switch b.Kind {
	case doc.Paragraph, doc.Heading:
		if b.Hue.Set {
			l.framed(b, l.ink.bar(b.Hue), l.pen(b, &b.Spans[0]))
		} else {
			l.leaf(b, l.room())
		}
	case doc.Pre:
		l.preformatted(b)
	case doc.Code:
		edge := l.ink.role(doc.Accent)
		l.framed(b, edge, pen{fg: edge.fg, attrs: edge.attrs | bold})
	case doc.Rule:
		l.rule(b)
	case doc.List:
		l.list(b)
	case doc.Item:
		l.item(b, 0)
	case doc.Quote:
		l.quote(b, "▏", l.ink.dim())
	case doc.Signature:
		l.dimmed(func() { l.blocks(b.Children) })
	case doc.Footer:
		l.footer(b)
	case doc.Section:
		l.section(b)
	case doc.Table:
		l.table(b)
	case doc.Row, doc.Cell:
		l.blocks(b.Children)
	}
}

// begin notes which leaf the next lines belong to: by its order in the body, or else in the document.
func (l *layouter) begin(leaf *doc.Block) {
	l.leaves++
	if l.w.block = leaf.Order; leaf.Order == 0 {
		l.w.block = l.leaves
	}
}

func (l *layouter) dimmed(f func()) {
	dim := l.dim
	l.dim = true
	f()
	l.dim = dim
}

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
	case b.Align == doc.Center && l.docWidth < leastCentered && l.textExtent(b).max > width:
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

// start returns how many columns are before a line of some width. Text from right to left begins at the
// right.
func (l *layouter) start(align doc.Align, rtl bool, taken, width int) int {
	left := 0
	switch spare := max(width-taken, 0); {
	case align == doc.Center:
		left = spare / 2
	case (align == doc.End) != rtl:
		left = spare
	}
	if rtl && l.docWidth < Unwrapped {
		left += l.room() - width
	}
	return max(min(left, l.room()-taken), 0)
}

// numbered returns the width of the number of a link at the end of a line, which does not count where
// the line is centred.
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
