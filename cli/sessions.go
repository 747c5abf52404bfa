package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/internal/term"
)

func (a *app) sessionsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List recent SMTP sessions",
		Long: "List what clients did at the service's SMTP server in the last hour, newest first, with a line for each recipient: " +
			"time, client, address, and what became of the message. Look here when no mail arrives.\n\n" +
			"The service stores its last 200 sessions, and the last 50 of each API key, in memory. An API key lists its own sessions: those that logged in with it, " +
			"that sent mail to its addresses, or that were refused an address within two letters of one of them. The API key of the local service lists all.",
		Example: "mayfly sessions\nmayfly sessions --json | jq -r .last_reply",
		Args:    noArgs,
		RunE: a.connected(func(ctx context.Context, s *connection, _ []string) error {
			sessions, err := s.client.Sessions(ctx)
			if errors.Is(err, api.ErrUnsupported) {
				return errors.New("this service does not list SMTP sessions")
			}
			if err != nil {
				return err
			}
			if !sessions.AllProcesses {
				fmt.Fprintln(a.env.Stderr, "mayfly: these are the sessions of one process of the service; others may have more")
			}
			if asJSON {
				return list(a, sessions.Sessions, true, nil)
			}
			return list(a, message.Events(sessions.Sessions), false, func(e message.Event) []string {
				at := timestamp(e.At)
				if term.Is(a.env.Stdout) {
					at = a.local(e.At).Format("15:04:05")
				}
				return []string{at, e.Client, cmp.Or(e.To, "-"), e.Outcome}
			})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each session on a line as JSON")
	return cmd
}
