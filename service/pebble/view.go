package pebble

import (
	"sync"
	"sync/atomic"

	pebbledb "github.com/cockroachdb/pebble/v2"
)

// views gives readers what is on disk, and nothing of a group that is still being synced: should the
// sync fail, nobody knows whether the group will be there after a restart.
type views struct {
	mu      sync.RWMutex
	current *view // nil once the store is closed
}

// view is the database as it was after a group. It is closed when nobody reads it any more.
type view struct {
	*pebbledb.Snapshot
	readers atomic.Int64 // and one while it is current
}

// read returns the current view, for the caller to release.
func (v *views) read() (*view, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.current == nil {
		return nil, errClosed
	}
	v.current.readers.Add(1)
	return v.current, nil
}

func (v *view) release() error {
	if v.readers.Add(-1) > 0 {
		return nil
	}
	return v.Close()
}

// advance makes what the database has now, which is on disk, the current view.
func (v *views) advance(db *pebbledb.DB) error {
	next := &view{Snapshot: db.NewSnapshot()}
	next.readers.Store(1)
	return v.replace(next)
}

// close ends the current view.
func (v *views) close() error { return v.replace(nil) }

func (v *views) replace(next *view) error {
	v.mu.Lock()
	old := v.current
	v.current = next
	v.mu.Unlock()
	if old == nil {
		return nil
	}
	return old.release()
}
