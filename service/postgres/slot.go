package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"mayfly/service"
)

// slot is the part of the messages whose inboxes were to expire at first in the same hour or, for inboxes that
// live longer than maxHourly, on the same day. It is the number of hours since 1970, or minus the number of days.
// It has a table of its own, which is dropped when the slot has passed.
type slot int32

// maxHourly is the longest lifetime of inboxes in slots of an hour.
const maxHourly = 24 * time.Hour

// slotOf returns the slot of an inbox, or for one without a Partition that in which it ends.
func slotOf(in service.Inbox) slot {
	if in.Partition != 0 {
		return slot(in.Partition)
	}
	seconds := in.ExpiresAt.Unix()
	if in.ExpiresAt.Sub(in.CreatedAt) <= maxHourly {
		return slot(seconds / 3600)
	}
	return slot(-seconds / (24 * 3600))
}

// An inbox whose end has changed may end after its slot, or before it: conditions for a row i. The first is that of
// the index inboxes_extended.
const (
	extended  = "i.expires_at > to_timestamp(CASE WHEN i.slot >= 0 THEN (i.slot + 1) * 3600.0 ELSE (1 - i.slot) * 86400.0 END)"
	shortened = "i.expires_at < to_timestamp(CASE WHEN i.slot >= 0 THEN i.slot * 3600.0 ELSE -i.slot * 86400.0 END)"
)

// ends returns the instant at which the last inbox in it has expired, unless one is extended.
func (s slot) ends() time.Time {
	if s >= 0 {
		return time.Unix((int64(s)+1)*3600, 0).UTC()
	}
	return time.Unix((1-int64(s))*24*3600, 0).UTC()
}

// table returns the name of its table.
func (s slot) table() string {
	if s >= 0 {
		return time.Unix(int64(s)*3600, 0).UTC().Format("messages_h20060102_15")
	}
	return time.Unix(-int64(s)*24*3600, 0).UTC().Format("messages_d20060102")
}

// ensureSlot creates the table of a slot if it does not exist.
func (s *Store) ensureSlot(ctx context.Context, n slot) error {
	if _, known := s.slots.Load(n); known {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	// Asked first, since a slot can be created only while all servers are there.
	var exists bool
	if err := s.pool.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", n.table()).Scan(&exists); err != nil {
		return s.failure(ctx, s.pool, err)
	}
	if !exists {
		err := s.transact(ctx, s.coordinator, func(ctx context.Context, tx pgx.Tx) error { return s.createSlot(ctx, tx, n) })
		if err != nil {
			return err
		}
	}
	s.slots.Store(n, true)
	return nil
}

// Settings of the tables of a slot. No plan depends on statistics. A vacuum after inserts would read and write
// all rows of an hour again, though they are dropped soon. Those of a day live longer: they are frozen by it, in
// small steps, before all transactions' numbers are used up.
const (
	slotSettings = "autovacuum_analyze_threshold = 2147483647"
	hourSettings = slotSettings + ", autovacuum_vacuum_insert_threshold = -1, toast.autovacuum_vacuum_insert_threshold = -1"
	daySettings  = slotSettings + ", autovacuum_freeze_min_age = 0, toast.autovacuum_freeze_min_age = 0"
)

// createSlot creates what is missing of a slot.
func (s *Store) createSlot(ctx context.Context, tx pgx.Tx, n slot) error {
	settings := hourSettings
	if n < 0 {
		settings = daySettings
	}
	// Another process that creates the slot waits here.
	_, err := tx.Exec(ctx, "INSERT INTO slots (slot, ends_at) VALUES ($1, $2) ON CONFLICT (slot) DO UPDATE SET ends_at = EXCLUDED.ends_at", int32(n), n.ends())
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (LIKE messages INCLUDING ALL) WITH (%s)", n.table(), settings))
	if err == nil && s.citus {
		_, err = tx.Exec(ctx, fmt.Sprintf(`SELECT create_distributed_table('%s', 'key_id', colocate_with => 'inboxes')
			WHERE NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '%[1]s'::regclass)`, n.table()))
	}
	return err
}

// How many slots are created ahead, and how often: those of the inboxes that can be created until
// the next time, and on a Citus cluster for a day, since it creates no tables while shards are moved
// or a server is down.
const (
	aheadHours    = 26
	aheadDays     = 32
	aheadOnCitus  = 24
	aheadInterval = 10 * time.Minute
)

// runSlotsAhead creates slots ahead, so that creating an inbox does not have to wait for tables.
func (s *Store) runSlotsAhead() {
	for {
		if err := s.createSlotsAhead(s.Now()); err != nil && s.ctx.Err() == nil {
			s.log.Warn("the tables for future messages could not be created, trying again later", "error", err)
		}
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(aheadInterval):
		}
	}
}

func (s *Store) createSlotsAhead(now time.Time) error {
	var ahead []slot
	hours := aheadHours
	if s.citus {
		hours += aheadOnCitus
	}
	for h := range hours {
		ahead = append(ahead, slot(now.Unix()/3600)+slot(h))
	}
	for d := range aheadDays {
		ahead = append(ahead, slot(-now.Unix()/(24*3600))-slot(d))
	}
	for _, n := range ahead {
		if err := s.ensureSlot(s.ctx, n); err != nil {
			return err
		}
	}
	return nil
}
