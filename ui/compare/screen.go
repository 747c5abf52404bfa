package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mayfly/ui/dialog"
	"mayfly/ui/theme"
)

const (
	besideFrom = 120 // columns from which the messages stand side by side
	namesFrom  = 8   // rows from which the messages are named
	rulesFrom  = 16  // rows from which rules separate the lines from what is above and below
)

// New shows a difference on the whole screen, a part at a time, from the first that differs.
func New(d Difference) dialog.Dialog {
	differs := slices.IndexFunc(d.parts, func(p part) bool { return p.changes > 0 && p.name != allHeaders })
	return &screen{Difference: d, part: max(0, differs), pager: dialog.NewPager()}
}

type screen struct {
	Difference
	part   int // the one that is shown
	change int // the difference gone to
	unfold bool
	rows   []row // nil until they are laid out
	pager  dialog.Pager
	w, h   int
}

func (s *screen) Update(msg tea.Msg) dialog.Result {
	k, isKey := msg.(tea.KeyPressMsg)
	if s.pager.Update(msg) || !isKey {
		s.follow()
		return dialog.Result{}
	}
	switch k.String() {
	case "n", "]":
		s.step(1)
	case "N", "[":
		s.step(-1)
	case "v", "tab", "l", "right":
		s.turn(1)
	case "shift+tab", "h", "left":
		s.turn(-1)
	case "z":
		s.unfold, s.rows = !s.unfold, nil
	case "esc", "q", "enter", "=":
		return dialog.Result{Close: true}
	}
	return dialog.Result{}
}

func (s *screen) turn(n int) {
	s.part = (s.part + n + len(s.parts)) % len(s.parts)
	s.change, s.rows = 0, nil
}

// step goes to the next difference, with -1 to the previous one, wrapping around.
func (s *screen) step(n int) {
	if count := s.parts[s.part].changes; count > 0 {
		s.change = (s.change + n + count) % count
		s.show()
	}
}

// show scrolls to the difference gone to: to all of it, or else to its beginning.
func (s *screen) show() {
	from, to := -1, -1
	for n, r := range s.rows {
		if r.change == s.change {
			if from < 0 {
				from = n
			}
			to = n
		}
	}
	if from >= 0 {
		s.pager.Show(to)
		s.pager.Show(max(0, from-1))
	}
}

// follow makes the first difference on the screen the one gone to, unless that one is still there.
func (s *screen) follow() {
	first := -1
	from, to := s.pager.Visible()
	for _, r := range s.rows[from:to] {
		if r.change == s.change {
			return
		}
		if first < 0 {
			first = r.change
		}
	}
	s.change = max(first, 0)
}

// Fit lays out the rows again if the part or the width has changed.
func (s *screen) Fit(w, h int) {
	again := w != s.w || s.rows == nil
	s.w, s.h = w, h
	s.pager.Fit(s.height())
	if !again {
		return
	}
	s.rows = rowsOf(s.parts[s.part], w, s.unfold)
	s.pager.SetLines(slices.Repeat([]string{" "}, len(s.rows)))
	s.show()
}

// height is the number of rows for the lines.
func (s *screen) height() int {
	return max(1, s.h-len(s.head(&theme.Theme{}))-len(s.foot(&theme.Theme{})))
}

func (s *screen) Draw(th *theme.Theme, rows []string, w int) {
	out := s.head(th)
	from, to := s.pager.Visible()
	for _, r := range s.rows[from:to] {
		out = append(out, r.draw(th, w, r.change == s.change))
	}
	foot := s.foot(th)
	blank := row{halves: make([]half, 1)}
	if w >= besideFrom {
		blank.halves = make([]half, 2)
	}
	for len(out) < len(rows)-len(foot) {
		out = append(out, blank.draw(th, w, false))
	}
	copy(rows, append(out, foot...))
}

// head names the parts and the messages.
func (s *screen) head(th *theme.Theme) []string {
	rows := []string{s.title(th)}
	left := (s.w - 2) / 2
	switch {
	case s.h < namesFrom:
	case s.w >= besideFrom:
		rows = append(rows, " "+s.name(th, 0, left)+th.Faint.On("│")+s.name(th, 1, s.w-2-left))
	default:
		rows = append(rows, " "+s.name(th, 0, s.w-1), " "+s.name(th, 1, s.w-1))
	}
	return append(rows, s.rule(th, "┼")...)
}

// rule separates the lines from what is above and below, where there is room.
func (s *screen) rule(th *theme.Theme, joint string) []string {
	if s.h < rulesFrom {
		return nil
	}
	line := strings.Repeat("─", s.w)
	if left := (s.w - 2) / 2; s.w >= besideFrom {
		line = strings.Repeat("─", left+1) + joint + strings.Repeat("─", s.w-left-2)
	}
	return []string{th.Faint.On(line)}
}

