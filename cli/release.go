package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/render"
)

func (a *app) releaseCommand() *cobra.Command {
	var to []string
	cmd := &cobra.Command{
		Use:   "release [INBOX] [MESSAGE]",
		Short: "Send a message on by the service's relay",
		Long: "Send a message on, as it was received, to addresses that the service allows, and return once its relay has taken the message for all of them. " +
			"A service has no relay unless its operator sets one up; see `mayfly help service`.",
		Example:           "mayfly release --to qa@example.com\nmayfly release quiet-otter msg_01 --to qa@example.com --to dev@example.com",
		Args:              atMost(2),
		ValidArgsFunction: a.completeMessage,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(to) == 0 {
				return usagef("say to whom: --to ADDRESS")
			}
			ctx := cmd.Context()
			s, inbox, m, err := a.summary(ctx, args)
			if err != nil {
				return err
			}
			if err := s.release(ctx, inbox, m, to); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.env.Stderr, "sent %s to %s\n", render.Clean(m.ID), render.Clean(strings.Join(to, ", ")))
			return err
		},
	}
	cmd.Flags().StringArrayVar(&to, "to", nil, "`address` to send to; can be repeated")
	a.completeFlag(cmd, "to", cobra.NoFileCompletions)
	return cmd
}

// release sends a message on. Its error says what to do about a relay.
func (s *connection) release(ctx context.Context, inbox api.Inbox, m api.Summary, to []string) error {
	err := s.client.Release(ctx, inbox.ID, m.ID, to)
	switch local := s.session != nil; {
	case errors.Is(err, api.ErrUnsupported) && local:
		return withNext(errors.New("the local service has no relay"), "set one up under [relay] in config.toml, then `mayfly down`")
	case errors.Is(err, api.ErrUnsupported):
		return withNext(errors.New("the service has no relay"), "only its operator can set one up")
	case errors.Is(err, api.ErrForbidden) && local:
		return withNext(err, "add it to allow under [relay] in config.toml, then `mayfly down`")
	case errors.Is(err, api.ErrForbidden):
		return withNext(err, "only the operator of the service can allow it")
	}
	return err
}
