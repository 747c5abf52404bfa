package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/render"
	"mayfly/ui/host"
	"mayfly/ui/lists"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// inboxActions make inboxes (n, N), give them more time (+), label them (L), add those made elsewhere (A), pause watching
// them (p), and send a sample to one (t).
type inboxActions struct {
	*common
	copying *copying
}

func (g inboxActions) actions() []*action {
	return []*action{
		{ID: "new-inbox", Title: "New inbox, and copy its address", Hint: "new", Keys: []string{"n"}, Where: anywhere,
			DisabledReason: g.requireService,
			Run: func() tea.Cmd {
				return g.begin(g.create(g.session(), api.CreateInbox{}, g.copying.copyAddress))
			}},
		{ID: "new-inbox-with", Title: "New inbox, with a username and TTL", Keys: []string{"N"}, Where: anywhere,
			DisabledReason: g.requireService, Run: g.form},
		{ID: "extend-inbox", Title: "More time for the inbox", Keys: []string{"+"}, Where: anywhere,
			DisabledReason: g.requireChange((*api.Client).CannotExtendInboxes, "This service cannot extend inboxes"), Run: g.extend},
		{ID: "send-sample", Title: "Send a sample message", Hint: "sample", Keys: []string{"t"}, Where: anywhere,
			DisabledReason: g.requireSMTP, Run: g.sendSample},
		{ID: "pause", Title: "Pause or resume watching", Keys: []string{"p"}, Where: anywhere,
			DisabledReason: g.requireLiveInbox, Run: just(g.togglePause)},
		{ID: "label-inbox", Title: "Label the inbox", Keys: []string{"L"}, Where: anywhere,
			DisabledReason: g.requireInbox,
			Run:            func() tea.Cmd { return g.show(lists.LabelPrompt(g.inbox(), g.label)) }},
		{ID: "adopt-inbox", Title: "Add an inbox by ID", Keys: []string{"A"}, Where: anywhere,
			DisabledReason: g.requireService, Run: g.adopt},
	}
}

// requireSMTP needs an inbox that a sample message can be sent to.
func (g inboxActions) requireSMTP() (disabledReason string) {
	if s := g.session(); s != nil && s.SMTPAddr == "" {
		return "Sample messages can only be sent to the local service"
	}
	return g.requireLiveInbox()
}

// create is the request for a new inbox. Unless the user is busy, it is selected and its messages get the focus. Made is
// called with it.
func (g inboxActions) create(s *session.Session, in api.CreateInbox, made func(*store.Inbox) tea.Cmd) *session.Request {
	what := "making an inbox"
	if in.Username != "" {
		what = "making the inbox " + render.Clean(in.Username)
	}
	return session.Ask(s, what, "", func(ctx context.Context) (api.Inbox, error) { return s.Create(ctx, in) }, func(got api.Inbox) tea.Cmd {
		if g.add(got) {
			g.focus = theme.Messages
		}
		return made(g.store.Inboxes[got.ID])
	})
}

func (g inboxActions) form() tea.Cmd {
	s := g.session()
	named, _ := s.Client.Offers()
	return g.show(lists.NewInboxForm(named, g.store.Domains(), func(in api.CreateInbox) tea.Cmd {
		return g.submit(g.create(s, in, g.copying.copyAddress), nil)
	}))
}

// adopt adds an inbox that was made elsewhere.
func (g inboxActions) adopt() tea.Cmd {
	s := g.session()
	return g.show(lists.AdoptPrompt(g.store, func(id string) tea.Cmd {
		return g.submit(session.Ask(s, "adding an inbox", id, func(ctx context.Context) (api.Inbox, error) { return s.Adopt(ctx, id) }, func(got api.Inbox) tea.Cmd {
			g.add(got)
			return g.report(host.Done{Text: "added " + render.Clean(got.Email), EndMatters: true})
		}), nil)
	}))
}

// add adds an inbox, and selects it unless the user is busy.
func (g inboxActions) add(in api.Inbox) (selected bool) {
	a := g
	a.store.Restore(in.ID)
	a.put(in)
	if a.busy() {
		a.updateLists()
		return false
	}
	a.selectInbox(in.ID)
	return true
}

func (g inboxActions) extend() tea.Cmd {
	s, id := g.session(), g.inbox().ID
	return g.show(lists.ExtendPrompt(g.inbox(), g.now, func(ttl time.Duration) tea.Cmd {
		return g.begin(session.Ask(s, "extending the inbox", id, func(ctx context.Context) (api.Inbox, error) { return s.Extend(ctx, id, ttl) }, g.extended))
	}))
}

func (g inboxActions) extended(in api.Inbox) tea.Cmd {
	g.put(in)
	i := g.store.Inboxes[in.ID]
	if i == nil {
		return nil
	}
	return g.report(host.Done{Text: i.Name() + " has " + theme.Remaining(i.Expires.Sub(g.now)) + " left"})
}

func (g inboxActions) sendSample() tea.Cmd {
	s, to := g.session(), g.inbox().Email
	return ask(g.common, "sending a sample", to, func(ctx context.Context) (host.Done, error) { return s.SendSample(ctx, to) }, g.report)
}

// label sets the label of an inbox; an empty one removes it.
func (g inboxActions) label(id, label string) tea.Cmd {
	i := g.store.Inboxes[id]
	if i == nil {
		return nil
	}
	i.Label = render.Clean(label)
	g.updateLists()
	return g.session().Label(i)
}

// togglePause pauses or resumes watching the inbox.
func (g inboxActions) togglePause() {
	i := g.inbox()
	i.Paused = !i.Paused
	g.session().Watcher.Pause(i.ID, i.Paused)
	g.noteEither(i.Paused, i.Name()+" is paused: "+g.table.keyFor("pause")+" resumes, "+g.table.keyFor("refresh")+" checks once", i.Name()+" is being watched again")
}
