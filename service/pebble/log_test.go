package pebble

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
)

// testLog returns a log that goes to the test's output.
func testLog(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

// countErrors returns a log that counts errors.
func countErrors(n *atomic.Int32) *slog.Logger { return slog.New(counter{slog.DiscardHandler, n}) }

type counter struct {
	slog.Handler
	n *atomic.Int32
}

func (c counter) Enabled(context.Context, slog.Level) bool { return true }

func (c counter) Handle(_ context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		c.n.Add(1)
	}
	return nil
}
