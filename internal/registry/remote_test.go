package registry

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/api"
	"mayfly/api/watch"
)

// keeper keeps states as a service does.
type keeper struct {
	mu     sync.Mutex
	states map[string][]byte
	gone   bool
}

func (k *keeper) States(context.Context) (map[string][]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.states), nil
}

func (k *keeper) SetState(_ context.Context, inboxID string, before, after []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.gone:
		return api.ErrNotFound
	case !bytes.Equal(k.states[inboxID], before):
		return api.ErrChanged
	}
	k.states[inboxID] = after
	return nil
}

type nothing struct{ Keeper }

func (nothing) States(context.Context) (map[string][]byte, error) { return nil, api.ErrUnsupported }

// hung is a service that does not answer.
type hung struct{ Keeper }

func (hung) States(ctx context.Context) (map[string][]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A wait that is interrupted ends at once, whatever the service does.
func TestRemoteInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		err := Remote(hung{}).UpdateConsumed(ctx, "inbox_a", func(*watch.Consumed) bool { return true }, nil)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// What one process keeps of an inbox the others know, and each message is handed over once by all of them.
func TestRemote(t *testing.T) {
	t.Parallel()
	k := &keeper{states: map[string][]byte{}}
	processes := []*Registry{Remote(k), Remote(k), Remote(k)}
	message := watch.Found{Message: api.Message{ID: "msg_a"}}
	var given atomic.Int64
	var waits sync.WaitGroup
	for i := range 12 {
		waits.Go(func() {
			if err := processes[i%3].UpdateConsumed(t.Context(), "inbox_a", func(d *watch.Consumed) bool {
				return d.Take(watch.Code, message)
			}, func() bool { given.Add(1); return true }); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 3 {
		waits.Go(func() {
			if err := processes[i].SaveSeen("inbox_a", []Mark{{ID: string(rune('a' + i)), Received: time.Now()}}); err != nil {
				t.Error(err)
			}
		})
	}
	waits.Wait()
	// One that could not be printed is another wait's, and one that was printed meanwhile is nobody's.
	update := func(process int, id string, deliver func() bool) (took bool) {
		t.Helper()
		if err := processes[process].UpdateConsumed(t.Context(), "inbox_a", func(d *watch.Consumed) bool {
			took = d.Take(watch.Code, watch.Found{Message: api.Message{ID: id}})
			return took
		}, deliver); err != nil {
			t.Error(err)
		}
		return took
	}
	done := func() bool { return true }
	update(0, "msg_b", func() bool { return !update(1, "msg_c", done) })
	if b, c := update(2, "msg_b", done), update(2, "msg_c", done); !b || c {
		t.Errorf("took the one that was not printed: %t, the one that was: %t", b, c)
	}
	// A service that keeps nothing leaves it to files.
	files := Open(t.TempDir(), "", "").KeptBy(nothing{})
	if err := files.SaveSeen("inbox_a", []Mark{{ID: "x"}}); err != nil {
		t.Error(err)
	}
	if seen, err := files.SeenReader().Read(); err != nil || len(seen["inbox_a"].Read) != 1 {
		t.Errorf("in files: %+v, %v", seen, err)
	}
	if given.Load() != 1 {
		t.Errorf("the message was handed over %d times", given.Load())
	}
	if err := processes[0].Put(Inbox{ID: "inbox_a", Email: "a@b.test", Label: "staging"}); err != nil {
		t.Error(err)
	}
	fresh := Remote(k)
	if all, err := fresh.List(); err != nil || len(all) != 1 || all[0].Label != "staging" {
		t.Errorf("inboxes with a label: %+v, %v", all, err)
	}
	reader := fresh.SeenReader()
	seen, err := reader.Read()
	if err != nil || len(seen["inbox_a"].Read) != 3 {
		t.Errorf("seen: %+v, %v", seen, err)
	}
	if seen, err = reader.Read(); err != nil || len(seen) != 0 {
		t.Errorf("nothing has changed, but: %+v, %v", seen, err)
	}
	k.gone = true
	if err := fresh.SaveSeen("inbox_a", []Mark{{ID: "x"}}); err != nil {
		t.Errorf("an inbox that is gone: %v", err)
	}
}
