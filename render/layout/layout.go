// Package layout lays out a document as lines for a width and a theme. No line is wider than the
// width, and the same document, width and theme give the same bytes. Only the writer in this
// package writes escape sequences: SGR and OSC 8 in a line's Styled, and what a graphics protocol
// needs in its Draw.
package layout

import (
	"slices"
	"strings"
	"unicode"

	"image/color"

	"mayfly/internal/clean"
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
	// place in a text can be found again.
	Block, Offset int

	Image int // number, from 1, of the image that the row belongs to, which is spaces in Plain
	// Draw is written to the terminal after Styled. On the last row of an image it draws the image
	// over the cells. If the image is shown by placeholders, Draw is on its first row and transmits
	// it, which is needed once for each ImageID.
	Draw    string
	ImageID uint32
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
	Profile    Profile
	Hyperlinks bool        // write OSC 8
	Background color.Color // nil: black or white, according to Dark

	Accent, Good, Warning, Bad, Dim color.Color
}

// Options say how to lay out a document.
type Options struct {
	Width  int
	Theme  Theme
	Hidden bool // show hidden text in its place
	Unfold bool // show footers and long quotes in full
	Links  bool // list the links at the end

	HiddenKey string // what a reader presses to see hidden text; "" where there is no such key

	Images image.Mode
	Image  func(n int) *image.Image // decodes the document's image n; nil if it cannot be drawn
}

// Measure is the greatest width of running text, in columns.
const Measure = 80

// Lay lays out a document.
func Lay(d *doc.Document, o Options) []Line {
	o.Width = max(o.Width, 1)
	l := &layouter{doc: d, opts: o, page: o.Width, w: newWriter(o.Theme, d.Links), warned: make(map[int]bool),
		extents: make(map[*doc.Block]extent)}
	l.ink = newInks(o.Theme, d.Color)
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
		l.linkList()
	}
	l.gap = false
	l.settle()
	return l.w.finish(o.Width)
}

// nothing says that a mail with so many hidden texts shows nothing.
func nothing(hidden int, key string) string {
	if hidden == 0 {
		return "This mail is empty."
	}
	text, shows := "This mail shows nothing: "+itoa(hidden)+" hidden blocks", " shows them"
	if hidden == 1 {
		text, shows = "This mail shows nothing: 1 hidden block", " shows it"
	}
	if key != "" {
		text += ", " + key + shows
	}
	return text
}

// layouter lays out blocks one below another.
type layouter struct {
	doc  *doc.Document
	opts Options
	w    *writer
	ink  *inks

	first     []piece // before the next line; prefix is before all others
	prefix    []piece
	indent    int     // columns of prefix
	gap       bool    // an empty line is due before the next line
	dim       bool    // secondary text
	ground    *ground // what is written stands on; nil: the terminal's own
	above     *lower  // the edge that is due before the next line
	continued int     // the link that continues in this leaf, 0 if none does
	lead      string  // before the text of the next leaf: the marker of an item written from right to left
	beside    bool    // in a column beside others
	nested    int     // in so many columns, one in another
	end       bool    // in a column that is aligned at its right edge
	rtl       bool    // in a leaf from right to left
	flush     bool    // in an item, whose text stays beside its marker
	hidden    int     // hidden texts shown so far
	leaves    int     // laid out so far
	aside     piece   // at the right edge of the next line
	warned    map[int]bool
	wrap      wrapper
	pics      images

	page      int                   // width of the whole document
	measuring bool                  // nothing is written
	extents   map[*doc.Block]extent // of cells
	grids     map[*doc.Block]*grid  // of tables that are alike, among the blocks being laid out
}

// room returns how many columns are left for the text of a leaf.
func (l *layouter) room() int { return max(l.opts.Width-l.indent, 1) }

// emit writes a line after the prefix.
func (l *layouter) emit(line []piece) { l.put(line, offset(line)) }

