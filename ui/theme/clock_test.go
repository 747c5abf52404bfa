package theme

import (
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		d                               time.Duration
		age, waited, remaining, elapsed string
	}{
		{-time.Minute, "now", "0 s", "0 s", "-60.0 s"},
		{0, "now", "0 s", "0 s", "0.0 s"},
		{time.Millisecond, "now", "0 s", "1 s", "0.0 s"},
		{3240 * time.Millisecond, "now", "3 s", "4 s", "3.2 s"},
		{59 * time.Second, "now", "59 s", "59 s", "59.0 s"},
		{time.Minute, "1 min", "1 min", "60 s", "60.0 s"},
		{61 * time.Second, "1 min", "1 min", "2 min", "61.0 s"},
		{100 * time.Second, "1 min", "1 min", "2 min", "1 min"},
		{time.Hour, "60 min", "60 min", "60 min", "60 min"},
		{2*time.Hour - 1, "119 min", "119 min", "120 min", "119 min"},
		{2 * time.Hour, "2 h", "2 h", "120 min", "2 h"},
		{2*time.Hour + 1, "2 h", "2 h", "3 h", "2 h"},
		{2*day - 1, "47 h", "47 h", "48 h", "47 h"},
		{2 * day, "2 d", "2 d", "48 h", "48 h"},
		{30 * day, "30 d", "30 d", "30 d", "720 h"},
	} {
		if got := Age(c.d); got != c.age {
			t.Errorf("%v ago is %q, want %q", c.d, got, c.age)
		}
		if got := Waited(c.d); got != c.waited {
			t.Errorf("%v of waiting are %q, want %q", c.d, got, c.waited)
		}
		if got := Remaining(c.d); got != c.remaining {
			t.Errorf("%v that remain are %q, want %q", c.d, got, c.remaining)
		}
		if got := Elapsed(c.d); got != c.elapsed {
			t.Errorf("%v elapsed are %q, want %q", c.d, got, c.elapsed)
		}
	}
}
