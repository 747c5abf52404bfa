package postgres

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// loader batches lookups of one kind: those that arrive while a query is running share the next
// one, so that a thousand callers cost little more than one. A result is never older than its
// lookup.
type loader[K comparable, V any] struct {
	store *Store
	pool  *pgxpool.Pool
	query func(context.Context, *pgxpool.Pool, []K) ([]V, error)
	key   func(V) K

	mu      sync.Mutex
	next    *load[K, V] // gathers lookups; nil if there are none
	running bool
}

// load is a query for several lookups.
type load[K comparable, V any] struct {
	keys   map[K]bool
	done   chan struct{}
	values map[K]V
	err    error
}

func newLoader[K comparable, V any](s *Store, pool *pgxpool.Pool, query func(context.Context, *pgxpool.Pool, []K) ([]V, error), key func(V) K) *loader[K, V] {
	return &loader[K, V]{store: s, pool: pool, query: query, key: key}
}

// get returns the value, or NotFound.
func (l *loader[K, V]) get(ctx context.Context, key K) (V, error) {
	var none V
	if err := ctx.Err(); err != nil {
		return none, err
	}
	load, err := l.add(key)
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
		return none, service.ErrNotFound
	}
	return v, nil
}

// add adds a lookup to the next query.
func (l *loader[K, V]) add(key K) (*load[K, V], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.running {
		if !l.store.start(l.run) {
			return nil, service.ErrClosed
		}
		l.running = true
	}
	if l.next == nil {
		l.next = &load[K, V]{keys: make(map[K]bool), done: make(chan struct{})}
	}
	l.next.keys[key] = true
	return l.next, nil
}

// run makes queries until there are no more lookups.
func (l *loader[K, V]) run() {
	for {
		l.mu.Lock()
		load := l.next
		l.next = nil
		if load == nil {
			l.running = false
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
	load.err = l.store.retry(ctx, l.pool, func() error {
		list, err := l.ask(ctx, keys)
		load.values = index(list, l.key)
		return err
	})
}

// ask makes the query. If any server of a cluster can answer, and one does not, it asks another.
func (l *loader[K, V]) ask(ctx context.Context, keys []K) ([]V, error) {
	if !l.store.citus || l.pool != l.store.pool {
		return l.query(ctx, l.pool, keys)
	}
	soon, cancel := context.WithTimeout(ctx, l.store.timeout/6)
	defer cancel()
	list, err := l.query(soon, l.pool, keys)
	if soon.Err() == nil || ctx.Err() != nil {
		return list, err
	}
	l.pool.Reset() // other connections may be to the same server
	return l.query(ctx, l.pool, keys)
}

// index returns the values of a list by their keys.
func index[K comparable, V any](list []V, key func(V) K) map[K]V {
	found := make(map[K]V, len(list))
	for _, v := range list {
		found[key(v)] = v
	}
	return found
}

// cache keeps values by the IDs or addresses that they belong to.
type cache[V any] struct {
	ttl    time.Duration // after which it is cleared; 0: never
	mu     sync.Mutex
	since  time.Time
	values map[string]V
}

// cacheSize is the largest number of values in a cache, which is cleared when it is full.
const cacheSize = 64 << 10

func (c *cache[V]) put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil || len(c.values) >= cacheSize || c.old() {
		c.values, c.since = make(map[string]V), time.Now()
	}
	c.values[key] = v
}

func (c *cache[V]) get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.values[key]
	return v, ok && !c.old()
}

func (c *cache[V]) old() bool { return c.ttl > 0 && time.Since(c.since) > c.ttl }

func (c *cache[V]) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.values)
}
