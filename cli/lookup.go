package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/message"
	"mayfly/render"
)

// inbox finds the inbox that arg names by its ID, its address, or a unique prefix of either; "" is
// the newest.
func (s *connection) inbox(ctx context.Context, arg string) (api.Inbox, error) {
	if strings.Contains(arg, "@") {
		found, err := s.known.InboxAt(ctx, s.client, arg)
		if !errors.Is(err, api.ErrNotFound) && !errors.Is(err, api.ErrInvalid) { // which the start of an address may be
			return found, err
		}
	} else if known, ok := s.known.Known(arg); ok {
		return known, nil
	} else if strings.HasPrefix(arg, "inbox_") {
		if found, err := s.client.Inbox(ctx, arg); !errors.Is(err, api.ErrNotFound) && !errors.Is(err, api.ErrInvalid) {
			return found, err
		}
	}
	all, _, err := s.known.Inboxes(ctx, s.client, func(i api.Inbox) bool { return arg == "" || i.ID == arg })
	if err != nil {
		return api.Inbox{}, err
	}
	if arg == "" {
		if len(all) == 0 {
			return api.Inbox{}, notFoundf("create one with `mayfly new`", "there is no inbox")
		}
		return all[0], nil
	}
	return s.pick(ctx, all, arg)
}

// pick chooses among all by an ID, or a unique prefix of one or of an address. What is none of them
// may still be the ID of an inbox that was created elsewhere.
func (s *connection) pick(ctx context.Context, all []api.Inbox, arg string) (api.Inbox, error) {
	found, ok, err := choose(all, arg, func(i api.Inbox) string {
		switch {
		case strings.HasPrefix(i.ID, arg):
			return i.ID
		case hasPrefixFold(i.Email, arg):
			return i.Email
		}
		return ""
	})
	if ok || err != nil {
		return found, err
	}
	if !strings.Contains(arg, "@") {
		found, err := s.client.Inbox(ctx, arg)
		if err == nil || !errors.Is(err, api.ErrNotFound) && !errors.Is(err, api.ErrInvalid) {
			return found, err
		}
	}
	return api.Inbox{}, notFoundf("`mayfly ls` lists them", "there is no inbox %s", render.Clean(arg))
}

// choose returns the one of all that arg names in full, else the only one whose name begins with
// arg. name returns the name of an element that begins with arg, "" if none does.
func choose[T any](all []T, arg string, name func(T) string) (found T, ok bool, err error) {
	var names []string
	for _, one := range all {
		switch n := name(one); len(n) {
		case 0:
		case len(arg):
			return one, true, nil
		default:
			names, found = append(names, n), one
		}
	}
	if len(names) > 1 {
		err = ambiguous(arg, names)
	}
	return found, len(names) == 1, err
}

// inboxes are the inboxes that have not expired, newest first, as the registry returns them.
func (s *connection) inboxes(ctx context.Context) ([]api.Inbox, error) {
	all, _, err := s.known.Inboxes(ctx, s.client, nil)
	return all, err
}

// message finds the message that arg names by its ID or a unique prefix of it; "" is the newest.
func (s *connection) message(ctx context.Context, inbox api.Inbox, arg string) (api.Summary, error) {
	list, err := s.client.Messages(ctx, inbox.ID)
	if err != nil {
		return api.Summary{}, err
	}
	if arg == "" {
		if len(list.Messages) == 0 {
			return api.Summary{}, notFoundf("`mayfly wait` waits for one", "%s has no message", render.Clean(inbox.Email))
		}
		return list.Messages[0], nil
	}
	found, ok, err := choose(list.Messages, arg, func(m api.Summary) string {
		if strings.HasPrefix(m.ID, arg) {
			return m.ID
		}
		return ""
	})
	if err == nil && !ok {
		err = notFoundf("`mayfly messages "+render.Clean(inbox.Email)+"` lists them", "there is no message %s", render.Clean(arg))
	}
	return found, err
}

