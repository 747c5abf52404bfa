package service

import (
	"testing"
	"time"
)

// fakeClocks are the two clocks of a machine.
type fakeClocks struct {
	wall    time.Time
	elapsed time.Duration
}

func (h *fakeClocks) read() (time.Time, time.Duration) { return h.wall, h.elapsed }

func (h *fakeClocks) pass(d time.Duration) {
	h.wall = h.wall.Add(d)
	h.elapsed += d
}

func TestClock(t *testing.T) {
	t.Parallel()
	begin := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	type moment struct{ now, certain time.Duration } // since begin
	for _, test := range []struct {
		name string
		do   func(h *fakeClocks, c *clock)
		want moment
	}{
		{"runs", func(h *fakeClocks, c *clock) { h.pass(time.Hour) }, moment{time.Hour, time.Hour}},
		{"slewed", func(h *fakeClocks, c *clock) {
			for range 3600 {
				h.pass(time.Second)
				h.wall = h.wall.Add(time.Millisecond)
				c.now()
			}
		}, moment{time.Hour + 3600*time.Millisecond, time.Hour + 3600*time.Millisecond}},
		{"set back", func(h *fakeClocks, c *clock) {
			h.pass(time.Hour)
			c.now()
			h.wall = h.wall.Add(-30 * time.Minute)
			h.pass(time.Minute)
		}, moment{61 * time.Minute, 61 * time.Minute}},
		{"set back by a little", func(h *fakeClocks, c *clock) {
			h.pass(time.Hour)
			c.now()
			h.wall = h.wall.Add(-time.Millisecond)
		}, moment{time.Hour, time.Hour}},
		{"set back and accepted", func(h *fakeClocks, c *clock) {
			h.pass(time.Hour)
			h.wall = h.wall.Add(-30 * time.Minute)
			c.settle()
			h.pass(9 * time.Minute)
			c.settle()
			if got := c.now(); !got.Equal(begin.Add(69 * time.Minute)) {
				t.Errorf("after 9 minutes it is %v", got)
			}
			h.pass(time.Minute)
			c.settle()
		}, moment{40 * time.Minute, 40 * time.Minute}},
		{"set forward", func(h *fakeClocks, c *clock) {
			h.pass(time.Hour)
			h.wall = h.wall.Add(24 * time.Hour)
			h.pass(time.Minute)
		}, moment{25*time.Hour + time.Minute, 61 * time.Minute}},
		{"set forward by mistake", func(h *fakeClocks, c *clock) {
			h.wall = h.wall.Add(24 * time.Hour)
			c.now()
			h.pass(9 * time.Minute)
			c.settle()
			h.wall = h.wall.Add(-24 * time.Hour)
			h.pass(20 * time.Minute)
			c.settle()
		}, moment{29 * time.Minute, 29 * time.Minute}},
		{"set forward and accepted", func(h *fakeClocks, c *clock) {
			h.wall = h.wall.Add(24 * time.Hour)
			c.settle()
			h.pass(10 * time.Minute)
			c.settle()
		}, moment{24*time.Hour + 10*time.Minute, 24*time.Hour + 10*time.Minute}},
		{"a second step starts anew", func(h *fakeClocks, c *clock) {
			h.wall = h.wall.Add(24 * time.Hour)
			c.settle()
			h.pass(9 * time.Minute)
			h.wall = h.wall.Add(24 * time.Hour)
			c.settle()
			h.pass(9 * time.Minute)
			c.settle()
		}, moment{48*time.Hour + 18*time.Minute, 18 * time.Minute}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &fakeClocks{wall: begin}
			c := newClock(h.read)
			test.do(h, c)
			got := moment{c.now().Sub(begin), c.certain().Sub(begin)}
			if got != test.want {
				t.Errorf("the clock shows %v, want %v", got, test.want)
			}
		})
	}
}
