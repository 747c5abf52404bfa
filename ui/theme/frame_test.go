package theme_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/theme"
	"mayfly/ui/uitest"
)

func TestPanesAreJoinedAtTheirRules(t *testing.T) {
	th := uitest.Theme(t)
	for _, c := range []struct {
		in   theme.Input
		want string
	}{
		{theme.Input{Width: 120, Height: 13}, strings.Repeat("─", 26) + "┬" + strings.Repeat("─", 38) + "┬" + strings.Repeat("─", 54)},
		{theme.Input{Width: 80, Height: 13}, strings.Repeat("─", 26) + "┬" + strings.Repeat("─", 53)},
		{theme.Input{Width: 40, Height: 13}, strings.Repeat("─", 40)},
		{theme.Input{Width: 120, Height: 8}, ""},
	} {
		l := theme.Compute(c.in)
		var columns [][]string
		for p, r := range l.Panes {
			if r.Empty() {
				continue
			}
			rows := theme.Blank(r)
			rows[0] = theme.Title(th, "A title that is longer than the narrowest of the panes", "9/9 ", r.W, p == 0)
			for n, line := range theme.WrapDim(th, "Secondary text, in rows of several words "+uitest.Joined, r.W-4) {
				if n+1 < len(rows) {
					rows[n+1] = theme.Fit("  "+line, r.W)
				}
			}
			columns = append(columns, rows)
		}
		screen := uitest.Draw(t, theme.Join(th, columns), c.in.Width)
		if got := strings.Count(screen.Rows[0], "│"); got != len(columns)-1 {
			t.Errorf("%+v: %d rules between %d panes", c.in, got, len(columns))
		}
		screen.See("9/9", "  Secondary text, ")
		if (c.want != "") != (len(l.Rules) > 0) || l.Top() != 1+len(l.Rules)/2 {
			t.Errorf("%+v: %d horizontal rules, panes from row %d on", c.in, len(l.Rules), l.Top())
		}
		if c.want != "" {
			uitest.Draw(t, []string{l.Rule(th, true), l.Rule(th, false)}, c.in.Width).Is(c.want + "\n" + strings.ReplaceAll(c.want, "┬", "┴"))
		}
	}
	if theme.Join(th, nil) != nil {
		t.Error("no panes have rows")
	}
}

func TestThePaneAtACell(t *testing.T) {
	l := theme.Compute(theme.Input{Width: 120, Height: 36})
	for _, c := range []struct {
		x, y int
		want theme.Pane
		ok   bool
	}{{0, 2, theme.Inboxes, true}, {27, 33, theme.Messages, true}, {119, 20, theme.Reader, true}, {26, 20, 0, false}, {5, 0, 0, false}, {5, 35, 0, false}} {
		if got, ok := l.At(c.x, c.y); got != c.want || ok != c.ok {
			t.Errorf("at %d, %d is pane %d, %v", c.x, c.y, got, ok)
		}
	}
	if theme.WheelRows(tea.MouseWheelMsg{Button: tea.MouseWheelUp}) >= 0 || theme.WheelRows(tea.MouseWheelMsg{Button: tea.MouseWheelLeft}) != 0 {
		t.Error("the wheel scrolls the wrong way")
	}
}
