package session

import (
	"context"
	"maps"
	"sync"
	"time"

	"mayfly/internal/registry"
)

// saveDelay is how long changes of what was seen are gathered before they are saved.
const saveDelay = time.Second

// unsaved are changes of what was seen, by inbox ID, that the registry does not have yet.
type unsaved struct {
	mu      sync.Mutex
	changes map[string]registry.Change
	came    chan struct{} // holds one element after a change
}

func newUnsaved() unsaved {
	return unsaved{changes: map[string]registry.Change{}, came: make(chan struct{}, 1)}
}

// SaveSeen has changes saved in the background, at the latest when the session ends.
func (s *Session) SaveSeen(changes []registry.Change) {
	if len(changes) == 0 {
		return
	}
	u := &s.unsaved
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, c := range changes {
		maps.Copy(c.Marked, u.changes[c.InboxID].Marked)
		u.changes[c.InboxID] = c
	}
	select {
	case u.came <- struct{}{}:
	default: // the one before has not been taken yet
	}
}

// run saves changes until ctx ends, and then what is left.
func (u *unsaved) run(ctx context.Context, r *registry.Registry) {
	for ctx.Err() == nil {
		select {
		case <-u.came:
			select {
			case <-time.After(saveDelay):
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
		u.save(r)
	}
}

// save ignores failures: messages are unread again in the next run, or are not.
func (u *unsaved) save(r *registry.Registry) {
	u.mu.Lock()
	changes := u.changes
	u.changes = map[string]registry.Change{}
	u.mu.Unlock()
	for _, c := range changes {
		_ = r.SaveSeen(c)
	}
}
