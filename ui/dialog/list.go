package dialog

import "slices"

// List is a column of items, one of them selected and some of them on the screen. The zero value is
// an empty list.
type List struct {
	ids    []string
	sel    int // index of the selected item
	top    int // index of the first item on the screen
	reveal bool
	seen   bool // the selected item was on the screen when the rows were last laid out
	height int  // in lines, when they were
	placed bool // the user put the selection where it is
}

// Set replaces the items. The selected item stays selected, wherever it moved; if it is gone, the
// one in its place is selected. The first item on the screen stays there too, unless the list was
// scrolled to the top: then new items come into view, as long as what the user selected stays
// visible.
func (l *List) Set(ids []string) {
	selected, first, atStart := l.Selected(), l.id(l.top), l.top == 0
	l.ids = ids
	if i := slices.Index(ids, selected); i >= 0 {
		l.sel = i
	}
	l.sel = l.clamp(l.sel)
	if i := slices.Index(ids, first); i >= 0 && !atStart {
		l.top = i
	}
	l.top = l.clamp(l.top)
	l.reveal = l.reveal || l.seen && l.placed
}

// IDs returns the items in order. The caller must not modify the slice.
func (l *List) IDs() []string { return l.ids }

// Len is the number of items.
func (l *List) Len() int { return len(l.ids) }

// Selected is the ID of the selected item, "" in an empty list.
func (l *List) Selected() string { return l.id(l.sel) }

// Index is the index of the selected item.
func (l *List) Index() int { return l.sel }

// Select selects an item, and reports whether it exists.
func (l *List) Select(id string) bool {
	i := slices.Index(l.ids, id)
	if i < 0 {
		return false
	}
	l.sel, l.reveal, l.placed = i, true, true
	return true
}

// Placed reports whether the user put the selection, or the part of the list on the screen, where it
// is.
func (l *List) Placed() bool { return l.placed }

// Stay keeps the selection with its item, as if the user had selected it.
func (l *List) Stay() { l.placed = true }

// Move moves the selection by n items and stops at both ends.
func (l *List) Move(n int) {
	to := l.clamp(l.sel + n)
	l.sel, l.reveal, l.placed = to, true, l.placed || to != l.sel
}

// First selects the first item. Items inserted before it later come into view, and may push it off
// the screen.
func (l *List) First() { l.sel, l.reveal, l.placed = 0, true, false }

// Last selects the last item.
func (l *List) Last() { l.sel, l.reveal, l.placed = l.clamp(len(l.ids)-1), true, true }

// Scroll scrolls by n items and leaves the selection alone.
func (l *List) Scroll(n int) {
	top := l.clamp(l.top + n)
	l.top, l.reveal, l.placed = top, false, l.placed || top != l.top
}

// Row is one item on the screen.
type Row struct {
	ID       string
	Y, H     int // first line within the list's area, and number of lines
	Selected bool
}

// Rows lays out the items that fit into height lines; tall returns the height of an item in lines.
// If the selection has moved, it is scrolled into view; if it was there, it stays there when the
// height changes.
func (l *List) Rows(height int, tall func(id string) int) []Row {
	if height <= 0 || len(l.ids) == 0 {
		return nil
	}
	resized := height != l.height
	l.height = height
	if l.reveal || resized && l.seen {
		l.bringIntoView(height, tall)
		l.reveal = false
	}
	l.fillEnd(height, tall)
	rows := make([]Row, 0, height)
	l.seen = false
	for i, y := l.top, 0; i < len(l.ids) && y < height; i++ {
		h := tall(l.ids[i])
		rows = append(rows, Row{ID: l.ids[i], Y: y, H: min(h, height-y), Selected: i == l.sel})
		y += h
		l.seen = l.seen || i == l.sel && y <= height
	}
	return rows
}

func (l *List) bringIntoView(height int, tall func(string) int) {
	if l.sel < l.top {
		l.top = l.sel
		return
	}
	first, used := l.sel, tall(l.ids[l.sel])
	for first > l.top {
		h := tall(l.ids[first-1])
		if used+h > height {
			break
		}
		used += h
		first--
	}
	l.top = first
}

// fillEnd scrolls back while there is room below the last item.
func (l *List) fillEnd(height int, tall func(string) int) {
	used := 0
	for i := l.top; i < len(l.ids); i++ {
		if used += tall(l.ids[i]); used >= height {
			return
		}
	}
	for l.top > 0 {
		if used += tall(l.ids[l.top-1]); used > height {
			return
		}
		l.top--
	}
}

// More returns the number of items before and after those in rows.
func (l *List) More(rows []Row) (before, after int) {
	return l.top, len(l.ids) - l.top - len(rows)
}

func (l *List) id(i int) string {
	if i < 0 || i >= len(l.ids) {
		return ""
	}
	return l.ids[i]
}

func (l *List) clamp(i int) int { return max(0, min(i, len(l.ids)-1)) }
