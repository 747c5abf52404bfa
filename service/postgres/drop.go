package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// dropAfter is how long the tables of a slot stay after its end: longer than a handle to an inbox is
// kept, and than the clocks of a cluster's servers differ.
const dropAfter = time.Hour

// dropSlots drops the tables of slots that were over at now and have no inbox left, after moving the inboxes
// that were extended. A slot that cannot be dropped, such as while a backup reads it, is left for the next time, and
// holds up no other one.
func (s *Store) dropSlots(ctx context.Context, conn *pgxpool.Conn, now time.Time) error {
	// Slots with inboxes that have expired, but could not be removed: all others in a slot that is over were extended.
	kept, err := query(ctx, s.pool, pgx.RowTo[int32], "SELECT DISTINCT slot FROM inboxes WHERE expires_at <= $1", now)
	if err != nil {
		return err
	}
	over, err := query(ctx, s.pool, pgx.RowTo[slot], "SELECT slot FROM slots WHERE ends_at <= $1 AND slot <> ALL($2) ORDER BY ends_at", now.Add(-dropAfter), kept)
	for _, n := range over {
		more, failed := s.moveExtended(ctx, n)
		if failed == nil && !more {
			s.slots.Delete(n)
			failed = dropSlot(ctx, conn, n)
		}
		if failed != nil && sqlState(failed) != stateLocked {
			err = errors.Join(err, fmt.Errorf("drop the table %s: %w", n.table(), failed))
		}
	}
	return err
}

// maxMoves is how many inboxes are moved out of a slot in a sweep, each in a transaction of its own.
const maxMoves = 1000

// moveExtended moves inboxes that were extended past the end of their slot to that in which they end now, and
// reports whether there may be more.
func (s *Store) moveExtended(ctx context.Context, n slot) (more bool, err error) {
	list, err := query(ctx, s.pool, scanPlaced, selectExtended, int32(n), maxMoves)
	for _, in := range list {
		if err == nil {
			err = s.moveInbox(ctx, in)
		}
	}
	return len(list) == maxMoves, err
}

const selectExtended = "SELECT i.key_id, i.id, i.created_at, i.expires_at, i.slot FROM inboxes i WHERE i.slot = $1 AND " + extended + " LIMIT $2"

// scanPlaced scans where an inbox is, and what says where it belongs.
func scanPlaced(row pgx.CollectableRow) (in service.Inbox, err error) {
	err = row.Scan(&in.KeyID, &in.ID, &in.CreatedAt, &in.ExpiresAt, &in.Partition)
	return in, err
}

// moveInbox moves an inbox with its messages. Mail for its key waits meanwhile, and for no other.
func (s *Store) moveInbox(ctx context.Context, in service.Inbox) error {
	from := slotOf(in)
	in.Partition = 0
	to := slotOf(in)
	v, err := s.serverOf(ctx, in.KeyID)
	if err == nil {
		err = s.ensureSlot(ctx, to)
	}
	if err != nil {
		return err
	}
	end, err := s.turn(ctx, in.KeyID)
	if err != nil {
		return err
	}
	defer end()
	var bodies []sharedBody
	moved := int64(0)
	return s.changeOn(ctx, v.pool, func(b *pgx.Batch) {
		bodies = nil
		b.Queue("SET LOCAL statement_timeout = 0")
		b.Queue(lockOwner, in.KeyID)
		b.Queue("UPDATE inboxes SET slot = $4 WHERE key_id = $1 AND id = $2 AND slot = $3", in.KeyID, in.ID, int32(from), int32(to)).Exec(func(done pgconn.CommandTag) error {
			moved = done.RowsAffected()
			return nil
		})
		queueBodies(b, from, &bodies, "inbox_id = $2", in.KeyID, in.ID)
	}, func(b *pgx.Batch) {
		if moved > 0 { // else it was deleted a moment ago
			queueMove(b, in.KeyID, in.ID, from, to, bodies)
		}
	})
}

// dropSlot drops the table of a slot, or completes what an interrupted call has begun.
func dropSlot(ctx context.Context, conn *pgxpool.Conn, n slot) error {
	// Before the table, so that nobody looks for it.
	if _, err := conn.Exec(ctx, "DELETE FROM deleted WHERE slot = $1", int32(n)); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '500ms'")
		if err == nil {
			_, err = tx.Exec(ctx, "DROP TABLE IF EXISTS "+n.table())
		}
		return err
	})
	if err == nil {
		_, err = conn.Exec(ctx, "DELETE FROM slots WHERE slot = $1", int32(n))
	}
	return err
}
