package ui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/session"
	"mayfly/ui/store"
)

// exporting takes a message elsewhere: into a file (s), into the browser as a safe copy (b), to an address through the relay (R).
type exporting struct {
	*common
	reading    *reading
	releasedTo string // the address that a message was last released to
}

func (x *exporting) actions() []*action {
	return []*action{
		withItem(action{ID: "save-message", Title: "Save the message", Keys: []string{"s"}, Where: anywhere}, x.theMessage, x.save),
		withItem(action{ID: "browser", Title: "Open a safe copy in the browser", Keys: []string{"b"}, Where: anywhere}, x.theMessage, x.openCopy),
		withItem(action{ID: "release-message", Title: "Release the message through the relay", Keys: []string{"R"}, Where: anywhere}, x.theMessage, x.release,
			func(*store.Message) string { return x.session().RequireRelay() }),
	}
}

func (x *exporting) save(m *store.Message) tea.Cmd {
	s, from, dir := x.session(), x.reading.source(m), x.host.Downloads
	return ask(x.common, "saving the message", m.Key, func(ctx context.Context) (host.Result, error) { return s.SaveMessage(ctx, from, dir) }, x.report)
}

func (x *exporting) openCopy(m *store.Message) tea.Cmd {
	s, row, opened := x.session(), *m, x.reading.opened(m)
	x.note("opening a safe copy…")
	return ask(x.common, "opening a safe copy", m.Key, func(ctx context.Context) (string, error) { return s.WriteCopy(ctx, row, opened, x.host.Copies) }, func(path string) tea.Cmd {
		return x.host.OpenFile(x.ctx, x.terminal.Env, path, "a safe copy")
	})
}

// release asks for the address to release a message to: the last one, or the only one, is suggested. The service
// decides whether its relay may send there.
func (x *exporting) release(m *store.Message) tea.Cmd {
	s, inboxID, id, key := x.session(), m.InboxID, m.ID, m.Key
	_, allowed := s.Client.Advertised()
	if x.releasedTo == "" && len(allowed) == 1 && !strings.HasPrefix(allowed[0], "*") {
		x.releasedTo = allowed[0]
	}
	return x.show(dialog.NewForm(dialog.Form{
		Title: "Release this message", Async: true,
		Fields: []dialog.Field{{Value: x.releasedTo, Placeholder: "an address", Suggestions: allowed, Hint: "→ " + render.Clean(strings.Join(allowed, ", "))}},
		Then: func(v []string) tea.Cmd {
			x.releasedTo = v[0]
			shown := render.Clean(v[0])
			r := session.Ask(s, "releasing it to "+shown, key, func(ctx context.Context) (host.Result, error) {
				return host.Result{Text: "released to " + shown, EndMatters: true}, s.Client.Release(ctx, inboxID, id, []string{v[0]})
			}, x.report)
			r.Limit = session.ReleaseTimeout
			return x.submit(r, nil)
		},
	}))
}
