package cli

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// interrupted is the signal that ended the context of a run, as its cause.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string { return "interrupted: " + i.signal.String() }

func (i interrupted) status() int { return statusSignalFloor + int(i.signal) }

// signals are those that end a run.
type signals struct {
	received chan os.Signal
	lent     atomic.Int64 // until when the terminal is lent, in nanoseconds since 1970
}

// lentGrace is how long after a program has given the terminal back a ctrl+c that was meant for it may
// be delivered.
const lentGrace = time.Second

// withSignals returns a context that ends with the first SIGINT, SIGTERM or SIGHUP, unless this process was started to ignore it, as
// nohup and a shell's `&` do. A second signal ends the process at once. The function stops watching
// for signals.
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

// notify makes the signals end the run.
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
			var ok bool
			if number, ok = received.(syscall.Signal); !ok {
				number = syscall.SIGINT
			}
		}
		switch {
		case time.Now().UnixNano() < s.lent.Load() && (number == syscall.SIGINT || number == syscall.SIGQUIT):
			continue
		case !first:
			fmt.Fprintln(os.Stderr)
			os.Exit(interrupted{number}.status())
		}
		end(interrupted{number})
		first = false
	}
}

// catchCrashes makes SIGQUIT and SIGABRT end the run as the others do: they would end the process
// with the stacks of its goroutines, and leave the terminal as it is.
func (s *signals) catchCrashes() { signal.Notify(s.received, syscall.SIGQUIT, syscall.SIGABRT) }

// lend ignores ctrl+c and ctrl+\ until the returned function is called: they are meant for another
// program, to which the terminal is lent.
func (s *signals) lend() (back func()) {
	s.lent.Store(math.MaxInt64)
	return func() { s.lent.Store(time.Now().Add(lentGrace).UnixNano()) }
}
