package theme

// Dividers are the pane widths set by dragging. The zero value means the default widths.
type Dividers struct {
	inboxes, messages int
	dragging          int // index of the divider being dragged, from 1; 0 for none
}

// Grab starts dragging the divider at a cell, and reports whether there is one.
func (d *Dividers) Grab(l Layout, x, y int) bool {
	n, ok := l.divider(x, y)
	if !ok {
		return false
	}
	d.dragging = n + 1
	if l.Panes[Inboxes].Empty() {
		d.dragging = 2
	}
	return true
}

// Drag moves the grabbed divider to column x.
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
