package html

import (
	"cmp"
	"strings"

	"mayfly/render/doc"
)

// onlyImage returns the image that a block consists of, or nil.
func onlyImage(d *doc.Document, b *doc.Block) *doc.Image {
	for len(b.Children) == 1 && (b.Kind == doc.Cell || b.Kind == doc.Paragraph) {
		b = b.Children[0]
	}
	if len(b.Spans) != 1 || b.Spans[0].Image == 0 {
		return nil
	}
	return &d.Images[b.Spans[0].Image-1]
}

// repeatsNext reports whether a cell is nothing but an image that the next one stands for: that has its
// target, and its words or none, or is an icon.
func repeatsNext(d *doc.Document, cell, next *doc.Block) bool {
	im, leaf := onlyImage(d, cell), next.First()
	if im == nil || leaf == nil {
		return false
	}
	if im.Link > 0 && im.Alt == "" && leaf.Spans[0].Link == im.Link {
		return true
	}
	var text strings.Builder // the first line beside the image
	link := 0
	for _, s := range leaf.Spans {
		if s.Image > 0 {
			return false
		}
		link = cmp.Or(link, s.Link)
		before, _, more := strings.Cut(s.Text, "\n")
		if text.WriteString(before); more {
			break
		}
	}
	if im.Link > 0 && im.Link != link {
		return false
	}
	small := func(px int) bool { return px > 0 && px <= maxIcon }
	return im.Link > 0 && small(im.Width) && small(im.Height) || strings.EqualFold(strings.TrimSpace(text.String()), im.Alt)
}
