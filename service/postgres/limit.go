package postgres

import (
	"context"
	"slices"
	"strings"
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
	quota service.Quota // Limit is asked for
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
		s.refusals.put(keyID, refusal{limit, begun.Add(r.quota.Reset)})
	}
	return r.quota, r.ok, nil
}

// A key has one row, with the times at which requests of the last minute were made, by the
// database's clock in seconds, and how many had been made by then. It begins with what is over.
// From the 32nd on, times in the same second become one, the later, so that the row stays small
// enough to be written for each request: those before it count for up to a second longer.
const (
	last  = "cardinality(r.made)"
	over  = "greatest(1, width_bucket(EXCLUDED.at - 60, r.made))"
	kept  = last + " - (" + last + " > 32 AND floor(r.made[" + last + "]) = floor(EXCLUDED.at))::integer"
	taken = "greatest(0, least($2::integer, $3::integer - r.totals[" + last + "] + r.totals[" + over + "]))"

	countRequests = `INSERT INTO requests AS r (key_id, made, totals, taken, at)
		VALUES ($1, ARRAY[0, date_part('epoch', statement_timestamp())], ARRAY[0, least($2::integer, $3::integer)],
			least($2::integer, $3::integer), date_part('epoch', statement_timestamp()))
		ON CONFLICT (key_id) DO UPDATE SET taken = ` + taken + `, at = EXCLUDED.at,
			made = CASE WHEN ` + taken + ` = 0 THEN r.made ELSE r.made[` + over + `:` + kept + `] || greatest(r.made[` + last + `], EXCLUDED.at) END,
			totals = CASE WHEN ` + taken + ` = 0 THEN r.totals ELSE r.totals[` + over + `:` + kept + `] || r.totals[` + last + `] + ` + taken + ` END
		RETURNING taken, totals[cardinality(totals)] - totals[1], made[1 + width_bucket(at - 60, made)] + 60 - at`
)

// countRequests counts the requests that are allowed, in one transaction, which locks the rows of
// keys in the order of their IDs. It does not wait for the disk: losing the last requests in a crash
// does little harm.
func (s *Store) countRequests(ctx context.Context, pool *pgxpool.Pool, list []*request) ([]*request, error) {
	slices.SortFunc(list, func(a, b *request) int {
		if a.keyID == b.keyID {
			return a.quota.Limit - b.quota.Limit
		}
		return strings.Compare(a.keyID, b.keyID)
	})
	err := s.batchOn(ctx, pool, func(b *pgx.Batch) {
		b.Queue("SET LOCAL synchronous_commit = off")
		for rest := list; len(rest) > 0; {
			first, n := rest[0], 1
			for n < len(rest) && rest[n].keyID == first.keyID && rest[n].quota.Limit == first.quota.Limit {
				n++
			}
			same := rest[:n]
			rest = rest[n:]
			b.Queue(countRequests, first.keyID, n, first.quota.Limit).QueryRow(func(row pgx.Row) error {
				var taken, used int
				var reset float64 // seconds until the first request leaves the window
				err := row.Scan(&taken, &used, &reset)
				for i, r := range same {
					r.ok = i < taken
					r.quota.Remaining = max(0, r.quota.Limit-used+max(0, taken-1-i))
					r.quota.Reset = min(window, time.Duration(reset*float64(time.Second)))
				}
				return err
			})
		}
	})
	return list, err
}

// forgetRequests deletes the rows of keys that made no requests in the last hour.
func (s *Store) forgetRequests(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	_, err := s.pool.Exec(ctx, "DELETE FROM requests WHERE at < date_part('epoch', now()) - 3600")
	return err
}
