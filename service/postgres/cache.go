package postgres

import "sync"

// cache keeps values by the IDs or addresses that they belong to. The zero value works.
type cache[V any] struct {
	mu     sync.Mutex
	values map[string]V
}

// cacheSize is the largest number of values in a cache, which is cleared when it is full.
const cacheSize = 64 << 10

func (c *cache[V]) put(key string, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil || len(c.values) >= cacheSize {
		c.values = make(map[string]V)
	}
	c.values[key] = v
}

func (c *cache[V]) get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.values[key]
	return v, ok
}
