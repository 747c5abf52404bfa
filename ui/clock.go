package ui

import (
	"fmt"
	"time"
)

// unit is the granularity in which a duration is told.
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

// age tells how long ago something was, and when that text will change.
func age(d time.Duration) (text string, next time.Duration) {
	if d < time.Minute {
		return "now", time.Minute - max(d, 0)
	}
	u, name := unit(d)
	return fmt.Sprintf("%d %s", d/u, name), u - d%u
}

// waited tells how long something has lasted, from the first second on.
func waited(d time.Duration) (text string, next time.Duration) {
	d = max(d, 0)
	u, name := unit(d)
	return fmt.Sprintf("%d %s", d/u, name), u - d%u
}

// remaining tells how long something still lasts, rounded up, and when that text will change.
func remaining(d time.Duration) (text string, next time.Duration) {
	if d <= 0 {
		return "0 s", 0
	}
	u, name := unit(d)
	n := (d + u - 1) / u
	next = d - (n-1)*u
	if next <= 0 {
		next = u
	}
	return fmt.Sprintf("%d %s", n, name), next
}

// elapsed tells a measured delay: tenths of a second where they matter.
func elapsed(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d h", d/time.Hour)
}

// alarm collects when the screen next changes by the passing of time alone.
type alarm struct{ next time.Duration }

// in notes that something on the screen changes after d; zero and less is never.
func (a *alarm) in(d time.Duration) {
	if d > 0 && (a.next == 0 || d < a.next) {
		a.next = d
	}
}
