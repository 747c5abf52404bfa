package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mayfly/internal/server"
	"mayfly/internal/term"
	"mayfly/ui"
	"mayfly/ui/session"
)

// overSSH are the commands of a session over SSH, and the flags of each: those that need nothing of the machine of the service. A
// new command or flag is not there until it is listed here.
var overSSH = map[string]string{
	"mayfly":   "color help",
	"new":      "username domain ttl copy json",
	"ls":       "json",
	"messages": "json",
	"read":     "view width json images fail-on format",
	"wait":     "from subject body count exactly none settle since again timeout code link json view width images",
	"watch":    "json",
	"sessions": "json",
	"save":     "",
	"snap":     "update format",
	"release":  "to",
	"extend":   "ttl json",
	"rm":       "all messages yes",
	"sendmail": "",
	"help":     "",
}

// visit is a session over SSH that a run is for, instead of this process's user: nothing of this machine is used for it.
type visit struct {
	server.SessionSettings
	through  http.RoundTripper
	key      *keySessions
	terminal *remoteTerminal // nil for streams
	location *time.Location
}

// sessionURL is the base URL of the API for a session.
const sessionURL = "http://localhost"

// sessionHost stands for the service in what a session is told to type: its client alone knows what it calls it.
const sessionHost = "ssh HOST"

// serveSession serves a session.
func (v *visits) serveSession(ctx context.Context, set server.SessionSettings, s *server.Session, service http.RoundTripper) int {
	environ := append(s.Environ, "SSH_TTY=ssh", "SSH_CONNECTION="+s.Remote) // last, so that they count
	if set.SMTP != "" {
		environ = append(environ, "MAYFLY_SMTP="+set.SMTP)
	}
	a := &app{env: Env{Stdin: &weighed{io.NopCloser(s.Stdin), s, 0}, Stdout: s.Stdout, Stderr: s.Stderr, Environ: environ}}
	key := v.join(s.KeyID)
	defer v.leave(key)
	a.visit = &visit{SessionSettings: set, through: &coalescing{key, s, service}, key: key, location: locationOf(a.env.Getenv("TZ"))}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if s.Terminal != nil {
		a.visit.terminal = newRemoteTerminal(s, end)
		a.env.Stdin, a.env.Stdout, a.env.Stderr = a.visit.terminal, screen{s.Stdout, s.Terminal}, screen{s.Stderr, s.Terminal}
	}
	return a.run(ctx, s.Args)
}

// locationOf returns the time zone of a client, or that of the service.
func locationOf(name string) *time.Location {
	if l, err := time.LoadLocation(strings.TrimPrefix(name, ":")); err == nil && name != "" {
		return l
	}
	return time.Local
}

// restrict leaves of the command line what a session has.
func (v *visit) restrict(root *cobra.Command) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: sessionHost}
	root.Version = ""
	root.Long = "Temporary email inboxes. Without a command, and with a terminal, this opens the application.\n\n" +
		"INBOX is an ID, an address, or a unique prefix of either; " +
		"it defaults to the newest inbox. MESSAGE is a message ID or a unique prefix of one; it defaults to the newest message."
	root.Example = "ADDRESS=$(mayfly new)\nCODE=$(mayfly wait \"$ADDRESS\" --code)"
	root.CompletionOptions.DisableDefaultCmd = true
	keepFlags(root, overSSH["mayfly"]) // before Cobra gives them to a command
	for _, c := range root.Commands() {
		if flags, ok := overSSH[c.Name()]; ok && (c.Name() != "sendmail" || v.SMTP != "") {
			keepFlags(c, flags)
			said := v.said(c.Long)
			if first, _, _ := strings.Cut(c.Long, ". "); !v.has(first) {
				said = c.Short + ". " + said
			}
			c.Long, c.Example = said, v.examples(c)
		} else {
			root.RemoveCommand(c)
		}
	}
	root.Example = v.examples(root)
}

// keepFlags leaves a command some of its flags.
func keepFlags(c *cobra.Command, names string) {
	kept := strings.Fields(names)
	own, persistent := c.Flags(), c.PersistentFlags()
	sorted := own.SortFlags
	c.ResetFlags()
	c.Flags().SortFlags, c.PersistentFlags().SortFlags = sorted, sorted
	keep := func(from, to *pflag.FlagSet) {
		from.VisitAll(func(f *pflag.Flag) {
			if slices.Contains(kept, f.Name) && to.Lookup(f.Name) == nil {
				to.AddFlag(f)
			}
		})
	}
	keep(persistent, c.PersistentFlags())
	keep(own, c.Flags())
}

var (
	namedCommand = regexp.MustCompile("mayfly ([a-z][a-z-]*)")
	namedFlag    = regexp.MustCompile(`--([a-z][a-z-]*)`)
	elsewhere    = regexp.MustCompile(`config\.toml|MAYFLY_|this machine|local service|doctor`)
)

// has reports whether a session has every command that a text names.
func (v *visit) has(text string) bool {
	for _, named := range namedCommand.FindAllStringSubmatch(text, -1) {
		if _, ok := overSSH[named[1]]; !ok || named[1] == "sendmail" && v.SMTP == "" {
			return false
		}
	}
	return !elsewhere.MatchString(text)
}

