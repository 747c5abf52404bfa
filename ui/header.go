package ui

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mayfly/api/watch"
	"mayfly/internal/sockets"
	"mayfly/keys"
	"mayfly/ui/lists"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// startDelay is how long connecting may take before the screen mentions it.
const startDelay = 150 * time.Millisecond

// namedFrom is the width in cells from which the list of inboxes has the name of the program before its own.
const namedFrom = 30

// header is the first row, w cells wide. It shows place instead of the service if there is one. Without
// room, the least important of the vitals goes first, then the service takes a shorter form.
func (a *app) header(place string, w int) string {
	lefts := a.serviceForms()
	if place != "" && a.session() != nil {
		lefts = []string{" " + a.theme.Bright.On(a.theme.StableWidth(place))}
		if a.focus == theme.Inboxes && w >= namedFrom {
			lefts[0] = " " + (a.theme.Accent + theme.Bold).On("mayfly") + a.theme.Faint.On(" › ") + lefts[0][1:]
		}
	}
	long, short := a.connectionStatus()
	vitals := append(a.statusItems(), long)
	var rights []string
	for n := range vitals {
		rights = append(rights, strings.Join(vitals[n:], a.theme.Faint.On(" · "))+" ")
	}
	rights = append(rights, short+" ")
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
	address, note := a.session().SendTo()
	if address == "" {
		return []string{name}
	}
	smtp := name + th.Dim.On(" · SMTP ")
	addresses, forms := []string{address}, []string{}
	if sockets.IsLoopbackAddress(address) {
		addresses = append(addresses, address[strings.LastIndex(address, ":"):])
	}
	for _, note := range slices.Compact([]string{note, ""}) {
		for _, address := range addresses {
			forms = append(forms, smtp+th.Text.On(address)+th.Warn.On(note))
		}
	}
	return append(forms, name)
}

// statusItems are the facts at the right, the least important first; none while something is wrong.
func (a *app) statusItems() []string {
	if a.connection.Trouble() != session.NoTrouble {
		return nil
	}
	th := a.theme
	var parts []string
	if a.arrivals.newest != nil && a.arrivals.newest.Delay > 0 {
		parts = append(parts, th.Dim.On("last mail after "+theme.Elapsed(a.arrivals.newest.Delay)))
	}
	if a.session() != nil {
		if u := a.session().Client.Budget().Usage(); u.Tight && u.Stated > 0 {
			parts = append(parts, th.Dim.On(fmt.Sprintf("%d of %d requests this minute", u.Used, u.Stated)))
		}
	}
	if i := a.inboxes.Inbox(); i != nil && !i.Expires.IsZero() && !i.Gone(a.serviceNow()) {
		left := i.Expires.Sub(a.serviceNow())
		style := th.Dim
		if left <= lists.NearEnd {
			style = th.Warn
		}
		parts = append(parts, style.On(theme.Remaining(left)+" left"))
	}
	if all, _ := a.inboxes.Numbers(store.All); a.layout.Panes[theme.Inboxes].Empty() { // which says it otherwise
		if here, _ := a.inboxes.Numbers(a.messages.InboxID); all > here {
			parts = append(parts, th.Accent.On(fmt.Sprintf("%d unread elsewhere", all-here)))
		}
	}
	if a.copying.auto {
		parts = append(parts, th.Accent.On("autocopy"))
	}
	if a.arrivals.follow {
		parts = append(parts, th.Accent.On("following"))
	}
	return parts
}

// connectionStatus is the state of the connection: as the screen says it everywhere, and in a word or two.
func (a *app) connectionStatus() (long, short string) {
	th := a.theme
	kind := a.connection.Trouble()
	t, ok := troubles[kind]
	if !ok {
		state := a.state()
		return state, state
	}
	style, after := th.Bad, ""
	if kind == session.NoKey || kind == session.Limited {
		style = th.Warn
	}
	if kind == session.Stopped {
		after = th.Text.On(": " + a.table.keyFor("refresh") + " starts it")
	}
	if c := a.connection.Countdown(a.now); c != "" && kind.Temporary() {
		t.short += " " + c
	}
	return style.On(t.sign+" "+a.connection.Sentence(a.now)) + after, style.On(t.sign+" "+t.short) + after
}

