package ui

import (
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/ui/host"
	"mayfly/ui/session"
	"mayfly/ui/theme"
)

// Level says how the text in the bottom line is styled.
type Level int

// The levels.
const (
	NoteLevel Level = iota
	Success
	Failure
)

// noticeTime is how long an outcome stays in the bottom line.
const noticeTime = 8 * time.Second

// Footer is the bottom line: the available keys, and the outcome of the last one. The zero value
// has no outcome.
type Footer struct {
	text  string
	level Level
	until time.Time
	later bool // the outcome came after the latest request began
	// reason is why an action was refused, as it is now; nil for other outcomes.
	reason func() string

	pending session.Pending
}

// Show shows text for noticeTime.
func (f *Footer) Show(l Level, text string, now time.Time) {
	f.text, f.level, f.until, f.later, f.reason = text, l, now.Add(noticeTime), true, nil
}

// Refuse shows why an action is unavailable, as long as it is.
func (f *Footer) Refuse(a *Action, now time.Time) {
	f.Show(NoteLevel, a.Reason(), now)
	f.reason = a.Reason
}

// said is the text of the outcome.
func (f *Footer) said() string {
	if f.reason != nil {
		return f.reason()
	}
	return f.text
}

// Begin begins a request, which is shown until [Footer.End]. If it is under way already, that is
// shown instead.
func (f *Footer) Begin(r session.Request, now time.Time) tea.Cmd {
	cmd := f.pending.Begin(r)
	if cmd == nil {
		f.Show(NoteLevel, "still "+r.What+theme.Ellipsis, now)
	} else {
		f.later = false
	}
	return cmd
}

// End ends a request.
func (f *Footer) End(a session.Answer) { f.pending.End(a) }

// Pending is the latest request without an answer, such as "making an inbox…"; "" if there is none.
func (f *Footer) Pending() string {
	if r := f.pending.Latest(); r.What != "" {
		return r.What + theme.Ellipsis
	}
	return ""
}

// Done shows the outcome of work.
func (f *Footer) Done(d host.Done, now time.Time) {
	if d.Err != nil {
		f.Show(Failure, session.Explain(d.Err), now)
		var e *api.Error
		if errors.As(d.Err, &e) && e.RetryAfter > 0 { // the text says how long until then
			f.until = now.Add(min(e.RetryAfter, noticeTime))
		}
	} else {
		f.Show(Success, d.Text, now)
	}
}

// ProgressBar is the progress for the terminal's own progress bar; nil if there is none.
func (f *Footer) ProgressBar() *tea.ProgressBar {
	r := f.pending.Latest()
	if r.Total == 0 {
		return nil
	}
	return tea.NewProgressBar(tea.ProgressBarDefault, 100*r.Done/r.Total)
}

// Wake sets the alarm for when the outcome disappears.
func (f *Footer) Wake(now time.Time, a *theme.Alarm) {
	if f.showing(now) {
		a.In(f.until.Sub(now))
	}
}

func (f *Footer) showing(now time.Time) bool { return now.Before(f.until) && f.said() != "" }

// Draw draws the line, w cells wide.
func (f *Footer) Draw(th *theme.Theme, table Table, p theme.Pane, w int, now time.Time) string {
	outcome := f.outcome(th, w, now)
	var b strings.Builder
	for _, h := range f.hints(th, table, p, w, now) {
		b.WriteString(" " + theme.Hint(th, h.Key, h.Hint) + " ")
	}
	return theme.Spread(b.String(), outcome, w)
}

func (f *Footer) hints(th *theme.Theme, table Table, p theme.Pane, w int, now time.Time) []Hint {
	return table.Hints(p, w-theme.Width(f.outcome(th, w, now))-1)
}

// ActionAt is the action whose hint is at column x, nil if there is none.
func (f *Footer) ActionAt(th *theme.Theme, table Table, p theme.Pane, w int, now time.Time, x int) *Action {
	for _, h := range f.hints(th, table, p, w, now) {
		if x >= h.X && x < h.X+h.W {
			return h.Action
		}
	}
	return nil
}

// outcome is what the last key did, or is doing.
func (f *Footer) outcome(th *theme.Theme, w int, now time.Time) string {
	if !f.later || !f.showing(now) {
		if r := f.pending.Latest(); r.Total > 0 {
			return th.Accent.On(fmt.Sprintf("%s %d/%d %s", r.What, r.Done, r.Total, gauge(r))) + " "
		} else if r.What != "" {
			return th.Accent.On(theme.Cut(f.Pending(), w-2)) + " "
		}
	}
	if !f.showing(now) {
		return ""
	}
	style, sign := th.Dim, ""
	switch f.level {
	case Success:
		style, sign = th.Good, "✓ "
	case Failure:
		style, sign = th.Bad, "! "
	}
	text := sign + theme.Steady(f.said())
	if aside := strings.LastIndex(text, " ("); theme.Width(text) > w-2 && aside > 0 && strings.HasSuffix(text, ")") {
		text = text[:aside] // how it was done
	}
	if f.level == Failure || strings.Contains(text, "@") { // why it failed, or the domain, is at the end
		text = theme.CutMiddle(text, w-2)
	}
	return style.On(theme.Cut(text, w-2)) + " "
}

// gauge is the progress as a bar.
func gauge(r session.Request) string {
	const cells = 10
	full := cells * r.Done / r.Total
	return strings.Repeat("━", full) + strings.Repeat("╌", cells-full)
}
