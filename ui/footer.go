package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/host"
	"mayfly/ui/session"
	"mayfly/ui/theme"
)

// noticeTime is how long an outcome stays in the bottom line.
const noticeTime = 8 * time.Second

// outcome is what the bottom line says of the last key.
type outcome struct {
	host.Result
	note func() string // what is true now, instead of what was done, such as why an action is refused
	now  func() string // what is wrong with the connection now, instead of the error; may be nil
}

func (o outcome) said() string {
	switch {
	case o.note != nil:
		return o.note()
	case o.Err != nil && o.now != nil && o.now() != "":
		return o.now()
	case o.Err != nil:
		return session.Explain(o.Err)
	}
	return o.Text
}

// footer is the bottom line: the available keys, and the outcome of the last one, none in the zero value.
type footer struct {
	outcome outcome
	until   time.Time
	later   bool // the outcome came after the latest request began

	pending []*session.Request // without an answer yet
}

// show shows an outcome for noticeTime.
func (f *footer) show(o outcome, now time.Time) {
	f.outcome, f.until, f.later = o, now.Add(noticeTime), true
}

// say shows a note, as long as it is true: not "".
func (f *footer) say(note func() string, now time.Time) { f.show(outcome{note: note}, now) }

// begin begins a request and shows it until it ends, unless the same is under way already.
func (f *footer) begin(r *session.Request, now time.Time) tea.Cmd {
	if slices.ContainsFunc(f.pending, func(x *session.Request) bool { return x.What == r.What && x.About == r.About }) {
		f.say(func() string { return "still " + r.What + theme.Ellipsis }, now)
		return nil
	}
	return f.start(r)
}

// start begins a request whatever is under way.
func (f *footer) start(r *session.Request) tea.Cmd {
	f.pending, f.later = append(f.pending, r), false
	return r.Start()
}

// end ends a request.
func (f *footer) end(r *session.Request) {
	f.pending = slices.DeleteFunc(f.pending, func(x *session.Request) bool { return x == r })
}

// latest is the request begun last, nil if there is none.
func (f *footer) latest() *session.Request {
	if len(f.pending) == 0 {
		return nil
	}
	return f.pending[len(f.pending)-1]
}

func (f *footer) showing(now time.Time) bool { return now.Before(f.until) && f.outcome.said() != "" }

// draw draws the line, w cells wide: the keys of a pane, or those of the line being typed in it.
func (f *footer) draw(th *theme.Theme, t table, p theme.Pane, typing string, w int, now time.Time) string {
	said := f.said(th, w, now)
	if typing != "" {
		return theme.Spread(typing, said, w)
	}
	var b strings.Builder
	for _, h := range t.hints(p, w-theme.Width(said)-1) {
		b.WriteString(" " + theme.Hint(th, h.key(), h.hint()) + " ")
	}
	return theme.Spread(b.String(), said, w)
}

// actionAt is the action whose hint is at column x, nil if there is none.
func (f *footer) actionAt(th *theme.Theme, t table, p theme.Pane, w int, now time.Time, x int) *action {
	for _, h := range t.hints(p, w-theme.Width(f.said(th, w, now))-1) {
		if x >= h.x && x < h.x+h.w {
			return h.action
		}
	}
	return nil
}

// said is what the last key did, or is doing.
func (f *footer) said(th *theme.Theme, w int, now time.Time) string {
	if !f.later || !f.showing(now) {
		switch r := f.latest(); {
		case r == nil:
		case r.Total > 0:
			return th.Accent.On(fmt.Sprintf("%s %d/%d", r.What, r.Done, r.Total)) + " "
		default:
			return th.Accent.On(theme.Cut(r.What+theme.Ellipsis, w-2)) + " "
		}
	}
	if !f.showing(now) {
		return ""
	}
	o := f.outcome
	style, sign := th.Good, "✓ "
	switch {
	case o.note != nil:
		style, sign = th.Dim, ""
	case o.Err != nil:
		style, sign = th.Bad, "! "
	}
	text := sign + theme.StableWidth(o.said())
	if whole := text + " (" + o.How + ")"; o.How != "" && theme.Width(whole) <= w-2 {
		text = whole
	}
	if o.EndMatters || o.Err != nil {
		text = theme.CutMiddle(text, w-2)
	}
	return style.On(theme.Cut(text, w-2)) + " "
}
