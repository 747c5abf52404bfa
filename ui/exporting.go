package ui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/session"
)

// exporting takes a message elsewhere: into a file (s), into the browser as a safe copy (b), to an address by a relay (R).
type exporting struct {
	*common
	reading *reading
	sentTo  string // the address last given to send a message on to
}

func (x *exporting) actions() []*action {
	return []*action{
		{ID: "save-message", Title: "Save the message", Keys: []string{"s"}, Where: anywhere, DisabledReason: x.requireMessage, Run: x.save},
		{ID: "browser", Title: "Open a safe copy in the browser", Keys: []string{"b"}, Where: anywhere, DisabledReason: x.requireMessage, Run: x.openCopy},
		{ID: "release-message", Title: "Send the message on by a relay", Keys: []string{"R"}, Where: anywhere, DisabledReason: x.requireRelay, Run: x.sendOn},
	}
}

// requireRelay needs a message, and a relay to send it on by.
func (x *exporting) requireRelay() (disabledReason string) {
	return firstReason(x.requireMessage, func() string { return x.session().NeedRelay() })
}

func (x *exporting) save() tea.Cmd {
	m, s := x.message(), x.session()
	from, dir := x.reading.source(m), x.host.Downloads
	return ask(x.common, "saving the message", m.Key, func(ctx context.Context) (host.Done, error) { return s.SaveMessage(ctx, from, dir) }, x.report)
}

func (x *exporting) openCopy() tea.Cmd {
	a, m, s := x, x.message(), x.session()
	row, opened := *m, a.reading.opened(m)
	a.note("opening a safe copy…")
	return ask(x.common, "opening a safe copy", m.Key, func(ctx context.Context) (string, error) { return s.WriteCopy(ctx, row, opened, a.host.Copies) }, func(path string) tea.Cmd {
		return a.host.OpenFile(a.ctx, a.terminal.Env, path, "a safe copy")
	})
}

// sendOn asks for the address that a message is sent on to. It begins with the last one, or with the only
// one. The service says whether the relay may send there.
func (x *exporting) sendOn() tea.Cmd {
	m, s := x.message(), x.session()
	inboxID, id := m.InboxID, m.ID
	_, allowed := s.Client.Offers()
	if x.sentTo == "" && len(allowed) == 1 && !strings.HasPrefix(allowed[0], "*") {
		x.sentTo = allowed[0]
	}
	return x.show(dialog.NewForm(dialog.Form{
		Title: "Send this message on", Asks: true,
		Fields: []dialog.Field{{Value: x.sentTo, Placeholder: "an address", Suggestions: allowed, Hint: "→ " + render.Clean(strings.Join(allowed, ", "))}},
		Then: func(v []string) tea.Cmd {
			x.sentTo = v[0]
			shown := render.Clean(v[0])
			r := session.Ask(s, "sending it to "+shown, m.Key, func(ctx context.Context) (host.Done, error) {
				return host.Done{Text: "sent to " + shown, EndMatters: true}, s.Client.Release(ctx, inboxID, id, []string{v[0]})
			}, x.report)
			r.Limit = session.SendOnTimeout
			return x.submit(r, nil)
		},
	}))
}
