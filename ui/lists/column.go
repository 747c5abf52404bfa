// Package lists is what lists something by ID: the pane of inboxes, the pane of messages, and the search over
// all messages.
package lists

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/ui/dialog"
	"mayfly/ui/theme"
)

// Column is the common part of the panes of inboxes and messages: a list below a title, with marks
// and a filter.
type Column struct {
	dialog.List
	Rect   theme.Rect
	Marks  map[string]bool
	Filter Filter
	Shown  []dialog.Row // the rows on the screen
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
func (c *Column) Lay(r theme.Rect, tall func(id string) int) {
	c.Rect, c.Shown = r, nil
	if !r.Empty() {
		c.Shown = c.Rows(r.H-c.Top(), tall)
	}
}

// Page moves the cursor by pages; negative is up.
func (c *Column) Page(n int) { c.Move(n * max(1, len(c.Shown)-1)) }

// Mark marks or unmarks the selected row and moves to the next one.
func (c *Column) Mark() {
	if id := c.Selected(); c.Marks[id] {
		delete(c.Marks, id)
	} else {
		c.Marks[id] = true
	}
	c.Move(1)
}

// Click selects the row at line y of the screen, and reports whether there is one.
func (c *Column) Click(y int) bool {
	id := Hit(c.Shown, y-c.Rect.Y-c.Top())
	return id != "" && c.Select(id)
}

// Back clears the filter, otherwise the marks. It reports false when there is nothing to clear.
func (c *Column) Back() bool {
	switch {
	case c.Filter.On():
		c.Filter.Clear()
	case len(c.Marks) > 0:
		clear(c.Marks)
	default:
		return false
	}
	return true
}

// StartTyping starts the typing of a filter.
func (c *Column) StartTyping() { c.Filter.Start() }

// Type applies a key or a paste to the filter. It reports whether the key ended the typing and is for
// the list.
func (c *Column) Type(msg tea.Msg) (pass bool) { return c.Filter.update(msg) }

// Typing reports whether the filter is being typed.
func (c *Column) Typing() bool { return c.Filter.Typing }

// StopTyping ends the typing of the filter and keeps what was typed.
func (c *Column) StopTyping() { c.Filter.Typing = false }

// Hit returns the ID of the row at line y of a list's area, "" if there is none.
func Hit(rows []dialog.Row, y int) string {
	for _, r := range rows {
		if y >= r.Y && y < r.Y+r.H {
			return r.ID
		}
	}
	return ""
}
