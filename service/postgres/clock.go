package postgres

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// clock is the database's, the only one by which mail is received and inboxes expire: those of the processes'
// machines may differ by hours. Between two readings it goes on by this machine's monotonic clock, which nobody sets.
type clock struct{ last atomic.Pointer[reading] }

// reading is what the database's clock showed, and when.
type reading struct{ database, here time.Time }

const clockInterval = 10 * time.Second // between two readings

// Now implements service.Shared.
func (s *Store) Now() time.Time {
	r := s.clock.last.Load()
	return r.database.Add(time.Since(r.here))
}

// readClock reads the database's clock, unless that takes so long that it would say little.
func (s *Store) readClock(ctx context.Context, pool *pgxpool.Pool) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	r := reading{here: time.Now()}
	if err := conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&r.database); err != nil {
		return err
	}
	took := time.Since(r.here)
	if s.clock.last.Load() != nil && took > time.Second {
		return fmt.Errorf("the answer took %v", took)
	}
	r.database = r.database.Add(took / 2)
	s.clock.last.Store(&r)
	return nil
}

// runClock reads the clock again and again: that of the coordinator or, while that is down, another server's.
func (s *Store) runClock() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(clockInterval):
		}
		if s.readClock(s.ctx, s.coordinator) != nil && s.citus {
			_ = s.readClock(s.ctx, s.pool) // goes on by what it last read
		}
	}
}
