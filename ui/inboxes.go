package ui

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/render"
	"mayfly/ui/dialog"
	"mayfly/ui/host"
	"mayfly/ui/session"
	"mayfly/ui/store"
	"mayfly/ui/theme"
)

// inboxActions creates inboxes (n, N), extends them (+), labels them (L), adds those created elsewhere (A), pauses watching
// them (p), and sends a sample to one (t).
type inboxActions struct {
	*common
	copying *copying
}

func (g inboxActions) actions() []*action {
	return []*action{
		withItem(action{ID: "new-inbox", Title: "New inbox (copies its address)", Hint: "new", Keys: []string{"n"}, Where: anywhere}, g.theService,
			func(s *session.Session) tea.Cmd {
				return g.begin(g.create(s, api.CreateInbox{}, g.copying.copyAddress))
			}),
		withItem(action{ID: "new-inbox-with", Title: "New inbox with options…", Keys: []string{"N"}, Where: anywhere}, g.theService, g.createWith),
		withItem(action{ID: "extend-inbox", Title: "Extend the inbox", Keys: []string{"+"}, Where: anywhere},
			g.canChange((*api.Client).CannotExtendInboxes, "This service cannot extend inboxes"), g.extend),
		withItem(action{ID: "send-sample", Title: "Send a sample message", Hint: "sample", Keys: []string{"t"}, Where: anywhere}, g.sampleTarget, g.sendSample),
		withItem(action{ID: "pause", Title: "Pause or resume watching", Keys: []string{"p"}, Where: anywhere}, g.theLiveInbox, g.togglePause),
		withItem(action{ID: "label-inbox", Title: "Label the inbox", Keys: []string{"L"}, Where: anywhere}, g.theInbox, g.label),
		{ID: "sort-inboxes", Title: "Sort inboxes by newest mail, or by creation", Keys: []string{"O"}, Where: anywhere, Run: noCmd(g.sort)},
		withItem(action{ID: "add-inbox", Title: "Add an inbox by ID", Keys: []string{"A"}, Where: anywhere}, g.theService, g.adopt),
	}
}

// sampleTarget is the inbox that a sample message can be sent to.
func (g inboxActions) sampleTarget() (i *store.Inbox, disabledReason string) {
	if address, _ := g.session().SendTo(); g.session() != nil && address == "" {
		return nil, "Sample messages can only be sent to the local service"
	}
	return g.theLiveInbox()
}

// create is the request for a new inbox. Unless the user is busy, it is selected, and gets the focus where all panes are
// seen: there is nothing yet to move to in the others. Created is called with it.
func (g inboxActions) create(s *session.Session, in api.CreateInbox, created func(*store.Inbox) tea.Cmd) *session.Request {
	what := "creating an inbox"
	if in.Username != "" {
		what = "creating the inbox " + render.Clean(in.Username)
	}
	return session.Ask(s, what, "", func(ctx context.Context) (api.Inbox, error) { return s.Create(ctx, in) }, func(got api.Inbox) tea.Cmd {
		if g.add(got) {
			if g.focus = theme.Messages; g.layout.Columns == 3 {
				g.focus = theme.Inboxes
			}
		}
		return created(g.store.Inboxes[got.ID])
	})
}

// createWith asks for the username, the domain and the lifetime of a new inbox. If the service names no domains, those of
// the inboxes are suggested.
func (g inboxActions) createWith(s *session.Session) tea.Cmd {
	domain := dialog.Field{Title: "Domain", Placeholder: "the service's own", Hint: "one of the service's domains", Suggestions: g.store.Domains(), Check: checkDomain}
	named, _ := s.Client.Advertised()
	if all := render.Clean(strings.Join(named, ", ")); all != "" {
		domain.Placeholder, domain.Hint, domain.Suggestions = named[0], "→ "+all, named
		domain.Check = func(v string) error {
			if v == "" || slices.Contains(named, strings.ToLower(v)) {
				return nil
			}
			return errors.New("must be one of " + all)
		}
	}
	return g.show(dialog.NewForm(dialog.Form{
		Title: "New inbox", SubmitLabel: "creates it", Async: true,
		Fields: []dialog.Field{
			{Title: "Username", Placeholder: "random", Hint: "the part before the @", Check: checkUsername}, domain,
			{Title: "Lifetime", Value: "1h", Hint: "such as 30m, 2h or 1d", Check: checkTTL},
		},
		Then: func(v []string) tea.Cmd {
			ttl, _ := parseTTL(v[2]) // the form has checked it
			in := api.CreateInbox{Username: strings.ToLower(v[0]), Domain: strings.ToLower(v[1]), TTL: int(ttl / time.Second)}
			return g.submit(g.create(s, in, g.copying.copyAddress), nil)
		},
	}))
}

// adopt asks for the ID of an inbox that was created elsewhere, and adds it.
func (g inboxActions) adopt(s *session.Session) tea.Cmd {
	return g.show(dialog.NewForm(dialog.Form{
		Title: "Add an inbox by ID", Async: true,
		Fields: []dialog.Field{{Hint: "enter adds it   esc cancels", Check: func(id string) error {
			switch {
			case id == "":
				return errors.New("an ID such as inbox_…")
			case strings.ContainsAny(id, "/?# \t"):
				return errors.New("an ID cannot contain spaces or slashes")
			case g.store.Inboxes[id] != nil:
				return errors.New("this inbox is already on the list")
			}
			return nil
		}}},
		Then: func(v []string) tea.Cmd {
			return g.submit(session.Ask(s, "adding an inbox", v[0], func(ctx context.Context) (api.Inbox, error) { return s.Adopt(ctx, v[0]) }, func(got api.Inbox) tea.Cmd {
				g.add(got)
				return g.report(host.Result{Text: "added " + render.Clean(got.Email), EndMatters: true})
			}), nil)
		},
	}))
}

