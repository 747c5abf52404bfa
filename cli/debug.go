package cli

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"mayfly/api"
)

// openDebugLog opens the log file of --debug, which only its owner can read. It says what was done
// and with what result, without keys and bodies.
func (a *app) openDebugLog() (path string, file *os.File, err error) {
	path = filepath.Join(a.stateDir(), "debug.log")
	if err := os.MkdirAll(a.stateDir(), 0o700); err != nil {
		return "", nil, fmt.Errorf("creating the debug log: %w", err)
	}
	file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return "", nil, fmt.Errorf("creating the debug log: %w", err)
	}
	a.log = slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return path, file, nil
}

// trace returns a function that logs each attempt of a request, nil without --debug.
func (a *app) trace() func(api.Trace) {
	if a.log == nil {
		return nil
	}
	return func(t api.Trace) {
		a.log.Debug("request", "method", t.Method, "url", t.URL, "attempt", t.Attempt, "status", t.Status, "bytes", t.Bytes, "took", t.Duration, "error", t.Err)
	}
}
