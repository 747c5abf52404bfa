package cli

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestTimesInTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for _, c := range []struct {
			at          time.Time
			stamp, left string
		}{
			{time.Time{}, "-", "-"}, // unknown
			{now.Add(-time.Second), "1999-12-31T23:59:59.000Z", "expired"},
			{now.Add(90 * time.Minute), "2000-01-01T01:30:00.000Z", "90 min left"},
		} {
			if got := timestamp(c.at); got != c.stamp {
				t.Errorf("stamp of %v is %q", c.at, got)
			}
			if got := timeLeft(c.at); got != c.left {
				t.Errorf("left until %v is %q", c.at, got)
			}
		}
	})
}

func TestTimesToWaitAreWholeSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{time.Millisecond: "1s", 2 * time.Second: "2s", 89*time.Second + 1: "1m30s"} {
		if got := wholeSeconds(d); got != want {
			t.Errorf("%v becomes %s", d, got)
		}
	}
}

func TestThePagerGetsTheEnvironmentOfTheRun(t *testing.T) {
	a := &app{env: Env{Environ: []string{"A=1"}}}
	if got := a.pager(t.Context(), []string{"less"}).Env; !slices.Equal(got, []string{"A=1", "LESS=FRX"}) {
		t.Errorf("%q", got)
	}
}
