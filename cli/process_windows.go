package cli

import (
	"context"
	"os"
	"syscall"
)

// passedOn are the signals that end `exec` only after its command, which is told by Windows itself that the
// console closes: no process can send signals to another.
var passedOn = []os.Signal{syscall.SIGHUP, syscall.SIGTERM}

// cancelOnHangup is run: only Unix says that the reader of stdout is gone.
func (a *app) cancelOnHangup(ctx context.Context, run func(context.Context) error) error {
	return run(ctx)
}
