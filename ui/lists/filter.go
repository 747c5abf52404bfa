package lists

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/dialog"
	"mayfly/ui/theme"
)

// Filter keeps the rows whose text contains all of its words. The zero value keeps every row.
type Filter struct {
	Typing bool
	line   *dialog.Line
	words  []string
}

// Start starts typing.
func (f *Filter) Start() {
	if !f.On() {
		f.line = dialog.NewLine(dialog.LineOptions{})
	}
	f.Typing = true
}

// On reports whether there is a filter.
func (f *Filter) On() bool { return len(f.words) > 0 }

// Clear shows all rows again and ends typing.
func (f *Filter) Clear() { *f = Filter{} }

// Matches reports whether a text, folded by [theme.Fold], contains every word.
func (f *Filter) Matches(text string) bool {
	for _, w := range f.words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// Title is the filter if there is one, otherwise the usual title of a pane, in w cells.
func (f *Filter) Title(th *theme.Theme, usual string, w int) string {
	switch {
	case f.Typing:
		return th.Accent.On("/") + f.line.View(th, w-1)
	case f.On():
		return th.Accent.On("/"+theme.Cut(theme.Steady(f.line.Value()), w-6)) + th.Dim.On("  esc")
	}
	return usual
}

func (f *Filter) update(msg tea.Msg) (pass bool) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch dialog.KeyName(k) {
		case "esc":
			f.Clear()
			return false
		case "enter", "tab":
			f.Typing = false
			return false
		case "up", "down":
			f.Typing = false
			return true
		}
	}
	if f.line.Update(msg) {
		f.words = strings.Fields(theme.Fold(f.line.Value()))
	}
	return false
}
