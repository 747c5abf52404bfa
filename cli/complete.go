package cli

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mayfly/render"
)

// completionTimeout is how long pressing tab may take.
const completionTimeout = 700 * time.Millisecond

func (a *app) completeFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc(flag, f))
}

// complete returns words that the service is asked for, none when it does not answer.
func (a *app) complete(cmd *cobra.Command, words func(ctx context.Context, s *connection) ([]cobra.Completion, error)) ([]cobra.Completion, cobra.ShellCompDirective) {
	a.showsProblems = true // not at all: they would appear in the middle of a command line
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	s, err := a.connect(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, err := words(ctx, s)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// completeInbox completes the INBOX of a command that takes one.
func (a *app) completeInbox(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeInboxes(cmd, args, start)
}

// completeInboxes completes addresses, and IDs once one has been started.
func (a *app) completeInboxes(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.complete(cmd, func(ctx context.Context, s *connection) ([]cobra.Completion, error) {
		inboxes, err := s.inboxes(ctx)
		var words []cobra.Completion
		for _, i := range inboxes {
			email, id := render.Clean(i.Email), render.Clean(i.ID)
			switch {
			case slices.Contains(args, i.Email) || slices.Contains(args, i.ID):
			case hasPrefixFold(email, start):
				words = append(words, cobra.CompletionWithDesc(email, timeLeft(i.ExpiresAt)))
			case strings.HasPrefix(id, start):
				words = append(words, cobra.CompletionWithDesc(id, email))
			}
		}
		return words, err
	})
}

// completeMessage completes INBOX, then MESSAGE.
func (a *app) completeMessage(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return a.completeInboxes(cmd, args, start)
	case 1:
	default:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.complete(cmd, func(ctx context.Context, s *connection) ([]cobra.Completion, error) {
		inbox, err := s.inbox(ctx, args[0])
		if err != nil {
			return nil, err
		}
		list, err := s.client.Messages(ctx, inbox.ID)
		var words []cobra.Completion
		for _, m := range list.Messages {
			if id := render.Clean(m.ID); strings.HasPrefix(id, start) {
				words = append(words, cobra.CompletionWithDesc(id, render.Clean(m.Subject)))
			}
		}
		return words, err
	})
}

// completeDomains completes the domains of existing inboxes, since the API cannot list domains.
func (a *app) completeDomains(cmd *cobra.Command, _ []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.complete(cmd, func(ctx context.Context, s *connection) ([]cobra.Completion, error) {
		inboxes, err := s.inboxes(ctx)
		domains := map[string]bool{}
		for _, i := range inboxes {
			if _, domain, ok := strings.Cut(render.Clean(i.Email), "@"); ok && strings.HasPrefix(domain, start) {
				domains[domain] = true
			}
		}
		return slices.Sorted(maps.Keys(domains)), err
	})
}

func (a *app) completeProfiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	a.showsProblems = true
	return append(slices.Sorted(maps.Keys(a.config().Profiles)), localName), cobra.ShellCompDirectiveNoFileComp
}
