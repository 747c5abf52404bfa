package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/dialog"
	"mayfly/ui/theme"
)

const (
	besideFrom = 120 // columns from which the messages stand side by side
	namesFrom  = 8   // rows from which the messages are named
	rulesFrom  = 16  // rows from which rules separate the lines from what is above and below
)

// New shows a difference on the whole screen, one part at a time, beginning with the first that
// differs.
func New(d Difference) dialog.Dialog {
	s := &screen{Difference: d, pager: dialog.NewPager()}
	for s.part < len(d.parts)-1 && d.parts[s.part].changes == 0 {
		s.part++
	}
	if d.parts[s.part].changes == 0 {
		s.part = 0
	}
	return s
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
	k, ok := msg.(tea.KeyPressMsg)
	if s.pager.Update(msg) {
		s.follow()
		return dialog.Result{}
	}
	if !ok {
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
	s.rows = rowsOf(s.parts[s.part], w, w >= besideFrom, s.unfold)
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
	switch {
	case s.h < namesFrom:
	case s.w >= besideFrom:
		left := (s.w - 2) / 2
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
	tabs := dialog.Tabs(th, names, s.part)
	if room := s.w - 2 - len(count); theme.Width(tabs) > room {
		tabs = dialog.Tabs(th, names[s.part:s.part+1], 0) + th.Dim.On(fmt.Sprintf("  part %d of %d", s.part+1, len(s.parts)))
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
		sign += side.received.Local().Format(clock) + "  "
	}
	return theme.Fit(style.On(sign)+th.Dim.On(side.inbox)+"  "+side.subject, w)
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
