package pebble

import "sync"

// cacheSize is how many entries a cache has at most; a full one starts anew.
const cacheSize = 16 << 10

// cache keeps what was read and has not changed since. The committer drops what it changes; what was
// read before a change and comes after it is not kept.
type cache[V any] struct {
	mu      sync.RWMutex
	values  map[string]V
	changes uint64
}

func newCache[V any]() *cache[V] { return &cache[V]{values: make(map[string]V)} }

// get returns the value of the key, or else reads it.
func (c *cache[V]) get(key string, read func() (V, error)) (V, error) {
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
		if len(c.values) >= cacheSize {
			clear(c.values)
		}
		c.values[key] = v
	}
	return v, nil
}

// drop is called after the keys have changed.
func (c *cache[V]) drop(keys ...string) {
	if len(keys) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	for _, key := range keys {
		delete(c.values, key)
	}
}

// dropAll is called after any of the keys may have changed.
func (c *cache[V]) dropAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	clear(c.values)
}
