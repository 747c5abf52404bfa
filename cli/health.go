package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/local"
)

// healthTimeout is how long a service may take to say that it is ready.
const healthTimeout = 5 * time.Second

func (a *app) healthCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "health [URL]",
		Short: "Check that a service is ready",
		Long: "Ask a service whether it is ready to take mail and requests, for a health check. The exit status is 0 if it is, and 1 if it is not or " +
			"does not answer within 5 seconds, with the reason in a line. It needs no key.\n\n" +
			"Without a URL it asks the service that the settings name, else the one that `mayfly serve` runs on this machine (at MAYFLY_SERVE_HTTP, " +
			"else 127.0.0.1:8425), or the local service.",
		Example: "mayfly health\nmayfly health https://api.example",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), healthTimeout)
			defer cancel()
			url := ""
			if len(args) > 0 {
				url = args[0]
			} else {
				var err error
				if url, err = a.servedURL(ctx); err != nil {
					return err
				}
			}
			switch err := api.Ready(ctx, url); {
			case err == nil:
				_, err = fmt.Fprintln(a.env.Stdout, "ready")
				return err
			case errors.Is(err, api.ErrUnavailable), errors.Is(err, api.ErrUnexpected):
				return &failure{status: statusError, err: err}
			default:
				return usagef("%q: %w", url, err)
			}
		},
	}
}

// servedURL is the base URL of the service to check when none is given.
func (a *app) servedURL(ctx context.Context) (string, error) {
	p, err := a.endpoint()
	if err != nil || !p.local() {
		return p.baseURL, err
	}
	served := a.env.Getenv("MAYFLY_SERVE_HTTP")
	if served == "" {
		s, err := local.Find(ctx, a.localOptions())
		if err == nil {
			s.Close()
			return s.BaseURL, nil
		}
		if !errors.Is(err, local.ErrNotRunning) {
			return "", err
		}
	}
	scheme := "http://"
	if a.env.Getenv("MAYFLY_SERVE_HTTP_CERT") != "" {
		scheme = "https://"
	}
	return scheme + reachable(cmp.Or(served, defaultHTTP)), nil
}
