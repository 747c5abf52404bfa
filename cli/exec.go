package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/registry"
	"mayfly/internal/server"
	"mayfly/internal/snapshot"
	"mayfly/render"
)

// Exit statuses for a command that cannot be run, as POSIX has them for env and nohup.
const (
	statusNotExecutable   = 126
	statusCommandNotFound = 127
)

// stateVariable names the directory in which commands record inboxes and what they printed, instead of the
// user's.
const stateVariable = "MAYFLY_STATE_DIR"

func (a *app) execCommand() *cobra.Command {
	x := &execution{app: a, config: server.InMemoryConfig()}
	cmd := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARGUMENT...]",
		Short: "Run a command with its own mail service",
		Long: "Run a command with a private mail service that accepts any address and any SMTP login, and stops when the command exits.\n\n" +
			"Input, output, signals and the exit status are the command's: 128 and the signal's number if a signal killed it, 127 if it was not found, " +
			"126 if it could not be run. SIGINT and SIGQUIT are not forwarded: a terminal sends them to the command itself.\n\n" +
			"The command runs with MAYFLY_BASE_URL and MAYFLY_API_KEY set, so that every mayfly command in it uses this service, and with MAYFLY_SMTP " +
			"(host:port), MAYFLY_SMTP_HOST and MAYFLY_SMTP_PORT, where it accepts mail. --env sets others from templates, in which {smtp}, {host} and {port} stand for " +
			"the last three, {api} and {key} for the first two, and {resend}, {sendgrid}, {postmark}, {mailgun} and {ses} for the base URL of a provider's " +
			"API that delivers here, all of which are below MAYFLY_PROVIDERS. MAYFLY_STATE_DIR is a temporary directory that records what `mayfly wait` has printed.\n\n" +
			"Mail is stored in memory. --keep-mails also writes each message to a directory as it arrives (.eml). If the command fails, each is also written as text (.txt) " +
			"and, if a browser is installed, as a screenshot (.png), for up to 20 seconds in all. If it succeeds, the files are removed.",
		Example: `mayfly exec -- pytest
mayfly exec --env SMTP_URL=smtp://{smtp} -- npx playwright test
mayfly exec --keep-mails mails -- go test ./...`,
		Args: atLeastOne("a command to run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, v := range x.variables {
				if err := checkVariable(v); err != nil {
					return usagef("--env %q: %w", v, err)
				}
			}
			if err := x.config.Check(); err != nil {
				return a.usageErrors(err)
			}
			err := x.run(cmd.Context(), args)
			if x.interrupted {
				endByInterrupt()
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // flags after the command are the command's
	flags.StringVar(&x.kept.dir, "keep-mails", "", "`directory` to save messages to if the command fails, created if it does not exist")
	flags.StringVar(&x.kept.summary, "summary", "", "`file` to append a summary of the messages and of the findings of the checks to, as Markdown; with --keep-mails")
	flags.BoolVar(&x.kept.unpainted, "no-pictures", false, "save no screenshots of the messages")
	flags.StringArrayVar(&x.variables, "env", nil, "set an environment variable for the command, as `NAME=TEMPLATE`; can be repeated")
	chaosFlag(flags, &x.config.Chaos)
	return cmd
}

// execution runs a command with a private service.
type execution struct {
	app         *app
	config      server.Config
	variables   []string // of --env
	kept        keptMails
	interrupted bool // SIGINT killed the command
}

func (x *execution) run(ctx context.Context, args []string) (err error) {
	cmd := exec.Command(args[0], args[1:]...)
	if cmd.Err != nil {
		return cannotRun(args[0], cmd.Err)
	}
	x.app.graceful.Store(true)
	state, err := os.MkdirTemp("", "mayfly-exec-")
	if err != nil {
		return withNext(fmt.Errorf("creating a temporary directory: %w", err), "set TMPDIR to a directory that can be written to")
	}
	defer func() { _ = os.RemoveAll(state) }() // a process that outlives the command may still write to it
	if x.kept.dir != "" {
		x.config.Arrived = x.kept.keep
	}
	running, err := server.Start(ctx, x.config)
	if err != nil {
		return fmt.Errorf("starting the service: %w", err)
	}
	defer func() {
		cut, cancel := context.WithCancel(ctx)
		cancel() // nobody is left to wait for
		_ = running.Shutdown(cut)
	}()

	cmd.Stdin, cmd.Stdout, cmd.Stderr = x.app.env.Stdin, x.app.env.Stdout, x.app.env.Stderr
	cmd.Env = append(x.environ(running), stateVariable+"="+state)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ended, err := x.app.signals.supervise(cmd)
	if err != nil {
		return cannotRun(args[0], err)
	}
	status := ended.ExitCode()
	if w, ok := ended.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		status, x.interrupted = statusSignalFloor+int(w.Signal()), w.Signal() == syscall.SIGINT
	}
	x.sayLate(ctx, running, state)
	for _, file := range snapshot.Unused(state) {
		fmt.Fprintf(x.app.env.Stderr, "mayfly: no test used the snapshot %s\n", render.Clean(file))
	}
	if status != statusDone && x.kept.dir != "" {
		x.kept.finish(ctx, x.app)
	}
	if x.kept.summary != "" {
		if err := x.kept.summarise(x.app, status != statusDone); err != nil {
			fmt.Fprintln(x.app.env.Stderr, errorLine(fmt.Errorf("writing the summary: %w", err)))
		}
	}
	if status == statusDone {
		x.kept.discard()
		return nil
	}
	return reportedError{status}
}

