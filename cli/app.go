package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/config"
)

// app is one run: its environment and the flags common to all commands.
type app struct {
	env      Env
	signals  *signals
	profile  string
	baseURL  string
	insecure bool
	color    string
	debug    bool
	log      *slog.Logger // nil without --debug

	conf          config.Config // once read, see config
	configOnce    sync.Once
	helpErr       error               // of showing the help, which Cobra does not ask for
	showsProblems bool                // the command itself shows what is wrong in config.toml
	usualKeys     map[string][]string // of the application, nil for commands to which its keys do not matter

	exitNotice atomic.Pointer[string] // what to say of the local service when the application is left

	transport http.RoundTripper // to services; nil for the network
	maxWait   time.Duration     // how long a request may wait for a limit; as the client does when 0

	// graceful is set by a command that ends by itself after an interrupt, in its own time.
	graceful atomic.Bool
}

func (a *app) execute(ctx context.Context, args []string) error {
	root := a.root()
	root.SetArgs(append([]string{}, args...)) // for nil, Cobra would take those of the process
	cmd, err := root.ExecuteContextC(ctx)
	err = errors.Join(err, a.helpErr)
	if f := (*failure)(nil); errors.As(err, &f) && f.status == statusUsage && f.next == "" {
		f.next = "see `" + cmd.CommandPath() + " --help`"
	}
	return err
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "mayfly",
		Short: "Temporary e-mail inboxes in a terminal",
		Long: "Temporary e-mail inboxes in a terminal. Without a command, mayfly opens the terminal application.\n\n" +
			"It uses the local service of this machine, to which any application can send mail, unless --base-url, --profile, " +
			"MAYFLY_BASE_URL, MAYFLY_PROFILE or config.toml name another. `mayfly key set` stores the API key of that service.\n\n" +
			"INBOX is an ID, an address, or a unique prefix of either; without it, the newest inbox is used. The same goes for MESSAGE.",
		Example: `# Open the terminal application
mayfly

# In a script: make an inbox, wait for the code sent to it, delete it
ADDRESS=$(mayfly new)
mayfly wait "$ADDRESS" --code --timeout 60s
mayfly rm --yes "$ADDRESS"

# Use a hosted service
mayfly key set --base-url https://api.example
mayfly --base-url https://api.example`,
		Version:           version(),
		Args:              noArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			if cmd.Name() == cobra.ShellCompRequestCmd {
				unquoteUsages(cmd.Root())
			}
		},
		RunE: a.runUI,
	}
	root.SetIn(a.env.Stdin)
	root.SetOut(a.env.Stdout)
	root.SetErr(a.env.Stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
			a.helpErr = unknownCommand(cmd, cmd.Flags().Arg(0))
			return
		}
		a.helpErr = a.help(a.env.Stdout, cmd)
	})
	a.globalFlags(root)

	addGroup(root, "inboxes", a.newCommand(), a.lsCommand(), a.messagesCommand(), a.readCommand(), a.waitCommand(), a.watchCommand(),
		a.saveCommand(), a.releaseCommand(), a.extendCommand(), a.rmCommand())
	addGroup(root, "tests and agents", a.execCommand(), a.previewCommand(), a.sendmailCommand(), a.mcpCommand())
	addGroup(root, "service", a.upCommand(), a.downCommand(), a.serveCommand(), a.adminCommand(), a.healthCommand(), a.localServiceCommand())
	addGroup(root, "this machine", a.keyCommand(), a.doctorCommand(), a.manCommand(), a.completionCommand(), a.versionCommand())
	root.SetHelpCommand(a.helpCommand())
	root.SetHelpCommandGroupID("this machine")
	return root
}

func (a *app) globalFlags(root *cobra.Command) {
	root.Flags().BoolVar(&a.debug, "debug", false, "log what the terminal application does to a file, without keys or bodies")
	root.Flags().BoolP("version", "v", false, "print the version")
	flags := root.PersistentFlags()
	flags.StringVar(&a.profile, "profile", "", "`name` of the profile in config.toml to use")
	flags.StringVar(&a.baseURL, "base-url", "", "`URL` of the service, such as https://api.example")
	flags.BoolVar(&a.insecure, "insecure", false, "send the key over plain HTTP, even to another machine")
	choiceFlag(root, flags, &a.color, "color", "auto", "`when` to show colours: auto, always or never", "auto", "always", "never")
	flags.BoolP("help", "h", false, "show the help of a command")
	groupFlags(flags, "global flags")
	a.completeFlag(root, "profile", a.completeProfiles)
}

// addGroup adds commands that the help lists together.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
		root.AddCommand(c)
	}
}

// openDebugLog opens the log file of --debug, which only its owner can read. It says what was done
// and with what result, without keys and bodies.
func (a *app) openDebugLog() (path string, file *os.File, err error) {
	path = filepath.Join(a.stateDir(), "debug.log")
	if err := os.MkdirAll(a.stateDir(), 0o700); err != nil {
		return "", nil, fmt.Errorf("creating the debug log: %w", err)
	}
	file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return "", nil, fmt.Errorf("creating the debug log: %w", err)
	}
	a.log = slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return path, file, nil
}

// trace returns a function that logs each attempt of a request, nil without --debug.
func (a *app) trace() func(api.Trace) {
	if a.log == nil {
		return nil
	}
	return func(t api.Trace) {
		a.log.Debug("request", "method", t.Method, "url", t.URL, "attempt", t.Attempt, "status", t.Status, "bytes", t.Bytes, "took", t.Duration, "error", t.Err)
	}
}
