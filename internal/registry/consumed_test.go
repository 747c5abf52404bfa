package registry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/registry"
)

// handOver hands over the code of a message and reports whether it was not delivered before.
func handOver(t *testing.T, r *registry.Registry, inboxID, messageID string) (gave bool) {
	t.Helper()
	err := r.UpdateConsumed(t.Context(), inboxID, func(h *watch.Consumed) bool {
		gave = h.Take(watch.Code, watch.Found{Message: api.Message{ID: messageID}})
		return gave
	}, func() bool { return true })
	must(t, err)
	return gave
}

func TestAProcessThatDoesNotFinishHandingOver(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := registry.Open(dir, "default", base)
		var busy, ended error
		begun := time.Now()
		err := r.UpdateConsumed(t.Context(), "a", func(*watch.Consumed) bool {
			busy = r.UpdateConsumed(t.Context(), "a", func(*watch.Consumed) bool { return true }, func() bool { return true })
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			ended = r.UpdateConsumed(ctx, "a", func(*watch.Consumed) bool { return true }, func() bool { return true })
			handOver(t, r, "b", "1") // another inbox
			return true
		}, func() bool { return true })
		if err != nil || !errors.Is(busy, registry.ErrBusy) || !errors.Is(ended, context.DeadlineExceeded) || errors.Is(ended, registry.ErrBusy) {
			t.Errorf("%v, %v, %v", err, busy, ended)
		}
		if took := time.Since(begun); took > 12*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
