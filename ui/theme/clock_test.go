package theme

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

func text(s string, _ time.Duration) string { return s }

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
		if got := text(Age(c.d)); got != c.age {
			t.Errorf("%v ago is %q, want %q", c.d, got, c.age)
		}
		if got := text(Waited(c.d)); got != c.waited {
			t.Errorf("%v of waiting are %q, want %q", c.d, got, c.waited)
		}
		if got := text(Remaining(c.d)); got != c.remaining {
			t.Errorf("%v that remain are %q, want %q", c.d, got, c.remaining)
		}
		if got := Elapsed(c.d); got != c.elapsed {
			t.Errorf("%v elapsed are %q, want %q", c.d, got, c.elapsed)
		}
	}
}

// TestTheTextChangesWhenItSays: it stays the same up to the next change, and then is another.
func TestTheTextChangesWhenItSays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, scale := range []time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour} {
		for range 5000 {
			d := time.Duration(r.Int64N(int64(130 * scale)))
			if r.IntN(2) == 0 {
				d = d.Truncate(scale)
			}
			for name, words := range map[string]func(time.Duration) (string, time.Duration){"Age": Age, "Waited": Waited, "Remaining": Remaining} {
				was, next := words(d)
				sign := time.Duration(1)
				if name == "Remaining" {
					sign = -1
				}
				if d == 0 && next == 0 {
					continue // nothing remains, for good
				}
				before, after := text(words(d+sign*(next-1))), text(words(d+sign*next))
				if next <= 0 || before != was || after == was {
					t.Fatalf("%s(%v) is %q for %v; just before it is %q, then %q", name, d, was, next, before, after)
				}
			}
		}
	}
}

func TestOneTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		alarm := func(in ...time.Duration) (a Alarm) {
			for _, d := range in {
				a.In(d)
			}
			return a
		}
		var k Ticker
		var fired []tea.Msg
		for _, c := range []struct {
			what  string
			alarm Alarm
			runs  bool
		}{
			{"nothing changes", alarm(), false},
			{"nothing changes any more", alarm(0, -time.Second), false},
			{"the first", alarm(time.Minute, 10*time.Second, time.Hour), true},
			{"one as early", alarm(10 * time.Second), false},
			{"a later one", alarm(20 * time.Second), false},
			{"an earlier one", alarm(5 * time.Second), true},
		} {
			cmd := k.Set(start, c.alarm)
			if (cmd != nil) != c.runs {
				t.Errorf("%s: a timer is set: %v", c.what, cmd != nil)
			}
			if cmd != nil {
				fired = append(fired, cmd())
			}
		}
		if d := time.Since(start); d != 15*time.Second {
			t.Errorf("they ran for %v", d)
		}
		now := time.Now()
		k.Fired(fired[0].(TickMsg)) // of the timer that was replaced
		if k.Set(start, alarm(time.Hour)) != nil {
			t.Error("a timer that was replaced ended the one that runs")
		}
		k.Fired(fired[1].(TickMsg))
		if k.Set(now, alarm(time.Hour)) == nil {
			t.Error("no timer is set after one fired")
		}
	})
}
