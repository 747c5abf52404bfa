package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// slot is a partition of the messages: those whose inboxes expire in the same hour, hours since 1970, or, of inboxes
// that live longer than a day, on the same day, minus days since 1970. When it is over, it is dropped whole.
type slot int32

// lifetimeOfHours is the longest life of an inbox whose messages are kept with those that end in the same hour.
const lifetimeOfHours = 24 * time.Hour

// slotOf is the slot of an inbox.
func slotOf(in service.Inbox) slot {
	seconds := in.ExpiresAt.Unix()
	if in.ExpiresAt.Sub(in.CreatedAt) <= lifetimeOfHours {
		return slot(seconds / 3600)
	}
	return slot(-seconds / (24 * 3600))
}

// ends returns the instant at which the last inbox in it has expired.
func (s slot) ends() time.Time {
	if s >= 0 {
		return time.Unix((int64(s)+1)*3600, 0).UTC()
	}
	return time.Unix((1-int64(s))*24*3600, 0).UTC()
}

// suffix is how its tables are called, after what they are partitions of.
func (s slot) suffix() string {
	if s >= 0 {
		return time.Unix(int64(s)*3600, 0).UTC().Format("_h20060102_15")
	}
	return time.Unix(-int64(s)*24*3600, 0).UTC().Format("_d20060102")
}

// partitioned lists the tables that have a partition for each slot.
var partitioned = []string{"messages", "bodies"}

// slots is what a process knows to be there.
type slots struct {
	mu    sync.Mutex
	known map[slot]bool
}

func (k *slots) has(s slot) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[s]
}

func (k *slots) add(s slot) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil {
		k.known = make(map[slot]bool)
	}
	k.known[s] = true
}

func (k *slots) drop(s slot) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.known, s)
}

// ensureSlot makes the tables of a slot that has none.
func (s *Store) ensureSlot(ctx context.Context, n slot) error {
	if s.slots.has(n) {
		return nil
	}
	err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error { return makeSlot(ctx, tx, n) })
	if err == nil {
		s.slots.add(n)
	}
	return err
}

// slotLock is held by who makes or drops the tables of a slot.
const slotLock = "hashtext(current_schema() || '.mayfly.slots')"

// vacuumDeletedOnly spares the tables of a slot what nobody needs: a vacuum for rows that were inserted, which reads and
// writes all of them once more, though they are dropped soon, and statistics, on which no plan depends.
const vacuumDeletedOnly = "autovacuum_vacuum_insert_threshold = -1, toast.autovacuum_vacuum_insert_threshold = -1, " +
	"autovacuum_analyze_threshold = 2147483647"

func makeSlot(ctx context.Context, tx pgx.Tx, n slot) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock("+slotLock+")"); err != nil {
		return err
	}
	made, err := tx.Exec(ctx, "INSERT INTO slots (slot, ends_at) VALUES ($1, $2) ON CONFLICT DO NOTHING", int32(n), n.ends())
	if err != nil || made.RowsAffected() == 0 {
		return err
	}
	for _, parent := range partitioned {
		table := pgx.Identifier{parent + n.suffix()}.Sanitize()
		// A table that is made alone and attached stops nobody who uses its parent. The constraint spares the search
		// for rows that do not belong in it.
		for _, sql := range []string{
			fmt.Sprintf("CREATE TABLE %s (LIKE %s INCLUDING ALL, CHECK (slot = %d)) WITH (%s)", table, parent, n, vacuumDeletedOnly),
			fmt.Sprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES IN (%d)", parent, table, n),
		} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	aheadHours = 26 // slots of hours that are made ahead
	aheadDays  = 32 // and of days
	aheadEvery = 10 * time.Minute
)

// runAhead makes the slots of the inboxes that can be made now, so that none has to wait for its tables.
func (s *Store) runAhead() {
	for {
		if err := s.makeAhead(time.Now()); err != nil && s.ctx.Err() == nil {
			s.log.Warn("tables for the messages to come could not be made, trying again later", "error", err)
		}
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(aheadEvery):
		}
	}
}

func (s *Store) makeAhead(now time.Time) error {
	var wanted []slot
	for h := range aheadHours {
		wanted = append(wanted, slot(now.Unix()/3600)+slot(h))
	}
	for d := range aheadDays {
		wanted = append(wanted, slot(-now.Unix()/(24*3600))-slot(d))
	}
	for _, n := range wanted {
		if err := s.ensureSlot(s.ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// dropAfter is how long the tables of a slot stay when it is over: more than the clocks of two processes differ.
const dropAfter = time.Hour

// dropSlots drops the tables of slots that were over at now and have no inbox left. Nothing waits for it but who
// reads from such a slot at that moment, and one process at a time does it. What somebody uses for long, such as a
// backup, it leaves to the next time.
func (s *Store) dropSlots(ctx context.Context, now time.Time) error {
	over, err := s.slotsOver(ctx, now)
	if err != nil || len(over) == 0 {
		return err
	}
	err = s.pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) (err error) {
		// Partitions are detached outside transactions, so the lock is the session's.
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock("+slotLock+")"); err != nil {
			return err
		}
		defer func() {
			_, unlocked := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock("+slotLock+")")
			err = errors.Join(err, unlocked)
		}()
		for _, n := range over {
			s.slots.drop(n)
			if err := dropSlot(ctx, conn, n); err != nil {
				return fmt.Errorf("drop the tables of %s: %w", strings.TrimPrefix(n.suffix(), "_"), err)
			}
		}
		return nil
	})
	if sqlState(err) == stateLocked {
		return nil
	}
	return err
}

func (s *Store) slotsOver(ctx context.Context, now time.Time) ([]slot, error) {
	rows, err := s.pool.Query(ctx, `SELECT slot FROM slots WHERE ends_at <= $1
		AND NOT EXISTS (SELECT FROM inboxes WHERE expires_at < slots.ends_at) ORDER BY ends_at`, now.Add(-dropAfter))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[slot])
}

// dropSlot goes on where one that was interrupted has got to.
func dropSlot(ctx context.Context, conn *pgxpool.Conn, n slot) error {
	for _, parent := range partitioned {
		if err := finishDetaching(ctx, conn, parent); err != nil {
			return err
		}
		table := pgx.Identifier{parent + n.suffix()}.Sanitize()
		var attached bool
		err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass($1))", table).Scan(&attached)
		if err == nil && attached {
			_, err = conn.Exec(ctx, fmt.Sprintf("ALTER TABLE %s DETACH PARTITION %s CONCURRENTLY", parent, table))
		}
		if err == nil {
			_, err = conn.Exec(ctx, "DROP TABLE IF EXISTS "+table)
		}
		if err != nil {
			return err
		}
	}
	_, err := conn.Exec(ctx, "DELETE FROM deleted WHERE slot = $1", int32(n))
	if err == nil {
		_, err = conn.Exec(ctx, "DELETE FROM slots WHERE slot = $1", int32(n))
	}
	return err
}

// finishDetaching detaches the partition at which somebody was interrupted: until then no other one can be detached.
func finishDetaching(ctx context.Context, conn *pgxpool.Conn, parent string) error {
	var table string
	err := conn.QueryRow(ctx, "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = to_regclass($1) AND inhdetachpending",
		parent).Scan(&table)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil {
		_, err = conn.Exec(ctx, fmt.Sprintf("ALTER TABLE %s DETACH PARTITION %s FINALIZE", parent, table))
	}
	return err
}
