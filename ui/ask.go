package ui

import (
	tea "charm.land/bubbletea/v2"

	"mayfly/ui/cell"
	"mayfly/ui/theme"
)

// ask is a question that one key answers with yes. A key that is held is no answer.
type ask struct {
	title string
	text  []string
	yes   []string // the keys that confirm
	does  string   // what confirming does
	keep  string   // what anything else does
	act   func(*app) tea.Cmd
	also  map[string]func(*app) tea.Cmd
	more  []string // further keys and what they do, in pairs
	bad   bool     // what is asked cannot be undone
}

func (q *ask) open() tea.Cmd { return nil }

func (q *ask) update(msg tea.Msg) intent {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok || k.IsRepeat {
		return intent{}
	}
	name := k.String()
	for _, y := range q.yes {
		if name == y {
			return intent{close: true, do: q.act}
		}
	}
	if do := q.also[name]; do != nil {
		return intent{close: true, do: do}
	}
	if name == "esc" || name == "q" || name == "n" {
		return intent{close: true}
	}
	return intent{}
}

func (q *ask) draw(th *theme.Theme, w, h int) []string {
	var rows []string
	width := min(64, w-4)
	for _, t := range q.text {
		rows = append(rows, cell.Wrap(t, width)...)
	}
	yes := th.Accent
	if q.bad {
		yes = th.Bad + th.Bright
	}
	line := yes.On(q.yes[0]) + " " + q.does
	for i := 0; i+1 < len(q.more); i += 2 {
		line += "   " + th.Accent.On(q.more[i]) + " " + q.more[i+1]
	}
	line += "   " + th.Accent.On("esc") + th.Dim.On(" "+q.keep)
	return frameBox(th, q.title, append(rows, "", line), w, h)
}
