package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/keys"
	"mayfly/local"
	"mayfly/render"
	"mayfly/render/image"
	"mayfly/term"
	"mayfly/ui"
)

// checkTime is how long doctor waits for a service.
const checkTime = 10 * time.Second

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Tell what this terminal, configuration, key and service can do",
		Long: "Tell what this terminal can show, where settings, data and state are kept, which key is used and from where, " +
			"and whether the service answers. The status is 1 when something is wrong.",
		Example: "mayfly doctor\nmayfly doctor --profile work",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.showsProblems = true
			d := &doctor{app: a}
			d.terminal()
			d.files()
			d.service(cmd.Context())
			if d.unwritten != nil {
				return d.unwritten
			}
			if d.failed != nil {
				return quiet{exitStatus(d.failed)}
			}
			return nil
		},
	}
}

// doctor prints findings, a line each.
type doctor struct {
	app       *app
	failed    error // the first thing that is wrong
	unwritten error // why a finding could not be printed
}

func (d *doctor) say(name, format string, args ...any) {
	if _, err := fmt.Fprintf(d.app.env.Stdout, "%-12s %s\n", name, render.Clean(fmt.Sprintf(format, args...))); err != nil {
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
	if !term.Is(env.Stdout) {
		d.say("terminal", "none on stdout: plain output, no colours")
	} else {
		d.say("terminal", "%s, %d columns", orNone(env.Getenv("TERM")), d.app.columns())
		d.say("colours", "%s", d.app.colorProfile())
		d.say("hyperlinks", "%s", yes(d.app.styled(), "written (OSC 8)", "not written"))
		d.say("images", "%s", protocolTexts[image.Detect(env.Getenv)])
	}
	d.say("clipboard", "%s", d.clipboard())
}

func (d *doctor) clipboard() string {
	var ways []string
	if d.app.terminalWriter() != nil {
		ways = append(ways, "OSC 52 (the terminal does not tell whether it takes it)")
	}
	return orNone(strings.Join(append(ways, d.app.env.Environ.Clipboards()...), ", "))
}

func (d *doctor) files() {
	a := d.app
	absent := ""
	if missing(a.configFile()) {
		absent = " (not there: defaults)"
	}
	d.say("config", "%s%s", a.configFile(), absent)
	for _, p := range a.config().Problems {
		d.wrong("config", errors.New(p.String()))
	}
	for _, complaint := range ui.Complaints(a.configFile()) {
		if strings.Contains(complaint, "action") || strings.Contains(complaint, "key") {
			d.wrong("config", errors.New(complaint))
		}
	}
	d.say("data", "%s%s", a.dataDir(), unwritable(a.dataDir()))
	d.say("state", "%s%s", a.stateDir(), unwritable(a.stateDir()))
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// unwritable is a word on a folder that Mayfly cannot write to, or make.
func unwritable(dir string) string {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return " (cannot be made: what is kept there is forgotten)"
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return " (cannot be written: what is kept there is forgotten)"
	}
	_ = errors.Join(probe.Close(), os.Remove(probe.Name())) // only that it could be made counts
	return ""
}

func (d *doctor) service(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	p, err := d.app.where()
	if err != nil {
		d.wrong("service", err)
		return
	}
	if p.embedded() {
		session, err := local.Find(ctx, d.app.localOptions())
		if errors.Is(err, local.ErrNotRunning) {
			d.say("service", "the embedded one, which is not running: `mayfly` starts it")
			return
		}
		if err != nil {
			d.wrong("service", err)
			return
		}
		d.say("service", "the embedded one at %s, SMTP %s, process %d", session.BaseURL, session.SMTPAddr, session.PID)
	} else {
		d.say("service", "%s", p.baseURL)
		key, err := d.app.keys().Resolve(ctx, p.keyID())
		if errors.Is(err, keys.ErrNone) {
			err = d.app.noKey(p)
		}
		if err != nil {
			d.wrong("key", err)
			return
		}
		d.say("key", "%s, ends in %s", key.Source, orNone(key.Secret.Last4()))
	}
	s, err := d.app.connect(ctx)
	if err != nil {
		d.wrong("service", err)
		return
	}
	d.answers(ctx, s)
}

// answers makes a request and tells what can be learned from it.
func (d *doctor) answers(ctx context.Context, s *connection) {
	begin := time.Now()
	client := s.client.Background() // what fails is told, and not tried again
	list, err := client.Inboxes(ctx)
	switch {
	case errors.Is(err, api.ErrUnsupported):
		// An answer all the same; a service with the contract alone is asked for an inbox that cannot be.
		if _, err = client.Inbox(ctx, "inbox_of_the_doctor"); errors.Is(err, api.ErrNotFound) {
			err = nil
		}
		d.say("inboxes", "the service cannot list them; this machine knows what it made")
	case err == nil:
		d.say("inboxes", "%d", list.Total)
	}
	if err != nil {
		d.wrong("answer", err)
		return
	}
	d.say("answer", "after %s", time.Since(begin).Round(100*time.Microsecond))
	if q, ok := s.client.Quota(); ok {
		d.say("limit", "%d requests in %s, %d left", q.Limit, q.Window, q.Remaining)
	} else {
		d.say("limit", "not told by the service")
	}
	d.clock(ctx, s)
}

// clock compares the service's clock, which its Date header tells to the second, with this machine's.
func (d *doctor) clock(ctx context.Context, s *connection) {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, s.client.BaseURL(), nil) // without the key
	if err != nil {
		return
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	_ = answer.Body.Close()
	theirs, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		d.say("clock", "not told by the service")
		return
	}
	difference := time.Since(theirs).Truncate(time.Second)
	if difference.Abs() <= 2*time.Second {
		d.say("clock", "agrees with the service's")
		return
	}
	d.say("clock", "%s %s the service's: times of expiry are off by as much", difference.Abs(), yes(difference > 0, "ahead of", "behind"))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func yes(b bool, then, otherwise string) string {
	if b {
		return then
	}
	return otherwise
}
