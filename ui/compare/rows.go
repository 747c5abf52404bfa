package compare

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"mayfly/ui/theme"
)

// row is one row of the screen: a half for each side, or one half for both.
type row struct {
	halves []half
	change int // index of the difference that it belongs to, -1 if none
}

// half is a row of one side.
type half struct {
	sign string // "-", "+", " ", or "⋯" for what is left out
	text string
}

// context is how many equal lines are shown before and after a difference.
const context = 3

// layout lays out the passages of a part.
type layout struct {
	width  int // of a half, in cells
	beside bool
	rows   []row
	change int // that is being laid out
}

// rowsOf lays out a part for w cells. Beside, the older message is on the left and the newer one on
// the right; unfold shows the passages that are equal in full.
func rowsOf(p part, w int, beside, unfold bool) []row {
	l := layout{width: max(1, w-3), beside: beside, change: -1}
	if beside {
		l.width = max(1, (w-1-5)/2)
	}
	if p.changes == 0 {
		for _, h := range l.wrap("=", "Nothing differs in this part.") {
			l.rows = append(l.rows, row{[]half{h}, -1})
		}
	}
	change := 0
	for n, q := range p.passages {
		if q.changed {
			l.change = change
			change++
			l.add("-", q.lines[0], "+", q.lines[1])
			continue
		}
		l.change = -1
		head, tail := context, context
		if n == 0 {
			head = 0
		}
		if n == len(p.passages)-1 {
			tail = 0
		}
		l.equal(q.lines[0], head, tail, unfold)
	}
	return l.rows
}

// equal shows equal lines: all, or only the number of those between the first and the last few.
func (l *layout) equal(lines []string, head, tail int, unfold bool) {
	if fold := len(lines) - head - tail; fold > 1 && !unfold {
		l.add(" ", lines[:head], " ", lines[:head])
		l.rows = append(l.rows, row{[]half{{"⋯", strconv.Itoa(fold) + " equal lines"}}, -1})
		lines = lines[len(lines)-tail:]
	}
	l.add(" ", lines, " ", lines)
}

// add shows lines of both messages side by side, or else one below another, equal ones once.
func (l *layout) add(left string, before []string, right string, after []string) {
	if !l.beside {
		for _, text := range before {
			l.halves(l.wrap(left, text), nil)
		}
		for _, text := range after {
			if left != right {
				l.halves(l.wrap(right, text), nil)
			}
		}
		return
	}
	for n := range max(len(before), len(after)) {
		var a, b []half
		if n < len(before) {
			a = l.wrap(left, before[n])
		}
		if n < len(after) {
			b = l.wrap(right, after[n])
		}
		l.halves(a, b)
	}
}

// halves adds rows of one half each, or with blank ones where a side is shorter.
func (l *layout) halves(a, b []half) {
	for n := range max(len(a), len(b)) {
		r := row{[]half{{sign: " "}, {sign: " "}}, l.change}
		if n < len(a) {
			r.halves[0] = a[n]
		}
		if n < len(b) {
			r.halves[1] = b[n]
		}
		if !l.beside {
			r.halves = r.halves[:1]
		}
		l.rows = append(l.rows, r)
	}
}

// wrap breaks a line at spaces where it can. What is marked is marked in every row.
func (l *layout) wrap(sign, line string) []half {
	var out []half
	again := theme.Style("") // the style in which the row before ended
	for text := range strings.SplitSeq(ansi.Hardwrap(ansi.Wrap(line, l.width, ""), l.width, true), "\n") {
		text = string(again) + text
		if again = ""; strings.LastIndex(text, string(marked)) > strings.LastIndex(text, "\x1b[m") {
			again = marked
			text += "\x1b[m"
		}
		if text = strings.TrimRight(text, " "); strings.TrimSpace(ansi.Strip(text)) != "" {
			out = append(out, half{sign, text})
		}
	}
	if out == nil {
		return []half{{sign: sign}}
	}
	return out
}

// draw draws a row, w cells wide; the difference that was gone to has a bar.
func (r row) draw(th *theme.Theme, w int, current bool) string {
	bar := " "
	if current {
		bar = th.Accent.On("▌")
	}
	if len(r.halves) == 1 {
		return bar + r.halves[0].draw(th, w-1)
	}
	left := (w - 2) / 2
	return bar + r.halves[0].draw(th, left) + th.Faint.On("│") + r.halves[1].draw(th, w-2-left)
}

// draw draws a half, w cells wide.
func (h half) draw(th *theme.Theme, w int) string {
	style := th.Dim
	switch h.sign {
	case "-":
		style = th.Bad
	case "+":
		style = th.Good
	}
	return theme.Fit(style.On(h.sign)+" "+style.On(strings.ReplaceAll(h.text, "\x1b[m", "\x1b[m"+string(style))), w)
}
