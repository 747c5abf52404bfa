package postgres

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// request is a request to be counted, and then the answer.
type request struct {
	keyID string
	quota service.Quota // of which the limit is given
	ok    bool
}

// refusal is what a key that is over its limit was told. Until then it is refused without asking.
type refusal struct {
	limit int
	until time.Time
}

// Take implements service.Limiter. Requests that arrive while a transaction counts others are
// counted together by the next.
func (s *Store) Take(ctx context.Context, keyID string, limit int) (service.Quota, bool, error) {
	begun := time.Now()
	if r, _ := s.refusals.get(keyID); limit <= r.limit && begun.Before(r.until) {
		return service.Quota{Limit: limit, Reset: r.until.Sub(begun)}, false, nil
	}
	v, err := s.serverOf(ctx, keyID)
	if err != nil {
		return service.Quota{}, false, err
	}
	r, err := v.requests.get(ctx, &request{keyID: keyID, quota: service.Quota{Limit: limit}})
	if err != nil {
		return service.Quota{}, false, err
	}
	if !r.ok {
		s.refusals.put(keyID, refusal{r.quota.Limit, begun.Add(r.quota.Reset)})
	}
	return r.quota, r.ok, nil
}

// The requests of a key are counted up to its limit. Its row has the total at the end of each of the
// last 61 seconds, so that a request counts for 60 to 61 seconds. If the clock is set back, the last
// second goes on until the clock has reached it again.
const (
	countOfOneKey  = "INSERT INTO requests AS r (key_id, total, allowed) VALUES ($1, $2, $3)" + addToCount
	countOfAllKeys = "INSERT INTO requests AS r (key_id, total, allowed) SELECT * FROM unnest($1::text[], $2::integer[], $3::integer[])" + addToCount

	addToCount = ` ON CONFLICT (key_id) DO UPDATE SET
			second = greatest(r.second, EXCLUDED.second),
			before = r.total,
			total = r.total + greatest(0, least(EXCLUDED.total,
				EXCLUDED.allowed - r.total + coalesce(r.totals[1 + greatest(0, EXCLUDED.second - r.second)], r.total))),
			totals = r.totals[1 + greatest(0, EXCLUDED.second - r.second):]
				|| array_fill(r.total, ARRAY[least(61, greatest(0, EXCLUDED.second - r.second))]),
			allowed = EXCLUDED.allowed
		RETURNING key_id, total - before, allowed, total - totals[1], width_bucket(totals[1], totals)`
)

// countRequests counts the requests that are allowed, in one transaction, which locks the rows of
// keys in the order of their IDs. It does not wait for the disk: losing the last requests in a crash
// does little harm.
func (s *Store) countRequests(ctx context.Context, pool *pgxpool.Pool, list []*request) ([]*request, error) {
	byKey := make(map[string][]*request)
	for _, r := range list {
		byKey[r.keyID] = append(byKey[r.keyID], r)
	}
	err := s.batchOn(ctx, pool, func(b *pgx.Batch) {
		b.Queue("SET LOCAL synchronous_commit = off")
		for keys := range slices.Chunk(slices.Sorted(maps.Keys(byKey)), s.rowsPerStatement) {
			var asked, allowed []int
			for _, keyID := range keys {
				limit := slices.MinFunc(byKey[keyID], func(a, b *request) int { return a.quota.Limit - b.quota.Limit }).quota.Limit
				asked, allowed = append(asked, min(len(byKey[keyID]), limit)), append(allowed, limit)
			}
			sql, args := countOfAllKeys, []any{keys, asked, allowed}
			if len(keys) == 1 {
				sql, args = countOfOneKey, []any{keys[0], asked[0], allowed[0]}
			}
			b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
				var keyID string
				var taken, limit, used, reset int // reset is after how many seconds the first of them counts no more
				_, err := pgx.ForEachRow(rows, []any{&keyID, &taken, &limit, &used, &reset}, func() error {
					for i, r := range byKey[keyID] {
						r.ok = i < taken
						r.quota = service.Quota{Limit: limit, Remaining: max(0, limit-used+max(0, taken-1-i)), Reset: time.Duration(reset) * time.Second}
					}
					return nil
				})
				return err
			})
		}
	})
	return list, err
}
