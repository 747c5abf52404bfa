package html

import (
	"cmp"
	"strings"

	"golang.org/x/net/html/atom"

	"mayfly/internal/clean"
	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// maxButton is the longest text of a button, in bytes.
const maxButton = 120

// anchor is the open link.
type anchor struct {
	n     int
	text  []byte
	image int // number of an image in it, 0 if there is none
}

// idle is a label that is drawn like that of a button and leads nowhere, as in templates: the number
// of the leaf that it is in, and its size in bytes.
type idle struct{ leaf, size int }

// add adds text within link n.
func (a *anchor) add(b *builder, n int, s string) {
	l := b.links.At(n)
	if l.Order == 0 {
		l.Order = b.order + 1
	}
	if a.n == n && len(a.text) < 1000 {
		if len(a.text) > 0 {
			a.text = append(a.text, ' ')
		}
		a.text = append(a.text, s...)
	}
}

// openLink opens an a element.
func (b *builder) openLink(f *frame) {
	href, _ := attr(f.node, "href")
	if f.link = b.links.Add(href); f.link > 0 {
		b.anchor = anchor{n: f.link, text: b.anchor.text[:0]}
		b.anchors++
	}
}

// looksPressable reports whether an element is a button, or has the box of one.
func looksPressable(f *frame) bool {
	s := &f.style
	padded := s.Padding[css.Top].Value > 0 || s.Padding[css.Left].Value > 0
	sized := s.Display != css.Inline && (s.Height.IsSet() || s.Width.Unit == 'p')
	role, _ := attr(f.node, "role")
	switch {
	case f.node.DataAtom == atom.Button, role == "button":
		return true
	case s.Width.Unit == 'p' && s.Width.Value <= maxSign, isHeading(f.node.DataAtom):
		return false // a badge, a linked heading
	case s.OwnBackground:
		return padded || s.Display != css.Inline || s.Border || s.Height.IsSet()
	}
	return s.Border && (padded || sized) || s.OnImage && padded && s.Display != css.Inline
}

func isHeading(a atom.Atom) bool {
	return a == atom.H1 || a == atom.H2 || a == atom.H3 || a == atom.H4 || a == atom.H5 || a == atom.H6
}

// closeLink closes an a element, whose text is now known.
func (b *builder) closeLink(f *frame) {
	if f.link == 0 {
		b.markIdle(f, words(b.parts(f)))
		return
	}
	if n := b.anchor.image; n > 0 {
		b.imageLink(f, n)
	}
	if b.anchor.n == f.link {
		b.links.AddText(f.link, clean.Line(string(b.anchor.text)))
	}
	b.anchor = anchor{text: b.anchor.text[:0]}
	if f.style.Padding[css.Top].Value > 0 {
		b.roomy = f.link
	}
}

// imageLink shows image n as the text of a link that ends and has no other.
func (b *builder) imageLink(f *frame, n int) {
	im := &b.doc.Images[n-1]
	text := string(b.anchor.text)
	if im.Alt != "" || text != "" && text != placeholder(im) {
		return
	}
	title, _ := attr(f.node, "title")
	if im.Alt = clean.Line(title); text == "" {
		b.showImage(f, n, cmp.Or(im.Alt, placeholder(im)))
	}
}

// part is a run of text within an element.
type part struct {
	text   string
	style  *doc.Style
	link   int
	image  int
	button *bool
}

// parts returns the text within an element that ends: runs of the open paragraph, or the spans of its
// one leaf. Otherwise it returns nil.
func (b *builder) parts(f *frame) (parts []part) {
	runs := b.para.spans
	switch {
	case b.order == f.leaves && len(runs) > f.spans:
		for i := f.spans; i < len(runs); i++ {
			r := &runs[i]
			parts = append(parts, part{string(b.para.buf[r.start:r.end]), &r.style, r.link, r.image, &r.button})
		}
	case b.order == f.leaves+1 && len(runs) == 0 && b.last != nil:
		for i := range b.last.Spans {
			s := &b.last.Spans[i]
			parts = append(parts, part{s.Text, &s.Style, s.Link, s.Image, &s.Button})
		}
	}
	return parts
}

// markIdle notes a label that leads nowhere, in an element that ends.
func (b *builder) markIdle(f *frame, text string) {
	if b.idle = (idle{b.order + 1, len(text)}); b.order > f.leaves {
		b.idle.leaf--
	}
}

// The least padding, in px, by which a box without a link looks like a button rather than a badge.
const (
	buttonTop  = 10
	buttonLeft = 20
)

// closeBox makes a button of an element that looks like one: a link, the box around one, or in
// templates a box without any.
func (b *builder) closeBox(f *frame) {
	s := &f.style
	if f.link == 0 && s.Display == css.InlineBlock && s.Padding[css.Top].Px(s.Size, 0) >= buttonTop && s.Padding[css.Left].Px(s.Size, 0) >= buttonLeft {
		if text := words(b.parts(f)); !strings.ContainsAny(text, "0123456789") { // a code or a coupon
			b.markIdle(f, text)
		}
	}
	if (!f.flow || f.link > 0 || f.node.DataAtom == atom.A) && looksPressable(f) {
		b.makeButton(f)
	}
}

// words returns a text without the space around it.
func words(parts []part) string {
	var text strings.Builder
	for _, p := range parts {
		text.WriteString(p.text)
	}
	return strings.TrimSpace(text.String())
}

// makeButton makes a button of the text in an element that looks like one, if that is short and a single
// link, or leads nowhere in a template. A link whose text is too long becomes a plain one again.
func (b *builder) makeButton(f *frame) {
	if f.node.DataAtom == atom.Td && !f.style.OwnBackground && !only(f.node.Parent) {
		return // it has the lines of its table
	}
	if f.link > 0 {
		b.joinLeaves(f)
	}
	parts := b.parts(f)
	n, ok := label(parts)
	size := len(words(parts))
	// A label that leads nowhere is all of the element, too.
	idles := b.idle.size == size && (b.idle.leaf == b.order+1 && b.order == f.leaves || b.idle.leaf == b.order && b.order > f.leaves)
	if !ok || n == 0 && f.node.DataAtom != atom.Button && !idles {
		return
	}
	fits := size <= maxButton
	for _, p := range parts {
		if p.link != n {
			continue
		}
		if *p.button = fits; fits && f.style.OwnBackground && !p.style.Background.Set {
			p.style.Background = f.style.Fill
		}
	}
	if fits && n > 0 {
		b.links.At(n).Button = true
	}
}

// label returns the link that all words of a text belong to, if they are of one; 0 if of none. The
// images in it are not words.
func label(parts []part) (link int, ok bool) {
	for _, p := range parts {
		if p.image > 0 || strings.TrimSpace(p.text) == "" {
			continue
		}
		if ok && p.link != link {
			return 0, false
		}
		link, ok = p.link, true
	}
	return link, ok
}

// joinLeaves makes one leaf of the few within a button: a label, and what is below it.
func (b *builder) joinLeaves(f *frame) {
	out, n := *b.out, b.order-f.leaves
	if n < 2 || n > len(out) || len(b.doc.Images) > 0 && b.doc.Images[len(b.doc.Images)-1].Leaf > f.leaves {
		return
	}
	size, parts := 0, out[len(out)-n:]
	for _, l := range parts {
		if size += len(l.Text()) + 1; len(l.Spans) == 0 || size > maxButton {
			return
		}
	}
	label := parts[0]
	label.Kind = doc.Paragraph
	for _, l := range parts[1:] {
		label.Spans = append(append(label.Spans, doc.Span{Text: " ", Link: f.link}), l.Spans...)
	}
	*b.out, b.order, b.last = out[:len(out)-n+1], label.Order, label
}

// box closes a block that has a colour or a border of its own.
func (b *builder) box(f *frame) {
	s := &f.style
	if !s.OwnBackground && !s.Border || b.order != f.leaves+1 || b.last == nil {
		return
	}
	b.last.Boxed = true
	around := b.frames[len(b.frames)-2].style.Background
	if !around.Set {
		around = css.White
	}
	first := &b.last.Spans[0]
	if !b.wide() || labelled(&first.Style) && isFill(s.Fill, around) || first.Link > 0 && first.Link == b.roomy {
		b.makeButton(f)
	}
}

// wide reports whether the innermost element is as wide as a section rather than a button, as far as
// its width and those around it tell: a table or an inline box without a width is as wide as its text.
func (b *builder) wide() bool {
	part := float32(1)
	for i := len(b.frames) - 1; i > 0; i-- {
		switch s := &b.frames[i].style; {
		case s.Width.Unit == '%':
			part *= s.Width.Value / 100
		case s.Width.IsSet():
			return part*s.Width.Px(s.Size, 0) > maxButtonWidth
		case s.Display == css.Table, s.Display == css.InlineBlock:
			return false
		}
	}
	return part*640 > maxButtonWidth
}

// maxButtonWidth is the width of a box, in px, above which it is a button only if its text looks like
// a label, and its fill is unlike a section's.
const maxButtonWidth = 420

// labelled reports whether text looks like the label of a button: of the size of text, rather than
// small print or a title, and not like other links.
func labelled(s *doc.Style) bool {
	return s.Size > 12 && s.Size < 22 && (s.Bold || !s.Underline)
}

// area reads a region of an image map.
func (b *builder) area(f *frame) {
	href, _ := attr(f.node, "href")
	alt, _ := attr(f.node, "alt")
	alt = clean.Line(alt)
	if f.link = b.links.Add(href); f.link == 0 || alt == "" {
		return
	}
	b.para.space = true
	b.anchor = anchor{n: f.link}
	b.para.word(alt, f)
	b.links.AddText(f.link, alt)
	b.anchor = anchor{}
	b.para.space = true
}
