package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/term"
	"mayfly/render"
)

func (a *app) lsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the inboxes",
		Long: "List the inboxes, newest first: all inboxes of the API key if the service can list them, otherwise those this machine knows. " +
			"In a pipe: address, number of messages, time of expiry and ID, separated by tabs.",
		Example: "mayfly ls\nmayfly ls --json | jq -r .email",
		Args:    noArgs,
		RunE: a.connected(func(ctx context.Context, s *connection, _ []string) error {
			inboxes, listed, err := s.counted(ctx)
			if err != nil {
				return err
			}
			if !listed && len(inboxes) == 0 {
				fmt.Fprintf(a.env.Stderr, "mayfly: %s lists no inboxes, and this machine knows none there; `mayfly doctor` checks the service\n", render.Clean(s.baseURL))
			}
			if asJSON {
				for _, i := range inboxes {
					if err := writeJSON(a.env.Stdout, asReceived(i.Raw, i)); err != nil {
						return err
					}
				}
				return nil
			}
			return list(a, inboxes, false, func(i api.Inbox) []string {
				count, expiry := "-", timestamp(i.ExpiresAt)
				if i.MessageCount != nil {
					count = strconv.Itoa(*i.MessageCount)
				}
				if term.Is(a.env.Stdout) {
					expiry = timeLeft(i.ExpiresAt)
				}
				return []string{render.Clean(i.Email), count, expiry, render.Clean(i.ID)}
			})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each inbox on a line as JSON")
	return cmd
}

// counted returns the inboxes with their number of messages. If the service does not list inboxes,
// each is fetched, and those that are gone are left out.
func (s *connection) counted(ctx context.Context) (all []api.Inbox, listed bool, err error) {
	all, listed, err = s.known.Inboxes(ctx, s.client)
	if err != nil || listed {
		return all, listed, err
	}
	type answer struct {
		inbox api.Inbox
		err   error
	}
	counted := make([]api.Inbox, 0, len(all))
	for got := range inOrder(ctx, all, func(i api.Inbox) answer {
		got, err := s.client.Inbox(ctx, i.ID)
		return answer{got, err}
	}) {
		switch {
		case errors.Is(got.err, api.ErrNotFound):
		case got.err != nil:
			return nil, false, got.err
		default:
			counted = append(counted, got.inbox)
		}
	}
	return counted, false, ctx.Err()
}
