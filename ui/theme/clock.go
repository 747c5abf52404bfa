package theme

import (
	"fmt"
	"time"
)

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

// Age says how long ago something was, and in how long that text changes.
func Age(d time.Duration) (text string, next time.Duration) {
	if d < time.Minute {
		return "now", time.Minute - max(d, 0)
	}
	u, name := unit(d)
	return fmt.Sprintf("%d %s", d/u, name), u - d%u
}

// Waited says how long something has lasted, from the first second on, and in how long that text
// changes.
func Waited(d time.Duration) (text string, next time.Duration) {
	d = max(d, 0)
	u, name := unit(d)
	return fmt.Sprintf("%d %s", d/u, name), u - d%u
}

// Remaining says how much time is left, rounded up, and in how long that text changes.
func Remaining(d time.Duration) (text string, next time.Duration) {
	if d <= 0 {
		return "0 s", 0
	}
	u, name := unit(d - 1) // up to and including a minute in seconds
	n := (d + u - 1) / u
	return fmt.Sprintf("%d %s", n, name), d - (n-1)*u
}

// Elapsed writes a measured delay, in tenths of a second below 100 seconds.
func Elapsed(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d h", d/time.Hour)
}

// Alarm collects when the screen next changes because of the time. The zero value is never.
type Alarm struct{ next time.Duration }

// In records that something on the screen changes in d; zero or less means never.
func (a *Alarm) In(d time.Duration) {
	if d > 0 && (a.next == 0 || d < a.next) {
		a.next = d
	}
}
