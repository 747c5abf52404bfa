package cli

import (
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"mayfly/internal/local"
	"mayfly/mcp"
)

func (a *app) mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve inboxes to agents over the Model Context Protocol",
		Long: "Serve inboxes to an agent over the Model Context Protocol, on standard input and output. " +
			"The service and the key are chosen as for every other command: set them with MAYFLY_BASE_URL and MAYFLY_API_KEY. " +
			"The local service is started if it does not run. `mayfly help mcp` says how to set up the client of the agent.",
		Example: `mayfly mcp
MAYFLY_BASE_URL=https://api.example MAYFLY_API_KEY=… mayfly mcp`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.connectBy(cmd.Context(), local.Open)
			if err != nil {
				return err
			}
			if c.session != nil {
				release, err := a.holdLocal(cmd.Context(), c)
				if err != nil {
					return err
				}
				defer release()
			}
			log := slog.New(slog.NewTextHandler(a.env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
			server := mcp.New(c.client, mcp.Options{Version: version(), Known: c.known, Log: log})
			return mcp.ServeStdio(cmd.Context(), server, io.NopCloser(a.env.Stdin), nopCloser{a.env.Stdout})
		},
	}
}

// nopCloser is a writer whose Close does nothing.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
