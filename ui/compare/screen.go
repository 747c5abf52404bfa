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

// rowsOf lays out a part for w cells. Where there is room, the older message is on the left and the newer
// one on the right; unfold shows the passages that are equal in full.
func rowsOf(p part, w int, unfold bool) (rows []row) {
	beside, width := w >= besideFrom, max(1, w-3)
	if beside {
		width = max(1, (w-6)/2)
	}
	// across adds a line for both sides.
	across := func(change int, sign, line string) {
		for _, h := range wrap(sign, line, width) {
			rows = append(rows, row{[]half{h}, change})
		}
	}
	// add adds the lines of both sides, or else one below another, equal ones once.
	add := func(change int, signs [2]string, lines [2][]string) {
		for side := range lines {
			if beside || side == 1 && change < 0 {
				break
			}
			for _, line := range lines[side] {
				across(change, signs[side], line)
			}
		}
		for n := 0; beside && n < max(len(lines[0]), len(lines[1])); n++ {
			var halves [2][]half
			for side := range lines {
				if n < len(lines[side]) {
					halves[side] = wrap(signs[side], lines[side][n], width)
				}
			}
			for m := range max(len(halves[0]), len(halves[1])) {
				r := row{[]half{{sign: " "}, {sign: " "}}, change}
				for side, h := range halves {
					copy(r.halves[side:side+1], h[min(m, len(h)):])
				}
				rows = append(rows, r)
			}
		}
	}
	if p.changes == 0 {
		across(-1, "=", "No differences in this part.")
	}
	equal, change := [2]string{" ", " "}, 0
	for n, q := range p.passages {
		if q.Changed {
			add(change, [2]string{"-", "+"}, q.Lines)
			change++
			continue
		}
		lines, head, tail := q.Lines[0], context, context
		if n == 0 {
			head = 0
		}
		if n == len(p.passages)-1 {
			tail = 0
		}
		if fold := len(lines) - head - tail; fold > 1 && !unfold {
			add(-1, equal, [2][]string{lines[:head], lines[:head]})
			across(-1, "⋯", strconv.Itoa(fold)+" equal lines")
			lines = lines[len(lines)-tail:]
		}
		add(-1, equal, [2][]string{lines, lines})
	}
	return rows
}

// wrap breaks a line at spaces where it can, into rows of w cells. What is marked is marked in every row.
func wrap(sign, line string, w int) []half {
	var out []half
	again := theme.Style("") // the style in which the row before ended
	for text := range strings.SplitSeq(theme.Cells().Hardwrap(theme.Cells().Wrap(line, w, ""), w, true), "\n") {
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
