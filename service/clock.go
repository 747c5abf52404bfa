package service

import (
	"sync"
	"time"
)

// now is the time that stamps and expiry use, in UTC and whole milliseconds, as in the contract.
func (s *Service) now() time.Time { return s.clock.now().UTC().Truncate(time.Millisecond) }

const (
	// maxSlew is how far the wall clock may get ahead of the elapsed time before it counts as a
	// step.
	maxSlew = 2 * time.Second
	// stepTrial is how long a step must persist before storage is reclaimed by it.
	stepTrial = 10 * time.Minute
)

// clock follows the wall clock, but is careful about its steps, which it detects by comparison with
// the elapsed (monotonic) time.
//
// When the wall clock is set back, now runs on from where it was, so that expired inboxes stay so.
// When it is set forward, or the machine wakes from suspend, now follows, so that times and expiry
// are right. But certain, by which storage is reclaimed, does not follow until the step has
// persisted for stepTrial: if it was a mistake and is undone, nothing is lost.
type clock struct {
	read func() (wall time.Time, elapsed time.Duration)

	mu       sync.Mutex
	wall     time.Time     // last reading that was trusted
	elapsed  time.Duration // at that reading
	step     time.Duration // of the wall clock since; 0: none
	stepSeen time.Duration // elapsed time at which the step was first seen
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
	wall, certain, _ := c.observe()
	if wall.After(certain) {
		return wall
	}
	return certain
}

// certain returns the time without the steps of the wall clock in the last minutes.
func (c *clock) certain() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, certain, _ := c.observe()
	return certain
}

// settle accepts a step that has persisted for stepTrial. Call it only once everything that had
// expired at certain is removed, since it may set the clock back.
func (c *clock) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall, _, elapsed := c.observe()
	if c.step != 0 && elapsed-c.stepSeen >= stepTrial {
		c.wall, c.elapsed, c.step = wall, elapsed, 0
	}
}

func (c *clock) observe() (wall, certain time.Time, elapsed time.Duration) {
	wall, elapsed = c.read()
	certain = c.wall.Add(elapsed - c.elapsed)
	step := wall.Sub(certain)
	if 0 <= step && step <= maxSlew {
		c.wall, c.elapsed, c.step = wall, elapsed, 0
		return wall, wall, elapsed
	}
	if c.step == 0 || (step-c.step).Abs() > maxSlew {
		c.step, c.stepSeen = step, elapsed
	}
	return wall, certain, elapsed
}
