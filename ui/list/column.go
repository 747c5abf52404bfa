package list

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/ui/intent"
	"mayfly/ui/panes"
)

// Column is the common part of the panes of inboxes and messages: a list below a title, with marks
// and a filter.
type Column struct {
	List
	Rect   panes.Rect
	Marks  map[string]bool
	Filter Filter
	Shown  []Row // the rows on the screen
}

// Dense reports whether rows are only one line high, for lack of room.
func (c *Column) Dense() bool { return c.Rect.H < 9 }

// Top is the line of the pane at which the rows begin.
func (c *Column) Top() int {
	if c.Dense() {
		return 1
	}
	return 2
}

// Lay lays the rows out in r; tall returns the height of a row in lines.
func (c *Column) Lay(r panes.Rect, tall func(id string) int) {
	c.Rect, c.Shown = r, nil
	if !r.Empty() {
		c.Shown = c.Rows(r.H-c.Top(), tall)
	}
}

// Outcome is the outcome of a message to a column.
type Outcome int

const (
	Nothing  Outcome = iota
	Moved            // the cursor moved
	Clicked          // a row was clicked and is now selected
	Narrowed         // the filter or the marks changed
	Left             // there was nothing to undo
	Passed           // the key ended typing and goes to the list
)

// Update applies a message of package panes, a key or a paste while the filter is being typed, a
// click or the wheel.
func (c *Column) Update(msg tea.Msg) Outcome {
	switch msg := msg.(type) {
	case panes.Move:
		c.Move(int(msg))
	case panes.Page:
		c.Move(int(msg) * max(1, len(c.Shown)-1))
	case panes.First:
		c.First()
	case panes.Last:
		c.Last()
	case panes.Mark:
		c.mark()
	case panes.Search:
		c.Filter.Start()
		return Nothing
	case panes.Back:
		return c.back()
	case tea.KeyPressMsg, tea.PasteMsg:
		if c.Filter.update(msg) {
			return Passed
		}
		return Narrowed
	case tea.MouseWheelMsg:
		c.Scroll(panes.WheelRows(msg))
		return Nothing
	case tea.MouseClickMsg:
		if id := Hit(c.Shown, msg.Y-c.Rect.Y-c.Top()); id == "" || !c.Select(id) {
			return Nothing
		}
		return Clicked
	default:
		return Nothing
	}
	return Moved
}

// Intent applies a message and returns the resulting intent, nil if none: moved if the cursor moved,
// clicked if a row was clicked.
func (c *Column) Intent(msg tea.Msg, moved, clicked any) any {
	switch c.Update(msg) {
	case Moved:
		return moved
	case Clicked:
		return clicked
	case Narrowed:
		return intent.FilterChanged{}
	case Left:
		return intent.Leave{}
	case Passed:
		return msg
	}
	return nil
}

// mark marks or unmarks the selected row and moves to the next one.
func (c *Column) mark() {
	if id := c.Selected(); c.Marks[id] {
		delete(c.Marks, id)
	} else {
		c.Marks[id] = true
	}
	c.Move(1)
}

// back clears the filter, otherwise the marks.
func (c *Column) back() Outcome {
	switch {
	case c.Filter.On():
		c.Filter.Clear()
	case len(c.Marks) > 0:
		clear(c.Marks)
	default:
		return Left
	}
	return Narrowed
}

// Typing reports whether the filter is being typed.
func (c *Column) Typing() bool { return c.Filter.Typing }

// StopTyping ends the typing of the filter and keeps what was typed.
func (c *Column) StopTyping() { c.Filter.Typing = false }

// Hit returns the ID of the row at line y of a list's area, "" if there is none.
func Hit(rows []Row, y int) string {
	for _, r := range rows {
		if y >= r.Y && y < r.Y+r.H {
			return r.ID
		}
	}
	return ""
}
