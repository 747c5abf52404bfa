// Package lists is what lists something by ID: the pane of inboxes, the pane of messages, and the search over
// all messages.
package lists

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/ui/dialog"
	"mayfly/ui/intent"
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

// Update applies a message of package theme, a key or a paste while the filter is being typed, a
// click or the wheel. It returns the resulting intent, nil if none: moved if the cursor moved, clicked
// if a row was clicked, and the key itself if it ended the typing and goes to the list.
func (c *Column) Update(msg tea.Msg, moved, clicked any) any {
	switch msg := msg.(type) {
	case theme.Move:
		c.Move(int(msg))
	case theme.Page:
		c.Move(int(msg) * max(1, len(c.Shown)-1))
	case theme.First:
		c.First()
	case theme.Last:
		c.Last()
	case theme.Mark:
		c.mark()
	case theme.Search:
		c.Filter.Start()
		return nil
	case theme.Back:
		return c.back()
	case tea.KeyPressMsg, tea.PasteMsg:
		if c.Filter.update(msg) {
			return msg
		}
		return intent.FilterChanged{}
	case tea.MouseWheelMsg:
		c.Scroll(theme.WheelRows(msg))
		return nil
	case tea.MouseClickMsg:
		if id := Hit(c.Shown, msg.Y-c.Rect.Y-c.Top()); id != "" && c.Select(id) {
			return clicked
		}
		return nil
	default:
		return nil
	}
	return moved
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

// back clears the filter, otherwise the marks, and leaves when there is nothing to clear.
func (c *Column) back() any {
	switch {
	case c.Filter.On():
		c.Filter.Clear()
	case len(c.Marks) > 0:
		clear(c.Marks)
	default:
		return intent.Leave{}
	}
	return intent.FilterChanged{}
}

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