// put writes a line that begins at an offset in its leaf.
func (l *layouter) put(line []piece, offset int) {
	l.settle()
	l.w.offset = offset
	if l.aside.width > 0 {
		line = append(line, spaces(l.room()-measure(line)+asideGap), l.aside)
		l.aside = piece{}
	}
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

func (l *layouter) blocks(blocks []*doc.Block) {
	grids := l.grids
	l.grids = l.alike(blocks)
	defer func() { l.grids = grids }()
	var before *doc.Block
	for _, b := range blocks {
		if l.w.full() {
			return
		}
		// The small print of a footer is one unit.
		l.gap = l.gap || b.Gap && !b.InFooter && b.Kind != doc.Rule && (before == nil || before.Kind != doc.Rule) || before != nil && before.Hue.Set && b.Hue.Set
		l.block(b)
		before = b
	}
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
		l.leaf(b, min(l.room(), Measure))
	case doc.Pre:
		l.preformatted(b)
	case doc.Code:
		l.code(b)
	case doc.Rule:
		l.rule(b)
	case doc.List:
		l.list(b)
	case doc.Item:
		l.item(b, 0)
	case doc.Quote:
		l.quote(b)
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

// leaf lays out running text.
func (l *layouter) leaf(b *doc.Block, width int) {
	l.rtl = b.RTL
	align := l.alignment(b, width)
	widest := 0
	l.wrap.reset(width, func(line []piece) {
		widest = max(widest, measure(line))
		l.put(l.aligned(line, align, width), offset(line))
	})
	if l.lead != "" {
		l.wrap.text(l.lead, l.ink.dim(), 0)
		l.lead = ""
	}
	l.fill(b)
	l.wrap.end()
	if b.Kind == doc.Heading && b.Level == 1 && !l.beside && widest > 0 {
		line := text1(repeat("━", widest), widest, pen{fg: l.pen(b, &b.Spans[0]).fg})
		l.put(l.aligned([]piece{line}, align, width), len(b.Text()))
	}
	l.rtl = false
}

func (l *layouter) preformatted(b *doc.Block) {
	l.wrap.reset(l.room(), l.emit)
	l.wrap.pre = true
	l.fill(b)
	l.wrap.end()
}

// code draws a box around a one-time code.
func (l *layouter) code(b *doc.Block) {
	text := b.Text()
	width := stringWidth(text)
	if width+8 > l.room() {
		l.leaf(b, l.room())
		return
	}
	emit := func(line ...piece) { l.emit(l.aligned(line, b.Align, min(l.room(), Measure))) }
	edge := l.ink.role(doc.Accent)
	inner := width + 6
	bar := func(left, right string) {
		emit(text1(left+repeat("─", inner)+right, inner+2, edge))
	}
	l.gap = l.gap || l.w.any()
	bar("╭", "╮")
	value := edge
	value.attrs |= bold
	emit(text1("│", 1, edge), spaces(3), text1(text, width, value), spaces(3), text1("│", 1, edge))
	bar("╰", "╯")
	l.gap = true
}

func (l *layouter) rule(b *doc.Block) {
	room := min(l.room(), Measure)
	width := room
	if b.Width != (doc.Width{}) {
		width = min(max(l.cells(b.Width.Px), int(b.Width.Percent/100*float32(room)), leastRule), room)
	}
	l.emit(l.aligned([]piece{text1(repeat("─", width), width, l.ink.dim())}, b.Align, room))
}

// leastRule is the width from which a line is seen as one.
const leastRule = 4

func (l *layouter) list(b *doc.Block) {
	widest := 0
	for _, item := range b.Children {
		widest = max(widest, stringWidth(item.Marker))
	}
	for _, item := range b.Children {
		if item.Gap {
			l.gap = true
		}
		if item.Kind != doc.Item {
			l.within(spaces(2), spaces(2), func() { l.block(item) })
			continue
		}
		l.item(item, widest)
	}
}

func (l *layouter) item(b *doc.Block, widest int) {
	if b.Marker == "" {
		l.blocks(b.Children)
		return
	}
	if leaf := b.First(); leaf != nil && leaf.RTL {
		l.lead = b.Marker + " " // goes to the right end of the line, where the text begins
		l.blocks(b.Children)
		l.lead = ""
		return
	}
	lead := 2
	if l.room() < 40 || l.indent > 0 {
		lead = 0
	}
	width := stringWidth(b.Marker)
	pad := lead + max(widest-width, 0)
	marker := text1(repeat(" ", pad)+b.Marker+" ", pad+width+1, l.ink.dim())
	if b.Role != doc.Own {
		marker.pen = l.ink.role(b.Role)
	}
	flush := l.flush
	l.flush = true
	l.within(marker, spaces(marker.width), func() { l.besides(b) })
	l.flush = flush
}

const (
	asideGap  = 2
	leastText = 26 // columns beside an aside
)

// besides lays out an item with its aside at the right edge, or below it where there is no room.
func (l *layouter) besides(b *doc.Block) {
	aside := text1(b.Aside, stringWidth(b.Aside), l.ink.dim())
	fits := aside.width > 0 && l.room()-aside.width-asideGap >= leastText
	if fits {
		l.aside = aside
		l.opts.Width -= aside.width + asideGap
	}
	l.blocks(b.Children)
	switch {
	case fits:
		l.opts.Width += aside.width + asideGap
	case aside.width > 0 && aside.width <= l.room():
		l.emit([]piece{spaces(l.room() - aside.width), aside})
	}
}

// Bounds on what is shown of a folded part.
const (
	foldQuote  = 12 // lines of a quote that is shown in full
	keepQuote  = 4
	foldFooter = 2
	keepFooter = 3 // of its first paragraph, or none
	maxMute    = 8 // more lines if they say nothing, as a dash or a rule
)

func (l *layouter) quote(b *doc.Block) {
	from := l.w.count()
	bar := text1("▏ ", 2, l.ink.dim())
	if l.first == nil { // the empty line is not part of the quote
		l.settle()
	}
	l.within(bar, bar, func() { l.blocks(b.Children) })
	if outermost := b.Children[0].Quoted <= 1; outermost || l.w.count()-from > 10*foldQuote {
		l.fold(from, foldQuote, keepQuote, "more quoted lines", bar, doc.Start)
	}
}

func (l *layouter) footer(b *doc.Block) {
	align := doc.Start
	if leaf := b.First(); leaf != nil {
		align = l.alignment(leaf, l.room())
	}
	l.dimmed(func() {
		if l.gap = l.room() < 2; !l.gap && !l.ground.begins(l.w) { // the line alone sets it apart
			l.emit(l.aligned([]piece{text1("╌╌", 2, l.ink.dim())}, align, min(l.room(), Measure)))
		}
		from := l.w.count()
		l.blocks(b.Children)
		if b == l.doc.Blocks[len(l.doc.Blocks)-1] {
			l.imagesTo(everywhere, 0)
		}
		l.fold(from, foldFooter, l.firstUnit(from), "more lines", piece{}, align)
	})
}

// firstUnit returns how many lines the paragraph or row has that begins at line from, 0 if they are
// more than are kept of a footer.
func (l *layouter) firstUnit(from int) int {
	for n := 1; n <= keepFooter && from+n < l.w.count(); n++ {
		if a, b := &l.w.lines[from+n-1], &l.w.lines[from+n]; a.Block != b.Block || empty(b.Plain) {
			return n
		}
	}
	return 0
}

// fold cuts what was written since a line to its first lines, and says how much was left out.
func (l *layouter) fold(from, limit, keep int, what string, bar piece, align doc.Align) {
	if l.opts.Unfold || l.w.count()-from <= limit {
		return
	}
	for last := keep + maxMute; keep < last && from+keep < l.w.count()-1 && !wordy(l.w.lines[from+keep-1].Plain); {
		keep++
	}
	left := l.w.cut(from, from+keep)
	text := "… " + itoa(left) + " " + what
	if left == 1 {
		text = "… 1 more line"
	}
	l.gap = false
	room := l.room() - bar.width
	if stringWidth(text) > room {
		text = "…"
	}
	line := l.aligned([]piece{text1(text, stringWidth(text), l.ink.dim())}, align, min(room, Measure))
	if bar.width > 0 && room > 0 {
		line = append([]piece{bar}, line...)
	}
	l.emit(line)
	l.gap = true
}

// wordy reports whether a line has more than a sign or the number of a note.
func wordy(s string) bool {
	return stringWidth(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)) > 2
}

// hiddenBefore shows the hidden text before a leaf.
func (l *layouter) hiddenBefore(order int) {
	for ; l.hidden < len(l.doc.Hidden) && l.doc.Hidden[l.hidden].Before <= order; l.hidden++ {
		h := l.doc.Hidden[l.hidden]
		gap := l.gap
		l.gap = l.w.any()
		dim := l.ink.dim()
		l.wrap.reset(min(l.room(), Measure), l.emit)
		l.wrap.text("hidden ("+h.Reason+"): ", l.ink.role(doc.Warning), 0)
		l.wrap.text(h.Text, dim, 0)
		l.wrap.end()
		l.gap = gap || l.w.any()
	}
}

// linkList lists the targets of the links, each once.
func (l *layouter) linkList() {
	if len(l.doc.Links) == 0 {
		return
	}
	l.gap = l.w.any()
	widest := len(itoa(len(l.doc.Links)))
	for i := range l.doc.Links {
		link := &l.doc.Links[i]
		n := itoa(link.N)
		marker := text1(repeat(" ", widest-len(n))+n+"  ", widest+2, l.ink.dim())
		l.within(marker, spaces(marker.width), func() {
			l.wrap.reset(l.room(), l.emit)
			l.wrap.text(strings.ReplaceAll(clean.Line(link.Target), " ", "%20"), pen{attrs: underline}, link.N)
			if link.Via != "" {
				l.wrap.text(" via "+link.Via, l.ink.dim(), 0)
			}
			if link.Blocked {
				l.wrap.text(" blocked: not a web or mail address", l.ink.role(doc.Warning), 0)
			}
			if link.Warning != "" {
				l.wrap.text(" "+link.Warning, l.ink.role(doc.Warning), 0)
			}
			l.wrap.end()
		})
	}
}
