package html

import (
	"strings"

	"mayfly/render/doc"
)

// undouble drops the images among siblings whose alternative text only says what stands beside them: the name of a
// product above its name, an icon beside the link that it leads to as well.
func undouble(d *doc.Document, blocks []*doc.Block) []*doc.Block {
	kept := blocks[:0]
	for i, b := range blocks {
		if i+1 == len(blocks) || !double(d, b, blocks[i+1]) {
			kept = append(kept, b)
		}
	}
	return kept
}

// double reports whether a block is nothing but an image that says what begins the next one.
func double(d *doc.Document, b, next *doc.Block) bool {
	im := onlyImage(d, b)
	if im == nil {
		return false
	}
	for leaf := range (&doc.Document{Blocks: []*doc.Block{next}}).Leaves() {
		return im.repeated(leaf.Spans)
	}
	return false
}

// sameWay reports whether a cell is nothing but an image without words that leads where the cell beside it leads.
func sameWay(d *doc.Document, cell, next *doc.Block) bool {
	im := onlyImage(d, cell)
	if im == nil || im.Link == 0 || im.Alt != "" {
		return false
	}
	for leaf := range (&doc.Document{Blocks: []*doc.Block{next}}).Leaves() {
		return leaf.Spans[0].Link == im.Link
	}
	return false
}

// shownImage is an image that is shown by its alternative text.
type shownImage struct{ *doc.Image }

// onlyImage is the one image of which a block consists, or nil.
func onlyImage(d *doc.Document, b *doc.Block) *shownImage {
	for len(b.Children) == 1 && (b.Kind == doc.Cell || b.Kind == doc.Paragraph) {
		b = b.Children[0]
	}
	if len(b.Spans) != 1 || b.Spans[0].Image == 0 {
		return nil
	}
	return &shownImage{&d.Images[b.Spans[0].Image-1]}
}

// repeated reports whether the spans that stand beside the image say what it says and lead where it leads.
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

// undoubled is the spans of a leaf without an image at their beginning that only says what follows it.
func undoubled(d *doc.Document, spans []doc.Span) []doc.Span {
	if len(spans) < 2 || spans[0].Image == 0 {
		return spans
	}
	rest := spans[1:]
	for len(rest) > 0 && strings.TrimSpace(rest[0].Text) == "" {
		rest = rest[1:]
	}
	if im := (&shownImage{&d.Images[spans[0].Image-1]}); len(rest) == 0 || !im.repeated(rest) {
		return spans
	}
	rest[0].Text = strings.TrimLeft(rest[0].Text, " \n")
	return rest
}
