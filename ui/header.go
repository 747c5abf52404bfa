package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mayfly/api/watch"
	"mayfly/internal/sockets"
	"mayfly/ui/lists"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// startDelay is how long connecting may take before the screen mentions it.
const startDelay = 150 * time.Millisecond

// namedPath is the width in cells from which the path begins with the name of the program.
const namedPath = 30

// header is the first row, w cells wide. It shows path instead of the service if path is not nil. Without
// room, the least important of the vitals goes first, then the service takes a shorter form.
func (a *app) header(path []string, w int) string {
	lefts := a.serviceForms()
	if path != nil && a.session() != nil {
		lefts = []string{" " + a.drawPath(path, w >= namedPath)}
	}
	vitals := append(a.vitals(), a.pulse(againIn))
	var rights []string
	for n := range vitals {
		rights = append(rights, strings.Join(vitals[n:], a.theme.Faint.On(" · "))+" ")
	}
	rights = append(rights, a.pulse(" ")+" ")
	for _, left := range lefts {
		for _, right := range rights {
			if theme.Width(left)+theme.Width(right)+2 <= w {
				return theme.Spread(left, right, w)
			}
		}
	}
	return theme.Spread(lefts[len(lefts)-1], rights[len(rights)-1], w)
}

// serviceForms are the name of the service and its SMTP address, the longest form first.
func (a *app) serviceForms() []string {
	th := a.theme
	name := " " + (th.Accent + theme.Bold).On("mayfly") + "  " + th.Text.On(a.connection.Name())
	if a.session() == nil || a.session().SMTPAddr == "" {
		return []string{name}
	}
	address, smtp := a.session().SMTPAddr, name+th.Dim.On(" · SMTP ")
	addresses, forms := []string{address}, []string{}
	if sockets.IsLoopbackAddress(address) {
		addresses = append(addresses, address[strings.LastIndex(address, ":"):])
	}
	for _, note := range slices.Compact([]string{a.session().SMTPNote, ""}) {
		for _, address := range addresses {
			forms = append(forms, smtp+th.Text.On(address)+th.Warn.On(note))
		}
	}
	return append(forms, name)
}

func (a *app) drawPath(parts []string, named bool) string {
	th := a.theme
	last := len(parts) - 1
	if last == 0 && named {
		return (th.Accent + theme.Bold).On("mayfly") + th.Faint.On(" › ") + th.Bright.On(parts[0])
	}
	head := ""
	for _, p := range parts[min(1, last):last] {
		head += th.Dim.On(th.StableWidth(p)) + th.Faint.On(" › ")
	}
	return head + th.Bright.On(th.StableWidth(parts[last]))
}

// vitals are the facts at the right of the header, the least important first. What is wrong with the connection
// stands alone.
func (a *app) vitals() []string {
	if a.connection.Trouble() != session.NoTrouble {
		return nil
	}
	th := a.theme
	var parts []string
	if a.newest != nil && a.newest.Delay > 0 {
		parts = append(parts, th.Dim.On("last mail after "+theme.Elapsed(a.newest.Delay)))
	}
	if a.session() != nil {
		if u := a.session().Client.Budget().Usage(); u.Tight {
			parts = append(parts, th.Dim.On(fmt.Sprintf("%d of %d requests this minute", u.Used, u.Limit)))
		}
	}
	if i := a.inboxes.Inbox(); i != nil && !i.Expires.IsZero() && !i.Gone(a.now) {
		left := theme.Remaining(i.Expires.Sub(a.now))
		style := th.Dim
		if i.Expires.Sub(a.now) <= lists.NearEnd {
			style = th.Warn
		}
		parts = append(parts, style.On(left+" left"))
	}
	if a.autocopy {
		parts = append(parts, th.Accent.On("autocopy"))
	}
	if a.follow {
		parts = append(parts, th.Accent.On("following"))
	}
	return parts
}

// againIn is between a failure and the time until the next attempt, where there is room.
const againIn = ", again in "

// pulse is the state of the connection in a word or two; in leads to the time until the next attempt.
func (a *app) pulse(in string) string {
	th := a.theme
	wait := ""
	if c := a.connection.Countdown(a.now); c != "" {
		wait = in + c
	}
	switch a.connection.Trouble() {
	case session.Stopped:
		return th.Bad.On("✕ stopped") + th.Text.On(": "+a.table.keyFor("refresh")+" starts it")
	case session.NoKey:
		return th.Warn.On("○ no key")
	case session.KeyRefused:
		return th.Bad.On("✕ key refused")
	case session.NotInPlan:
		return th.Bad.On("✕ not in the plan")
	case session.Limited:
		return th.Warn.On("! limit reached" + wait)
	case session.Unavailable:
		return th.Bad.On("✕ offline" + wait)
	}
	switch i := a.inboxes.Inbox(); {
	case a.session() == nil && a.now.Sub(a.connection.Since()) < startDelay:
		return ""
	case a.session() == nil:
		return th.Dim.On("○ starting")
	case i != nil && i.Gone(a.now):
		return th.Dim.On("✕ gone")
	case i != nil && i.Paused:
		return th.Warn.On("○ paused")
	case i != nil && i.State == store.Failing:
		return th.Bad.On("! failing")
	case !a.session().Behind.IsZero():
		lag := theme.Waited(a.now.Sub(a.session().Behind))
		return th.Warn.On("○ " + lag + " behind")
	case a.session().Mode == watch.Live:
		return th.Good.On("●") + th.Text.On(" live")
	case a.session().Mode == watch.Polling:
		return th.Good.On("●") + th.Text.On(" polling")
	}
	return th.Dim.On("○ connected")
}
