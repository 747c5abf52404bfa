package panes

import tea "charm.land/bubbletea/v2"

// What every pane understands, beside keys that are typed and the mouse.
type (
	// Move moves the cursor by rows, or scrolls by lines.
	Move int
	// Page moves by pages.
	Page int
	// First goes to the beginning.
	First struct{}
	// Last goes to the end.
	Last struct{}
	// Mark marks the row of the cursor, or unmarks it.
	Mark struct{}
	// Search begins to type a filter or a search.
	Search struct{}
	// Back undoes the last step inside the pane.
	Back struct{}
)

// WheelRows is how many rows a turn of the wheel scrolls: down when positive.
func WheelRows(m tea.MouseWheelMsg) int {
	switch m.Button {
	case tea.MouseWheelUp:
		return -3
	case tea.MouseWheelDown:
		return 3
	}
	return 0
}
