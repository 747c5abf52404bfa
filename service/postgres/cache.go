package postgres

import (
	"sync"
	"time"
)

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
