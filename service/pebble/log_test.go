package pebble

import (
	"log/slog"
	"testing"
)

// testLog writes what an operator would see to the test's output.
func testLog(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}
