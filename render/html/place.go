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
		if room := b.room(around); short(one, narrowBox*room) {
			one.Align = at
		}
	}
}

const (
	narrowBox = .75 // part of its room below which a box is narrow
	fewLeaves = 50
)

// room returns how wide an element is at most, in px.
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
			room /= 2
		}
		if at == f {
			break
		}
	}
	return room
}

// alone reports whether a cell has no other beside it.
func alone(f *frame) bool {
	for n := f.node.Parent.FirstChild; n != nil; n = n.NextSibling {
		if n != f.node && n.DataAtom == f.node.DataAtom {
			return false
		}
	}
	return f.node.Data != ""
}

// short reports whether a block has few leaves, and none that takes so many px.
func short(b *doc.Block, px float32) bool {
	leaves := 0
	for leaf := range b.Leaves() {
		if leaves++; leaves > fewLeaves || float32(utf8.RuneCountInString(leaf.Text()))*leaf.Spans[0].Style.Size/2 > px {
			return false
		}
	}
	return true
}
