package compare

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/cell"
	"mayfly/ui/dialog"
	"mayfly/ui/theme"
)

// NewDialog shows a difference, one part at a time.
func NewDialog(d Difference) dialog.Dialog {
	v := &view{Difference: d, pager: dialog.NewPager()}
	v.turn(0)
	return dialog.Box(v)
}

type view struct {
	Difference
	part  int
	pager dialog.Pager
	w, h  int // available cells
}

func (v *view) Update(msg tea.Msg) dialog.Result {
	k, ok := msg.(tea.KeyPressMsg)
	if v.pager.Update(msg) || !ok {
		return dialog.Result{}
	}
	switch k.String() {
	case "v", "tab", "l", "right":
		v.turn(1)
	case "shift+tab", "h", "left":
		v.turn(-1)
	case "esc", "q", "enter", "=":
		return dialog.Result{Close: true}
	}
	return dialog.Result{}
}

// turn shows another part.
func (v *view) turn(n int) {
	v.part = (v.part + n + len(parts)) % len(parts)
	v.pager.SetLines(v.lines[v.part])
}

func (v *view) Fit(w, h int) {
	v.w, v.h = min(w, 110), h
	v.pager.Fit(v.height())
}

// roomy is the height in rows from which the subjects are shown.
const roomy = 8

// height is the number of rows for the lines, with a row left free above and below the box.
func (v *view) height() int {
	if v.h < roomy {
		return max(1, v.h-1)
	}
	return v.h - 6
}

func (v *view) Rows(th *theme.Theme) (string, []string) {
	rows := []string{dialog.Tabs(th, parts[:], v.part) + th.Faint.On("   v next  esc back")}
	if v.h >= roomy {
		rows = []string{
			th.Bad.On("- ") + cell.Cut(cell.Steady(v.subjects[0]), v.w-2),
			th.Good.On("+ ") + cell.Cut(cell.Steady(v.subjects[1]), v.w-2),
			rows[0], "",
		}
	}
	from, to := v.pager.Visible()
	for _, line := range v.lines[v.part][from:to] {
		rows = append(rows, styled(th, line, v.w))
	}
	for range v.height() - (to - from) {
		rows = append(rows, "")
	}
	for n, r := range rows {
		rows[n] = cell.Fit(r, v.w)
	}
	return "Compare", rows
}

func styled(th *theme.Theme, line string, w int) string {
	text := cell.Cut(cell.Steady(line), w)
	switch {
	case strings.HasPrefix(line, "@@"):
		return th.Faint.On(strings.Repeat("╌", min(w, 8)))
	case strings.HasPrefix(line, "+"):
		return th.Good.On(text)
	case strings.HasPrefix(line, "-"):
		return th.Bad.On(text)
	}
	return th.Dim.On(text)
}
