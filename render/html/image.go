package html

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"mayfly/internal/clean"
	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// maxImages bounds the images in a document.
const maxImages = 5000

// readImage reads an img element with the computed style s, or nil.
func (b *builder) readImage(n *html.Node, s *css.Style) doc.Image {
	var im doc.Image
	title := ""
	for _, a := range n.Attr {
		switch a.Key {
		case "src":
			im.Src = strings.TrimSpace(a.Val)
		case "alt":
			im.Alt = clean.Line(a.Val)
		case "title":
			title = clean.Line(a.Val)
		case "width":
			im.Width = pixels(a.Val)
		case "height":
			im.Height = pixels(a.Val)
		}
	}
	if s != nil {
		if im.Align = s.BoxAlign; im.Align == doc.Start {
			im.Align = s.Text.Within(s.RTL)
		}
		if s.Width.Unit == 'p' {
			im.Width = int(s.Width.Value)
		}
		if s.Height.Unit == 'p' {
			im.Height = int(s.Height.Value)
		}
	}
	im.Alt = cmp.Or(im.Alt, title)
	classify(&im)
	return im
}

// classify notes whether an image is remote, a spacer or a tracker.
func classify(im *doc.Image) {
	src := strings.ToLower(im.Src[:min(len(im.Src), 300)])
	im.Remote = strings.HasPrefix(src, "http:") || strings.HasPrefix(src, "https:") || strings.HasPrefix(src, "//")
	tiny := func(px int) bool { return px > 0 && px <= 3 }
	im.Spacer = tiny(im.Width) || tiny(im.Height) || im.Src == "" && im.Alt == ""
	im.Tracker = im.Remote && tiny(im.Width) && tiny(im.Height)
}

func pixels(v string) int {
	if l, ok := css.ParseLength(strings.ToLower(v)); ok && l.Unit == 'p' {
		return int(min(max(l.Value, 0), 100_000))
	}
	return 0
}

// addImage adds an image and returns its number, or 0 if there are too many.
func (b *builder) addImage(im doc.Image) int {
	if len(b.doc.Images) >= maxImages {
		return 0
	}
	im.N = len(b.doc.Images) + 1
	b.doc.Images = append(b.doc.Images, im)
	return im.N
}

// image shows an img element by its alternative text, or by its size if it is large and has none.
func (b *builder) image(f *frame) {
	if f.style.Unseen {
		b.hidden.image(b, f.node)
		return
	}
	im := b.readImage(f.node, &f.style)
	im.Link = f.link
	im.Leaf, im.Offset = b.order+1, len(b.para.buf)
	n := b.addImage(im)
	if n == 0 {
		return
	}
	if im.Spacer && im.Alt == "" {
		return
	}
	b.anchor.image = n
	text := im.Alt
	if text == "" && im.Width*im.Height >= 20_000 {
		text = placeholder(&im)
	}
	if text != "" {
		b.showImage(f, n, text)
	}
}

// showImage adds the text that represents an image. It is readable whatever the style around it.
func (b *builder) showImage(f *frame, n int, text string) {
	at := *f
	at.style.Size = max(at.style.Size, 12)
	at.style.WhiteSpace = css.Normal
	at.fill = doc.Color{}
	room := max(wordGap*at.style.Size, 1)
	if utf8.RuneCountInString(text) == 1 { // a letter of a word, or an emoji
		room = 0
	}
	b.para.room += room
	b.para.separate(text, at.style.Size)
	b.para.writeSpace(&at)
	b.para.append(text, &at, n)
	b.para.room = room
	if n > 0 {
		im := &b.doc.Images[n-1]
		im.Leaf, im.Offset = b.order+1, b.para.spans[len(b.para.spans)-1].start
	}
}

// placeImages sets the offsets of the images in a paragraph, which is l or has no leaf.
func (p *paragraph) placeImages(l *doc.Block) {
	images := p.b.doc.Images[p.images:]
	p.images = len(p.b.doc.Images)
	if len(images) == 0 {
		return
	}
	size, trimmed := 0, len(p.buf)-len(bytes.TrimLeft(p.buf, " \n\u00a0"))
	if l != nil {
		size = len(l.Text())
	}
	for i := range images {
		images[i].Offset = min(max(images[i].Offset-trimmed, 0), size)
	}
}

func placeholder(im *doc.Image) string {
	if im.Width > 0 && im.Height > 0 {
		return fmt.Sprintf("[image %d×%d]", im.Width, im.Height)
	}
	return "[image]"
}
