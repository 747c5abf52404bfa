package postgres

import (
	"context"
	"maps"
	"sync"

	"mayfly/service"
)

// counts caches how many messages the keys that this process has appended for had on the last two
// days. It does not see what other processes append until this one appends again.
type counts struct {
	mu     sync.Mutex
	owners map[string]owner
}

// countsSize is the largest number of keys in counts, which is cleared when it is full.
const countsSize = 16 << 10

// put stores the counts after a transaction.
func (c *counts) put(l *locked) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owners == nil || len(c.owners) > countsSize {
		c.owners = make(map[string]owner)
	}
	maps.Copy(c.owners, l.owners)
}

func (c *counts) get(keyID string) (owner, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.owners[keyID]
	return o, ok
}

// EmailsToday implements service.Store. It knows only the key's last day with messages and the day
// before.
func (s *Store) EmailsToday(ctx context.Context, keyID string, day service.Day) (int, error) {
	if o, ok := s.counts.get(keyID); ok && o.day >= day {
		return o.on(day), nil
	}
	o, err := s.owner(ctx, keyID)
	return o.on(day), err
}
