package cli

import (
	"testing"
	"time"
)

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "90": 90 * time.Second, "30m": 30 * time.Minute, "1h": time.Hour, "1h30m": 90 * time.Minute,
		"2d": 48 * time.Hour, "1d12h": 36 * time.Hour, " 5s ": 5 * time.Second, "1.5h": 90 * time.Minute,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-1", "-5m", "1 hour", "x", "2d2d", "99999999999999999999", "999999999d", "1d-1h", "-1d", "NaN"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}
