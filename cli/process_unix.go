//go:build unix

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// passedOn are the signals that `exec` passes on to its command.
var passedOn = []os.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2}

// whileRead ends the context of run when stdout's reader is gone, as after the program that started this one
// was killed: otherwise only the next write would find out. The error is then EPIPE.
func (a *app) whileRead(ctx context.Context, run func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer a.watchReader(cancel)()
	err := run(ctx)
	if cause := context.Cause(ctx); errors.Is(cause, syscall.EPIPE) {
		return cause
	}
	return err
}

// watchReader calls end when the reader of stdout is gone, until stop is called.
func (a *app) watchReader(end context.CancelCauseFunc) (stop func()) {
	file, ok := a.env.Stdout.(*os.File)
	if !ok {
		return func() {}
	}
	stopped, toStop, err := os.Pipe()
	if err != nil {
		return func() {} // the next write finds out
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		defer stopped.Close()
		gone := false
		if conn, err := file.SyscallConn(); err == nil {
			_ = conn.Control(func(fd uintptr) { gone = awaitHangup(int32(fd), int32(stopped.Fd())) })
		}
		if gone {
			end(fmt.Errorf("nobody reads the output: %w", syscall.EPIPE))
		}
	})
	return func() {
		toStop.Close()
		watching.Wait()
	}
}

// awaitHangup waits until the other end of a pipe is closed, and reports whether it was the first's.
func awaitHangup(fd, other int32) bool {
	for {
		both := []unix.PollFd{{Fd: fd}, {Fd: other}} // a hangup is reported without being asked for
		if _, err := unix.Poll(both, -1); errors.Is(err, unix.EINTR) {
			continue
		}
		return both[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	}
}
