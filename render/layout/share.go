package layout

import "sort"

// extent is how wide a block can be, in columns of the terminal: with lines broken wherever they may
// be, and with none broken.
type extent struct{ min, max int }

func (e *extent) grow(o extent) {
	e.min, e.max = max(e.min, o.min), max(e.max, o.max)
}

// narrow is the width from which on text can be read comfortably.
const narrow = 18

// least is the width below which a column is no longer put beside others: its longest word, and for
// running text or longer words a width that can be read.
func (e extent) least() int {
	if e.max > 2*narrow {
		return narrow
	}
	return min(e.min, narrow)
}

// share divides room among columns that hold content of some extent, 0 for none, and for which the
// message wants a width, 0 for any. It reports false if a column would get less than its least. From
// there on each gets, as far as there is room: what its longest word needs, what it fills of the width
// wanted, what leaves no line broken, and all of the width wanted.
func share(columns []extent, wanted []int, room int) (widths []int, ok bool) {
	var levels [5][]int
	for i, e := range columns {
		least := e.least()
		word := max(e.min, least)
		fill := e.max
		if wanted[i] > 0 {
			fill = max(word, min(wanted[i], e.max))
		}
		all := e.max
		if e.max > 0 {
			all = max(all, wanted[i])
		}
		for level, width := range [...]int{least, word, fill, e.max, all} {
			levels[level] = append(levels[level], width)
		}
	}
	if sum(levels[0]) > room {
		return nil, false
	}
	for i, level := range levels[1:] {
		if sum(level) > room {
			return between(levels[i], level, room), true
		}
	}
	return levels[4], true
}

// between returns widths between two others that add up to total: none is widened beyond one that
// could still be.
func between(from, to []int, total int) []int {
	widths := make([]int, len(from))
	set := func(limit int) int {
		for i := range widths {
			widths[i] = min(to[i], max(from[i], limit))
		}
		return sum(widths)
	}
	left := total - set(sort.Search(total, func(limit int) bool { return set(limit+1) > total }))
	for i := range widths {
		if left > 0 && widths[i] < to[i] && widths[i] >= from[i] {
			widths[i]++
			left--
		}
	}
	return widths
}

func sum(widths []int) int {
	n := 0
	for _, w := range widths {
		n += w
	}
	return n
}
