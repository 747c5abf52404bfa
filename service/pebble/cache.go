package pebble

import "sync"

// cacheSize is how many entries a cache has at most; a full one starts anew.
const cacheSize = 16 << 10

// cache keeps what was read and has not changed since. The committer drops what it changes; what was
// read before a change and comes after it is not kept.
type cache[K comparable, V any] struct {
	mu      sync.RWMutex
	values  map[K]V
	changes uint64
}

func newCache[K comparable, V any]() *cache[K, V] { return &cache[K, V]{values: make(map[K]V)} }

// get returns the value of the key, or else reads it.
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

// put is called after the value of the key has changed.
func (c *cache[K, V]) put(key K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	c.keep(key, v)
}

func (c *cache[K, V]) keep(key K, v V) {
	if len(c.values) >= cacheSize {
		clear(c.values)
	}
	c.values[key] = v
}

// renew is called after the values have changed. Those that nobody has asked for are not kept.
func (c *cache[K, V]) renew(values map[K]V) {
	if len(values) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	for key, v := range values {
		if _, kept := c.values[key]; kept {
			c.values[key] = v
		}
	}
}

// drop is called after the keys have changed.
func (c *cache[K, V]) drop(keys ...K) {
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
func (c *cache[K, V]) dropAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	clear(c.values)
}
