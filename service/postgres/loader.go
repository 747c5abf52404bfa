package postgres

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// loader batches lookups of one kind: those that arrive while a query to their shard is running
// share the next one, so that a thousand callers cost little more than one. A result is never older
// than its lookup.
type loader[K comparable, V any] struct {
	store *Store
	name  func(K) string // the key or address that it belongs to; nil: all servers have all values
	query func(context.Context, []K) ([]V, error)
	key   func(V) K

	mu      sync.Mutex
	next    map[shard]*load[K, V] // gather lookups
	running map[shard]bool
}

// load is a query for several lookups.
type load[K comparable, V any] struct {
	keys   map[K]bool
	done   chan struct{}
	values map[K]V
	err    error
}

func newLoader[K comparable, V any](s *Store, name func(K) string, query func(context.Context, []K) ([]V, error), key func(V) K) *loader[K, V] {
	return &loader[K, V]{store: s, name: name, query: query, key: key, next: make(map[shard]*load[K, V]), running: make(map[shard]bool)}
}

// get returns the value, or NotFound.
func (l *loader[K, V]) get(ctx context.Context, key K) (V, error) {
	var none V
	if err := ctx.Err(); err != nil {
		return none, err
	}
	var n shard
	if l.name != nil {
		var err error
		if n, err = l.store.shardOf(ctx, l.name(key)); err != nil {
			return none, err
		}
	}
	load, err := l.add(n, key)
	if err != nil {
		return none, err
	}
	select {
	case <-load.done:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if load.err != nil {
		return none, load.err
	}
	v, ok := load.values[key]
	if !ok {
		return none, errNotFound
	}
	return v, nil
}

// add adds a lookup to the next query to a shard.
func (l *loader[K, V]) add(n shard, key K) (*load[K, V], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store.ctx.Err() != nil {
		return nil, errClosed
	}
	if l.next[n] == nil {
		l.next[n] = &load[K, V]{keys: make(map[K]bool), done: make(chan struct{})}
	}
	load := l.next[n]
	load.keys[key] = true
	if !l.running[n] {
		l.running[n] = true
		l.store.workers.Go(func() { l.run(n) })
	}
	return load, nil
}

// run makes queries to a shard until there are no more lookups.
func (l *loader[K, V]) run(n shard) {
	for {
		l.mu.Lock()
		load := l.next[n]
		delete(l.next, n)
		if load == nil {
			delete(l.running, n)
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		l.do(load)
	}
}

func (l *loader[K, V]) do(load *load[K, V]) {
	defer close(load.done)
	ctx, cancel := context.WithTimeout(l.store.ctx, l.store.timeout)
	defer cancel()
	keys := slices.Collect(maps.Keys(load.keys))
	load.err = l.store.retry(ctx, func() error {
		list, err := l.query(ctx, keys)
		load.values = index(list, l.key)
		return err
	})
}

// index returns the values of a list by their keys.
func index[K comparable, V any](list []V, key func(V) K) map[K]V {
	found := make(map[K]V, len(list))
	for _, v := range list {
		found[key(v)] = v
	}
	return found
}
