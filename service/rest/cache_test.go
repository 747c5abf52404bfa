package rest

import (
	"strconv"
	"testing"
)

func TestAnswerCacheStaysWithinItsLimit(t *testing.T) {
	t.Parallel()
	c := newAnswerCache(64 << 10)
	for i := range 1000 {
		c.put(strconv.Itoa(i), make([]byte, i%5000))
		if _, ok := c.get("0"); !ok {
			t.Fatalf("the most recently used answer is gone after %d", i)
		}
		if c.size > c.limit {
			t.Fatalf("%d bytes are kept, the limit is %d", c.size, c.limit)
		}
	}
	if _, ok := c.get("1"); ok {
		t.Error("the least recently used answer is still there")
	}
	c.put("0", []byte("new"))
	if body, _ := c.get("0"); string(body) != "new" {
		t.Errorf("got %q after it was replaced", body)
	}
	sum := 0
	for key, e := range c.byKey {
		sum += cost(key, e.Value.(*answer).body)
	}
	if sum != c.size || len(c.byKey) != c.order.Len() {
		t.Errorf("counted %d bytes and %d entries, kept %d and %d", c.size, c.order.Len(), sum, len(c.byKey))
	}
	before := len(c.byKey)
	c.put("large", make([]byte, 5000))
	if len(c.byKey) != before {
		t.Error("one answer may take much of the cache")
	}
}