// add adds an inbox, and selects it unless the user is busy.
func (g inboxActions) add(in api.Inbox) (selected bool) {
	g.store.Restore(in.ID)
	g.put(in)
	if g.busy() {
		g.updateLists()
		return false
	}
	g.selectInbox(in.ID)
	return true
}

// extend asks for how long to extend an inbox: the time is added to what is left, and the new end is shown.
func (g inboxActions) extend(i *store.Inbox) tea.Cmd {
	s, id, end := g.session(), i.ID, i.Expires.Add(-g.store.Ahead)
	if end.Before(g.now) { // the service did not say when it expires
		end = g.now
	}
	add := func(v string) (by time.Duration, err error) {
		if _, err := strconv.Atoi(v); err == nil {
			return 0, fmt.Errorf("add a unit, such as %sm or %sh", v, v)
		}
		return parseTTL(v)
	}
	return g.show(dialog.NewForm(dialog.Form{
		Title: "Extend " + theme.CutMiddle(i.Name(), 24), Async: true,
		Fields: []dialog.Field{{Value: "1h", Check: func(v string) error { _, err := add(v); return err }, Describe: func(v string) string {
			by, err := add(v)
			if err != nil {
				return "a duration to add, such as 30m, 2h or 1d"
			}
			return "+" + v + ": " + g.theme.Until(end.Add(by), g.now)
		}}},
		Then: func(v []string) tea.Cmd {
			by, _ := add(v[0]) // the form has checked it
			return g.submit(session.Ask(s, "extending the inbox", id, func(ctx context.Context) (api.Inbox, error) {
				return s.Extend(ctx, id, time.Until(end.Add(by)))
			}, func(got api.Inbox) tea.Cmd {
				g.put(got)
				return g.report(host.Result{Text: "+" + v[0] + ": " + g.theme.Until(got.ExpiresAt.Add(-g.store.Ahead), g.now)})
			}), nil)
		},
	}))
}

func (g inboxActions) sendSample(i *store.Inbox) tea.Cmd {
	s, to := g.session(), i.Email
	return ask(g.common, "sending a sample", to, func(ctx context.Context) (host.Result, error) { return s.SendSample(ctx, to) }, g.report)
}

// maxLabel is the maximum width of a label in cells.
const maxLabel = 40

// label asks for the label of an inbox, and sets it; an empty one removes it.
func (g inboxActions) label(i *store.Inbox) tea.Cmd {
	s, id := g.session(), i.ID
	return g.show(dialog.NewForm(dialog.Form{
		Title: "Label " + theme.CutMiddle(i.Name(), 24),
		Fields: []dialog.Field{{Value: i.Label, Hint: "leave empty to remove   esc cancels", Check: func(text string) error {
			if theme.Width(text) > maxLabel {
				return fmt.Errorf("at most %d characters", maxLabel)
			}
			return nil
		}}},
		Then: func(v []string) tea.Cmd {
			i := g.store.Inboxes[id]
			if i == nil || s != g.session() {
				return nil
			}
			i.Label = render.Clean(v[0])
			g.updateLists()
			return s.Label(i)
		},
	}))
}

// sort changes the order of the inboxes, also for the next run.
func (g inboxActions) sort() {
	g.inboxes.ByMail = !g.inboxes.ByMail
	g.settings.kept.ByMail = g.inboxes.ByMail
	g.updateLists()
	g.noteEither(g.inboxes.ByMail, "Inboxes with the newest mail first", "Newest inboxes first")
}

// togglePause pauses or resumes watching an inbox.
func (g inboxActions) togglePause(i *store.Inbox) tea.Cmd {
	i.Paused = !i.Paused
	g.session().Watcher.Pause(i.ID, i.Paused)
	g.noteEither(i.Paused, i.Name()+" is paused: "+g.table.keyFor("pause")+" resumes, "+g.table.keyFor("refresh")+" checks once", i.Name()+": watching resumed")
	return nil
}

var usernamePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9._+-]*[a-z0-9])?$`) })

func checkUsername(v string) error {
	v = strings.ToLower(v)
	switch {
	case v == "":
		return nil
	case len(v) > 64:
		return errors.New("at most 64 characters")
	case strings.Contains(v, ".."):
		return errors.New("no two dots in a row")
	case !usernamePattern().MatchString(v):
		return errors.New("a-z 0-9 . _ + -, a letter or digit at both ends")
	}
	return nil
}

func checkDomain(v string) error {
	if strings.ContainsAny(v, " @/") {
		return errors.New("must be a domain such as mail.example.com")
	}
	return nil
}

func checkTTL(v string) error {
	_, err := parseTTL(v)
	return err
}

// parseTTL reads 10m, 1h30m, 2d, or a number of seconds, as the command line does.
func parseTTL(v string) (time.Duration, error) {
	d, err := api.ParseDuration(v)
	switch {
	case err != nil:
		return 0, errors.New("must be a duration such as 30m, 2h or 1d")
	case d < time.Minute:
		return 0, errors.New("at least a minute")
	case d > 30*24*time.Hour:
		return 0, errors.New("at most 30 days, less in most plans")
	}
	return d, nil
}
