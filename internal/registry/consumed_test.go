package registry_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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

func TestWhatWasHandedOverIsKept(t *testing.T) {
	dir := t.TempDir()
	r := registry.Open(dir, "default", base)
	if !handOver(t, r, "a", "1") || handOver(t, r, "a", "1") || !handOver(t, r, "a", "2") || !handOver(t, r, "b", "1") {
		t.Error("a message is not delivered once")
	}
	if handOver(t, registry.Open(dir, "default", base), "a", "2") {
		t.Error("it is delivered again after a restart")
	}
	if err := r.UpdateConsumed(t.Context(), "a", func(h *watch.Consumed) bool {
		return h.Take(watch.Code, watch.Found{Message: api.Message{ID: "3"}})
	}, func() bool { return false }); err != nil || !handOver(t, r, "a", "3") {
		t.Errorf("what was not printed counts as delivered; %v", err)
	}
	must(t, errors.Join(r.Remove("a"), r.Remove("b")))
	for _, left := range files(t, dir) {
		if filepath.Ext(left) != ".lock" { // which others may wait for
			t.Errorf("%s is left", left)
		}
	}
	if all := list(t, r); len(all) != 0 {
		t.Errorf("the inboxes are %v", all)
	}
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

// Many processes hand over the same messages at once.
func TestSeveralProcessesHandOver(t *testing.T) {
	const processes, messages = 8, 40
	dir, ended := inProcesses(t, processes, func(_ string, r *registry.Registry) {
		for n := range messages {
			if handOver(t, r, "a", fmt.Sprint(n)) {
				fmt.Println("gave", n)
			}
		}
	})
	if dir == "" {
		return
	}
	var gave []string
	for range processes {
		for line := range strings.Lines(<-ended) {
			if id, ok := strings.CutPrefix(strings.TrimSpace(line), "gave "); ok {
				gave = append(gave, id)
			}
		}
	}
	slices.Sort(gave)
	if len(gave) != messages || len(slices.Compact(gave)) != messages {
		t.Errorf("%d messages were delivered, of %d", len(gave), messages)
	}
}
