package ui

import (
	"mayfly/ui/layout"
	"mayfly/ui/list"
)

// column is what the panes of inboxes and of messages have in common: a list below a title.
type column struct {
	list   list.List
	rect   layout.Rect
	rows   []list.Row
	marks  map[string]bool
	filter filter
}

// dense says that there is one line for each row only.
func (c *column) dense() bool { return c.rect.H < 9 }

func (c *column) listTop() int {
	if c.dense() {
		return 1
	}
	return 2
}

// lay lays the rows out in r, each as tall as tall says.
func (c *column) lay(r layout.Rect, tall func(id string) int) {
	c.rect, c.rows = r, nil
	if !r.Empty() {
		c.rows = c.list.Rows(r.H-c.listTop(), tall)
	}
}

// hit returns the ID of the row at a line of the screen; empty where there is none.
func (c *column) hit(y int) string { return hitRow(c.rows, y-c.rect.Y-c.listTop()) }

func hitRow(rows []list.Row, y int) string {
	for _, r := range rows {
		if y >= r.Y && y < r.Y+r.H {
			return r.ID
		}
	}
	return ""
}
