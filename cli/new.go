package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/registry"
	"mayfly/internal/term"
	"mayfly/render"
)

func (a *app) newCommand() *cobra.Command {
	var username, domain string
	var ttl duration
	var copyIt, asJSON bool
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make an inbox and print its address",
		Long:  "Make an inbox and print its address. When its lifetime is over, it is deleted with all its messages.",
		Example: `mayfly new
mayfly new --username signup-test --ttl 10m
ADDRESS=$(mayfly new)
mayfly new --json | jq -r .id`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			s, err := a.connect(ctx)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("ttl") && time.Duration(ttl) < time.Second {
				return usagef("--ttl %s: want at least a second", time.Duration(ttl))
			}
			inbox, err := s.client.CreateInbox(ctx, api.CreateInbox{
				Domain: domain, Username: username, TTL: int(time.Duration(ttl) / time.Second),
			})
			if err != nil {
				return err
			}
			a.remember(s, inbox)
			if copyIt {
				fmt.Fprintln(a.env.Stderr, a.copy(ctx, inbox.Email))
			}
			if asJSON {
				return writeJSON(a.env.Stdout, asReceived(inbox.Raw, inbox))
			}
			_, err = fmt.Fprintln(a.env.Stdout, render.Clean(inbox.Email))
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&username, "username", "", "`name` before the @ of the address (default: random)")
	flags.StringVar(&domain, "domain", "", "`domain` of the address, one of the service's (default: its first)")
	flags.Var(&ttl, "ttl", "lifetime, such as 30m, 12h or 2d (default 1h)")
	flags.BoolVar(&copyIt, "copy", false, "copy the address to the clipboard")
	flags.BoolVar(&asJSON, "json", false, "print the inbox as JSON")
	a.completeFlag(cmd, "domain", a.completeDomains)
	return cmd
}

// remember stores an inbox for later commands. A failure is only reported: the inbox exists all the
// same.
func (a *app) remember(s *connection, i api.Inbox) {
	if err := s.known.Put(registry.Of(i)); err != nil {
		fmt.Fprintf(a.env.Stderr, "mayfly: this machine will not remember the inbox: %s\n", render.Clean(err.Error()))
	}
}

func (a *app) forget(s *connection, inboxID string) {
	if err := s.known.Remove(inboxID); err != nil {
		fmt.Fprintf(a.env.Stderr, "mayfly: this machine still remembers %s: %s\n", render.Clean(inboxID), render.Clean(err.Error()))
	}
}

// asReceived is an object of the API as the service sent it, less the white space between values.
func asReceived[T api.Inbox | api.Summary | api.List](raw []byte, object T) json.RawMessage {
	if len(raw) == 0 { // it comes from this machine's registry
		raw, _ = json.Marshal(object) // an object of the API always can be
	}
	return raw
}

// copy puts text on every clipboard there is and says which: the terminal's by OSC 52, which has no
// answer, and the system's.
func (a *app) copy(ctx context.Context, text string) string {
	var ways []string
	if w := a.terminalWriter(); w != nil {
		if _, err := io.WriteString(w, a.env.Environ.CopySequence(text)); err == nil {
			ways = append(ways, "OSC 52")
		}
	}
	names, err := a.env.Environ.Copy(ctx, text)
	switch ways = append(ways, names...); {
	case len(ways) > 0:
		return fmt.Sprintf("copied (%s)", strings.Join(ways, ", "))
	case err != nil:
		return "not copied: " + strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return "not copied: there is neither a terminal nor a clipboard"
}

// terminalWriter returns stdout or stderr, whichever is a terminal, else nil.
func (a *app) terminalWriter() io.Writer {
	switch {
	case term.Is(a.env.Stdout):
		return a.env.Stdout
	case term.Is(a.env.Stderr):
		return a.env.Stderr
	}
	return nil
}