// sayLate names the messages that arrived soon after a wait for them had timed out.
func (x *execution) sayLate(ctx context.Context, running *server.Server, state string) {
	missed := registry.InVain(state)
	if len(missed) == 0 {
		return
	}
	c, err := api.New("http://"+running.HTTPAddr(), running.Key(), api.Options{})
	if err != nil {
		return
	}
	defer c.CloseIdleConnections()
	for inboxID, ended := range missed {
		list, err := c.Messages(ctx, inboxID)
		for _, m := range list.Messages {
			if late := watch.Late(ctx, c, inboxID, m, ended); err == nil && late != "" {
				fmt.Fprintf(x.app.env.Stderr, "mayfly: %s\n", late)
			}
		}
	}
}

// supervise runs a command in place of this process, and returns how it ended. It fails if the command
// cannot be started.
//
// The command is in this process's group, so that both are one job, and what a terminal sends reaches both.
// ctrl+z stops both; ctrl+c and ctrl+\ (SIGINT, SIGQUIT) are left to the command, and so not passed on, or it would
// get them twice. Other signals to this process alone are.
func (s *signals) supervise(cmd *exec.Cmd) (*os.ProcessState, error) {
	received := make(chan os.Signal, 16)
	for _, sig := range append(passedOn, syscall.SIGINT, syscall.SIGQUIT) {
		if !signal.Ignored(sig) { // the command has to ignore it, too
			signal.Notify(received, sig)
		}
	}
	signal.Stop(s.received)
	var passing sync.WaitGroup
	defer func() {
		s.notify() // first, or a signal in between would stop this process as it is
		signal.Stop(received)
		close(received)
		passing.Wait()
	}()
	runtime.LockOSThread() // with which the command would end
	defer runtime.UnlockOSThread()
	endWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	passing.Go(func() {
		for sig := range received {
			if slices.Contains(passedOn, sig) {
				_ = cmd.Process.Signal(sig) // it may have ended
			}
		}
	})
	_ = cmd.Wait() // its state says how it ended
	return cmd.ProcessState, nil
}

// endByInterrupt stops this process as SIGINT does by default: a shell then ends the loop that runs it, which it
// does not for an exit status. It returns where the signal has no effect: the kernel spares process 1.
func endByInterrupt() {
	signal.Reset(os.Interrupt)
	self, err := os.FindProcess(os.Getpid())
	if err != nil || signal.Ignored(os.Interrupt) || os.Getpid() == 1 {
		return
	}
	if err := self.Signal(os.Interrupt); err == nil {
		select {} // another thread may get it, later
	}
}

// cannotRun is the error of a command that does not exist or cannot be executed.
func cannotRun(name string, err error) error {
	status := statusNotExecutable
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		status = statusCommandNotFound
	}
	why := cmp.Or(errors.Unwrap(err), err) // those of os/exec repeat the name
	return &failure{status: status, err: fmt.Errorf("cannot run %s: %w", name, why)}
}

func (x *execution) environ(running *server.Server) []string {
	smtp, api, key := running.SMTPAddr(), "http://"+running.HTTPAddr(), running.Key()
	host, port, _ := net.SplitHostPort(smtp) // the listener's own
	environ := append(x.app.env.Environ[:len(x.app.env.Environ):len(x.app.env.Environ)],
		"MAYFLY_BASE_URL="+api, "MAYFLY_API_KEY="+key, "MAYFLY_SMTP="+smtp, "MAYFLY_SMTP_HOST="+host, "MAYFLY_SMTP_PORT="+port,
		"MAYFLY_PROVIDERS="+api+"/providers")
	pairs := []string{"{smtp}", smtp, "{host}", host, "{port}", port, "{api}", api, "{key}", key}
	for _, name := range server.Providers() {
		pairs = append(pairs, "{"+name+"}", api+"/providers/"+name)
	}
	values := strings.NewReplacer(pairs...)
	for _, v := range x.variables {
		environ = append(environ, values.Replace(v))
	}
	return environ
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	templateWord = regexp.MustCompile(`\{\w*\}`)
)

func checkVariable(v string) error {
	name, template, ok := strings.Cut(v, "=")
	if !ok || !variableName.MatchString(name) {
		return errors.New("must be NAME=TEMPLATE, with a name of letters, digits and underscores")
	}
	for _, word := range templateWord.FindAllString(template, -1) {
		names := append([]string{"smtp", "host", "port", "api", "key"}, server.Providers()...)
		if !slices.Contains(names, strings.Trim(word, "{}")) {
			return fmt.Errorf("unknown %s: use {%s}", word, strings.Join(names, "}, {"))
		}
	}
	return nil
}
