package postgres

import (
	"context"

	"mayfly/service"
)

// EmailsToday implements service.Store. It knows only the key's last day with messages and the day
// before, and what other processes append only when this one appends again.
func (s *Store) EmailsToday(ctx context.Context, keyID string, day service.Day) (int, error) {
	if o, ok := s.counts.get(keyID); ok && o.day >= day {
		return o.on(day), nil
	}
	o, err := s.owner(ctx, keyID)
	return o.on(day), err
}
