package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mayfly/config"
)

// app is one run: its environment and the flags that every command has.
type app struct {
	env      Env
	profile  string
	baseURL  string
	insecure bool
	color    string
	debug    bool
	log      *slog.Logger // nil without --debug

	conf          config.Config // once read, see config
	configOnce    sync.Once
	showsProblems bool // the command itself shows what is wrong in config.toml

	transport http.RoundTripper // to services; nil for the network

	// graceful is set by a command that ends by itself after an interrupt, in its own time.
	graceful atomic.Bool
}

func (a *app) execute(ctx context.Context, args []string) error {
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if known := (&failure{}); err != nil && !errors.As(err, &known) && strings.HasPrefix(err.Error(), "unknown command ") {
		return usagef("%w", err)
	}
	return err
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "mayfly",
		Short: "Temporary e-mail inboxes in a terminal",
		Long: "Temporary e-mail inboxes in a terminal: alone, mayfly opens the terminal application.\n\n" +
			"The service is the embedded one of this machine, to whose SMTP port any application can be pointed, unless --base-url, --profile, " +
			"MAYFLY_BASE_URL, MAYFLY_PROFILE or config.toml name another. The key to it is MAYFLY_API_KEY, else the one that `mayfly key set` has kept.\n\n" +
			"INBOX is an ID, an address, or a unique start of either, and the newest when it is left out; MESSAGE likewise.\n\n" +
			"Exit status: 0 done, 1 error, 2 usage, 3 not found, 4 key missing, invalid or not allowed, 5 timed out waiting, 6 rate limit.",
		Example: `# Open the terminal application
mayfly

# In a script: an address, the code that was sent to it, and away with it
ADDRESS=$(mayfly new)
mayfly wait "$ADDRESS" --code --timeout 60s
mayfly rm --yes "$ADDRESS"

# The same on a hosted service
mayfly key set --base-url https://api.example
mayfly --base-url https://api.example`,
		Version:           version(),
		Args:              noArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.checkFlags() },
		RunE:              a.runUI,
	}
	root.SetIn(a.env.Stdin)
	root.SetOut(a.env.Stdout)
	root.SetErr(a.env.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var invalid *pflag.InvalidValueError
		var syntax *strconv.NumError // names functions of Go
		if errors.As(err, &invalid) && errors.As(err, &syntax) {
			return usageOf(cmd, "invalid argument %q for --%s: %w", invalid.GetValue(), invalid.GetFlag().Name, syntax.Err)
		}
		return usageOf(cmd, "%w", err)
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if err := a.help(cmd.Context(), cmd); err != nil {
			fmt.Fprintln(a.env.Stderr, errorLine(err))
		}
	})

	flags := root.PersistentFlags()
	flags.StringVar(&a.profile, "profile", "", "profile of config.toml to use")
	flags.StringVar(&a.baseURL, "base-url", "", "address of the service, such as https://api.example")
	flags.BoolVar(&a.insecure, "insecure", false, "let the key go over plain HTTP to another machine")
	flags.StringVar(&a.color, "color", "auto", "colours: auto, always or never")
	root.Flags().BoolVar(&a.debug, "debug", false, "log what the terminal application does to a file, without keys and bodies")
	cobra.CheckErr(errors.Join(
		root.RegisterFlagCompletionFunc("profile", a.completeProfiles),
		root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions([]cobra.Completion{"auto", "always", "never"}, cobra.ShellCompDirectiveNoFileComp)),
	))

	addGroup(root, "inboxes", a.newCommand(), a.lsCommand(), a.messagesCommand(), a.readCommand(), a.waitCommand(), a.watchCommand(),
		a.saveCommand(), a.rmCommand(), a.mcpCommand())
	addGroup(root, "files", a.previewCommand())
	addGroup(root, "service", a.serveCommand(), a.adminCommand())
	addGroup(root, "this machine", a.keyCommand(), a.doctorCommand(), a.manCommand())
	root.SetHelpCommand(a.helpCommand())
	root.SetHelpCommandGroupID("this machine")
	root.SetCompletionCommandGroupID("this machine")
	return root
}

// addGroup adds commands that the help shows together.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
		root.AddCommand(c)
	}
}

func (a *app) checkFlags() error {
	switch a.color {
	case "auto", "always", "never":
		return nil
	}
	return usagef("--color %q: want auto, always or never", a.color)
}

// noArgs and its like are Cobra's checks of the arguments, as usage errors.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasAvailableSubCommands() {
		return unknownCommand(cmd, args[0])
	}
	return usageOf(cmd, "`%s` takes no argument, and was given %q", cmd.CommandPath(), args[0])
}

// noneEmpty refuses an argument that is empty, as an unset variable of a script is: it must not mean the newest inbox.
func noneEmpty(cmd *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return usageOf(cmd, "an argument is empty; leave it out to mean the newest")
	}
	return nil
}

func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usageOf(cmd, "`%s` takes at most %s, and was given %d", cmd.CommandPath(), count(n, "argument", "arguments"), len(args))
		}
		return noneEmpty(cmd, args)
	}
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usageOf(cmd, "`%s` takes %s, and was given %d arguments", cmd.CommandPath(), what, len(args))
		}
		return noneEmpty(cmd, args)
	}
}

func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageOf(cmd, "`%s` needs %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// usageOf is a usage error that points at the help of cmd.
func usageOf(cmd *cobra.Command, format string, args ...any) error {
	return &failure{
		status: statusUsage,
		err:    fmt.Errorf(format, args...),
		next:   "see `" + cmd.CommandPath() + " --help`",
	}
}

func unknownCommand(cmd *cobra.Command, name string) error {
	if near := like(cmd, name); len(near) > 0 {
		return usageOf(cmd, "unknown command %q for `%s`, did you mean %s?", name, cmd.CommandPath(), strings.Join(near, " or "))
	}
	return usageOf(cmd, "unknown command %q for `%s`", name, cmd.CommandPath())
}

// like are the names of the commands of cmd that begin with name or are at most two edits away from it.
func like(cmd *cobra.Command, name string) []string {
	cmd.SuggestionsMinimumDistance = 2
	return cmd.SuggestionsFor(name)
}

// group is a command that only holds others.
func group(cmd *cobra.Command, children ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(children...)
	names := make([]string, len(children))
	for i, c := range children {
		names[i] = c.Name()
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return usageOf(cmd, "`%s` needs one of %s", cmd.CommandPath(), strings.Join(names, ", "))
	}
	cmd.RunE = func(*cobra.Command, []string) error { return nil } // Args has refused
	return cmd
}
