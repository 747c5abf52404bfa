// Package clock is time on the screen: durations in words, when those words change, and the one
// timer that draws them anew.
package clock

import (
	"fmt"
	"time"
)

// unit is the granularity in which a duration is written.
func unit(d time.Duration) (time.Duration, string) {
	switch {
	case d < time.Minute:
		return time.Second, "s"
	case d < 120*time.Minute:
		return time.Minute, "min"
	case d < 48*time.Hour:
		return time.Hour, "h"
	}
	return 24 * time.Hour, "d"
}

// Age says how long ago something was, and after how long that text changes.
func Age(d time.Duration) (text string, next time.Duration) {
	if d < time.Minute {
		return "now", time.Minute - max(d, 0)
	}
	u, name := unit(d)
	return fmt.Sprintf("%d %s", d/u, name), u - d%u
}

// Waited says how long something has lasted, from the first second on, and after how long that text
// changes.
func Waited(d time.Duration) (text string, next time.Duration) {
	d = max(d, 0)
	u, name := unit(d)
	return fmt.Sprintf("%d %s", d/u, name), u - d%u
}

// Remaining says how long something still lasts, rounded up, and after how long that text changes.
func Remaining(d time.Duration) (text string, next time.Duration) {
	if d <= 0 {
		return "0 s", 0
	}
	u, name := unit(d - 1) // up to and including a minute it is seconds that go by
	n := (d + u - 1) / u
	return fmt.Sprintf("%d %s", n, name), d - (n-1)*u
}

// Elapsed writes a measured delay, with tenths of a second where they matter.
func Elapsed(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d h", d/time.Hour)
}

// Alarm collects when the screen next changes by the passing of time alone.
type Alarm struct{ next time.Duration }

// In notes that something on the screen changes after d; zero and less is never.
func (a *Alarm) In(d time.Duration) {
	if d > 0 && (a.next == 0 || d < a.next) {
		a.next = d
	}
}
