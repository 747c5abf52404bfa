package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// Sweep implements service.Store. It also removes the tables of slots that are over, the messages
// of deleted inboxes, and lots that no longer count. One process at a time does all that; for others
// there is nothing to sweep.
func (s *Store) Sweep(ctx context.Context, now time.Time, limit int) (service.Swept, error) {
	var swept service.Swept
	err := s.alone(ctx, sweepLock, func(conn *pgxpool.Conn) (err error) {
		if swept.Inboxes, err = s.sweepInboxes(ctx, now, limit); err != nil || len(swept.Inboxes) == limit {
			return err // there may be more, which come first
		}
		return errors.Join(s.removeDeleted(ctx), s.dropSlots(ctx, conn, now), s.forgetLots(ctx))
	})
	if err == nil {
		swept.Next, err = s.nextExpiry(ctx)
	}
	return swept, s.failure(ctx, err)
}

// sweepLock is the advisory lock for sweeping.
const sweepLock = "hashtext(current_schema() || '.mayfly.sweep')"

// alone calls do with a connection to the coordinator, unless another process has the advisory lock.
func (s *Store) alone(ctx context.Context, lock string, do func(*pgxpool.Conn) error) error {
	return s.coordinator.AcquireFunc(ctx, func(conn *pgxpool.Conn) (err error) {
		var locked bool
		err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock("+lock+")").Scan(&locked)
		if err != nil || !locked {
			return err
		}
		defer func() {
			_, unlocked := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock("+lock+")")
			err = errors.Join(err, unlocked)
		}()
		return do(conn)
	})
}

// nextExpiry returns when the next inbox expires, or the zero time.
func (s *Store) nextExpiry(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var next *time.Time
	if err := s.pool.QueryRow(ctx, "SELECT min(expires_at) FROM inboxes").Scan(&next); err != nil || next == nil {
		return time.Time{}, err
	}
	return next.UTC(), nil
}

// sweepInboxes removes expired inboxes, those of each shard in a transaction.
func (s *Store) sweepInboxes(ctx context.Context, now time.Time, limit int) ([]service.Inbox, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	expired, err := query(ctx, s, scanExpired, "SELECT id, key_id, expires_at FROM inboxes WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2", now, limit)
	if err != nil {
		return nil, err
	}
	parts, err := byShard(ctx, s, expired, func(in service.Inbox) string { return in.KeyID })
	var swept []service.Inbox
	for _, part := range parts {
		var gone []service.Inbox
		err = errors.Join(err, s.transact(ctx, s.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
			gone, err = deleteInboxes(ctx, tx, part)
			return err
		}))
		swept = append(swept, gone...)
	}
	var changed []string
	for _, in := range swept {
		changed = append(changed, in.ID, in.KeyID)
	}
	s.announcer.announce(changed...)
	return swept, err
}

// deleteInboxes removes inboxes of one shard, after locking their owners like every change, and
// returns those that were still there.
func deleteInboxes(ctx context.Context, tx pgx.Tx, list []service.Inbox) ([]service.Inbox, error) {
	var ids, keys []string
	for _, in := range list {
		ids, keys = append(ids, in.ID), append(keys, in.KeyID)
	}
	if _, err := tx.Exec(ctx, lockOwners, keys); err != nil {
		return nil, err
	}
	rows, _ := tx.Query(ctx, `DELETE FROM inboxes i USING unnest($1::text[], $2::text[]) u (key_id, id)
		WHERE i.key_id = u.key_id AND i.id = u.id AND i.key_id = ANY($1) RETURNING i.id, i.key_id, i.expires_at`, keys, ids)
	gone, err := pgx.CollectRows(rows, scanExpired)
	if err == nil {
		_, err = tx.Exec(ctx, "UPDATE owners SET version = $2 WHERE key_id = ANY($1)", keys, newVersion())
	}
	return gone, err
}

func scanExpired(row pgx.CollectableRow) (service.Inbox, error) {
	var in service.Inbox
	err := row.Scan(&in.ID, &in.KeyID, &in.ExpiresAt)
	in.ExpiresAt = in.ExpiresAt.UTC()
	return in, err
}

// removeBatch is how many messages of a deleted inbox a transaction removes.
const removeBatch = 1000

// removeDeleted removes the messages of deleted inboxes, batch by batch.
func (s *Store) removeDeleted(ctx context.Context) error {
	for {
		list, err := query(ctx, s, pgx.RowToStructByPos[leftOver], "SELECT key_id, inbox_id, slot, messages, removed FROM deleted LIMIT 100")
		if err != nil || len(list) == 0 {
			return err
		}
		for _, l := range list {
			if err := s.removeMessages(ctx, l); err != nil {
				return err
			}
		}
	}
}

// leftOver is a deleted inbox with messages.
type leftOver struct {
	KeyID, InboxID    string
	Slot              slot
	Messages, Removed int64
}

func (s *Store) removeMessages(ctx context.Context, l leftOver) error {
	for l.Removed < l.Messages {
		upTo := min(l.Messages, l.Removed+removeBatch)
		err := s.batch(ctx, func(b *pgx.Batch) {
			for _, table := range partitioned {
				b.Queue(fmt.Sprintf("DELETE FROM %s WHERE key_id = $1 AND inbox_id = $2 AND slot = %d AND place > $3 AND place <= $4", table, l.Slot),
					l.KeyID, l.InboxID, l.Removed, upTo)
			}
			b.Queue("UPDATE deleted SET removed = $3 WHERE key_id = $1 AND inbox_id = $2", l.KeyID, l.InboxID, upTo)
		})
		if err != nil {
			return err
		}
		l.Removed = upTo
	}
	return s.batch(ctx, func(b *pgx.Batch) {
		b.Queue("DELETE FROM deleted WHERE key_id = $1 AND inbox_id = $2", l.KeyID, l.InboxID)
	})
}
