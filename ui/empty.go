package ui

import (
	"errors"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"mayfly/keys"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// Messages is what the empty list of messages shows, w cells wide: why it is empty, and what to do.
func (f Facts) Messages(w int) []string {
	say := func(text string) []string { return theme.WrapDim(f.Theme, text, w) }
	do := func(text, id, does string) []string { return append(say(text), "", f.hint(id, does)) }
	if text := f.trouble(w); text != nil {
		return text
	}
	empty := len(f.Store.Order) == 0
	switch i := f.Listed; {
	case f.Link.Session == nil && f.Now.Sub(f.Link.Since) < startDelay:
		return nil
	case f.Link.Session == nil:
		return say("Starting…")
	case empty && f.Pending != "":
		return say(strings.ToUpper(f.Pending[:1]) + f.Pending[1:])
	case f.Filtered:
		return say("No matches. esc clears the filter.")
	case empty:
		return do("There are no inboxes.", "new-inbox", "creates one and copies its address")
	case i == nil:
		return say("No mail in any inbox yet.")
	case i.Gone(f.Now):
		return do("This inbox is gone, and its messages with it.", "new-inbox", "creates a new one")
	case i.State == store.Failing:
		return do(session.Explain(i.Err), "refresh", "tries again")
	case i.Paused:
		return append(do("Watching is paused for this inbox.", "pause", "resumes"), f.hint("refresh", "checks once"))
	}
	return f.waiting(w)
}

func (f Facts) hint(id, does string) string { return theme.Hint(f.Theme, f.Keys.KeyFor(id), does) }

// waiting describes an empty inbox: how to send to it, and how long it has been waiting.
func (f Facts) waiting(w int) []string {
	th, conn := f.Theme, f.Link.Session
	wait, _ := theme.Waited(f.Now.Sub(f.Listed.WaitingSince()))
	var out []string
	switch {
	case conn.SMTPAddr == "":
		out = theme.WrapDim(th, "Mail sent to this address appears here.", w)
	case theme.Width("Send mail to it by SMTP "+conn.SMTPAddr) <= w:
		out = []string{th.Dim.On("Send mail to it by ") + th.Text.On("SMTP "+conn.SMTPAddr)}
	default:
		out = []string{th.Dim.On("Send mail to it by"), th.Text.On("SMTP " + conn.SMTPAddr)}
	}
	out = append(out, th.Dim.On("Waiting for mail · "+wait), "", f.hint("copy-address", "copies the address"))
	if sample := f.Keys.ByID("send-sample"); sample != nil && sample.Reason() == "" {
		out = append(out, f.hint("send-sample", "sends a sample message"))
	}
	if conn.Local {
		out = append(out, "")
		out = append(out, theme.WrapDim(th, "Point an application's SMTP settings at that port, with any login: every address it sends to becomes an inbox here.", w)...)
	}
	return out
}

// trouble says what is wrong with the connection and what to do; nil if nothing is.
func (f Facts) trouble(w int) []string {
	type key struct{ id, does string }
	var what, why, or, command string
	var does []key
	kind := f.Link.Trouble()
	switch kind {
	case session.NoTrouble:
		return nil
	case session.Stopped:
		what, why = "The local service was stopped", "mayfly down has ended it. Mail sent to it is refused."
		does = []key{{"refresh", "start it again"}, {"connect", "connect to another"}}
	case session.NoKey:
		what, why, or, command = "No API key", "This service needs one.", "Or set MAYFLY_API_KEY, or run:", "mayfly key set"+f.Link.Flag()
		if errors.Is(f.Link.Err, keys.ErrNoKeyring) {
			why, command = "This service needs one, and there is no keyring to keep it in.", "mayfly key set --file"+f.Link.Flag()
		}
		does = []key{{"connect", "connect with a key"}, {"refresh", "check again"}}
	case session.KeyRefused:
		what, why = "The service refused the key", session.Explain(f.Link.Err)
		does = []key{{"connect", "use another key"}, {"refresh", "try again"}}
	case session.NotInPlan:
		what, why = "The plan does not allow this", session.Explain(f.Link.Err)
		does = []key{{"connect", "use another key"}, {"refresh", "try again"}}
	case session.Limited:
		what, why = "Request limit reached", "Watching resumes when the service allows it."
		does = []key{{"refresh", "try now"}}
	default:
		what, why = "The service is unavailable", session.Explain(f.Link.Err)
		does = []key{{"refresh", "try now"}, {"connect", "connect to another"}}
	}
	out := append([]string{f.Theme.Bad.On(what), ""}, theme.WrapDim(f.Theme, why, w)...)
	if c := f.Link.Countdown(f.Now); c != "" && kind.Temporary() {
		out = append(out, "", f.Theme.Text.On("Next try in "+c))
	}
	out = append(out, "")
	for _, k := range does {
		out = append(out, f.hint(k.id, k.does))
	}
	if or != "" {
		out = append(append(out, ""), theme.WrapDim(f.Theme, or, w)...)
		for _, row := range strings.Split(ansi.Wrap(command, w, ""), "\n") {
			out = append(out, f.Theme.Text.On(row))
		}
	}
	return out
}

// Reader is what the reader shows while no message is open.
func (f Facts) Reader(w int) []string {
	if f.Link.Session == nil || len(f.Store.Messages) == 0 {
		return nil
	}
	text := "Nothing is open. " + f.Keys.KeyFor("open") + " opens a message; " + f.Keys.KeyFor("follow") + " follows the newest."
	return theme.WrapDim(f.Theme, text, w)
}

// Wake sets the alarm for the next time-dependent change of these texts; listed means that the list
// of messages is on the screen and empty.
func (f Facts) Wake(a *theme.Alarm, listed bool) {
	if f.Link.Session == nil && f.Link.Err == nil {
		a.In(f.Link.Since.Add(startDelay).Sub(f.Now))
	}
	f.Link.Wake(f.Now, a)
	if i := f.Selected; i != nil && !i.Gone(f.Now) { // the time left stands in the header
		_, next := theme.Remaining(i.Expires.Sub(f.Now))
		a.In(next)
	}
	if i := f.Listed; listed && i != nil && f.Link.Session != nil && !i.Gone(f.Now) {
		_, next := theme.Waited(f.Now.Sub(i.WaitingSince()))
		a.In(next)
	}
}
