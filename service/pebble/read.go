package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"mayfly/service"
)

// views gives readers what is on disk, and nothing of a group that is still being synced: should the
// sync fail, nobody knows whether the group will be there after a restart.
type views struct {
	mu      sync.RWMutex
	current *view // nil once the store is closed
	readers sync.WaitGroup
}

// view is the database as it was after a group. It is closed after its last reader.
type view struct {
	*pebbledb.Snapshot
	users atomic.Int64 // its readers, and one while it is current
}

// take returns the current view, for the caller to release, or nil once the store is closed.
func (v *views) take() *view {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.current != nil {
		v.current.users.Add(1)
		v.readers.Add(1)
	}
	return v.current
}

func (v *views) release(taken *view) error {
	defer v.readers.Done()
	return taken.leave()
}

func (v *view) leave() error {
	if v.users.Add(-1) > 0 {
		return nil
	}
	return v.Close()
}

// advance makes what the database has now, which is on disk, the current view.
func (v *views) advance(db *pebbledb.DB) error {
	next := &view{Snapshot: db.NewSnapshot()}
	next.users.Store(1)
	return v.replace(next)
}

// close ends the current view and waits for all readers.
func (v *views) close() error {
	err := v.replace(nil)
	v.readers.Wait()
	return err
}

func (v *views) replace(next *view) error {
	v.mu.Lock()
	old := v.current
	v.current = next
	v.mu.Unlock()
	if old == nil {
		return nil
	}
	return old.leave()
}

// read calls a function with what is on disk. The store is not closed meanwhile. The error has a code.
func (s *Store) read(visit func(*pebbledb.Snapshot) error) (err error) {
	v := s.views.take()
	if v == nil {
		return service.ErrClosed
	}
	defer func() {
		if p := recover(); p != nil {
			err = s.recovered(p)
		}
		if rerr := s.views.release(v); err == nil {
			err = rerr
		}
		err = s.readError(err)
	}()
	return visit(v.Snapshot)
}

var errFile = errors.New("a file of bodies is damaged or missing")

// recovered returns the error of the database's panic when it cannot open a file of bodies, after which
// it does not close all that it has opened.
func (s *Store) recovered(p any) error {
	if text, ok := p.(string); ok && strings.HasPrefix(text, "unknown metadata type") {
		s.readPanic.Store(true)
		return fmt.Errorf("%w: %s", errFile, text)
	}
	panic(p)
}

// get returns a copy of a value, or NotFound.
func (s *Store) get(key []byte) (value []byte, err error) {
	err = s.read(func(v *pebbledb.Snapshot) (err error) {
		value, err = getFrom(v, key)
		return err
	})
	return value, err
}

func getFrom(v *pebbledb.Snapshot, key []byte) ([]byte, error) {
	found, closer, err := v.Get(key)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(found), closer.Close()
}

// scan calls visit for the keys from start up to but excluding end, in order, until it returns
// false.
func (s *Store) scan(ctx context.Context, start, end []byte, visit func(key, value []byte) (bool, error)) error {
	return s.read(func(v *pebbledb.Snapshot) error { return scanFrom(ctx, v, start, end, visit) })
}

func scanFrom(ctx context.Context, v *pebbledb.Snapshot, start, end []byte, visit func(key, value []byte) (bool, error)) (err error) {
	it, err := v.NewIterWithContext(ctx, &pebbledb.IterOptions{LowerBound: start, UpperBound: end})
	if err != nil {
		return err
	}
	defer func() {
		if cerr := it.Close(); err == nil {
			err = cerr
		}
	}()
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		more, err := visit(it.Key(), value)
		if err != nil || !more {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) readError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pebbledb.ErrNotFound):
		return service.ErrNotFound
	case service.ErrorCode(err) == service.Canceled:
		return err
	case errors.Is(err, errValue), errors.Is(err, errFile), pebbledb.IsCorruptionError(err):
		s.damageSeldom.Do(func() {
			s.log.Error("part of the store is damaged and cannot be read: "+advice, "error", text(err))
		})
		return &service.Error{Code: service.Damaged, Message: "This part of the store is damaged", Err: err}
	}
	return &service.Error{Code: service.Unavailable, Message: "The store cannot be read", Err: err}
}

// text returns an error in a line, without what the database adds for its own developers.
func text(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n<corruption detail carrier>")
	return strings.ReplaceAll(line, "\n", "; ") // of several files
}

// Largest numbers of entries of a cache.
const (
	cacheSize = 16 << 10
	// inboxCacheSize is for what every message needs: inboxes, which take 512 bytes each with their
	// addresses when there are so many.
	inboxCacheSize = 128 << 10
)

// cache keeps values that were read or written; when it is full, any one makes room for another. A
// value that was read before a change but arrives after it is not kept.
type cache[K comparable, V any] struct {
	size    int // largest number of values
	mu      sync.RWMutex
	values  map[K]V
	changes uint64
}

func newCache[K comparable, V any](size int) *cache[K, V] {
	return &cache[K, V]{size: size, values: make(map[K]V)}
}

// get returns the value of the key, which it reads if necessary.
func (c *cache[K, V]) get(key K, read func() (V, error)) (V, error) {
	c.mu.RLock()
	v, ok := c.values[key]
	changes := c.changes
	c.mu.RUnlock()
	if ok {
		return v, nil
	}
	v, err := read()
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes == changes {
		c.keep(key, v)
	}
	return v, nil
}

// put sets values that have changed.
func (c *cache[K, V]) put(values map[K]V) {
	if len(values) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	for key, v := range values {
		c.keep(key, v)
	}
}

func (c *cache[K, V]) keep(key K, v V) {
	if _, kept := c.values[key]; !kept && len(c.values) >= c.size {
		for other := range c.values {
			delete(c.values, other)
			break
		}
	}
	c.values[key] = v
}

// drop removes a value that has changed.
func (c *cache[K, V]) drop(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	delete(c.values, key)
}
