package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// ticker is the one timer of the screen. It runs only while something on the screen changes by
// the passing of time, and fires when that does.
type ticker struct {
	generation uint64
	at         time.Time // when it fires; zero while it does not run
}

type tickMsg struct{ generation uint64 }

// set runs the timer so that it fires at the given time or before; a later one that runs is replaced.
func (t *ticker) set(now time.Time, d time.Duration) tea.Cmd {
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
	return tea.Tick(d, func(time.Time) tea.Msg { return tickMsg{g} })
}

func (t *ticker) fired(m tickMsg) {
	if m.generation == t.generation {
		t.at = time.Time{}
	}
}

// tick sets the timer for the next change of what is on the screen.
func (a *app) tick() tea.Cmd {
	var next alarm
	if !a.lay.TooSmall {
		a.inboxes.wake(a.now, &next)
		a.messages.wake(a.now, &next)
		a.flash.wake(a.now, &next)
		a.link.wake(a.now, &next)
		a.wakeStates(&next)
	}
	return a.ticker.set(a.now, next.next)
}
