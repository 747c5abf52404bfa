package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/message"
	"mayfly/render"
)

func (a *app) waitCommand() *cobra.Command {
	var match watch.Match
	var code, link, asJSON bool
	timeout := duration(time.Minute)
	cmd := &cobra.Command{
		Use:   "wait [INBOX]",
		Short: "Wait for a message and print it",
		Long: "Print the newest message that matches, whether it is already there or still to arrive. " +
			"With --code or --link print only that, and keep waiting until a matching message has one. " +
			"The exit status is 5 if nothing came in time.",
		Example: `mayfly wait --timeout 2m
CODE=$(mayfly wait "$ADDRESS" --code)
mayfly wait "$ADDRESS" --subject reset --link
mayfly wait --from acme.example --json | jq -r .message.subject`,
		Args:              atMost(1),
		ValidArgsFunction: a.completeInbox,
		RunE: func(cmd *cobra.Command, args []string) error {
			if code && link {
				return usageOf(cmd, "--code and --link cannot be combined")
			}
			ctx := cmd.Context()
			s, err := a.connect(ctx)
			if err != nil {
				return err
			}
			w := waiting{match: match, code: code, link: link, timeout: time.Duration(timeout)}
			if w.inbox, err = s.inbox(ctx, argument(args, 0)); err != nil {
				return err
			}
			f, err := a.wait(ctx, s, w)
			if err != nil {
				return err
			}
			return a.printFound(ctx, s, w, f, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&match.From, "from", "", "only messages from a sender whose name or address contains this `text`")
	flags.StringVar(&match.Subject, "subject", "", "only messages whose subject contains this `text`")
	flags.Var(&timeout, "timeout", "how long to wait; 0 waits as long as the inbox lives")
	flags.BoolVar(&code, "code", false, "print only the one-time code")
	flags.BoolVar(&link, "link", false, "print only the confirm link")
	flags.BoolVar(&asJSON, "json", false, "print the message on one line as JSON, with its code, link and checks")
	return cmd
}

// printFound prints only the code or the link, or else the message.
func (a *app) printFound(ctx context.Context, s *connection, w waiting, f *found, asJSON bool) error {
	if (w.code || w.link) && !asJSON {
		_, err := fmt.Fprintln(a.env.Stdout, render.Clean(f.value))
		return err
	}
	m, err := f.message.WithRaw(ctx, s.client)
	if err != nil {
		return err
	}
	flags := viewFlags{view: "rich", json: asJSON}
	return flags.print(a, a.env.Stdout, m, flags.theme(ctx, a))
}

// waiting says which message to wait for.
type waiting struct {
	inbox      api.Inbox
	match      watch.Match
	code, link bool // only a message that has one
	timeout    time.Duration
}

// found is the message that arrived.
type found struct {
	message *message.Message
	value   string // the code or link, if one was asked for
}

func (a *app) wait(ctx context.Context, s *connection, w waiting) (*found, error) {
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	stop := a.progress(ctx, func() string { return "waiting for " + w.what() })
	defer stop()
	f := &found{}
	w.match.Fits = func(object api.Message) bool {
		f.message = message.New(w.inbox.ID, object)
		return w.takes(f)
	}
	_, err := watch.Await(ctx, s.client, w.inbox.ID, watch.Newest(1), w.match)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, w.timedOut(err)
	case errors.Is(err, watch.ErrGone):
		return nil, notFoundf("`mayfly new` makes another", "%s is gone: deleted or expired", render.Clean(w.inbox.Email))
	}
	return f, err
}

// takes reports whether the message of f has the code or link that is asked for, and keeps it in f.
func (w waiting) takes(f *found) bool {
	switch {
	case w.code:
		code, ok := f.message.Mail().Code()
		f.value = code.Value
		return ok
	case w.link:
		link, ok := f.message.Mail().Confirm()
		f.value = link.URL
		return ok
	}
	return true
}

// what describes the message for people.
func (w waiting) what() string {
	what := "mail to " + render.Clean(w.inbox.Email)
	switch {
	case w.code:
		what += " with a code"
	case w.link:
		what += " with a link"
	}
	return what
}

func (w waiting) timedOut(err error) error {
	next := "`mayfly messages " + render.Clean(w.inbox.Email) + "` lists what is there"
	var failing *watch.FailingError
	if errors.As(err, &failing) {
		next = "at last the service failed: " + render.Clean(failing.Last.Error())
	}
	return &failure{statusTimeout, fmt.Errorf("no %s within %s", w.what(), duration(w.timeout).text()), next}
}
