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

// Age says how long ago something was.
func Age(d time.Duration) string {
	if d < time.Minute {
		return "now"
	}
	return Waited(d)
}

// Waited says how long something has lasted, from the first second on.
func Waited(d time.Duration) string {
	d = max(d, 0)
	u, name := unit(d)
	return fmt.Sprintf("%d %s", d/u, name)
}

// Remaining says how much time is left, rounded up.
func Remaining(d time.Duration) string {
	if d <= 0 {
		return "0 s"
	}
	u, name := unit(d - 1) // up to and including a minute in seconds
	return fmt.Sprintf("%d %s", (d+u-1)/u, name)
}

// Elapsed writes a measured delay, in tenths of a second below 100 seconds.
func Elapsed(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return Waited(d)
}
