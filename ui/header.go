package ui

import (
	"net"
	"strconv"
	"strings"
	"time"

	"mayfly/api/watch"
	"mayfly/ui/lists"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// startDelay is how long connecting may take before the screen mentions it.
const startDelay = 150 * time.Millisecond

// namedPath is the width in cells from which the path begins with the name of the program.
const namedPath = 30

// Facts are what the header and empty panes show.
type Facts struct {
	Theme    *theme.Theme
	Now      time.Time
	Link     *session.Link
	Store    *store.Store
	Keys     Table
	Selected *store.Inbox   // the selected inbox; nil for all
	Listed   *store.Inbox   // the inbox whose messages are listed; nil for all
	Newest   *store.Message // the latest arrival; nil if none
	Filtered bool           // the list of messages is filtered
	Pending  string         // what was asked for and has no answer yet; "" for nothing
	Follow   bool
	Autocopy bool
}

// Header is the first row, w cells wide. It shows path instead of the service if path is not nil.
// Without room, the least important of the vitals goes first, then the service takes a shorter form.
func (f Facts) Header(path []string, w int) string {
	lefts := f.service()
	if path != nil && f.Link.Session != nil {
		lefts = []string{" " + f.path(path, w >= namedPath)}
	}
	var rights []string
	parts := f.vitals()
	for n := range parts {
		rights = append(rights, strings.Join(parts[n:], f.Theme.Faint.On(" · "))+" ")
	}
	rights = append(rights, strings.Replace(rights[len(rights)-1], againIn, " ", 1))
	for _, left := range lefts {
		for _, right := range rights {
			if theme.Width(left)+theme.Width(right)+2 <= w {
				return theme.Spread(left, right, w)
			}
		}
	}
	return theme.Spread(lefts[len(lefts)-1], rights[len(rights)-1], w)
}

// service is the name of the service and its SMTP address, the longest form first.
func (f Facts) service() []string {
	th := f.Theme
	name := " " + (th.Accent + theme.Bold).On("mayfly") + "  " + th.Text.On(f.Link.Name())
	if f.Link.Session == nil || f.Link.Session.SMTPAddr == "" {
		return []string{name}
	}
	var forms []string
	address := f.Link.Session.SMTPAddr
	host, port, _ := net.SplitHostPort(address)
	for _, short := range []string{address, ":" + port} {
		if short == address || net.ParseIP(host).IsLoopback() {
			forms = append(forms, name+th.Dim.On(" · SMTP ")+th.Text.On(short))
		}
	}
	return append(forms, name)
}

func (f Facts) path(parts []string, named bool) string {
	th := f.Theme
	last := len(parts) - 1
	if last == 0 && named {
		return (th.Accent + theme.Bold).On("mayfly") + th.Faint.On(" › ") + th.Bright.On(parts[0])
	}
	head := ""
	for _, p := range parts[min(1, last):last] {
		head += th.Dim.On(th.Steady(p)) + th.Faint.On(" › ")
	}
	return head + th.Bright.On(th.Steady(parts[last]))
}

// vitals are the facts at the right of the header, the least important first.
func (f Facts) vitals() []string {
	th := f.Theme
	var parts []string
	if f.Newest != nil && f.Newest.Delay > 0 {
		parts = append(parts, th.Dim.On("last mail after "+theme.Elapsed(f.Newest.Delay)))
	}
	if f.Link.Session != nil {
		if u := f.Link.Session.Client.Budget().Usage(); u.Tight {
			parts = append(parts, th.Dim.On(strconv.Itoa(u.Used)+"/"+strconv.Itoa(u.Limit)+" a minute"))
		}
	}
	if i := f.Selected; i != nil && !i.Expires.IsZero() && !i.Gone(f.Now) {
		left, _ := theme.Remaining(i.Expires.Sub(f.Now))
		style := th.Dim
		if i.Expires.Sub(f.Now) <= lists.NearEnd {
			style = th.Warn
		}
		parts = append(parts, style.On(left+" left"))
	}
	if f.Autocopy {
		parts = append(parts, th.Accent.On("autocopy"))
	}
	if f.Follow {
		parts = append(parts, th.Accent.On("following"))
	}
	return append(parts, f.pulse())
}

// againIn is between a failure and the time until the next attempt, where there is room.
const againIn = ", again in "

// pulse is the state of the connection in a word or two.
func (f Facts) pulse() string {
	th := f.Theme
	wait := ""
	if c := f.Link.Countdown(f.Now); c != "" {
		wait = againIn + c
	}
	switch f.Link.Trouble() {
	case session.Stopped:
		return th.Bad.On("✕ stopped") + th.Text.On(": "+f.Keys.KeyFor("refresh")+" starts it")
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
	switch i := f.Selected; {
	case f.Link.Session == nil && f.Now.Sub(f.Link.Since) < startDelay:
		return ""
	case f.Link.Session == nil:
		return th.Dim.On("○ starting")
	case i != nil && i.Gone(f.Now):
		return th.Dim.On("✕ gone")
	case i != nil && i.Paused:
		return th.Warn.On("○ paused")
	case i != nil && i.State == store.Failing:
		return th.Bad.On("! failing")
	case !f.Link.Behind.IsZero():
		lag, _ := theme.Waited(f.Now.Sub(f.Link.Behind))
		return th.Warn.On("○ " + lag + " behind")
	case f.Link.Mode == watch.Live:
		return th.Good.On("●") + th.Text.On(" live")
	case f.Link.Mode == watch.Polling:
		return th.Good.On("●") + th.Text.On(" polling")
	}
	return th.Dim.On("○ connected")
}
