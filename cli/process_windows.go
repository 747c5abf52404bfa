package cli

import (
	"context"
	"os"
	"syscall"
)

// passedOn are the signals that `exec` passes on to its command.
var passedOn = []os.Signal{syscall.SIGHUP, syscall.SIGTERM}

// whileRead runs what waits for mail. Only Unix says that nobody can read stdout any more.
func (a *app) whileRead(ctx context.Context, run func(context.Context) error) error { return run(ctx) }
