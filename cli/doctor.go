package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/internal/local"
	"mayfly/internal/server"
	"mayfly/internal/term"
	"mayfly/render"
	"mayfly/render/client"
	"mayfly/ui"
)

// doctorTimeout is how long doctor and health wait for a service.
const doctorTimeout = 5 * time.Second

var errSlow = fmt.Errorf("no answer within %v", doctorTimeout)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check this terminal, the configuration, the API key and the service",
		Long: "Check what this terminal can display, where settings, data and state are stored, the keyring, the API key in use and its source, " +
			"config.toml, and the connection to the service. The exit status is not 0 if something is wrong.",
		Example: "mayfly doctor\nmayfly doctor --profile work",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.showsProblems, a.usualKeys = true, ui.DefaultKeys()
			d := &doctor{app: a}
			keyring := make(chan error, 1)
			go func() { keyring <- a.keys().TryKeyring(cmd.Context()) }() // it may take seconds
			d.terminal()
			d.files()
			d.service(cmd.Context())
			if err := <-keyring; err != nil {
				d.say("keyring", "cannot be used: %v; `mayfly key set --file` stores API keys in a file", err)
			} else {
				d.say("keyring", "works: `mayfly key set` stores API keys in it")
			}
			if d.unwritten != nil {
				return d.unwritten
			}
			if d.failed != nil {
				return reportedError{exitStatus(d.failed)}
			}
			return nil
		},
	}
}

// doctor prints findings, one a line.
type doctor struct {
	app       *app
	failed    error // the first thing that is wrong
	unwritten error // why a finding could not be printed
}

// nameWidth is the width of the names of findings, with the space after them.
const nameWidth = 13

// say prints a finding: on one line, or wrapped to the width of the terminal.
func (d *doctor) say(name, format string, args ...any) {
	name = fmt.Sprintf("%-*s", nameWidth, name)
	text := name + render.Clean(fmt.Sprintf(format, args...)) + "\n"
	if term.Is(d.app.env.Stdout) {
		text = fill(text[nameWidth:], name, strings.Repeat(" ", nameWidth), "", d.app.columns())
	}
	if _, err := fmt.Fprint(d.app.env.Stdout, text); err != nil {
		d.unwritten = err
	}
}

func (d *doctor) wrong(name string, err error) {
	if d.failed == nil {
		d.failed = err
	}
	d.say(name, "WRONG: %s", strings.TrimPrefix(errorLine(err), "mayfly: "))
}

func (d *doctor) terminal() {
	env := d.app.env
	d.say("version", "%s", version())
	if term.Is(env.Stdout) {
		d.say("terminal", "%s, %d columns", cmp.Or(env.Getenv("TERM"), "TERM is not set"), d.app.columns())
	} else {
		d.say("terminal", "none on stdout")
	}
	d.say("colours", "%s", profileTexts[d.app.colorProfile()])
	images := (&viewFlags{images: "auto"}).imageMode(d.app).Protocol
	d.say("images", "%s", cmp.Or(protocolTexts[images], "none"))
	d.say("clipboard", "%s", d.clipboard())
	path, err := d.app.painter().Browser()
	d.say("browser", "%v", cmp.Or[any](err, path+": it renders messages for the web view (7) and --screenshot"))
}

// profileTexts name the colours of a terminal for people.
var profileTexts = map[colorprofile.Profile]string{
	colorprofile.NoTTY: "none", colorprofile.ASCII: "none, only bold and underlined",
	colorprofile.ANSI: "16", colorprofile.ANSI256: "256", colorprofile.TrueColor: "16 million",
}

func (d *doctor) clipboard() string {
	var ways []string
	if d.app.terminalWriter() != nil {
		ways = append(ways, "OSC 52 (whether the terminal accepts it cannot be detected)")
	}
	ways = append(ways, d.app.env.Environ.Clipboards()...)
	return cmp.Or(strings.Join(ways, ", "), "none: neither a terminal nor a system clipboard can be reached")
}

