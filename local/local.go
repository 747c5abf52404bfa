// Package local is the embedded service of this machine: one process owns it, others attach to it.
package local

import (
	"context"
	"errors"
	"log/slog"
)

// ErrNotRunning says that no process of this machine serves the embedded service.
var ErrNotRunning = errors.New("no local service is running: start one with `mayfly` or `mayfly serve`")

// Options says where the embedded service is.
type Options struct {
	DataDir string       // folder of its store and files; default: mayfly/local in the user's data folder
	Log     *slog.Logger // of the server, when this process becomes its owner; default: nothing is logged
}

// Session is access to the embedded service.
type Session struct {
	BaseURL  string // of the REST API
	Key      string // API key
	SMTPAddr string // host:port
	Owner    bool   // this process serves it
	PID      int    // process that serves it
}

// Open attaches to the embedded service, or starts it in this process when none runs.
func Open(ctx context.Context, o Options) (*Session, error) {
	return nil, errors.New("local: not started")
}

// Find attaches to the embedded service of another process. Without one it fails with [ErrNotRunning].
func Find(ctx context.Context, o Options) (*Session, error) {
	return nil, ErrNotRunning
}

// Done is closed when the service is gone: its owner ended. [Open] then attaches to the next owner or becomes it.
func (s *Session) Done() <-chan struct{} { return nil }

// Close ends access; the owner stops the service.
func (s *Session) Close(ctx context.Context) error { return nil }
