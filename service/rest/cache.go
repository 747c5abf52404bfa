package rest

import (
	"container/list"
	"sync"
)

// cacheBytes is the memory for the cache of answers.
const cacheBytes = 8 << 20

// answerCache is an LRU cache of the bodies of answers. It does not know who may see them: callers
// check that first. It is safe for concurrent use.
type answerCache struct {
	mu    sync.Mutex
	size  int // bytes of all bodies
	limit int
	order list.List // of *answer, the most recently used first
	byKey map[string]*list.Element
}

type answer struct {
	key  string
	body []byte
}

func newAnswerCache(limit int) *answerCache {
	return &answerCache{limit: limit, byKey: map[string]*list.Element{}}
}

// get returns a body, which must not be changed.
func (c *answerCache) get(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*answer).body, true
}

// put adds a body, unless it would take more than a sixteenth of the cache.
func (c *answerCache) put(key string, body []byte) {
	if len(body) > c.limit/16 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		c.remove(e)
	}
	c.byKey[key] = c.order.PushFront(&answer{key, body})
	c.size += cost(key, body)
	for c.size > c.limit {
		c.remove(c.order.Back())
	}
}

func (c *answerCache) remove(e *list.Element) {
	a := c.order.Remove(e).(*answer)
	delete(c.byKey, a.key)
	c.size -= cost(a.key, a.body)
}

// cost returns about how many bytes an entry takes, including the bookkeeping.
func cost(key string, body []byte) int { return len(key) + cap(body) + 200 }
