package pebble

import "sync"

// Largest numbers of entries of a cache.
const (
	cacheSize = 16 << 10
	// inboxCacheSize is for what every mail needs: inboxes, which take 360 bytes each with their
	// addresses.
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

// dropAll removes all values, since any may have changed.
func (c *cache[K, V]) dropAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	clear(c.values)
}
