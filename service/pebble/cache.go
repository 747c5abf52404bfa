package pebble

import "sync"

// cacheSize is the largest number of entries of a cache. A full cache is cleared.
const cacheSize = 16 << 10

// cache keeps values that were read, until the committer changes them. A value that was read before
// a change but arrives after it is not kept.
type cache[K comparable, V any] struct {
	mu      sync.RWMutex
	values  map[K]V
	changes uint64
}

func newCache[K comparable, V any]() *cache[K, V] { return &cache[K, V]{values: make(map[K]V)} }

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

// put sets the value of the key after it has changed.
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

// update sets values that have changed, but only those that the cache has.
func (c *cache[K, V]) update(values map[K]V) {
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

// drop removes values that have changed.
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

// dropAll removes all values, since any may have changed.
func (c *cache[K, V]) dropAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	clear(c.values)
}
