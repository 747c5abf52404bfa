package postgres

import (
	"context"
	"sync"

	"mayfly/service"
)

// counts keeps, of the keys that this process has appended for, how many messages they had on the last two days. Other
// processes may have appended more; that is seen when this one appends.
type counts struct {
	mu     sync.Mutex
	owners map[string]owner
}

// countsSize is how many are kept at most; a full one starts anew.
const countsSize = 16 << 10

// put keeps what a transaction has left.
func (c *counts) put(l *locked) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owners == nil || len(c.owners) > countsSize {
		c.owners = make(map[string]owner)
	}
	for keyID, o := range l.owners {
		c.owners[keyID] = o
	}
}

func (c *counts) get(keyID string) (owner, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.owners[keyID]
	return o, ok
}

// EmailsToday returns how many messages were appended for the key on the day, which is one of the last two with any.
func (s *Store) EmailsToday(ctx context.Context, keyID string, day service.Day) (int, error) {
	if o, ok := s.counts.get(keyID); ok && o.day >= day {
		return o.on(day), nil
	}
	o, err := s.owner(ctx, keyID)
	return o.on(day), err
}
