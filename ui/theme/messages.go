package theme

import tea "charm.land/bubbletea/v2"

// Messages that every pane understands, besides typed keys and the mouse.
type (
	// Move moves the cursor by rows, or scrolls by lines; negative is up.
	Move int
	// Page moves by pages; negative is up.
	Page int
	// First goes to the beginning.
	First struct{}
	// Last goes to the end.
	Last struct{}
	// Mark marks or unmarks the selected row.
	Mark struct{}
	// Search starts typing a filter or a search.
	Search struct{}
	// Back undoes the last step inside the pane.
	Back struct{}
)

// WheelRows is how many rows a wheel event scrolls; negative is up.
func WheelRows(m tea.MouseWheelMsg) int {
	switch m.Button {
	case tea.MouseWheelUp:
		return -3
	case tea.MouseWheelDown:
		return 3
	}
	return 0
}
