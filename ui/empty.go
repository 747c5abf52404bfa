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

// noMessages is what the empty list of messages shows, w cells wide: why it is empty, and what to do.
func (a *app) noMessages(w int) []string {
	say := func(text string) []string { return theme.WrapDim(a.theme, text, w) }
	do := func(text, id, does string) []string { return append(say(text), "", a.hint(id, does)) }
	if text := a.trouble(w); text != nil {
		return text
	}
	empty, pending := len(a.store.Order) == 0, a.footer.waiting()
	i := a.store.Inboxes[a.messages.InboxID] // nil for all
	switch {
	case a.session() == nil && a.now.Sub(a.connection.Since()) < startDelay:
		return nil
	case a.session() == nil:
		return say("Starting…")
	case empty && pending != "":
		return say(strings.ToUpper(pending[:1]) + pending[1:])
	case a.messages.Filter.On():
		return say("No matches. esc clears the filter.")
	case empty:
		return do("There are no inboxes.", "new-inbox", "creates one and copies its address")
	case i == nil:
		return say("No mail in any inbox yet.")
	case i.Gone(a.now):
		return do("This inbox is gone, and its messages with it.", "new-inbox", "creates a new one")
	case i.State == store.Failing:
		return do(session.Explain(i.Err), "refresh", "tries again")
	case i.Paused:
		return append(do("Watching is paused for this inbox.", "pause", "resumes"), a.hint("refresh", "checks once"))
	}
	return a.waiting(i, w)
}

func (a *app) hint(id, does string) string { return theme.Hint(a.theme, a.table.keyFor(id), does) }

// waiting describes an empty inbox: how to send to it, and how long it has been waiting.
func (a *app) waiting(i *store.Inbox, w int) []string {
	th, conn := a.theme, a.session()
	wait := theme.Waited(a.now.Sub(i.Created))
	var out []string
	switch smtp := "SMTP " + conn.SMTPAddr; {
	case conn.SMTPAddr == "":
		out = theme.WrapDim(th, "Mail sent to this address appears here.", w)
	case theme.Width("Send mail to it by "+smtp+conn.SMTPNote) <= w:
		out = []string{th.Dim.On("Send mail to it by ") + th.Text.On(smtp) + th.Warn.On(conn.SMTPNote)}
	default:
		out = []string{th.Dim.On("Send mail to it by"), th.Text.On(smtp) + th.Warn.On(conn.SMTPNote)}
	}
	out = append(out, th.Dim.On("Waiting for mail · "+wait), "", a.hint("copy-address", "copies the address"))
	if a.table.reason(a.table.byID("send-sample")) == "" {
		out = append(out, a.hint("send-sample", "sends a sample message"))
	}
	if conn.Local {
		out = append(out, "")
		out = append(out, theme.WrapDim(th, "Point an application's SMTP settings at that port, with any login: every address it sends to becomes an inbox here.", w)...)
	}
	return out
}

// trouble says what is wrong with the connection and what to do; nil if nothing is.
func (a *app) trouble(w int) []string {
	type key struct{ id, does string }
	var what, why, or, command string
	var does []key
	kind := a.connection.Trouble()
	switch kind {
	case session.NoTrouble:
		return nil
	case session.Stopped:
		what, why = "The local service was stopped", "mayfly down has ended it. Mail sent to it is refused."
		does = []key{{"refresh", "start it again"}, {"connect", "connect to another"}}
	case session.NoKey:
		what, why, or, command = "No API key", "This service needs one.", "Or set MAYFLY_API_KEY, or run:", "mayfly key set"+a.connection.Flag()
		if errors.Is(a.connection.Err(), keys.ErrNoKeyring) {
			why, command = "This service needs one, and there is no keyring to keep it in.", "mayfly key set --file"+a.connection.Flag()
		}
		does = []key{{"connect", "connect with a key"}, {"refresh", "check again"}}
	case session.KeyRefused:
		what, why = "The service refused the key", session.Explain(a.connection.Err())
		does = []key{{"connect", "use another key"}, {"refresh", "try again"}}
	case session.NotInPlan:
		what, why = "The plan does not allow this", session.Explain(a.connection.Err())
		does = []key{{"connect", "use another key"}, {"refresh", "try again"}}
	case session.Limited:
		what, why = "Request limit reached", "Watching resumes when the service allows it."
		does = []key{{"refresh", "try now"}}
	default:
		what, why = "The service is unavailable", session.Explain(a.connection.Err())
		does = []key{{"refresh", "try now"}, {"connect", "connect to another"}}
	}
	out := append([]string{a.theme.Bad.On(what), ""}, theme.WrapDim(a.theme, why, w)...)
	if c := a.connection.Countdown(a.now); c != "" && kind.Temporary() {
		out = append(out, "", a.theme.Text.On("Next try in "+c))
	}
	out = append(out, "")
	for _, k := range does {
		out = append(out, a.hint(k.id, k.does))
	}
	if or != "" {
		out = append(append(out, ""), theme.WrapDim(a.theme, or, w)...)
		for _, row := range strings.Split(ansi.Wrap(command, w, ""), "\n") {
			out = append(out, a.theme.Text.On(row))
		}
	}
	return out
}
