package theme

import "testing"

func TestEveryCellBelongsToOnePart(t *testing.T) {
	for _, w := range []int{20, 33, 40, 79, 80, 81, 100, 119, 120, 160, 200, 400} {
		for _, h := range []int{6, 7, 11, 12, 24, 60, 120} {
			for _, focus := range []Pane{Inboxes, Messages, Reader} {
				for _, reading := range []bool{false, true} {
					for _, dragged := range []int{0, 1, 30, 500} {
						in := Input{w, h, focus, reading, Dividers{inboxes: dragged, messages: dragged}}
						checkCover(t, in, Compute(in))
					}
				}
			}
		}
	}
}

func checkCover(t *testing.T, in Input, l Layout) {
	t.Helper()
	grid := make([]int, in.Width*in.Height)
	paint := func(r Rect) {
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				if x < 0 || y < 0 || x >= in.Width || y >= in.Height {
					t.Fatalf("%+v: a part leaves the screen: %+v", in, r)
				}
				grid[y*in.Width+x]++
			}
		}
	}
	paint(l.Header)
	paint(l.Footer)
	for _, r := range l.Panes {
		paint(r)
	}
	for _, y := range l.Rules {
		paint(Rect{0, y, in.Width, 1})
	}
	for _, x := range l.Dividers {
		for y := range in.Height {
			if _, ok := l.divider(x, y); ok {
				paint(Rect{x, y, 1, 1})
			}
		}
	}
	for i, n := range grid {
		if n != 1 {
			t.Fatalf("%+v: cell %d,%d belongs to %d parts", in, i%in.Width, i/in.Width, n)
		}
	}
	if l.Panes[in.Focus].Empty() {
		t.Fatalf("%+v: the pane that has focus is not shown", in)
	}
}

func TestPanesSideBySide(t *testing.T) {
	for _, c := range []struct{ width, columns int }{{20, 1}, {79, 1}, {80, 2}, {119, 2}, {120, 3}, {400, 3}} {
		if got := Compute(Input{Width: c.width, Height: 24}).Columns; got != c.columns {
			t.Errorf("%d columns wide: %d panes, want %d", c.width, got, c.columns)
		}
	}
}

func TestTwoPanesFollowTheReading(t *testing.T) {
	in := Input{Width: 80, Height: 24, Focus: Messages}
	if l := Compute(in); l.Panes[Inboxes].Empty() {
		t.Error("nothing is read: the inboxes should stand beside the messages")
	}
	in.Reading = true
	if l := Compute(in); l.Panes[Reader].Empty() {
		t.Error("a message is read: it should stand beside the messages")
	}
}

func TestTooSmall(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want bool
	}{{19, 6, true}, {20, 5, true}, {20, 6, false}, {0, 0, true}} {
		if got := Compute(Input{Width: c.w, Height: c.h}).TooSmall; got != c.want {
			t.Errorf("%dx%d: too small is %v", c.w, c.h, got)
		}
	}
}
