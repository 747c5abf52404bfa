package service

import "time"

// SetWall makes the service read the wall clock with an offset that the test may change at any
// time.
func (s *Service) SetWall(offset func() time.Duration) {
	real := readClock()
	s.clock = newClock(func() (time.Time, time.Duration) {
		wall, elapsed := real()
		return wall.Add(offset()), elapsed
	})
}
