package ui

import (
	"strings"

	"mayfly/ui/cell"
	"mayfly/ui/theme"
)

// filter keeps the rows whose text holds every word of it.
type filter struct {
	text   string
	typing bool
	words  []string
}

func (f *filter) set(text string) {
	f.text = text
	f.words = strings.Fields(strings.ToLower(text))
}

func (f *filter) on() bool { return len(f.words) > 0 }

func (f *filter) clear() { *f = filter{} }

// matches says whether text, in lower case, holds every word.
func (f *filter) matches(text string) bool {
	for _, w := range f.words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// title shows what is typed in place of a pane's title, in w cells.
func (f *filter) title(th *theme.Theme, usual string, w int) string {
	switch {
	case f.typing:
		return th.Accent.On("/") + typed(th, f.text, w-1)
	case f.on():
		return th.Accent.On("/"+cell.Cut(cell.Steady(f.text), w-6)) + th.Dim.On("  esc")
	}
	return usual
}