// said is a text about the command line as a session is told it: with commands as they are typed there, and without the
// sentences about what is not there.
func (v *visit) said(text string) string {
	var paragraphs []string
	for p := range strings.SplitSeq(text, "\n\n") {
		sentences := strings.SplitAfter(p, ". ")
		sentences = slices.DeleteFunc(sentences, func(s string) bool { return !v.has(s) })
		if said := strings.TrimSpace(strings.Join(sentences, "")); said != "" {
			paragraphs = append(paragraphs, said)
		}
	}
	return typed(strings.Join(paragraphs, "\n\n"))
}

func typed(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "`mayfly", "`"+sessionHost), "mayfly ", sessionHost+" ")
}

// examples are those of a command that work in a session.
func (v *visit) examples(c *cobra.Command) string {
	var lines []string
	for line := range strings.Lines(c.Example) {
		works := v.has(line)
		for _, f := range namedFlag.FindAllStringSubmatch(line, -1) {
			works = works && (c.Flag(f[1]) != nil || !c.HasParent())
		}
		if works {
			lines = append(lines, typed(line))
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}

// hint is what to do next, without what a session cannot do.
func (v *visit) hint(line string) string {
	what, next, _ := strings.Cut(line, "; ")
	for part := range strings.SplitSeq(next, "; ") {
		if part != "" && v.has(part) {
			what += "; " + part
		}
	}
	return typed(what)
}

// page is the help of a command as a session has it.
func (v *visit) page(p helpPage) helpPage {
	p.sections = slices.DeleteFunc(p.sections, func(s section) bool { return s.title == "environment" || s.title == "help topics" })
	for _, s := range p.sections {
		for i := range s.rows {
			s.rows[i].text = typed(s.rows[i].text)
		}
	}
	for i := range p.more {
		p.more[i] = typed(strings.NewReplacer(", environment variables", "", "help TOPIC` shows a page of the manual", "help ssh` shows the page on SSH").Replace(p.more[i]))
	}
	return p
}

// connectVisit is connect for a session.
func (a *app) connectVisit() (*connection, error) {
	c, err := a.connection(endpoint{profile: a.visit.Name, baseURL: sessionURL}, "ssh", a.visit.through)
	if err == nil {
		c.rules.Local = false
	}
	return c, err
}

// runSessionUI opens the application in a session.
func (a *app) runSessionUI(cmd *cobra.Command, _ []string) error {
	switch {
	case a.visit.terminal == nil:
		return withNext(usagef("the terminal application needs a terminal"), "`ssh -t` asks for one")
	case a.env.Environ.Dumb():
		return withNext(usagef("the terminal application needs a terminal that can move its cursor, and TERM is %q", a.env.Getenv("TERM")), useWatch)
	}
	a.maxWait = session.MaxWait
	a.graceful.Store(true)
	ctx, end := context.WithCancelCause(cmd.Context())
	defer end(nil)
	t := a.visit.terminal
	sizes := make(chan tea.WindowSizeMsg)
	go t.follow(ctx, sizes)
	keys := t.raw(func() { end(errHungUp) })
	err := ui.Run(ctx, ui.Options{
		Services: session.Options{
			Start: session.Profile{Name: a.visit.Name, BaseURL: sessionURL},
			Connect: func(ctx context.Context, _ session.Target) (*session.Service, error) {
				s, err := a.connectVisit()
				if err != nil {
					return nil, err
				}
				return &session.Service{Client: s.client, Registry: s.known, Name: a.visit.Name, Profile: a.visit.Name, SMTP: func() (string, string) { return a.visit.SMTPShown, "" }, Rules: s.rules}, nil
			},
		},
		Config:  a.config(),
		NoColor: a.color == "never",
		Away:    &ui.Away{In: keys, Out: a.env.Stdout, Environ: a.env.Environ, Size: t.size(), Sizes: sizes, Location: a.visit.location},
	})
	if err == nil && ctx.Err() != nil && cmd.Context().Err() == nil {
		return context.Cause(ctx)
	}
	if err == nil {
		err = context.Cause(cmd.Context())
	}
	return err
}

var errHungUp = errors.New("the terminal was closed")

// errFailed is what the user is told of a panic, of which the log has the details.
var errFailed = errors.New("it failed: the log of the service has the reason")

// sshCommand is the process that serves the sessions over SSH of a service.
func (a *app) sshCommand() *cobra.Command {
	return &cobra.Command{
		Use: sshCommandName + " SETTINGS", Short: "Serve sessions over SSH for the process that starts this one", Hidden: true,
		Example: "mayfly serve --ssh :2222", Args: exactly(1, "its settings"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.graceful.Store(true)
			ui.ShareProcess()
			debug.SetGCPercent(50) // frames leave little garbage, and each session has its own
			v := &visits{keys: map[string]*keySessions{}}
			return server.ServeSessions(cmd.Context(), args[0], a.sessionLog, v.serveSession)
		},
	}
}

const sshCommandName = "ssh-sessions"

// sessionsProcess returns the command of that process, which ctrl+c at the terminal of the service does not reach.
func sessionsProcess(ctx context.Context, settings string) *exec.Cmd {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	cmd := exec.CommandContext(ctx, program, sshCommandName, settings)
	cmd.Dir = "/"
	term.Detach(cmd)
	return cmd
}

// sessionLog is the log of that process: lines on the standard error of the service.
func (a *app) sessionLog(debug bool) *slog.Logger {
	level := slog.LevelInfo
	if debug {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(a.env.Stderr, &slog.HandlerOptions{Level: level}))
	slog.SetDefault(log)
	return log
}
