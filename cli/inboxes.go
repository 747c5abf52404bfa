package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
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
		Short: "Create an inbox and print its address",
		Long: "Create an inbox and print its address. The SMTP address to send to goes to standard error, if it is known and MAYFLY_SMTP is not set to it. " +
			"When the inbox expires, it is deleted with all its messages.",
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
				return usagef("--ttl %s: must be at least a second", time.Duration(ttl))
			}
			inbox, err := s.client.CreateInbox(ctx, api.CreateInbox{
				Domain: domain, Username: username, TTL: int(time.Duration(ttl) / time.Second),
			})
			if err != nil {
				return err
			}
			a.remember(s, inbox)
			if smtp := a.smtp(s); smtp != "" && smtp != a.env.Getenv("MAYFLY_SMTP") { // else the caller has it
				fmt.Fprintln(a.env.Stderr, render.Clean("SMTP "+smtp))
			}
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
	flags.StringVar(&username, "username", "", "local part of the address, the `name` before the @ (default: random)")
	flags.StringVar(&domain, "domain", "", "`domain` of the address, one of the service's (default: the first)")
	flags.Var(&ttl, "ttl", "lifetime, such as 30m, 12h or 2d (default 1h)")
	flags.BoolVar(&copyIt, "copy", false, "copy the address to the clipboard")
	flags.BoolVar(&asJSON, "json", false, "print the inbox as JSON")
	completeFlag(cmd, "domain", cobra.NoFileCompletions)
	return cmd
}

// remember stores an inbox for later commands.
func (a *app) remember(s *connection, i api.Inbox) { a.warn(s.known.Put(registry.FromAPI(i))) }

