package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mayfly/ui/cell"
	"mayfly/ui/theme"
)

// ask is a question that one key answers with yes. A key that is held is no answer.
type ask struct {
	title  string
	text   []string                   // what has to be known before answering, the most important first
	detail func(w, most int) []string // more, in the room that is left: rows of at most w cells
	yes    []string                   // the keys that confirm
	does   string                     // what confirming does
	keep   string                     // what anything else does
	act    func(*app) tea.Cmd
	also   map[string]func(*app) tea.Cmd
	more   []string // further keys and what they do, in pairs
	bad    bool     // what is asked cannot be undone
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
	width := min(64, w-4)
	answers := q.answers(th, width)
	room := h - 2 - len(answers)
	rows := paragraphs(q.text, width, room)
	if most := room - len(rows) - 2; q.detail != nil && most > 0 {
		rows = append(append(rows, ""), q.detail(width, most)...)
	}
	if len(rows) < room {
		rows = append(rows, "")
	}
	return frameBox(th, q.title, append(rows, answers...), w, h)
}

// answers are the keys and what they do, in as many rows as they take.
func (q *ask) answers(th *theme.Theme, w int) []string {
	yes := th.Accent
	if q.bad {
		yes = th.Bad + th.Bright
	}
	all := []string{yes.On(q.yes[0]) + " " + q.does}
	for i := 0; i+1 < len(q.more); i += 2 {
		all = append(all, th.Accent.On(q.more[i])+" "+q.more[i+1])
	}
	all = append(all, th.Accent.On("esc")+th.Dim.On(" "+q.keep))
	rows := all[:1]
	for _, answer := range all[1:] {
		if line := rows[len(rows)-1] + "   " + answer; cell.Width(line) <= w {
			rows[len(rows)-1] = line
		} else {
			rows = append(rows, answer)
		}
	}
	return rows
}

// paragraphs wraps texts to w cells in at most the given number of rows. Where they do not fit, the later and
// longer ones give way first, down to a row each.
func paragraphs(texts []string, w, most int) []string {
	texts = texts[:max(0, min(len(texts), most))]
	wrapped, total := make([][]string, len(texts)), 0
	for i, t := range texts {
		wrapped[i] = cell.Wrap(t, w)
		total += len(wrapped[i])
	}
	for i := len(texts) - 1; i >= 0 && total > most; i-- {
		n := max(1, len(wrapped[i])-(total-most))
		total -= len(wrapped[i]) - n
		wrapped[i] = shorten(texts[i], wrapped[i], w, n)
	}
	if total+len(texts) < most { // a blank row between them
		for i := 1; i < len(wrapped); i++ {
			wrapped[i] = append([]string{""}, wrapped[i]...)
		}
	}
	return slices.Concat(wrapped...)
}

// shorten keeps n of the rows that text was wrapped into: its beginning and its end.
func shorten(text string, rows []string, w, n int) []string {
	switch {
	case n >= len(rows):
		return rows
	case n == 1:
		return []string{cell.CutMiddle(text, w)}
	}
	kept := append(slices.Clone(rows[:n-1]), rows[len(rows)-1])
	kept[n-2] = cell.Fit(ansi.Truncate(kept[n-2], w-1, ""), w-1) + cell.Ellipsis
	return kept
}
