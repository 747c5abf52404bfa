package theme

import "testing"

func TestEveryCellBelongsToOnePart(t *testing.T) {
	for _, w := range []int{20, 33, 40, 79, 80, 81, 100, 119, 120, 160, 200, 400} {
		for _, h := range []int{6, 7, 11, 12, 24, 60, 120} {
			for _, focus := range []Pane{Inboxes, Messages, Reader} {
				for _, reading := range []bool{false, true} {
					for _, zoomed := range []bool{false, true} {
						in := Input{w, h, focus, reading, zoomed}
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
	paint(Rect{0, 0, in.Width, 1})
	paint(Rect{0, in.Height - 1, in.Width, 1})
	for _, r := range l.Panes {
		paint(r)
	}
	for _, y := range l.Rules {
		paint(Rect{0, y, in.Width, 1})
	}
	for _, x := range l.Dividers {
		paint(Rect{x, l.Top(), 1, in.Height - 2*l.Top()})
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

func TestWhatIsShown(t *testing.T) {
	for _, c := range []struct {
		in       Input
		tooSmall bool
		columns  int
		shown    Pane // besides the one that has focus
	}{
		{Input{Width: 19, Height: 6}, true, 0, 0},
		{Input{Width: 20, Height: 5}, true, 0, 0},
		{Input{}, true, 0, 0},
		{Input{Width: 20, Height: 6}, false, 1, Inboxes},
		{Input{Width: 79, Height: 24, Focus: Reader}, false, 1, Reader},
		{Input{Width: 80, Height: 24, Focus: Messages}, false, 2, Inboxes},
		{Input{Width: 119, Height: 24, Focus: Messages, Reading: true}, false, 2, Reader},
		{Input{Width: 120, Height: 24}, false, 3, Reader},
		{Input{Width: 400, Height: 24}, false, 3, Messages},
		{Input{Width: 400, Height: 24, Focus: Reader, Zoomed: true}, false, 1, Reader},
	} {
		l := Compute(c.in)
		if l.TooSmall != c.tooSmall || l.Columns != c.columns || !c.tooSmall && l.Panes[c.shown].Empty() {
			t.Errorf("%+v: too small %v, %d columns, panes %v", c.in, l.TooSmall, l.Columns, l.Panes)
		}
	}
}
