package panes

// Dividers are the widths that the user dragged the panes to; the zero value leaves the usual ones.
type Dividers struct {
	inboxes, messages int
	dragging          int // index of the divider that is dragged, from 1; 0 for none
}

// Grab begins to drag the divider at a cell, and reports whether there is one.
func (d *Dividers) Grab(l Layout, x, y int) bool {
	n, ok := l.Divider(x, y)
	if !ok {
		return false
	}
	d.dragging = n + 1
	if l.Panes[Inboxes].Empty() {
		d.dragging = 2
	}
	return true
}

// Drag moves the divider that was grabbed to a column.
func (d *Dividers) Drag(l Layout, x int) {
	switch {
	case d.dragging == 0:
	case d.dragging == 1 && !l.Panes[Inboxes].Empty():
		d.inboxes = max(1, x)
	default:
		d.messages = max(1, x-l.Panes[Messages].X)
	}
}

// Release ends dragging.
func (d *Dividers) Release() { d.dragging = 0 }
