package html

import (
	"strings"

	"mayfly/render/doc"
)

// repeatsNext reports whether a block is nothing but an image whose text begins the next block.
func repeatsNext(d *doc.Document, b, next *doc.Block) bool {
	im := onlyImage(d, b)
	if im == nil {
		return false
	}
	for leaf := range (&doc.Document{Blocks: []*doc.Block{next}}).Leaves() {
		return im.repeated(leaf.Spans)
	}
	return false
}

// sameTarget reports whether a cell is nothing but an image without words and leads where the next
// cell leads.
func sameTarget(d *doc.Document, cell, next *doc.Block) bool {
	im := onlyImage(d, cell)
	if im == nil || im.Link == 0 || im.Alt != "" {
		return false
	}
	for leaf := range (&doc.Document{Blocks: []*doc.Block{next}}).Leaves() {
		return leaf.Spans[0].Link == im.Link
	}
	return false
}

// shownImage is an image represented by its alternative text.
type shownImage struct{ *doc.Image }

// onlyImage returns the image that a block consists of, or nil.
func onlyImage(d *doc.Document, b *doc.Block) *shownImage {
	for len(b.Children) == 1 && (b.Kind == doc.Cell || b.Kind == doc.Paragraph) {
		b = b.Children[0]
	}
	if len(b.Spans) != 1 || b.Spans[0].Image == 0 {
		return nil
	}
	return &shownImage{&d.Images[b.Spans[0].Image-1]}
}

// repeated reports whether the spans beside the image have its text and its target.
func (im *shownImage) repeated(spans []doc.Span) bool {
	var line strings.Builder
	link := 0
	for _, s := range spans {
		if s.Image > 0 {
			return false
		}
		if link == 0 {
			link = s.Link
		}
		text := s.Text
		if strings.TrimSpace(line.String()) == "" {
			text = strings.TrimLeft(text, " \n")
		}
		before, _, more := strings.Cut(text, "\n")
		if line.WriteString(before); more {
			break
		}
	}
	if im.Link > 0 && im.Link != link {
		return false
	}
	small := func(px int) bool { return px > 0 && px <= maxIcon }
	return im.Link > 0 && small(im.Width) && small(im.Height) || strings.EqualFold(strings.TrimSpace(line.String()), im.Alt)
}
