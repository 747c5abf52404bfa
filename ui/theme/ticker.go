package theme

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Ticker is the one timer of the screen. It runs only while something on the screen depends on the
// time, and fires when that changes.
type Ticker struct {
	generation uint64
	at         time.Time // when it fires; zero while it does not run
}

// TickMsg means that the timer has fired.
type TickMsg struct{ generation uint64 }

// Set makes the timer fire no later than the alarm: one that would fire later is replaced.
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

// Fired records that the timer has fired.
func (t *Ticker) Fired(m TickMsg) {
	if m.generation == t.generation {
		t.at = time.Time{}
	}
}
