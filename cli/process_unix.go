//go:build unix

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// passedOn are the signals that `exec` passes on to its command.
var passedOn = []os.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2}

// cancelOnHangup ends the context of run within a second after stdout's reader is gone, as when the program that
// started this one was killed: otherwise only the next write would find out. The error is then EPIPE.
func (a *app) cancelOnHangup(ctx context.Context, run func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel(nil)
	if file, ok := a.env.Stdout.(*os.File); ok {
		watching.Go(func() {
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			for !hungUp(file) {
				select {
				case <-tick.C:
				case <-ctx.Done():
					return
				}
			}
			cancel(fmt.Errorf("output pipe closed: %w", syscall.EPIPE))
		})
	}
	err := run(ctx)
	if cause := context.Cause(ctx); errors.Is(cause, syscall.EPIPE) {
		return cause
	}
	return err
}

// hungUp reports whether the other end of a pipe is closed.
func hungUp(file *os.File) bool {
	polled := []unix.PollFd{{Fd: int32(file.Fd())}} // a hangup is reported without being asked for
	_, err := unix.Poll(polled, 0)
	return err == nil && polled[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
