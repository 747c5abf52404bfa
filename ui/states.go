package ui

import (
	"time"

	"mayfly/ui/cell"
	"mayfly/ui/layout"
)

// emptyText is what stands in the list of messages while there are none: why, and what to do.
func (a *app) emptyText(r layout.Rect) []string {
	w := r.W - 4
	say := func(paragraphs ...string) []string {
		var out []string
		for n, p := range paragraphs {
			if n > 0 {
				out = append(out, "")
			}
			out = append(out, wrapDim(a.th, p, w)...)
		}
		return out
	}
	if text := a.troubleText(w); text != nil {
		return text
	}
	i := a.book.inboxes[a.messages.inbox]
	switch {
	case a.session == nil:
		if a.now.Sub(a.link.since) < patience {
			return nil
		}
		return say("Starting…")
	case len(a.book.order) == 0 && a.link.creating:
		return nil
	case a.messages.filter.on():
		return say("Nothing matches. esc shows everything again.")
	case len(a.book.order) == 0:
		return append(say("There is no inbox."), "", hint(a.th, a.keyFor("new-inbox"), "makes one and copies its address"))
	case i == nil:
		return say("No mail in any inbox yet.")
	case i.gone(a.now):
		return append(say("This inbox is gone, and its messages with it."), "", hint(a.th, a.keyFor("new-inbox"), "makes a new one"))
	case i.state == stateFailing:
		return append(say(plainError(i.err)), "", hint(a.th, a.keyFor("refresh"), "looks again"))
	case i.paused:
		return append(say("The watch of this inbox is paused."), "", hint(a.th, a.keyFor("pause"), "goes on"), hint(a.th, a.keyFor("refresh"), "looks once"))
	}
	return a.waitingText(i, w)
}

// waitingText is an empty inbox: how to send to it, and how long it has been waiting.
func (a *app) waitingText(i *inbox, w int) []string {
	if i == nil {
		return nil
	}
	th, smtp := a.th, a.session.conn.SMTPAddr
	wait, _ := waited(a.now.Sub(i.waitingSince()))
	var out []string
	if smtp != "" {
		if line := "Send mail to it by SMTP " + smtp; cell.Width(line) <= w {
			out = append(out, th.Dim.On("Send mail to it by ")+th.Text.On("SMTP "+smtp))
		} else {
			out = append(out, th.Dim.On("Send mail to it by"), th.Text.On("SMTP "+smtp))
		}
	} else {
		out = append(out, wrapDim(th, "Mail sent to this address appears here.", w)...)
	}
	out = append(out, th.Dim.On("Waiting for mail · "+wait), "")
	out = append(out, hint(th, a.keyFor("copy-address"), "copies the address"))
	if needSMTP(a) == "" {
		out = append(out, hint(th, a.keyFor("send-sample"), "sends a sample mail"))
	}
	if a.session.conn.Embedded {
		out = append(out, "")
		out = append(out, wrapDim(th, "Point an application's SMTP settings at that port, with any login: every address it writes to becomes an inbox here.", w)...)
	}
	return out
}

// troubleText is what is wrong with the connection and what to do; nil while all is well or there is
// mail to look at.
func (a *app) troubleText(w int) []string {
	th := a.th
	var what, why string
	var keys []string
	switch kindOf(a.link.err) {
	case noTrouble:
		return nil
	case troubleNoKey:
		what, why = "No API key", "This service needs one. Type it in, or set MAYFLY_API_KEY, or run: mayfly key set"
		keys = []string{"connect", "connect with a key", "refresh", "look again"}
	case troubleKey:
		what, why = "The service refused the key", plainError(a.link.err)
		keys = []string{"connect", "use another key", "refresh", "try again"}
	case troublePlan:
		what, why = "The plan does not allow this", plainError(a.link.err)
		keys = []string{"connect", "use another key", "refresh", "try again"}
	case troubleLimit:
		what, why = "The request limit is reached", "The watch goes on by itself when the service allows it."
		keys = []string{"refresh", "try now"}
	default:
		what, why = "The service is away", plainError(a.link.err)
		keys = []string{"refresh", "try now", "connect", "connect to another"}
	}
	out := []string{th.Bad.On(what), ""}
	out = append(out, wrapDim(th, why, w)...)
	if c := a.link.countdown(a.now); c != "" && retried(a.link.err) {
		out = append(out, "", th.Text.On("Next try in "+c))
	}
	out = append(out, "")
	for n := 0; n+1 < len(keys); n += 2 {
		out = append(out, hint(th, a.keyFor(keys[n]), keys[n+1]))
	}
	return out
}

// idleText is what stands in the reader while nothing is read.
func (a *app) idleText(r layout.Rect) []string {
	if a.session == nil || len(a.book.messages) == 0 {
		return nil
	}
	return wrapDim(a.th, "Nothing is open. "+a.keyFor("open")+" opens a message; "+a.keyFor("follow")+" follows the newest.", r.W-4)
}

// wakeStates notes when the words in the panes change by themselves.
func (a *app) wakeStates(next *alarm) {
	if a.session == nil && a.link.err == nil {
		next.in(a.link.since.Add(patience).Sub(a.now))
	}
	if a.reader.reading() && a.reader.opened == nil && a.reader.err == nil {
		next.in(a.reader.since.Add(patience).Sub(a.now))
	}
	if r := a.reader; !r.rawSince.IsZero() {
		next.in(r.rawSince.Add(patience).Sub(a.now))
	}
	i := a.book.inboxes[a.messages.inbox]
	if i == nil || a.messages.list.Len() > 0 || a.session == nil || a.lay.Panes[paneMessages].Empty() || i.gone(a.now) {
		return
	}
	_, d := waited(a.now.Sub(i.waitingSince()))
	next.in(d)
}

// waitingSince is when mail began to be waited for.
func (i *inbox) waitingSince() time.Time {
	if i.copiedAt.IsZero() {
		return i.since
	}
	return i.copiedAt
}
