package mcp

import (
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 seconds", 0: "0 seconds", time.Second: "1 second", 119 * time.Second: "119 seconds",
		10*time.Minute - 300*time.Millisecond: "10 minutes", 119 * time.Minute: "119 minutes",
		24*time.Hour - time.Second: "24 hours", 48 * time.Hour: "2 days", 30 * 24 * time.Hour: "30 days",
	} {
		if got := words(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