// warn reports an error of the registry, if it is one.
func (a *app) warn(err error) {
	if err != nil {
		fmt.Fprintf(a.env.Stderr, "mayfly: %s\n", render.Clean(err.Error()))
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
	var names []string
	var err error
	if a.visit == nil {
		names, err = a.env.Environ.Copy(ctx, text)
	}
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

func (a *app) lsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the inboxes",
		Long: "List the inboxes, newest first: all inboxes of the API key if the service can list them, otherwise those recorded on this machine. " +
			"In a pipe: address, number of messages, expiry time and ID, separated by tabs.",
		Example: "mayfly ls\nmayfly ls --json | jq -r .email",
		Args:    noArgs,
		RunE: a.connected(func(ctx context.Context, s *connection, _ []string) error {
			inboxes, listed, err := s.counted(ctx)
			if err != nil {
				return err
			}
			if !listed && len(inboxes) == 0 {
				fmt.Fprintf(a.env.Stderr, "mayfly: %s lists no inboxes, and none are recorded on this machine; `mayfly doctor` checks the service\n", render.Clean(s.baseURL))
			}
			return list(a, inboxes, asJSON, func(i api.Inbox) []string {
				count, expiry := "-", timestamp(i.ExpiresAt)
				if i.MessageCount != nil {
					count = strconv.Itoa(*i.MessageCount)
				}
				if term.Is(a.env.Stdout) {
					expiry = timeLeft(i.ExpiresAt, s.client.ServiceTime())
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
	all, listed, err = s.known.Inboxes(ctx, s.client, nil)
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

func (a *app) extendCommand() *cobra.Command {
	ttl := duration(time.Hour)
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "extend [INBOX]",
		Short:             "Change when an inbox expires",
		Long:              "Set an inbox to expire a given time from now, and print the new expiry time. Its messages are stored until then.",
		Example:           "mayfly extend\nmayfly extend quiet-otter --ttl 12h",
		Args:              atMost(1),
		ValidArgsFunction: a.completeInbox,
		RunE: a.connected(func(ctx context.Context, s *connection, args []string) error {
			inbox, err := s.inbox(ctx, argument(args, 0))
			if err != nil {
				return err
			}
			if inbox, err = s.client.ExtendInbox(ctx, inbox.ID, time.Duration(ttl)); err != nil {
				return err
			}
			a.remember(s, inbox)
			if asJSON {
				return writeJSON(a.env.Stdout, asReceived(inbox.Raw, inbox))
			}
			_, err = fmt.Fprintln(a.env.Stdout, timestamp(inbox.ExpiresAt))
			return err
		}),
	}
	cmd.Flags().Var(&ttl, "ttl", "time from now, such as 30m, 12h or 2d")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the inbox as JSON")
	return cmd
}

func (a *app) rmCommand() *cobra.Command {
	var all, messages, yes bool
	cmd := &cobra.Command{
		Use:   "rm INBOX... | --all",
		Short: "Delete inboxes and all their messages",
		Long: "Permanently delete inboxes and all their messages, or with --messages only the messages. It asks for confirmation; without a terminal, it needs --yes. " +
			"An inbox recorded on this machine that no longer exists counts as deleted; if a name is unknown, nothing is deleted.",
		Example:           "mayfly rm quiet-otter\nmayfly rm --yes \"$ADDRESS\"\nmayfly rm --messages quiet-otter\nmayfly rm --all --yes",
		Args:              noneEmpty,
		ValidArgsFunction: a.completeInboxes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usagef("`mayfly rm` needs inboxes, or --all")
			}
			asks := term.Is(a.env.Stdin) && term.Is(a.env.Stderr)
			if !yes && !asks {
				return usagef("there is no terminal to confirm on: pass --yes")
			}
			s, err := a.connect(cmd.Context())
			if err != nil {
				return err
			}
			return a.remove(cmd.Context(), s, args, all, messages, yes)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "delete every inbox listed by `mayfly ls`")
	cmd.Flags().BoolVar(&messages, "messages", false, "delete the messages, but keep the inboxes")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	return cmd
}

// remove deletes the inboxes that names mean, or all, or only their messages: nothing if a name is unknown, as that of a
// message is. Other failures are listed and do not stop the rest.
func (a *app) remove(ctx context.Context, s *connection, names []string, all, messages, yes bool) error {
	inboxes, failures := s.inboxesNamed(ctx, names, !messages)
	if all {
		var err error
		if inboxes, err = s.inboxes(ctx); err != nil {
			return err
		}
	}
	if len(failures) > 0 && len(names) > 1 {
		failures = append(failures, errors.New("nothing was deleted"))
	}
	if len(failures) > 0 {
		inboxes = nil
	}
	if len(inboxes) > 0 && !yes {
		sure, err := a.confirm(ctx, deletion(inboxes, messages))
		if err != nil {
			return err
		}
		if !sure {
			fmt.Fprintln(a.env.Stderr, "nothing was deleted")
			return reportedError{statusError}
		}
	}
	type outcome struct {
		inbox api.Inbox
		err   error
	}
	do := s.client.DeleteInbox
	if messages {
		do = s.client.EmptyInbox
	}
	for o := range inOrder(ctx, inboxes, func(i api.Inbox) outcome { return outcome{i, do(ctx, i.ID)} }) {
		gone := errors.Is(o.err, api.ErrNotFound)
		if o.err != nil && (!gone || messages) {
			failures = append(failures, fmt.Errorf("%s: %w", render.Clean(o.inbox.Email), o.err))
		}
		if o.err == nil && !messages || gone {
			a.warn(s.known.Remove(o.inbox.ID))
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
		return reportedError{statusError}
	}
	return nil
}

// inboxesNamed finds each inbox once, and returns an error for each name that is none, unless it may be gone and this
// machine knew it.
func (s *connection) inboxesNamed(ctx context.Context, names []string, mayBeGone bool) (inboxes []api.Inbox, failures []error) {
	for _, name := range names {
		i, err := s.inbox(ctx, name)
		switch {
		case err != nil:
			known := false
			if mayBeGone && exitStatus(err) == statusNotFound {
				known, _ = s.known.Gone(name) // an entry too many is found gone the next time
			}
			if !known {
				failures = append(failures, err)
			}
		case !slices.ContainsFunc(inboxes, func(other api.Inbox) bool { return other.ID == i.ID }):
			inboxes = append(inboxes, i)
		}
	}
	return inboxes, failures
}

func deletion(inboxes []api.Inbox, messages bool) string {
	one, many := "%s and all its messages", "these %d inboxes and all their messages"
	if messages {
		one, many = "all messages of %s", "all messages of these %d inboxes"
	}
	if len(inboxes) == 1 {
		return fmt.Sprintf("Delete "+one+"?", render.Clean(inboxes[0].Email))
	}
	var addresses strings.Builder
	for _, i := range inboxes {
		addresses.WriteString("  " + render.Clean(i.Email) + "\n")
	}
	return addresses.String() + fmt.Sprintf("Delete "+many+"?", len(inboxes))
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
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}
