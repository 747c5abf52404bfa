package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// interrupted is why the context of a run ended: a signal.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string { return "interrupted: " + i.signal.String() }

func (i interrupted) status() int { return statusSignalFloor + int(i.signal) }

// withSignals returns a context that ends with the first SIGINT, SIGTERM or SIGHUP (unless that is ignored, as under
// nohup), its cause an interrupted. A second signal ends the process at once. The returned function stops the watching
// and waits for it.
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
