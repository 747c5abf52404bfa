package html

import (
	"unicode/utf8"

	"mayfly/render/doc"
	"mayfly/render/html/css"
)

// place aligns the one block in a box that is narrower than what is around it as the box stands
// there: a button in a centred table.
func (b *builder) place(f *frame) {
	out := *b.out
	if len(out) != f.blocks+1 || f.style.Display == css.TableCell || f.style.Display == css.TableRow {
		return
	}
	one := out[f.blocks]
	if one.Kind == doc.Cell || one.Kind == doc.Row {
		return
	}
	around := &b.frames[len(b.frames)-2]
	at, width := f.style.Place, width(&f.style)
	if at == doc.Start {
		at = around.style.Content
	}
	switch {
	case f.style.Display == css.FlexRow:
		if at = f.style.Content; at != doc.Start {
			one.Align = at
		}
	case width.Px > 0:
		if room := b.room(around); width.Px < narrowBox*room {
			one.Align = at
		}
	case width.Percent > 0:
		if width.Percent < narrowBox*100 {
			one.Align = at
		}
	case f.style.Display == css.Table || around.style.Content != doc.Start: // as wide as its content
		if longest(one) <= shortLine {
			one.Align = at
		}
	}
}

const (
	narrowBox = .75 // part of its room below which a box is narrow
	shortLine = 60  // characters of text that leave room beside it
)

// room returns how wide an element is, in px; 0 if that depends on what is beside it.
func (b *builder) room(f *frame) float32 {
	room := float32(640)
	for i := range b.frames {
		at := &b.frames[i]
		switch w := width(&at.style); {
		case w.Px > 0:
			room = min(room, w.Px)
		case w.Percent > 0:
			room *= w.Percent / 100
		case at.style.Display == css.TableCell && !alone(at):
			room = 0
		}
		if at == f {
			break
		}
	}
	return room
}

// alone reports whether a cell has no other beside it.
func alone(f *frame) bool {
	for n := f.node.PrevSibling; n != nil; n = n.PrevSibling {
		if n.DataAtom == f.node.DataAtom {
			return false
		}
	}
	for n := f.node.NextSibling; n != nil; n = n.NextSibling {
		if n.DataAtom == f.node.DataAtom {
			return false
		}
	}
	return f.node.Data != ""
}

// longest returns how many characters the longest leaf in a block has.
func longest(b *doc.Block) int {
	n := utf8.RuneCountInString(b.Text())
	if len(b.Children) > 0 {
		n = 0
	}
	for _, c := range b.Children {
		n = max(n, longest(c))
	}
	return n
}
