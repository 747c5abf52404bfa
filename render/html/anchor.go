package html

import (
	"strings"

	"golang.org/x/net/html/atom"

	"mayfly/render/clean"
	"mayfly/render/doc"
	"mayfly/render/html/css"
	"mayfly/render/link"
)

// maxButton is the longest text of a button, in bytes.
const maxButton = 120

// anchor is the open link.
type anchor struct {
	n     int
	text  []byte
	image int // number of an image in it, 0 if there is none
}

// idle is a link without a target, as in templates: the number of the leaf that it is in, and its
// size in bytes.
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
	f.link = b.links.Add(b.resolve(href))
	f.button = b.looksPressable(f) || b.frames[len(b.frames)-2].node.DataAtom == atom.Button
	if f.link == 0 { // a button without a target, as in templates, is still a button
		s := &f.style
		f.button = f.button || s.Display == css.InlineBlock && s.Padding[css.Left].Value > 0 && s.Fill.Set && !css.Same(s.Fill, css.White) && !css.Same(s.Fill, b.page)
		return
	}
	b.anchor = anchor{n: f.link, text: b.anchor.text[:0]}
}

// looksPressable reports whether a link has a box of its own.
func (b *builder) looksPressable(f *frame) bool {
	s := &f.style
	padded := s.Padding[css.Top].Value > 0 || s.Padding[css.Left].Value > 0
	if s.OwnBackground {
		return padded || s.Display != css.Inline || s.Border || s.Height.IsSet()
	}
	return s.Border && padded || s.OnImage && padded && s.Display != css.Inline
}

// closeLink closes an a element, whose text is now known.
func (b *builder) closeLink(f *frame) {
	if f.link == 0 {
		switch {
		case f.button:
			b.paintButton(f)
		case b.order == f.leaves && f.spans == 0:
			b.idle = idle{b.order + 1, len(strings.TrimSpace(string(b.para.buf)))}
		case b.order == f.leaves+1:
			b.idle = idle{b.order, len(b.last.Text())}
		}
		return
	}
	if len(b.anchor.text) == 0 && b.anchor.image > 0 {
		// The link is nothing but the image.
		im := &b.doc.Images[b.anchor.image-1]
		text := placeholder(im)
		if host := b.links.At(f.link).Host; host != "" && im.Width <= maxIcon {
			text = link.Domain(host)
		}
		b.showImage(f, b.anchor.image, text)
	}
	if b.anchor.n == f.link {
		b.links.AddText(f.link, clean.Line(string(b.anchor.text)))
	}
	b.anchor = anchor{text: b.anchor.text[:0]}
	if f.button {
		b.paintButton(f)
	}
}

// paintButton gives the text of a button the fill of its box. If the text is too long it becomes a
// plain link again.
func (b *builder) paintButton(f *frame) {
	if spans := b.para.spans; b.order == f.leaves && len(spans) > f.spans {
		size := len(b.para.buf) - spans[f.spans].start
		for i := f.spans; i < len(spans); i++ {
			if spans[i].link != f.link {
				continue
			}
			spans[i].button = size <= maxButton
			if spans[i].button && (f.style.OwnBackground || f.link == 0 && f.style.Fill.Set) {
				spans[i].style.Background = f.style.Fill
			}
		}
		if size <= maxButton && f.link > 0 {
			b.links.At(f.link).Button = true
		}
		return
	}
	if f.link > 0 {
		b.joinLeaves(f)
	}
	if f.link > 0 && b.order == f.leaves+1 && b.last != nil {
		b.pressLeaf(b.last, f)
	}
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

// pressLeaf makes a button of a leaf that is a single link.
func (b *builder) pressLeaf(l *doc.Block, f *frame) {
	n, size := 0, 0
	for _, s := range l.Spans {
		size += len(s.Text)
		if s.Image > 0 {
			continue // an image is not a label
		}
		if s.Link > 0 {
			if n > 0 && s.Link != n {
				return
			}
			n = s.Link
		} else if strings.TrimSpace(s.Text) != "" && b.idle.leaf != l.Order {
			return
		}
	}
	if n == 0 && b.idle != (idle{l.Order, len(l.Text())}) || size > maxButton || strings.Contains(l.Text(), "\n") {
		return
	}
	for i := range l.Spans {
		s := &l.Spans[i]
		if s.Link != n {
			continue
		}
		s.Button = true
		if f.style.OwnBackground && !s.Style.Background.Set {
			s.Style.Background = f.style.Fill
		}
	}
	if n > 0 {
		b.links.At(n).Button = true
	}
}

// box closes a block that has a colour or a border of its own.
func (b *builder) box(f *frame) {
	s := &f.style
	if !s.OwnBackground && !s.Border || b.order != f.leaves+1 || b.last == nil {
		return
	}
	b.last.Boxed = true
	wide := s.Width.Unit == '%' && s.Width.Value > 90 || s.Width.Unit == 'p' && s.Width.Value > 420
	around := b.frames[len(b.frames)-2].style.Background
	if !wide && (s.Border || !pale(s.Fill) || around.Set && !pale(around)) {
		b.pressLeaf(b.last, f)
	}
}

// pale reports light greys, which sections have rather than buttons.
func pale(c doc.Color) bool {
	lo, hi := min(c.R, c.G, c.B), max(c.R, c.G, c.B)
	return lo > 215 && hi-lo < 24
}

// resolve makes a relative href absolute if there is a base element.
func (b *builder) resolve(href string) string {
	if b.base == "" || href == "" || strings.HasPrefix(strings.TrimSpace(href), "#") {
		return href
	}
	return joinURL(b.base, href)
}

// area reads a region of an image map.
func (b *builder) area(f *frame) {
	href, _ := attr(f.node, "href")
	alt, _ := attr(f.node, "alt")
	alt = clean.Line(alt)
	if f.link = b.links.Add(b.resolve(href)); f.link == 0 || alt == "" {
		return
	}
	b.para.space = true
	b.anchor = anchor{n: f.link}
	b.para.word(alt, f)
	b.links.AddText(f.link, alt)
	b.anchor = anchor{}
	b.para.space = true
}
