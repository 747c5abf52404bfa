package layout

import (
	"image/color"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"mayfly/render/doc"
	"mayfly/render/image"
)

// images draws the images of a document between its lines, each where it is in the text.
type images struct {
	of    func(n int) *image.Image // nil when none are drawn
	mode  image.Mode
	next  int          // index of the next image
	drawn map[int]bool // by number
	after bool         // an image is right above what comes next
}

func newImages(o Options) images {
	p := images{of: o.Image, mode: o.Images, drawn: make(map[int]bool)}
	switch {
	case p.mode.Protocol == image.Off,
		p.mode.Protocol == image.Blocks && o.Theme.Profile == NoColor,
		p.mode.Protocol == image.KittyCells && o.Theme.Profile != TrueColor: // the colour is the image's number
		p.of = nil
	}
	return p
}

// imagesTo draws the images up to an offset in a leaf.
func (l *layouter) imagesTo(leaf, offset int) {
	if l.pics.of == nil {
		return
	}
	for images := l.doc.Images; l.pics.next < len(images); {
		im := &images[l.pics.next]
		if im.Leaf > leaf || im.Leaf == leaf && im.Offset > offset {
			return
		}
		l.pics.next++
		l.image(im)
	}
}

// everywhere is an offset after all text of a leaf.
const everywhere = 1 << 30

// imagesBefore draws the images before a leaf, and those in it unless it is running text.
func (l *layouter) imagesBefore(b *doc.Block) {
	before, last := l.w.images, b.Order
	if b.Kind == doc.Paragraph || b.Kind == doc.Heading || b.Kind == doc.Pre {
		last--
	}
	l.imagesTo(last, everywhere)
	if l.w.images > before {
		l.gap = b.Gap
	}
}

// imagesBeforeRow draws the images in a row whose cells are side by side.
func (l *layouter) imagesBeforeRow(row *doc.Block) {
	if l.pics.of == nil {
		return
	}
	last := 0
	for leaf := range row.Leaves() {
		last = max(last, leaf.Order)
	}
	l.imagesTo(last, everywhere)
}

// imagesIn draws the images in a leaf up to an offset in its text, after ending the current line.
// An image at its beginning that has no caption is followed by a gap like the one before the leaf.
func (l *layouter) imagesIn(b *doc.Block, offset int, first bool) {
	if l.pics.of == nil || l.beside {
		return
	}
	from, before := l.pics.next, l.w.images
	l.imagesTo(b.Order, offset)
	if l.w.images == before || !first || !b.Gap {
		return
	}
	drawn := l.doc.Images[from:l.pics.next]
	l.gap = l.gap || !slices.ContainsFunc(b.Spans, func(s doc.Span) bool { // no caption follows
		return slices.ContainsFunc(drawn, func(im doc.Image) bool { return im.N == s.Image })
	})
}

// nextImage returns the offset in a leaf of the next image before another offset.
func (l *layouter) nextImage(b *doc.Block, before int) (offset int, ok bool) {
	if l.pics.of == nil || l.beside || l.pics.next >= len(l.doc.Images) {
		return 0, false
	}
	im := &l.doc.Images[l.pics.next]
	return im.Offset, im.Leaf == b.Order && im.Offset < before
}

// replaced reports whether a span is the text of an image that is drawn instead. Half blocks do not
// replace it, since letters cannot be read in them: it stays as a caption.
func (l *layouter) replaced(s *doc.Span) bool {
	if s.Image == 0 || s.Link > 0 || l.beside || !l.pics.drawn[s.Image] {
		return false
	}
	return l.pics.mode.Protocol != image.Blocks || l.doc.Images[s.Image-1].Alt == ""
}

// image draws an image if it is worth drawing.
func (l *layouter) image(im *doc.Image) {
	if im.Spacer || im.Tracker || l.w.full() {
		return
	}
	p := l.pics.of(im.N)
	if p == nil {
		return
	}
	columns, rows := p.Box(im.Width, im.Height, l.drawn(), l.pics.mode)
	if columns == 0 {
		return
	}
	d := p.Draw(columns, rows, l.pics.mode, l.matte(p), rgba(l.ink.back))
	l.pics.drawn[im.N] = true
	l.wrap.endLine()
	l.emitImage(d, im.Align)
	l.pics.after = true
}

// leastContrast is that of an image with the background.
const leastContrast = 1.8

// matte returns the colour that goes behind an image which would be invisible on the terminal's
// background: messages expect white paper.
func (l *layouter) matte(p *image.Image) color.RGBA {
	mean := doc.Color{R: p.Mean.R, G: p.Mean.G, B: p.Mean.B, Set: true}
	if p.Opaque || doc.Contrast(mean, l.ink.back) >= leastContrast {
		return color.RGBA{}
	}
	return rgba(against(mean))
}

