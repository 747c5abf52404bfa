package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/message"
	"mayfly/internal/term"
	"mayfly/render"
)

func (a *app) watchCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "watch [INBOX...]",
		Short: "Watch inboxes, one line per event",
		Long: "Print one line per event until interrupted: a message arrived, with its code and its link, an inbox expired or was deleted, " +
			"the service failed or recovered. Without an INBOX, watch all inboxes, including new ones.",
		Example: `mayfly watch
mayfly watch quiet-otter brave-heron
mayfly watch --json | jq -r '.code // empty'`,
		Args:              noneEmpty,
		ValidArgsFunction: a.completeInboxes,
		RunE: a.connected(func(ctx context.Context, s *connection, args []string) error {
			return a.cancelOnHangup(ctx, func(ctx context.Context) error { return a.watch(ctx, s, args, asJSON) })
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return cmd
}

func (a *app) watch(ctx context.Context, s *connection, args []string, asJSON bool) error {
	inboxes, failures := s.inboxesNamed(ctx, args, false)
	if len(failures) > 0 {
		return failures[0]
	}
	if len(args) == 0 {
		var err error
		if inboxes, err = s.inboxes(ctx); err != nil {
			return err
		}
	}
	f := &follower{app: a, client: s.client, json: asJSON, all: len(args) == 0, inboxes: map[string]*watched{}, failing: map[string]bool{}}
	ids := make([]string, len(inboxes))
	for n, i := range inboxes {
		ids[n] = i.ID
		f.inboxes[i.ID] = &watched{inbox: i}
	}
	if term.Is(a.env.Stderr) {
		at := ""
		if smtp := a.smtp(s); smtp != "" {
			at = " at SMTP " + smtp
		}
		fmt.Fprintf(a.env.Stderr, "watching %s%s; ctrl+c stops\n", english.Plural(len(ids), "inbox", "inboxes"), at)
	}
	w := watch.New(s.client, watch.Options{NoInboxes: !f.all})
	for _, id := range ids {
		w.Add(id)
	}
	w.SetView(ids)
	return watch.Follow(ctx, w, func(e watch.Event) (bool, error) { return f.onEvent(ctx, w, e) })
}

// follower prints the events of a watcher.
type follower struct {
	app     *app
	client  *api.Client
	json    bool
	all     bool // also follow inboxes that appear
	inboxes map[string]*watched
	failing map[string]bool // reported as failed and not recovered, by inbox; "" is the service
}

// watched is an inbox that is followed.
type watched struct {
	inbox   api.Inbox
	created bool // made since the start, and not listed yet: all its messages are new
}

// onEvent prints an event, and reports whether there is nothing left to follow. An error ends that, too.
func (f *follower) onEvent(ctx context.Context, w *watch.Watcher, e watch.Event) (done bool, err error) {
	i := f.inboxes[e.InboxID]
	switch e.Kind {
	case watch.Inboxes:
		if f.all {
			f.add(w, e.Inboxes)
		}
	case watch.Listed, watch.Arrived:
		if i != nil {
			err = f.listed(ctx, i, e)
		}
	case watch.Gone:
		if i == nil {
			break
		}
		delete(f.inboxes, e.InboxID)
		done = len(f.inboxes) == 0 && !f.all
		name := "deleted"
		if !i.inbox.ExpiresAt.IsZero() && !f.client.ServiceTime().Before(i.inbox.ExpiresAt) {
			name = "expired"
		}
		err = f.write(event{Event: name, inbox: &i.inbox})
	case watch.Failed:
		switch {
		case errors.Is(e.Err, api.ErrUnauthorized), errors.Is(e.Err, api.ErrForbidden): // trying again does not help
			err = e.Err
		case !f.failing[e.InboxID]: // not one more attempt
			f.failing[e.InboxID] = true
			err = f.write(event{Event: "failed", inbox: f.inboxOf(i), Error: e.Err.Error(), retryAt: e.RetryAt})
		}
	case watch.Recovered:
		delete(f.failing, e.InboxID)
		err = f.write(event{Event: "recovered", inbox: f.inboxOf(i)})
	}
	return done || err != nil, err
}

func (f *follower) inboxOf(i *watched) *api.Inbox {
	if i == nil {
		return nil
	}
	return &i.inbox
}

// add follows inboxes that were created elsewhere.
func (f *follower) add(w *watch.Watcher, list []api.Inbox) {
	for _, i := range list {
		if f.inboxes[i.ID] == nil {
			f.inboxes[i.ID] = &watched{inbox: i, created: true}
			w.Add(i.ID)
		}
	}
}

// listed prints the messages that are new, oldest first.
func (f *follower) listed(ctx context.Context, i *watched, list watch.Event) error {
	all := i.created
	i.created = false
	for _, m := range slices.Backward(list.Messages) {
		if !all && !slices.Contains(list.New, m.ID) {
			continue
		}
		e := event{Event: "arrived", inbox: &i.inbox, message: &m}
		if opened, err := message.FetchObject(ctx, f.client, i.inbox.ID, m.ID); err == nil { // else it is gone again, or the next event says why
			code, _ := opened.Mail().Code()
			link, _ := opened.Mail().Confirm()
			e.Code, e.Link = code.Value, link.URL
		}
		if err := f.write(e); err != nil {
			return err
		}
	}
	return nil
}

// event is one line of the output.
type event struct {
	Event   string          `json:"event"` // arrived, expired, deleted, failed, recovered
	At      string          `json:"at"`
	Inbox   json.RawMessage `json:"inbox,omitempty"`
	Message json.RawMessage `json:"message,omitempty"`
	Code    string          `json:"code,omitempty"`
	Link    string          `json:"link,omitempty"`
	Error   string          `json:"error,omitempty"`
	RetryAt string          `json:"retry_at,omitempty"`

	at, retryAt time.Time    // the latter of failed; zero when not known
	inbox       *api.Inbox   // nil for the whole service
	message     *api.Summary // of arrived
}

func (e event) line(a *app) string {
	whose := "the service"
	if e.inbox != nil {
		whose = render.Clean(e.inbox.Email)
	}
	line := a.local(e.at).Format("15:04:05") + " " + e.Event + " " + whose
	if m := e.message; m != nil {
		line += fmt.Sprintf(": %s, from %s (%s)", quoteSubject(m.Subject), message.Sender(m.FromName, m.From), render.Clean(m.ID))
	}
	if e.Code != "" {
		line += ", code " + render.Clean(e.Code)
	}
	if e.Link != "" {
		line += ", link " + render.Clean(e.Link)
	}
	if e.Error != "" {
		line += ": " + render.Clean(strings.Join(strings.Fields(e.Error), " "))
	}
	if !e.retryAt.IsZero() {
		line += "; next attempt at " + a.local(e.retryAt).Format("15:04:05")
	}
	return line
}

func (f *follower) write(e event) error {
	e.at = time.Now()
	if !f.json {
		_, err := fmt.Fprintln(f.app.env.Stdout, e.line(f.app))
		return err
	}
	e.At = timestamp(e.at)
	if e.inbox != nil {
		e.Inbox = asReceived(e.inbox.Raw, *e.inbox)
	}
	if e.message != nil {
		e.Message = asReceived(e.message.Raw, *e.message)
	}
	if !e.retryAt.IsZero() {
		e.RetryAt = timestamp(e.retryAt)
	}
	return writeJSON(f.app.env.Stdout, e)
}

func quoteSubject(s string) string {
	if s = render.Clean(s); s == "" {
		return "no subject"
	}
	return "“" + s + "”"
}
