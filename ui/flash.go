package ui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/theme"
)

// mood is how a word of the status line is meant.
type mood int

const (
	note mood = iota
	done
	trouble
)

// flashFor is how long the outcome of a key stands in the bottom line.
const flashFor = 8 * time.Second

// flash is the outcome of the last key.
type flash struct {
	text  string
	mood  mood
	until time.Time
}

func (a *app) say(m mood, text string) tea.Cmd {
	a.flash = flash{text: text, mood: m, until: a.now.Add(flashFor)}
	return nil
}

// fail says what went wrong.
func (a *app) fail(err error) tea.Cmd {
	a.opts.Log.Warn("failed", "error", err)
	return a.say(trouble, plainError(err))
}

func (f *flash) showing(now time.Time) bool { return f.text != "" && now.Before(f.until) }

func (f *flash) wake(now time.Time, al *alarm) {
	if f.showing(now) {
		al.in(f.until.Sub(now))
	}
}

func (f *flash) style(th *theme.Theme) (theme.Style, string) {
	switch f.mood {
	case done:
		return th.Good, "✓ "
	case trouble:
		return th.Bad, "! "
	}
	return th.Dim, ""
}

// progress is work of several steps.
type progress struct {
	what        string
	done, total int
}

func (p *progress) bar() *tea.ProgressBar {
	if p.total == 0 {
		return nil
	}
	return tea.NewProgressBar(tea.ProgressBarDefault, 100*p.done/p.total)
}

func itoa(n int) string { return strconv.Itoa(n) }
