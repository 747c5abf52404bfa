package compare

import (
	"fmt"
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
	runs line
}

// context is how many equal lines are shown before and after a difference.
const context = 3

// layout lays out the passages of a part.
type layout struct {
	width          int // of a half, in cells
	beside, unfold bool

	rows   []row
	change int // that is being laid out
}

// rowsOf lays out a part for w cells. Beside, the older message is on the left and the newer one on
// the right; unfold shows the passages that are equal or moved in full.
func rowsOf(p part, w int, beside, unfold bool) []row {
	l := layout{width: max(1, w-3), beside: beside, unfold: unfold, change: -1}
	if beside {
		l.width = max(1, (w-1-5)/2)
	}
	if p.changes == 0 {
		l.single("=", whole([]string{"Nothing differs in this part."}))
	}
	change := 0
	for n, q := range p.passages {
		l.change = -1
		if q.kind != equal {
			l.change = change
			change++
		}
		switch {
		case q.kind == equal:
			l.equal(q.lines[0], n == 0, n == len(p.passages)-1)
		case q.kind == away && !unfold:
			l.note(counted(len(q.lines[0]), "line") + " moved from here: " + q.lines[0][0][0].text)
		case q.kind == here && !unfold:
			l.note(counted(len(q.lines[1]), "line") + " moved to here: " + q.lines[1][0][0].text)
		default:
			l.changed(q.lines)
		}
	}
	return l.rows
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// equal shows lines that are equal, those far from a difference only as a number.
func (l *layout) equal(lines []line, first, last bool) {
	head, tail := context, context
	if first {
		head = 0
	}
	if last {
		tail = 0
	}
	if fold := len(lines) - head - tail; fold > 1 && !l.unfold {
		l.pairs(" ", " ", lines[:head], lines[:head])
		l.note(counted(fold, "equal line"))
		lines = lines[len(lines)-tail:]
	}
	l.pairs(" ", " ", lines, lines)
}

// note stands for lines that are left out.
func (l *layout) note(text string) {
	l.rows = append(l.rows, row{[]half{{"⋯", line{{text: text}}}}, l.change})
}

func (l *layout) changed(lines [2][]line) {
	if l.beside {
		l.pairs("-", "+", lines[0], lines[1])
		return
	}
	l.single("-", lines[0])
	l.single("+", lines[1])
}

// single shows lines one below another.
func (l *layout) single(sign string, lines []line) {
	for _, text := range lines {
		for _, runs := range wrap(text, l.width) {
			l.rows = append(l.rows, row{[]half{{sign, runs}}, l.change})
		}
	}
}

// pairs shows lines side by side.
func (l *layout) pairs(left, right string, before, after []line) {
	if !l.beside {
		l.single(left, before)
		return
	}
	for n := range max(len(before), len(after)) {
		a, b := halves(left, before, n, l.width), halves(right, after, n, l.width)
		for k := range max(len(a), len(b)) {
			l.rows = append(l.rows, row{[]half{at(a, k), at(b, k)}, l.change})
		}
	}
}

// halves is line n wrapped, nothing after the last line.
func halves(sign string, lines []line, n, w int) []half {
	if n >= len(lines) {
		return nil
	}
	var out []half
	for _, runs := range wrap(lines[n], w) {
		out = append(out, half{sign, runs})
	}
	return out
}

func at(halves []half, n int) half {
	if n < len(halves) {
		return halves[n]
	}
	return half{sign: " "}
}

// wrap breaks a line into lines of at most w cells, at spaces where it can.
func wrap(l line, w int) []line {
	var text strings.Builder
	for _, r := range l {
		text.WriteString(r.text)
	}
	var lines []line
	rest := text.String()
	for row := range strings.SplitSeq(ansi.Hardwrap(ansi.Wrap(rest, w, ""), w, true), "\n") {
		row = strings.TrimRight(row, " ")
		if row == "" {
			continue
		}
		spaces := max(0, strings.Index(rest, row)) // where the line was broken
		_, l = l.split(spaces)
		var out line
		out, l = l.split(len(row))
		lines, rest = append(lines, out), rest[min(len(rest), spaces+len(row)):]
	}
	if lines == nil {
		return []line{nil}
	}
	return lines
}

// split splits a line after n bytes.
func (l line) split(n int) (head, tail line) {
	for k, r := range l {
		if n <= len(r.text) {
			if n > 0 {
				head = append(head, run{r.text[:n], r.changed})
			}
			return head, append(line{{r.text[n:], r.changed}}, l[k+1:]...)
		}
		head, n = append(head, r), n-len(r.text)
	}
	return head, nil
}

// add adds text to a line.
func add(l line, text string, changed bool) line {
	if last := len(l) - 1; last >= 0 && l[last].changed == changed {
		l[last].text += text
		return l
	}
	return append(l, run{text, changed})
}

// draw draws a row, w cells wide; the difference that was gone to has a bar.
func (r row) draw(th *theme.Theme, w int, current bool) string {
	bar := " "
	if current {
		bar = th.Accent.On("▌")
	}
	if len(r.halves) == 1 {
		return theme.Fit(bar+r.halves[0].draw(th, w-1), w)
	}
	left := (w - 2) / 2
	return theme.Fit(bar+r.halves[0].draw(th, left)+th.Faint.On("│")+r.halves[1].draw(th, w-2-left), w)
}

// draw draws a half, w cells wide. Words that differ are bold and underlined.
func (h half) draw(th *theme.Theme, w int) string {
	style := th.Dim
	switch h.sign {
	case "-":
		style = th.Bad
	case "+":
		style = th.Good
	}
	var b strings.Builder
	b.WriteString(style.On(h.sign) + " ")
	for _, r := range h.runs {
		if r.changed {
			b.WriteString((style + theme.Bold + theme.Underline).On(r.text))
		} else {
			b.WriteString(style.On(r.text))
		}
	}
	return theme.Fit(b.String(), w)
}
