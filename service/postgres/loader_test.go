package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// A lookup that comes while the store is closed makes no query once Close has returned.
func TestClosedStoreStartsNoQuery(t *testing.T) {
	t.Parallel()
	for range 2000 {
		pool, err := pgxpool.New(t.Context(), "postgres://127.0.0.1:1/nobody") // connects to nobody
		check(t, err)
		s := &Store{pool: pool, coordinator: pool}
		s.ctx, s.stop = context.WithCancel(t.Context())
		var closed, late atomic.Bool
		l := newLoader(s, pool, func(context.Context, *pgxpool.Pool, []int) ([]int, error) {
			if closed.Load() {
				late.Store(true)
			}
			return nil, nil
		}, func(n int) int { return n })
		var callers sync.WaitGroup
		for n := range 4 {
			callers.Go(func() { _, _ = l.get(t.Context(), n) }) // there is no such value
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		closed.Store(true)
		callers.Wait()
		if late.Load() {
			t.Fatal("a query began after Close")
		}
	}
}
