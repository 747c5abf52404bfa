package postgres

import (
	"context"
	"sync"
)

// loader answers questions of one kind. Those that come while a query is under way share the next one, so that a
// thousand callers cost little more than one; an answer is never older than its question.
type loader[K comparable, V any] struct {
	store *Store
	query func(context.Context, []K) (map[K]V, error)

	mu      sync.Mutex
	next    *load[K, V] // gathers questions; nil when there are none
	running bool
}

// load is a query and those who wait for it.
type load[K comparable, V any] struct {
	keys   map[K]bool
	done   chan struct{}
	values map[K]V
	err    error
}

func newLoader[K comparable, V any](s *Store, query func(context.Context, []K) (map[K]V, error)) *loader[K, V] {
	return &loader[K, V]{store: s, query: query}
}

// get returns the value, or NotFound.
func (l *loader[K, V]) get(ctx context.Context, key K) (V, error) {
	var none V
	if err := ctx.Err(); err != nil {
		return none, err
	}
	asked, err := l.ask(key)
	if err != nil {
		return none, err
	}
	select {
	case <-asked.done:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if asked.err != nil {
		return none, asked.err
	}
	v, ok := asked.values[key]
	if !ok {
		return none, errNotFound
	}
	return v, nil
}

// ask adds a question to the next query.
func (l *loader[K, V]) ask(key K) (*load[K, V], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store.ctx.Err() != nil {
		return nil, errClosed
	}
	if l.next == nil {
		l.next = &load[K, V]{keys: make(map[K]bool), done: make(chan struct{})}
	}
	asked := l.next
	asked.keys[key] = true
	if !l.running {
		l.running = true
		l.store.workers.Go(l.run)
	}
	return asked, nil
}

// run makes queries until there are no more questions.
func (l *loader[K, V]) run() {
	for {
		l.mu.Lock()
		asked := l.next
		l.next = nil
		if asked == nil {
			l.running = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		l.answer(asked)
	}
}

func (l *loader[K, V]) answer(asked *load[K, V]) {
	defer close(asked.done)
	ctx, cancel := l.store.bounded()
	defer cancel()
	keys := make([]K, 0, len(asked.keys))
	for k := range asked.keys {
		keys = append(keys, k)
	}
	asked.err = l.store.again(ctx, func() (err error) {
		asked.values, err = l.query(ctx, keys)
		return err
	})
}
