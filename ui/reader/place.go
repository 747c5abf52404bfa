package reader

// place is a place in a text, the same at every width: bytes into a block.
type place struct{ block, offset int }

// here is the place at the top of the screen; the zero value while the head is.
func (p *Pane) here() place {
	n := p.top - len(p.head())
	if n <= 0 || n >= len(p.lines) {
		return place{}
	}
	if p.lines[n].Plain == "" && n+1 < len(p.lines) { // what is read begins below it
		n++
	}
	return place{p.lines[n].Block, p.lines[n].Offset}
}

// lineOf is the line with a place: the last of its block that begins before it, or the first of a
// later block if its own is folded.
func (p *Pane) lineOf(at place) int {
	best, later := -1, -1
	for n := range p.lines {
		switch l := &p.lines[n]; {
		case l.Block == at.block && l.Offset <= at.offset:
			if best < 0 || l.Offset > p.lines[best].Offset {
				best = n
			}
		case l.Block > at.block && later < 0:
			later = n
		}
	}
	switch {
	case best >= 0:
		return best
	case later >= 0:
		return later
	}
	return max(0, len(p.lines)-1)
}
