package store

import (
	"fmt"
	"strings"
	"testing"

	"mayfly/api"
	"mayfly/internal/message"
)

func TestOpenedMessagesAreKeptWithinBounds(t *testing.T) {
	var c Cache
	for n := range 100 {
		m := message.New("inbox_1", api.Message{Text: strings.Repeat("a", n<<10), HTML: strings.Repeat("b", n<<13)})
		c.Put(fmt.Sprint(n), m)
		kept := 0
		for _, m := range c.messages {
			kept += m.Weight()
		}
		if last := c.Get(fmt.Sprint(n)); last != m || kept-last.Weight() > maxCachedBytes {
			t.Fatalf("after %d messages %d bytes are kept", n+1, kept)
		}
		if len(c.messages) > maxCached || len(c.keys) != len(c.messages) {
			t.Fatalf("%d messages are kept by %d keys", len(c.messages), len(c.keys))
		}
	}
}
