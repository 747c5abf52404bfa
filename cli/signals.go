package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// interrupted is the signal that ended the context of a run, as its cause.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string { return "interrupted: " + i.signal.String() }

func (i interrupted) status() int { return statusSignalFloor + int(i.signal) }

// withSignals returns a context that ends with the first SIGINT, SIGTERM or SIGHUP (unless that is
// ignored, as under nohup). A second signal ends the process at once. The function stops watching
// for signals.
func withSignals(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for first := true; ; first = false {
			select {
			case <-stop:
				return
			case s := <-signals:
				number, ok := s.(syscall.Signal)
				if !ok {
					number = syscall.SIGINT
				}
				if !first {
					fmt.Fprintln(os.Stderr)
					os.Exit(interrupted{number}.status())
				}
				cancel(interrupted{number})
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(stop)
		<-stopped
		cancel(nil)
	}
}