// state is the state of the connection in a word or two while nothing is wrong with it.
func (a *app) state() string {
	th := a.theme
	switch i := a.inboxes.Inbox(); {
	case a.session() == nil && a.now.Sub(a.connection.Since) < startDelay:
		return ""
	case a.session() == nil:
		return th.Dim.On("○ connecting")
	case i != nil && i.Deleted():
		return th.Dim.On("✕ deleted")
	case i != nil && i.Gone(a.serviceNow()):
		return th.Dim.On("✕ expired")
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

// noMessages renders the placeholder of an empty message list, w cells wide: why it is empty and what to do about it.
func (a *app) noMessages(w int) []string {
	say := func(text string) []string { return theme.WrapDim(a.theme, text, w) }
	do := func(text, id, does string) []string { return append(say(text), "", a.hint(id, does)) }
	if text := a.trouble(w); text != nil {
		return text
	}
	empty, pending := len(a.store.Order) == 0, a.footer.latest()
	i := a.store.Inboxes[a.messages.InboxID] // nil for all
	switch {
	case a.session() == nil && a.now.Sub(a.connection.Since) < startDelay:
		return nil
	case a.session() == nil:
		return say("Connecting…")
	case empty && pending != nil:
		return say(strings.ToUpper(pending.What[:1]) + pending.What[1:] + theme.Ellipsis)
	case a.messages.Filter.On():
		return say("No matches. esc clears the filter.")
	case empty:
		return do("There are no inboxes.", "new-inbox", "creates one and copies its address")
	case i == nil:
		return say("No mail in any inbox yet.")
	case i.Gone(a.serviceNow()):
		return do("This inbox expired or was deleted, with its messages.", "new-inbox", "creates a new one")
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
	th := a.theme
	address, note := a.session().SendTo()
	wait := theme.Waited(a.serviceNow().Sub(i.Created))
	var out []string
	switch smtp := "SMTP " + address; {
	case address == "":
		out = theme.WrapDim(th, "Mail sent to this address appears here.", w)
	case theme.Width("Send mail to it via "+smtp+note) <= w:
		out = []string{th.Dim.On("Send mail to it via ") + th.Text.On(smtp) + th.Warn.On(note)}
	default:
		out = []string{th.Dim.On("Send mail to it over"), th.Text.On(smtp) + th.Warn.On(note)}
	}
	out = append(out, th.Dim.On("Waiting for mail · "+wait), "", a.hint("copy-address", "copies the address"))
	if a.table.byID("send-sample").reason() == "" {
		out = append(out, a.hint("send-sample", "sends a sample message"))
	}
	if a.session().Local {
		out = append(out, "")
		out = append(out, theme.WrapDim(th, "Point your application's SMTP settings at this port; any login works. Every address it sends to becomes an inbox here.", w)...)
	}
	return out
}

// trouble is what the screen says of a kind of failure besides its sentence.
type trouble struct {
	sign, short string
	why         string      // "" for that of the error
	does        [][2]string // the actions that help, and what they do
}

var troubles = map[session.Trouble]trouble{
	session.Stopped: {"✕", "stopped", "It was stopped with `mayfly down`. Mail sent to it is refused.",
		[][2]string{{"refresh", "start it again"}, {"connect", "connect to another"}}},
	session.NoKey: {"○", "no key", "This service needs one.",
		[][2]string{{"connect", "connect with a key"}, {"refresh", "check again"}}},
	session.KeyRefused: {"✕", "key rejected", "",
		[][2]string{{"connect", "use another key"}, {"refresh", "try again"}}},
	session.NotInPlan: {"✕", "plan does not allow", "",
		[][2]string{{"connect", "use another key"}, {"refresh", "try again"}}},
	session.Limited: {"!", "limit reached", "Watching resumes when the service allows it.", nil},
	session.Faulty: {"✕", "failing", "",
		[][2]string{{"refresh", "try now"}, {"connect", "connect to another"}}},
	session.Unavailable: {"✕", "offline", "",
		[][2]string{{"refresh", "try now"}, {"connect", "connect to another"}}},
}

// trouble says what is wrong with the connection and what to do; nil if nothing is.
func (a *app) trouble(w int) []string {
	kind := a.connection.Trouble()
	t, ok := troubles[kind]
	if !ok {
		return nil
	}
	command := "mayfly key set"
	if kind == session.NoKey && errors.Is(a.connection.Err, keys.ErrNoKeyring) {
		t.why, command = "This service needs one, and there is no keyring to store it.", "mayfly key set --file"
	}
	var out []string
	for _, row := range theme.Wrap(a.connection.Sentence(a.now), w) {
		out = append(out, a.theme.Bad.On(row))
	}
	out = append(append(out, ""), theme.WrapDim(a.theme, cmp.Or(t.why, session.Advice(a.connection.Err)), w)...)
	out = append(out, "")
	for _, k := range t.does {
		if a.table.byID(k[0]).reason() == "" { // over SSH there is no other service
			out = append(out, a.hint(k[0], k[1]))
		}
	}
	if kind == session.NoKey {
		out = append(append(out, ""), theme.WrapDim(a.theme, "Or set MAYFLY_API_KEY, or run:", w)...)
		for _, row := range strings.Split(theme.Cells().Wrap(command+a.connection.Flag(), w, ""), "\n") {
			out = append(out, a.theme.Text.On(row))
		}
	}
	return out
}
