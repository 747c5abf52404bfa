package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/term"
	"mayfly/render"
)

func (a *app) rmCommand() *cobra.Command {
	var all, yes bool
	cmd := &cobra.Command{
		Use:               "rm INBOX... | --all",
		Short:             "Delete inboxes and all their messages",
		Long:              "Delete inboxes and all their messages, for good. It asks first. Without a terminal to ask at, it needs --yes.",
		Example:           "mayfly rm quiet-otter\nmayfly rm --yes \"$ADDRESS\"\nmayfly rm --all --yes",
		Args:              noneEmpty,
		ValidArgsFunction: a.completeInboxes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usagef("`mayfly rm` needs inboxes, or --all")
			}
			asks := term.Is(a.env.Stdin) && term.Is(a.env.Stderr)
			if !yes && !asks {
				return usagef("there is no terminal to ask at: confirm with --yes")
			}
			s, err := a.connect(cmd.Context())
			if err != nil {
				return err
			}
			return a.remove(cmd.Context(), s, args, all, yes)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "delete every inbox that `mayfly ls` lists")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// remove deletes the inboxes that names mean, or all. Failures are listed and do not stop the rest.
func (a *app) remove(ctx context.Context, s *connection, names []string, all, yes bool) error {
	inboxes, failures := s.inboxesNamed(ctx, names)
	if all {
		var err error
		if inboxes, err = s.inboxes(ctx); err != nil {
			return err
		}
	}
	if len(inboxes) > 0 && !yes {
		sure, err := a.confirm(ctx, deletion(inboxes))
		if err != nil {
			return err
		}
		if !sure {
			fmt.Fprintln(a.env.Stderr, "nothing was deleted")
			return quiet{statusError}
		}
	}
	type outcome struct {
		inbox api.Inbox
		err   error
	}
	for o := range inOrder(ctx, inboxes, func(i api.Inbox) outcome { return outcome{i, s.client.DeleteInbox(ctx, i.ID)} }) {
		if o.err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", render.Clean(o.inbox.Email), o.err))
		}
		if o.err == nil || errors.Is(o.err, api.ErrNotFound) {
			a.forget(s, o.inbox.ID)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(failures) == 1 && len(names) == 1 {
		return failures[0]
	}
	for _, err := range failures {
		fmt.Fprintln(a.env.Stderr, errorLine(err))
	}
	if len(failures) > 0 {
		return quiet{statusError}
	}
	return nil
}

// inboxesNamed finds each inbox once, and returns an error for each name that is none.
func (s *connection) inboxesNamed(ctx context.Context, names []string) (inboxes []api.Inbox, failures []error) {
	for _, name := range names {
		i, err := s.inbox(ctx, name)
		switch {
		case err != nil:
			failures = append(failures, err)
		case !slices.ContainsFunc(inboxes, func(other api.Inbox) bool { return other.ID == i.ID }):
			inboxes = append(inboxes, i)
		}
	}
	return inboxes, failures
}

func deletion(inboxes []api.Inbox) string {
	if len(inboxes) == 1 {
		return fmt.Sprintf("Delete %s and all its messages?", render.Clean(inboxes[0].Email))
	}
	var addresses strings.Builder
	for _, i := range inboxes {
		addresses.WriteString("  " + render.Clean(i.Email) + "\n")
	}
	return addresses.String() + fmt.Sprintf("Delete these %d inboxes and all their messages?", len(inboxes))
}

// confirm asks at the terminal; anything but y or yes is no.
func (a *app) confirm(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(a.env.Stderr, question+" [y/N] ")
	answer, err := bufio.NewReader(a.env.Stdin).ReadString('\n')
	if err != nil && answer == "" {
		fmt.Fprintln(a.env.Stderr)
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}
