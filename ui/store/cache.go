package store

import (
	"slices"

	"mayfly/internal/message"
)

// maxCached bounds the opened messages that are kept, and maxCachedBytes their memory. The last one
// is always kept.
const (
	maxCached      = 24
	maxCachedBytes = 16 << 20
)

// Cache keeps the most recently opened messages. The zero value is empty.
type Cache struct {
	keys     []string // least recently used first
	messages map[string]*message.Message
}

// Get returns an opened message by its key, nil if it is not cached.
func (c *Cache) Get(key string) *message.Message {
	m := c.messages[key]
	if m != nil {
		c.touch(key)
	}
	return m
}

// Put adds an opened message, and evicts the least recently used ones.
func (c *Cache) Put(key string, m *message.Message) {
	if c.messages == nil {
		c.messages = map[string]*message.Message{}
	}
	c.messages[key] = m
	c.touch(key)
	bytes := 0
	for i := len(c.keys) - 1; i >= 0; i-- {
		bytes += c.messages[c.keys[i]].Weight()
		if i < len(c.keys)-1 && (bytes > maxCachedBytes || len(c.keys)-i > maxCached) {
			for _, k := range c.keys[:i+1] {
				delete(c.messages, k)
			}
			c.keys = c.keys[i+1:]
			return
		}
	}
}

func (c *Cache) touch(key string) {
	c.keys = append(slices.DeleteFunc(c.keys, func(k string) bool { return k == key }), key)
}
