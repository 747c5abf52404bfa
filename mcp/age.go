package mcp

import (
	"time"

	"github.com/dustin/go-humanize/english"
)

// words is a duration as people say it, in one unit.
func words(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < 2*time.Minute:
		return english.Plural(int(d/time.Second), "second", "")
	case d < 2*time.Hour:
		return english.Plural(int(d/time.Minute), "minute", "")
	case d < 48*time.Hour:
		return english.Plural(int(d/time.Hour), "hour", "")
	}
	return english.Plural(int(d/(24*time.Hour)), "day", "")
}
