package cli

import (
	"context"
	"os"
	"syscall"
)

// passedOn are the signals that `exec` passes on to its command.
var passedOn = []os.Signal{syscall.SIGHUP, syscall.SIGTERM}

// whileRead is run: only Unix says that the reader of stdout is gone.
func (a *app) whileRead(ctx context.Context, run func(context.Context) error) error { return run(ctx) }