// ambiguous is the error for a prefix that several candidates have.
func ambiguous(arg string, candidates []string) error {
	const shown = 8
	more := ""
	if n := len(candidates) - shown; n > 0 {
		candidates, more = candidates[:shown], fmt.Sprintf(" and %d more", n)
	}
	return &failure{
		status: statusUsage,
		err:    fmt.Errorf("%s is the beginning of %s%s", render.Clean(arg), render.Clean(strings.Join(candidates, ", ")), more),
		next:   "give more of it",
	}
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// argument is args[n], or "" if it was left out.
func argument(args []string, n int) string {
	if n < len(args) {
		return args[n]
	}
	return ""
}

// summary connects and finds the message that the arguments INBOX and MESSAGE mean.
func (a *app) summary(ctx context.Context, args []string) (s *connection, inbox api.Inbox, m api.Summary, err error) {
	if s, err = a.connect(ctx); err == nil {
		inbox, err = s.inbox(ctx, argument(args, 0))
	}
	if err == nil {
		m, err = s.message(ctx, inbox, argument(args, 1))
	}
	return s, inbox, m, err
}

func (a *app) message(ctx context.Context, args []string) (*connection, *message.Message, error) {
	s, inbox, summary, err := a.summary(ctx, args)
	if err != nil {
		return nil, nil, err
	}
	m, err := message.Fetch(ctx, s.client, inbox.ID, summary.ID)
	if err == nil {
		m.Rules = s.rules
	}
	return s, m, err
}

// bashWords finds the words of the line where the package bash-completion, which does so for Cobra's
// script, is missing. As there, @ ends no word.
const bashWords = `
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    shopt -u hostcomplete
    __mayfly_init_completion()
    {
        local line=${COMP_LINE:0:COMP_POINT}
        read -ra words <<<"$line"
        [[ $line == *[[:space:]] ]] && words+=("")
        cword=$((${#words[@]} - 1))
        cur=${words[cword]} prev=${words[cword-1]}
    }
fi
`

// zshCompinit turns completion on if it is off, below the tag that compinit looks for in a first line.
const zshCompinit = `
(( $+functions[compdef] )) || { autoload -U compinit && compinit }
`

// completionCommand prints, for each shell, the script that completes commands. It replaces Cobra's,
// whose scripts need the package bash-completion, or that completion is on in zsh, and whose help asks
// for root.
func (a *app) completionCommand() *cobra.Command {
	shell := func(name, example string, write func(root *cobra.Command, w io.Writer) error) *cobra.Command {
		return &cobra.Command{
			Use:     name,
			Short:   "Print the script for " + name,
			Example: example,
			Args:    noArgs,
			RunE:    func(cmd *cobra.Command, _ []string) error { return write(cmd.Root(), a.env.Stdout) },
		}
	}
	return group(&cobra.Command{
		Use:   "completion",
		Short: "Print a shell completion script",
		Long:  "Print a shell completion script for commands, flags, addresses and message IDs.",
		Example: `source <(mayfly completion bash)
mayfly completion fish | source`,
	},
		shell("bash", `# In this shell
source <(mayfly completion bash)

# In every new shell
echo 'source <(mayfly completion bash)' >> ~/.bashrc`, func(root *cobra.Command, w io.Writer) error {
			if err := root.GenBashCompletionV2(w, true); err != nil {
				return err
			}
			_, err := io.WriteString(w, bashWords)
			return err
		}),
		shell("zsh", `# In this shell
source <(mayfly completion zsh)

# In every new shell
echo 'source <(mayfly completion zsh)' >> ~/.zshrc

# The same from a file, which is read when it is first needed
mkdir -p ~/.zfunc && mayfly completion zsh > ~/.zfunc/_mayfly
echo 'fpath+=(~/.zfunc); autoload -U compinit && compinit' >> ~/.zshrc`, func(root *cobra.Command, w io.Writer) error {
			var script strings.Builder
			if err := root.GenZshCompletion(&script); err != nil {
				return err
			}
			tag, rest, _ := strings.Cut(script.String(), "\n")
			_, err := io.WriteString(w, tag+zshCompinit+rest)
			return err
		}),
		shell("fish", `# In this shell
mayfly completion fish | source

# In every new shell
mkdir -p ~/.config/fish/completions
mayfly completion fish > ~/.config/fish/completions/mayfly.fish`, func(root *cobra.Command, w io.Writer) error {
			return root.GenFishCompletion(w, true)
		}),
		shell("powershell", `mayfly completion powershell | Out-String | Invoke-Expression`, (*cobra.Command).GenPowerShellCompletionWithDesc),
	)
}

// completionTimeout is how long pressing tab may take.
const completionTimeout = 700 * time.Millisecond

func completeFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc(flag, f))
}

// complete returns words that the service is asked for, none when it does not answer.
func (a *app) complete(cmd *cobra.Command, words func(ctx context.Context, s *connection) ([]cobra.Completion, error)) ([]cobra.Completion, cobra.ShellCompDirective) {
	a.showsProblems = true // not at all: they would appear in the middle of a command line
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	var found []cobra.Completion
	if s, err := a.connect(ctx); err == nil {
		found, _ = words(ctx, s)
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
				words = append(words, cobra.CompletionWithDesc(email, timeLeft(i.ExpiresAt, s.client.ServiceTime())))
			case strings.HasPrefix(id, start):
				words = append(words, cobra.CompletionWithDesc(id, email))
			}
		}
		return words, err
	})
}

// completeMessage completes INBOX, then MESSAGE.
func (a *app) completeMessage(cmd *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return a.completeInbox(cmd, args, start)
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

func (a *app) completeProfiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	a.showsProblems = true
	return append(slices.Sorted(maps.Keys(a.config().Profiles)), localName), cobra.ShellCompDirectiveNoFileComp
}
