package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/browser"
	"mayfly/internal/config"
	"mayfly/internal/term"
	"mayfly/keys"
	"mayfly/ui"
	"mayfly/ui/session"
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
	args          []string            // of the command line
	helpErr       error               // of showing the help, which Cobra does not ask for
	showsProblems bool                // the command itself shows what is wrong in config.toml
	usualKeys     map[string][]string // of the application, nil for commands to which its keys do not matter

	visit *visit // the session over SSH that this is for; nil for this process's user

	exitNotice atomic.Pointer[string] // what to say of the local service when the application is left

	painting browser.Screenshotter // see painter

	transport http.RoundTripper // to services; nil for the network
	saysSlow  bool              // the user is told if a service does not answer
	maxWait   time.Duration     // how long a request may wait for a limit; as the client does when 0

	// graceful is set by a command that ends by itself after an interrupt, in its own time.
	graceful atomic.Bool
}

func (a *app) execute(ctx context.Context, args []string) error {
	a.args = args
	defer a.painting.Close()
	root := a.root()
	if a.visit != nil && len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return unknownCommand(root, args[0]) // Cobra has it everywhere
	}
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
		Short: "Temporary email inboxes in your terminal",
		Long: "Temporary email inboxes in your terminal. Without a command, mayfly opens the terminal application.\n\n" +
			"By default it uses the local service, which accepts mail from any application on this machine. To use another service, set " +
			"--base-url, --profile, MAYFLY_BASE_URL, MAYFLY_PROFILE or a profile in config.toml. `mayfly key set` stores its API key.\n\n" +
			"INBOX is an ID, an address, or a unique prefix of either. It defaults to the newest inbox. MESSAGE is a message ID or a unique " +
			"prefix of one; it defaults to the newest message.",
		Example: `# Open the terminal application
mayfly

# In a script: create an inbox, wait for the code sent to it, delete it
ADDRESS=$(mayfly new)
mayfly wait "$ADDRESS" --code --timeout 60s
mayfly rm --yes "$ADDRESS"

# Use a remote service
mayfly key set --base-url https://api.example
mayfly --base-url https://api.example`,
		Version:           version(),
		Args:              noArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Name() == cobra.ShellCompRequestCmd {
				unquoteUsages(cmd.Root())
			}
			return flagsFit(cmd.Flags())
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

	addGroup(root, "inboxes", a.newCommand(), a.lsCommand(), a.messagesCommand(), a.readCommand(), a.waitCommand(), a.watchCommand(), a.sessionsCommand(),
		a.saveCommand(), a.releaseCommand(), a.extendCommand(), a.rmCommand())
	addGroup(root, "tests and agents", a.execCommand(), a.snapCommand(), a.previewCommand(), a.sendmailCommand(), a.mcpCommand())
	addGroup(root, "service", a.upCommand(), a.downCommand(), a.serveCommand(), a.adminCommand(), a.healthCommand(), a.localServiceCommand(), a.sshCommand())
	addGroup(root, "this machine", a.keyCommand(), a.doctorCommand(), a.manCommand(), a.completionCommand(), a.versionCommand())
	root.SetHelpCommand(a.helpCommand())
	root.SetHelpCommandGroupID("this machine")
	if a.visit != nil {
		root.RunE = a.runSessionUI
		a.visit.restrict(root)
	}
	return root
}

func (a *app) globalFlags(root *cobra.Command) {
	root.Flags().BoolVar(&a.debug, "debug", false, "write a debug log of the terminal application to a file (no API keys, no message bodies)")
	root.Flags().BoolP("version", "v", false, "print the version")
	flags := root.PersistentFlags()
	flags.StringVar(&a.profile, "profile", "", "profile to use, by `name` in config.toml")
	flags.StringVar(&a.baseURL, "base-url", "", "`URL` of the service, such as https://api.example")
	flags.BoolVar(&a.insecure, "insecure", false, "send the API key over plain HTTP, even to another machine")
	choiceFlag(root, flags, &a.color, "color", "auto", "`when` to show colours: auto, always or never", "auto", "always", "never")
	flags.BoolP("help", "h", false, "show help for a command")
	groupFlags(flags, "global flags")
	completeFlag(root, "profile", a.completeProfiles)
}

// addGroup adds commands that the help lists together.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
		root.AddCommand(c)
	}
}

// mishaps appends the stack of a panic that a message caused to the debug log, with --debug or without.
type mishaps struct{ *app }

func (m mishaps) Write(line []byte) (int, error) {
	_, file, err := m.openDebugLog()
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return file.Write(line)
}

