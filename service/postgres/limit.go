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

// window is the period of the rate limit.
const window = time.Minute

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

// A key has one row: when its last requests were made, by the database's clock in seconds, and those
// of the last minute before them, with how many had been made by then. The first of these is over.
// While there are more than 60, times in the same second become one, the later, so that the row stays
// small enough to be written for each request: those before it count for up to a second longer.
const (
	ofOneKey  = "INSERT INTO requests AS r (key_id, taken, allowed) VALUES ($1, $2, $3)"
	ofAllKeys = "INSERT INTO requests AS r (key_id, taken, allowed) SELECT * FROM unnest($1::text[], $2::integer[], $3::integer[])"

	lastMade = "cardinality(r.made)"
	allMade  = "r.totals[" + lastMade + "] + r.taken"
	overMade = "greatest(1, width_bucket(greatest(r.at, EXCLUDED.at) - 60, r.made) + (r.at <= EXCLUDED.at - 60)::integer)"
	keptMade = lastMade + " - (r.taken = 0 OR " + lastMade + " - " + overMade + " > 60 AND floor(r.made[" + lastMade + "]) = floor(r.at))::integer"

	countRequests = ` ON CONFLICT (key_id) DO UPDATE SET
			made = r.made[` + overMade + `:` + keptMade + `] || CASE WHEN r.taken = 0 THEN r.made[` + lastMade + `] ELSE r.at END,
			totals = r.totals[` + overMade + `:` + keptMade + `] || ` + allMade + `,
			taken = greatest(0, least(EXCLUDED.taken, EXCLUDED.allowed - (` + allMade + `) + coalesce(r.totals[` + overMade + `], ` + allMade + `))),
			allowed = EXCLUDED.allowed, at = greatest(r.at, EXCLUDED.at)
		RETURNING key_id, taken, allowed, (allowed - totals[cardinality(totals)] - taken + totals[1])::integer, coalesce(made[2], at) + 60 - at`
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
		for keys := range slices.Chunk(slices.Sorted(maps.Keys(byKey)), s.together) {
			var wanted, allowed []int
			for _, keyID := range keys {
				limit := slices.MinFunc(byKey[keyID], func(a, b *request) int { return a.quota.Limit - b.quota.Limit }).quota.Limit
				wanted, allowed = append(wanted, min(len(byKey[keyID]), limit)), append(allowed, limit)
			}
			sql, args := ofAllKeys, []any{keys, wanted, allowed}
			if len(keys) == 1 {
				sql, args = ofOneKey, []any{keys[0], wanted[0], allowed[0]}
			}
			b.Queue(sql+countRequests, args...).Query(func(rows pgx.Rows) error {
				var keyID string
				var taken, limit, left int
				var reset float64 // seconds until the first request leaves the window
				_, err := pgx.ForEachRow(rows, []any{&keyID, &taken, &limit, &left, &reset}, func() error {
					for i, r := range byKey[keyID] {
						r.ok = i < taken
						r.quota = service.Quota{Limit: limit, Remaining: max(0, left+max(0, taken-1-i)), Reset: time.Duration(reset * float64(time.Second))}
					}
					return nil
				})
				return err
			})
		}
	})
	return list, err
}

// forgetRequests deletes the rows of keys that made no requests in the last hour.
func (s *Store) forgetRequests(ctx context.Context) error {
	const idle = "at < date_part('epoch', now()) - 3600"
	keys, err := query(ctx, s.pool, pgx.RowTo[string], "SELECT key_id FROM requests WHERE "+idle+" LIMIT 1000")
	for _, keyID := range keys {
		if err := s.batch(ctx, keyID, func(b *pgx.Batch) {
			b.Queue("SET LOCAL synchronous_commit = off")
			b.Queue("DELETE FROM requests WHERE key_id = $1 AND "+idle, keyID)
		}); err != nil {
			return err
		}
	}
	return err
}
