package postgres

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/jackc/pgx/v5"

	"mayfly/service"
)

// lotShare divides what is left: a lot gets that part of it, so that lots get smaller near the
// limit.
const lotShare = 8

// window is the period of the rate limit.
const window = time.Minute

// Lease implements service.Shared. All times are the database's. A use is dated by how long ago it
// was, to which the transfer adds, so that no request counts for less than a minute. The
// transaction does not wait for the disk: losing the last lots in a crash does little harm.
func (s *Store) Lease(ctx context.Context, keyID string, limit int, returned service.Returned) (service.Lot, error) {
	if !isName(keyID) {
		return service.Lot{}, errNotFound
	}
	var lot service.Lot
	err := s.batch(ctx, func(b *pgx.Batch) {
		lot = service.Lot{ID: rand.Text()}
		b.Queue("SELECT set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(hashtextextended($1, 0))", keyID)
		b.Queue("DELETE FROM lots WHERE key_id = $1 AND ends_at <= clock_timestamp()", keyID)
		if returned.Lot != "" {
			takeBack(b, keyID, returned)
		}
		if limit > 0 {
			newLot(b, keyID, limit, &lot)
		}
	})
	if lot.Tokens == 0 {
		lot.ID = ""
	}
	return lot, err
}

func takeBack(b *pgx.Batch, keyID string, returned service.Returned) {
	if len(returned.Uses) == 0 {
		b.Queue("DELETE FROM lots WHERE key_id = $1 AND id = $2", keyID, returned.Lot)
		return
	}
	ages := make([]float64, len(returned.Uses))
	for i, age := range returned.Uses {
		ages[i] = age.Seconds()
	}
	b.Queue(`UPDATE lots SET open = 0, uses = u.uses, ends_at = u.last FROM (
			SELECT array_agg(leaves) AS uses, max(leaves) AS last FROM (
				SELECT clock_timestamp() + make_interval(secs => $4 - age) AS leaves FROM unnest($3::float8[]) age
			) l
		) u WHERE key_id = $1 AND id = $2`, keyID, returned.Lot, ages, window.Seconds())
}

func newLot(b *pgx.Batch, keyID string, limit int, lot *service.Lot) {
	// An open lot counts until its last token, if used at the last moment, leaves the window.
	const sql = `WITH moment AS MATERIALIZED (
			SELECT clock_timestamp() AS now
		), charged AS (
			SELECT coalesce(sum(open), 0)::integer AS open, coalesce(sum(u.used), 0)::integer AS used,
				min(CASE WHEN open > 0 THEN ends_at ELSE u.first END) AS first
			FROM moment, lots, LATERAL (SELECT count(*) AS used, min(leaves) AS first FROM unnest(uses) leaves WHERE leaves > now) u
			WHERE key_id = $1
		), lot AS (
			INSERT INTO lots (key_id, id, open, uses, ends_at)
			SELECT $1, $2, least(greatest(($3 - open - used) / $4, 1), $3 - open - used), '{}', now + make_interval(secs => $5)
			FROM moment, charged WHERE open + used < $3
			RETURNING open
		)
		SELECT open, used, coalesce(extract(epoch FROM first - now), 0)::float8, coalesce((SELECT open FROM lot), 0)
		FROM moment, charged`
	b.Queue(sql, keyID, lot.ID, int32(limit), int32(lotShare), (window + service.LotLease).Seconds()).
		QueryRow(func(row pgx.Row) error {
			var used int
			var free float64
			if err := row.Scan(&lot.Open, &used, &free, &lot.Tokens); err != nil {
				return err
			}
			lot.Charged = lot.Open + used + lot.Tokens
			lot.Free = time.Duration(free * float64(time.Second))
			return nil
		})
}

// forgetLots deletes the lots that no longer count. For keys that make requests, Lease does so.
func (s *Store) forgetLots(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	_, err := s.pool.Exec(ctx, "DELETE FROM lots WHERE ends_at <= now()")
	return err
}