// openDebugLog opens the debug log, which only its owner can read. With --debug it says what was done
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

const useWatch = "`mayfly watch` prints a line for each event"

func (a *app) runUI(cmd *cobra.Command, _ []string) error {
	if !term.Is(a.env.Stdin) || !term.Is(a.env.Stdout) {
		return withNext(usagef("the terminal application needs a terminal"), useWatch)
	}
	if a.env.Environ.Dumb() {
		return withNext(usagef("the terminal application needs a terminal that can move its cursor, and TERM is %q", a.env.Getenv("TERM")), useWatch)
	}
	if err := term.AwaitForeground(a.env.Stdin); err != nil {
		return fmt.Errorf("preparing the terminal: %w", err)
	}
	a.showsProblems, a.usualKeys, a.maxWait = true, ui.DefaultKeys(), session.MaxWait
	start, err := a.endpoint()
	if err != nil {
		return err
	}
	logPath := ""
	if a.debug {
		path, file, err := a.openDebugLog()
		if err != nil {
			return err
		}
		defer file.Close()
		logPath = path
		a.log = slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if a.env.Getenv("GOGC") == "" {
		// Collect the garbage of opening a large message sooner; frames leave little.
		debug.SetGCPercent(50)
	}
	a.graceful.Store(true) // to restore the terminal
	a.signals.catchCrashes()
	err = ui.Run(cmd.Context(), ui.Options{
		Services: session.Options{
			Start: session.Profile{Name: start.profile, BaseURL: start.baseURL},
			Connect: func(ctx context.Context, t session.Target) (*session.Service, error) {
				return a.connectUI(ctx, a.targeted(start, t), t.Key)
			},
			Profiles:    uiProfiles(a.config()),
			SaveProfile: a.saveProfile,
		},
		Config:    a.config(),
		ThemePath: filepath.Join(a.stateDir(), "theme.toml"),
		Log:       a.log,
		LogPath:   logPath,
		Release:   a.signals.ignoreInterrupts,
		NoColor:   a.color == "never",
	})
	if text := a.exitNotice.Load(); text != nil {
		fmt.Fprintln(a.env.Stderr, *text)
	}
	return err
}

// targeted is the service that t means; start is the one that the program was started for.
func (a *app) targeted(start endpoint, t session.Target) endpoint {
	switch {
	case t.Profile == "" && t.BaseURL == "":
		return start
	case t.BaseURL == "" && t.Profile != localName:
		p := a.config().Profiles[t.Profile]
		return endpoint{t.Profile, p.BaseURL, a.insecure || p.Insecure}
	}
	p := a.config().Profiles[t.Profile]
	return endpoint{t.Profile, t.BaseURL, a.insecure || p.Insecure && p.BaseURL == t.BaseURL}
}

func uiProfiles(conf config.Config) []session.Profile {
	profiles := []session.Profile{{Name: localName}}
	for _, name := range slices.Sorted(maps.Keys(conf.Profiles)) {
		if p := conf.Profiles[name]; name != localName && p.BaseURL != "" {
			profiles = append(profiles, session.Profile{Name: name, BaseURL: p.BaseURL})
		}
	}
	return profiles
}

// connectUI connects to a service, with the key that was typed, if any. It starts the local service
// if none is running.
func (a *app) connectUI(ctx context.Context, p endpoint, typed string) (*session.Service, error) {
	if p.local() {
		return a.openLocal(ctx, p)
	}
	if typed == "" {
		key, err := a.key(ctx, p)
		if err != nil {
			return nil, err
		}
		typed = key.Secret.Reveal()
	}
	s, err := a.connection(p, typed, a.transport)
	if err != nil {
		return nil, err
	}
	name := p.profile
	if address, err := url.Parse(p.baseURL); name == "" && err == nil {
		name = address.Host
	}
	forget := func(context.Context) error { a.exitNotice.Store(nil); return nil }
	return &session.Service{Client: s.client, Registry: s.known, Name: name, Profile: p.profile, Rules: s.rules, Close: forget}, nil
}

// saveProfile adds a profile to config.toml, and stores its key, if any.
func (a *app) saveProfile(ctx context.Context, p session.Profile, key string, where keys.Place) error {
	if err := config.AddProfile(a.configFile(), p.Name, p.BaseURL); err != nil {
		return err
	}
	if key == "" {
		return nil
	}
	left, err := a.keys().Set(ctx, p.BaseURL, key, where)
	if errors.Is(err, keys.ErrNoKeyring) {
		return fmt.Errorf("%w: mayfly key set --file --profile %s stores the key in a file", err, p.Name)
	}
	return cmp.Or(err, left)
}