// title is the first row: the parts, each with the number of its differences.
func (s *screen) title(th *theme.Theme) string {
	names := make([]string, len(s.parts))
	for n, p := range s.parts {
		names[n] = p.name
		if p.changes > 0 {
			names[n] += " " + strconv.Itoa(p.changes)
		}
	}
	p := s.parts[s.part]
	count := "no difference "
	if p.changes > 0 {
		count = fmt.Sprintf("%d of %d ", s.change+1, p.changes)
	}
	tabs := dialog.Tabs(th, names, s.part, "  ")
	if room := s.w - 2 - len(count); theme.Width(tabs) > room {
		tabs = dialog.Tabs(th, names[s.part:s.part+1], 0, "") + th.Dim.On(fmt.Sprintf("  part %d of %d", s.part+1, len(s.parts)))
	} else if theme.Width(tabs)+len("Compare   ") <= room {
		tabs = th.Bright.On("Compare") + "   " + tabs
	}
	return theme.Spread(" "+tabs, th.Dim.On(count), s.w)
}

// name says which message one side is, w cells wide.
func (s *screen) name(th *theme.Theme, n, w int) string {
	sign, style := "- ", th.Bad
	if n == 1 {
		sign, style = "+ ", th.Good
	}
	side, clock := s.sides[n], "2 Jan 15:04:05"
	if w < 50 {
		side.inbox, _, _ = strings.Cut(side.inbox, "@")
		clock = "15:04:05"
	}
	if !side.received.IsZero() {
		sign += th.Local(side.received).Format(clock) + "  "
	}
	return theme.Fit(style.On(sign)+th.Dim.On(theme.CutMiddle(side.inbox, w/2))+"  "+side.subject, w)
}

// foot is the last row: the keys.
func (s *screen) foot(th *theme.Theme) []string {
	fold := "unfold"
	if s.unfold {
		fold = "fold"
	}
	row := ""
	for _, h := range [...][2]string{{"n", "next"}, {"N", "previous"}, {"v", "part"}, {"z", fold}, {"j k", "scroll"}} {
		hint := " " + theme.Hint(th, h[0], h[1]) + " "
		if theme.Width(row)+theme.Width(hint)+len(" esc back ") <= s.w {
			row += hint
		}
	}
	return append(s.rule(th, "┴"), theme.Fit(row+" "+theme.Hint(th, "esc", "back"), s.w))
}

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

// rowsOf lays out a part for w cells. Where there is room, the older message is on the left and the newer
// one on the right; unfold shows the passages that are equal in full.
func rowsOf(p part, w int, unfold bool) []row {
	l := layout{width: max(1, w-3), beside: w >= besideFrom, change: -1}
	if l.beside {
		l.width = max(1, (w-1-5)/2)
	}
	if p.changes == 0 {
		l.single("=", []string{"No differences in this part."})
	}
	change := 0
	for n, q := range p.passages {
		if q.Changed {
			l.change = change
			change++
			l.add("-", q.Lines[0], "+", q.Lines[1])
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
		l.equal(q.Lines[0], head, tail, unfold)
	}
	return l.rows
}

// equal shows equal lines: all, or only the number of those between the first and the last few.
func (l *layout) equal(lines []string, head, tail int, unfold bool) {
	if fold := len(lines) - head - tail; fold > 1 && !unfold {
		l.add(" ", lines[:head], " ", lines[:head])
		l.single("⋯", []string{strconv.Itoa(fold) + " equal lines"})
		lines = lines[len(lines)-tail:]
	}
	l.add(" ", lines, " ", lines)
}

// add shows lines of both messages side by side, or else one below another, equal ones once.
func (l *layout) add(left string, before []string, right string, after []string) {
	if !l.beside {
		l.single(left, before)
		if left != right {
			l.single(right, after)
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
		l.side(a, b)
	}
}

// single shows lines one below another.
func (l *layout) single(sign string, lines []string) {
	for _, text := range lines {
		for _, h := range l.wrap(sign, text) {
			l.rows = append(l.rows, row{[]half{h}, l.change})
		}
	}
}

// side adds rows of two halves, blank ones where a side is shorter.
func (l *layout) side(a, b []half) {
	for n := range max(len(a), len(b)) {
		r := row{[]half{{sign: " "}, {sign: " "}}, l.change}
		copy(r.halves[:1], a[min(n, len(a)):])
		copy(r.halves[1:], b[min(n, len(b)):])
		l.rows = append(l.rows, r)
	}
}

// wrap breaks a line at spaces where it can. What is marked is marked in every row.
func (l *layout) wrap(sign, line string) []half {
	var out []half
	again := theme.Style("") // the style in which the row before ended
	for text := range strings.SplitSeq(theme.Cells().Hardwrap(theme.Cells().Wrap(line, l.width, ""), l.width, true), "\n") {
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