func rgba(c doc.Color) color.RGBA { return color.RGBA{c.R, c.G, c.B, 255} }

// emitImage writes the rows of an image, each after the prefix.
func (l *layouter) emitImage(d *image.Drawing, align doc.Align) {
	l.writeDue()
	l.w.images++
	for row := range d.Rows {
		before := l.prefix
		if l.first != nil {
			before, l.first = l.first, nil
		}
		if at := l.aligned([]piece{spaces(d.Columns)}, align, l.drawn()); len(at) > 1 {
			before = append(slices.Clone(before), at[0])
		}
		used := len(before)
		before = l.ground.draw(append(slices.Clone(before), spaces(d.Columns)), true)
		l.w.image(before[:used], before[used+1:], d, row, l.ink)
	}
}

// endLine ends the current line.
func (w *wrapper) endLine() {
	if w.emit == nil {
		return
	}
	w.commit()
	if w.lineW > 0 {
		w.send()
	}
	w.space, w.last, w.any = piece{}, 0, true
}

// image writes a row of an image. A protocol that draws over cells does so at the last row, when
// there is room for all of them: the cursor goes up, and back.
func (w *writer) image(prefix, rest []piece, d *image.Drawing, row int, ink *inks) {
	if w.full() {
		return
	}
	w.styled, w.plain = w.styled[:0], w.plain[:0]
	s := state{w: w}
	s.pieces(prefix)
	s.unlink()
	line := Line{Image: w.images}
	switch {
	case d.Cells != nil:
		for _, c := range d.Cells[row*d.Columns : (row+1)*d.Columns] {
			s.cell(c, ink)
		}
	case d.ID > 0:
		s.switchTo(pen{fg: inkRGB | ink24(d.ID), bg: ink.fill})
		for column := range d.Columns {
			s.drawn(image.Placeholder(row, column))
		}
		if row == 0 {
			line.Draw, line.ImageID = d.Sequence, d.ID
		}
	case row == d.Rows-1:
		line.Draw = placed(d.Sequence, row, s.col)
	}
	s.pieces(rest)
	s.close()
	line.Styled, line.Plain, line.Links = string(w.styled), string(w.plain), s.at
	w.lines = append(w.lines, line)
}

// placed returns the sequence that draws at a column, some rows above the cursor, and puts the cursor
// back. It first makes a row below, since some terminals move there after an image and would scroll.
func placed(draw string, up, column int) string {
	begin := ansi.Index + ansi.CursorUp(1) + ansi.SaveCursor
	if up > 0 {
		begin += ansi.CursorUp(up)
	}
	return begin + ansi.CursorHorizontalAbsolute(column+1) + draw + ansi.RestoreCursor
}

func ink24(id uint32) ink { return ink(id & 0xffffff) }

// cell writes two pixels: the upper one as a half block, the lower one as its background. If both
// are the same it is still not a coloured space: programs treat those as erased cells, and
// terminals erase in different ways.
func (s *state) cell(c image.Cell, ink *inks) {
	top, bottom := ink.pixel(c.Top), ink.pixel(c.Bottom)
	switch {
	case top == 0 && bottom == 0:
		s.switchTo(pen{bg: ink.fill})
		s.drawn(" ")
	case top == 0:
		s.switchTo(pen{fg: bottom, bg: ink.fill})
		s.drawn("▄")
	default:
		s.switchTo(pen{fg: top, bg: bottom})
		s.drawn("▀")
	}
}

// drawn writes a cell of an image, which is a space in plain text.
func (s *state) drawn(text string) {
	s.w.styled = append(s.w.styled, text...)
	s.w.plain = append(s.w.plain, ' ')
	s.col++
}

func (s *state) switchTo(p pen) {
	if p != s.pen {
		s.w.styled = appendSGR(s.w.styled, p, s.pen)
		s.pen = p
	}
}

// pixel returns the terminal's colour for a pixel; 0 if it is transparent.
func (n *inks) pixel(c color.RGBA) ink {
	if c.A == 0 {
		return 0
	}
	i, ok := n.pixels[c]
	if !ok {
		d := doc.Color{R: c.R, G: c.G, B: c.B, Set: true}
		if n.theme.Profile == ANSI16 {
			i = ink16 | ink(nearest(d, 0, 16)) // hue matters less than lightness
		} else {
			i = n.convert(d)
		}
		if n.theme.Profile != TrueColor {
			n.pixels[c] = i
		}
	}
	return i
}