func (d *doctor) files() {
	a := d.app
	absent := ""
	if missing(a.configFile()) {
		absent = " (no such file: defaults apply)"
	}
	d.say("config", "%s%s", a.configFile(), absent)
	for _, p := range a.config().Problems {
		d.wrong("config", errors.New(p.String()))
	}
	d.say("clients", "what they support: caniemail's data of %s", client.Data())
	d.say("data", "%s%s", a.dataDir(), unwritable(a.dataDir()))
	d.say("state", "%s%s", a.stateDir(), unwritable(a.stateDir()))
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// unwritable is a remark on a directory in which nothing can be written, else "". It leaves nothing
// behind, not even the directory.
func unwritable(dir string) string {
	for missing(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return " (cannot be written to: nothing is recorded there)"
	}
	// It could be created: nothing else matters.
	_ = errors.Join(probe.Close(), os.Remove(probe.Name()))
	return ""
}

func (d *doctor) service(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, doctorTimeout, errSlow)
	defer cancel()
	p, err := d.app.endpoint()
	if err != nil {
		d.wrong("service", err)
		return
	}
	if !p.local() {
		d.say("service", "%s", p.baseURL)
		key, err := d.app.key(ctx, p)
		if err != nil {
			d.wrong("key", err)
			return
		}
		d.say("key", "%s, %s", key.Source, ending(key))
	}
	s, err := d.app.connect(ctx)
	if errors.Is(err, local.ErrNotRunning) {
		d.say("service", "the local service, which is not running: `mayfly up` starts it")
		return
	}
	if err != nil {
		d.wrong("service", err)
		return
	}
	if s.session != nil {
		d.local(s.session.last.Load().State)
	}
	d.answers(ctx, s)
}

// local says how the local service runs; this command is one of its clients.
func (d *doctor) local(s local.State) {
	d.say("service", "the local service at %s, SMTP %s", s.API(), s.SMTP())
	life := fmt.Sprintf("until ten seconds after the last client exits; there are %d", s.Clients-1)
	if s.Kept {
		life = "until `mayfly down`"
	}
	d.say("process", "%d, version %s, runs %s", s.PID, s.Version, life)
	d.say("key", "new at each start, in %s", d.app.localOptions().EnvFile())
	d.say("log", "%s", cmp.Or(s.LogFile, "none"))
	d.say("TLS", "%s", cmp.Or(s.CertFile, "SMTP offers none: tls = true below [local] in config.toml"))
	for _, notice := range d.app.notices(s) {
		d.say("notice", "%s", notice)
	}
}

// answers asks the service for its inboxes, and says how fast it answered, its limit and its clock.
func (d *doctor) answers(ctx context.Context, s *connection) {
	begin := time.Now()
	client := s.client.Background() // fails at once instead of trying again
	list, err := client.PollInboxes(ctx, api.Poll{Limit: 1})
	switch {
	case errors.Is(err, api.ErrUnsupported):
		// A service without extensions is asked for an inbox that cannot exist: that it says so is
		// an answer.
		if _, err = client.Inbox(ctx, "inbox_of_the_doctor"); errors.Is(err, api.ErrNotFound) {
			err = nil
		}
		d.say("inboxes", "the service cannot list them; those recorded on this machine are used")
	case err == nil:
		d.say("inboxes", "%d", list.Total)
	}
	if err != nil {
		d.wrong("answer", err)
		return
	}
	d.say("answer", "after %s", time.Since(begin).Round(100*time.Microsecond))
	if q, ok := s.client.Quota(); ok {
		d.say("limit", "%d requests in %s, %d left", q.Limit, duration(q.Window).text(), q.Remaining)
	} else if s.session != nil {
		d.say("limit", "none")
	} else {
		d.say("limit", "not reported by the service")
	}
	d.clock(s)
}

func (d *doctor) clock(s *connection) {
	ahead, way := time.Until(s.client.ServiceTime()).Truncate(time.Second), "behind"
	if ahead < 0 {
		way = "ahead of"
	}
	if ahead == 0 {
		d.say("clock", "agrees with the service's")
	} else {
		d.say("clock", "%s %s the service's, which decides when inboxes expire", ahead.Abs(), way)
	}
}

func (a *app) healthCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "health [URL]",
		Short: "Check that a service is ready",
		Long: "Check that a service is ready for mail and requests, as a health check. If it is not, or does not answer within 5 seconds, " +
			"print the reason and exit with status 1. No API key is needed.\n\n" +
			"Without a URL it asks the service in the settings, else the one that `mayfly serve` runs on this machine (at MAYFLY_SERVE_HTTP, " +
			"else 127.0.0.1:8425), or the local service.",
		Example: "mayfly health\nmayfly health https://api.example",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), doctorTimeout)
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
		s, err := local.Attach(ctx, a.localOptions())
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
	return scheme + server.Reachable(cmp.Or(served, defaultHTTP), "localhost"), nil
}
