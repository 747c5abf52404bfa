// Package cli is the command line of Mayfly: it reads arguments and settings, finds the service,
// wires the parts together and reports how a run ended by its exit status.
//
// Data goes to stdout, everything else to stderr. Whatever comes from a service or a message is
// cleaned before it is printed. JSON keeps the values as they are, with escapes for what a terminal
// could act on.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"mayfly/internal/term"
)

// Env is what a run sees of the process around it.
type Env struct {
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Environ term.Env
}

// OS is the environment of this process.
func OS() Env {
	return Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ()}
}

// Getenv returns the value of an environment variable, "" when it is not set.
func (e Env) Getenv(name string) string { return e.Environ.Getenv(name) }

// interruptGrace is how long a command may take to notice an interrupt before the run ends without
// it.
const interruptGrace = 60 * time.Millisecond

// Run runs the command that args name and returns the exit status: 0 done, 1 error, 2 usage, 3 not
// found, 4 key missing, invalid or not allowed, 5 timed out waiting, 6 rate limit, 128 and the
// signal's number when interrupted.
func Run(ctx context.Context, args []string, env Env) int {
	ctx, signals, stop := withSignals(ctx)
	defer stop()
	a := &app{env: env, signals: signals}
	slog.SetDefault(slog.New(slog.NewTextHandler(mishaps{a}, nil)))
	return a.run(ctx, args)
}

// run runs a command and returns its exit status. When ctx ends, it does not wait for a command
// that ignores that.
func (a *app) run(ctx context.Context, args []string) int {
	ended := make(chan error, 1)
	go func() {
		if a.visit != nil { // a fault ends no other session
			defer func() {
				if p := recover(); p != nil {
					slog.Error("a session panicked", "panic", p, "stack", string(debug.Stack()))
					ended <- errFailed
				}
			}()
		}
		ended <- a.execute(ctx, args)
	}()
	select {
	case err := <-ended:
		return a.report(ctx, err)
	case <-ctx.Done():
	}
	if a.graceful.Load() {
		return a.report(ctx, <-ended)
	}
	select {
	case err := <-ended:
		return a.report(ctx, err)
	case <-time.After(interruptGrace): // it blocks in a read that no context ends
		return a.report(ctx, context.Cause(ctx))
	}
}

// changesTerminal has the run wait for the command when ctx ends, until the returned function is called,
// by when the command has given the terminal its settings back.
func (a *app) changesTerminal() (restored func()) {
	a.graceful.Store(true)
	return func() { a.graceful.Store(false) }
}

// report prints err on stderr, unless that has been done, and returns the exit status.
func (a *app) report(ctx context.Context, err error) int {
	var signal interrupted
	switch {
	case err == nil:
		return statusDone
	case errors.As(context.Cause(ctx), &signal):
		return signal.status()
	}
	if a.visit != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // such as that the service is stopping
	}
	status := exitStatus(err)
	if silent := (reportedError{}); !errors.As(err, &silent) && status != statusBrokenPipe {
		line := errorLine(err)
		if a.visit != nil {
			line = a.visit.hint(line)
		}
		fmt.Fprintln(a.env.Stderr, line)
	}
	return status
}

// interrupted is the signal that ended the context of a run, as its cause.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string { return "interrupted: " + i.signal.String() }

func (i interrupted) status() int { return statusSignalFloor + int(i.signal) }

// signals are those that end a run.
type signals struct {
	received chan os.Signal
	ignored  atomic.Int64 // until when ctrl+c and ctrl+\ are ignored, in nanoseconds since 1970
}

// lateInterrupt bounds how long after the end of a program a ctrl+c that was meant for it is delivered.
const lateInterrupt = time.Second

// withSignals returns a context that ends with the first SIGINT, SIGTERM or SIGHUP. A second signal ends the
// process at once. The function stops watching for signals.
func withSignals(ctx context.Context) (context.Context, *signals, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &signals{received: make(chan os.Signal, 2)}
	s.notify()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		s.watch(cancel, stop)
	}()
	return ctx, s, func() {
		signal.Stop(s.received)
		close(stop)
		<-stopped
		cancel(nil)
	}
}

// notify makes the signals end the run, except those that this process was started to ignore, as nohup and a
// shell's `&` do: they stay ignored.
func (s *signals) notify() {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(s.received, sig)
		}
	}
}

func (s *signals) watch(end context.CancelCauseFunc, stop <-chan struct{}) {
	for first := true; ; {
		var number syscall.Signal
		select {
		case <-stop:
			return
		case received := <-s.received:
			number, _ = received.(syscall.Signal) // as all of them are
		}
		switch {
		case time.Now().UnixNano() < s.ignored.Load() && (number == syscall.SIGINT || number == syscall.SIGQUIT):
			continue
		case !first:
			fmt.Fprintln(os.Stderr)
			os.Exit(interrupted{number}.status())
		}
		end(interrupted{number})
		first = false
	}
}

// catchCrashes makes SIGQUIT and SIGABRT end the run as the others do: they would stop the process
// with the stacks of its goroutines, and leave the terminal as it is.
func (s *signals) catchCrashes() { signal.Notify(s.received, syscall.SIGQUIT, syscall.SIGABRT) }

// ignoreInterrupts ignores ctrl+c and ctrl+\ until the returned function is called: they are meant for
// the program that has the terminal meanwhile.
func (s *signals) ignoreInterrupts() (heed func()) {
	s.ignored.Store(math.MaxInt64)
	return func() { s.ignored.Store(time.Now().Add(lateInterrupt).UnixNano()) }
}
