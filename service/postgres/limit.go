package postgres

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// window is the period of the rate limit.
const window = time.Minute

// request is a request to be counted; the number tells it from others of the key.
type request struct {
	keyID  string
	limit  int
	number uint64
}

// counted is the answer to a request.
type counted struct {
	request
	quota service.Quota
	ok    bool
}

// Take implements service.Limiter. Requests that arrive while a transaction counts others are
// counted together by the next.
func (s *Store) Take(ctx context.Context, keyID string, limit int) (service.Quota, bool, error) {
	v, err := s.serverOf(ctx, keyID)
	if err != nil {
		return service.Quota{}, false, err
	}
	c, err := v.requests.get(ctx, request{keyID, limit, s.requestNumber.Add(1)})
	return c.quota, c.ok, err
}

// A key has a row without an ID, which is locked while its requests are counted, and 16 for four
// seconds each, whose IDs come round after 64. They have the time at which each request leaves the
// window, ascending, even if the clock is set back. One row would be too large to be written for
// each request. Rows with other IDs are of earlier versions, which lease requests to a process:
// open has those not used yet.
const (
	lockLots = "SELECT FROM lots WHERE key_id = ANY($1) AND id = '' ORDER BY key_id FOR NO KEY UPDATE"

	createLots = `INSERT INTO lots (key_id, id, open, uses, ends_at)
		SELECT DISTINCT key_id, CASE WHEN part < 0 THEN '' ELSE part::text END, 0, '{}'::timestamptz[],
			CASE WHEN part < 0 THEN timestamptz 'infinity' ELSE now() END
		FROM unnest($1::text[]) key_id, generate_series(-1, 15) part ORDER BY 1, 2 ON CONFLICT DO NOTHING`

	// The time is read when the rows are locked: no request is dated before it is allowed.
	countLots = `UPDATE lots SET ends_at = r.leaves, uses = lots.uses[1 + width_bucket(r.now, lots.uses):] || array_fill(
			greatest(r.leaves, lots.uses[cardinality(lots.uses)]), ARRAY[greatest(least(r.requests, r.allowed - c.used), 0)::integer])
		FROM (
			SELECT key_id, count(*) AS requests, min(allowed) AS allowed, statement_timestamp() AS now, statement_timestamp() + $3 AS leaves,
				(extract(epoch FROM statement_timestamp())::bigint / 4 % 16)::text AS part
			FROM unnest($1::text[], $2::integer[]) r (key_id, allowed) GROUP BY key_id
		) r, LATERAL (
			SELECT sum(open * (ends_at > r.now)::integer + cardinality(uses) - width_bucket(r.now, uses)) AS used,
				min(uses[1 + width_bucket(r.now, uses)]) AS first
			FROM lots WHERE key_id = r.key_id AND key_id = ANY($1)
		) c
		WHERE lots.key_id = r.key_id AND lots.key_id = ANY($1) AND lots.id = r.part
		RETURNING lots.key_id, r.allowed, c.used, coalesce(c.first - r.now, $3)`
)

// countRequests counts the requests that are allowed, in one transaction. It does not wait for the
// disk: losing the last requests in a crash does little harm.
func (s *Store) countRequests(ctx context.Context, pool *pgxpool.Pool, list []request) ([]counted, error) {
	type total struct {
		KeyID       string
		Limit, Used int
		Reset       time.Duration // until the first request leaves the window
	}
	var totals map[string]*total
	slices.SortFunc(list, func(a, b request) int { return strings.Compare(a.keyID, b.keyID) })
	err := s.batchOn(ctx, pool, func(b *pgx.Batch) {
		totals = make(map[string]*total)
		b.Queue("SET LOCAL synchronous_commit = off")
		for keys, limits := range s.requestsTogether(list) {
			b.Queue(lockLots, keys)
			b.Queue(countLots, keys, limits, window).Query(func(rows pgx.Rows) error {
				list, err := pgx.CollectRows(rows, pgx.RowToAddrOfStructByPos[total])
				maps.Copy(totals, index(list, func(t *total) string { return t.KeyID }))
				return err
			})
		}
	})
	if err != nil {
		return nil, err
	}
	var done []counted
	var missing []request // of keys without rows
	for _, r := range list {
		t := totals[r.keyID]
		if t == nil {
			missing = append(missing, r)
			continue
		}
		ok := t.Used < t.Limit
		if ok {
			t.Used++
		}
		done = append(done, counted{r, service.Quota{Limit: t.Limit, Remaining: max(0, t.Limit-t.Used), Reset: t.Reset}, ok})
	}
	if len(missing) == 0 {
		return done, nil
	}
	for keys := range s.requestsTogether(missing) {
		if _, err := pool.Exec(ctx, createLots, keys); err != nil {
			return nil, err
		}
	}
	rest, err := s.countRequests(ctx, pool, missing)
	return append(done, rest...), err
}

// requestsTogether yields the columns of requests, sorted by key, that a statement counts: all of
// them, or on a Citus cluster those of a key.
func (s *Store) requestsTogether(list []request) iter.Seq2[[]string, []int32] {
	return func(yield func([]string, []int32) bool) {
		var keys []string
		var limits []int32
		for i, r := range list {
			keys, limits = append(keys, r.keyID), append(limits, int32(r.limit))
			if last := i == len(list)-1; last || s.citus && list[i+1].keyID != r.keyID {
				if !yield(keys, limits) || last {
					return
				}
				keys, limits = nil, nil
			}
		}
	}
}

// forgetLots deletes the rows of keys that made no requests in the last hour, but for those that
// are locked.
func (s *Store) forgetLots(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	idle, err := query(ctx, s.pool, pgx.RowTo[string], "SELECT DISTINCT key_id FROM lots WHERE ends_at <= now() - interval '1 hour' LIMIT 1000")
	for _, keyID := range idle {
		if _, err := s.pool.Exec(ctx, "DELETE FROM lots WHERE key_id = $1 AND ends_at <= now() - interval '1 hour'", keyID); err != nil {
			return err
		}
	}
	return err
}
