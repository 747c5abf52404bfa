package clock

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Ticker is the one timer of the screen. It runs only while something on the screen changes by
// the passing of time, and fires when that does.
type Ticker struct {
	generation uint64
	at         time.Time // when it fires; zero while it does not run
}

// TickMsg says that the timer fired.
type TickMsg struct{ generation uint64 }

// Set has the timer fire when the alarm is due, or before: a timer that would fire later is
// replaced.
func (t *Ticker) Set(now time.Time, a Alarm) tea.Cmd {
	d := a.next
	if d <= 0 {
		return nil
	}
	at := now.Add(d)
	if !t.at.IsZero() && !t.at.After(at) {
		return nil
	}
	t.generation++
	t.at = at
	g := t.generation
	return tea.Tick(d, func(time.Time) tea.Msg { return TickMsg{g} })
}

// Fired takes note of a timer that fired.
func (t *Ticker) Fired(m TickMsg) {
	if m.generation == t.generation {
		t.at = time.Time{}
	}
}
