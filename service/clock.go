package service

import (
	"sync"
	"time"
)

// now is the time by which everything is stamped and expires, in UTC and whole milliseconds, as the
// contract shows it.
func (s *Service) now() time.Time { return s.clock.now().UTC().Truncate(time.Millisecond) }

const (
	// clockTolerance is how far the wall clock may run ahead of the elapsed time before it counts as a step.
	clockTolerance = 2 * time.Second
	// clockPatience is how long a step must stand before what depends on it is destroyed.
	clockPatience = 10 * time.Minute
)

// clock follows the wall clock but not its mistakes. It compares it with the elapsed (monotonic) time.
//
// Set back: the clock goes on from where it was, so that what has expired stays so. Set forward, or
// awake again after a suspend: the clock follows, so that times and expiry are right, but certain,
// by which storage is reclaimed, does not. If the step is undone, nothing was destroyed. A step that
// stands for clockPatience is believed.
type clock struct {
	read func() (wall time.Time, elapsed time.Duration)

	mu       sync.Mutex
	wall     time.Time     // last believed reading
	elapsed  time.Duration // and when that was
	step     time.Duration // of the wall clock against the believed one; 0 when there is none
	stepSeen time.Duration // elapsed when the step was first seen
}

func newClock(read func() (time.Time, time.Duration)) *clock {
	c := &clock{read: read}
	c.wall, c.elapsed = read()
	return c
}

// readClock reads the clocks of the system.
func readClock() func() (time.Time, time.Duration) {
	start := time.Now()
	return func() (time.Time, time.Duration) {
		t := time.Now()
		return t.Round(0), t.Sub(start)
	}
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall, believed, _ := c.observe()
	if wall.After(believed) {
		return wall
	}
	return believed
}

// certain is the time that has passed whatever the wall clock did in the last minutes.
func (c *clock) certain() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, believed, _ := c.observe()
	return believed
}

// settle believes a step that has stood long enough. Call it when everything that had expired at
// certain is removed: after it, the clock may be earlier.
func (c *clock) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall, _, elapsed := c.observe()
	if c.step != 0 && elapsed-c.stepSeen >= clockPatience {
		c.wall, c.elapsed, c.step = wall, elapsed, 0
	}
}

func (c *clock) observe() (wall, believed time.Time, elapsed time.Duration) {
	wall, elapsed = c.read()
	believed = c.wall.Add(elapsed - c.elapsed)
	step := wall.Sub(believed)
	if 0 <= step && step <= clockTolerance {
		c.wall, c.elapsed, c.step = wall, elapsed, 0
		return wall, wall, elapsed
	}
	if c.step == 0 || (step-c.step).Abs() > clockTolerance {
		c.step, c.stepSeen = step, elapsed
	}
	return wall, believed, elapsed
}
