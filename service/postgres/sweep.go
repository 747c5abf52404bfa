package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"mayfly/service"
)

// Sweep implements service.Store. It also removes the tables of slots that are over, the messages
// of deleted inboxes, and lots that no longer count. Each is done by one process at a time; for
// others there is nothing to sweep.
func (s *Store) Sweep(ctx context.Context, now time.Time, limit int) (service.Swept, error) {
	swept, err := s.sweepInboxes(ctx, now, limit)
	if err != nil {
		return swept, err
	}
	var changed []string
	for _, in := range swept.Inboxes {
		changed = append(changed, in.ID, in.KeyID)
	}
	s.announcer.announce(changed...)
	if len(swept.Inboxes) == limit {
		return swept, nil // there may be more, which come first
	}
	return swept, s.failure(ctx, errors.Join(s.removeDeleted(ctx), s.dropSlots(ctx, now), s.forgetLots(ctx)))
}

// sweepLock is the advisory lock for removing expired inboxes.
const sweepLock = "hashtext(current_schema() || '.mayfly.sweep')"

func (s *Store) sweepInboxes(ctx context.Context, now time.Time, limit int) (service.Swept, error) {
	var swept service.Swept
	err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		swept = service.Swept{}
		var locked bool
		if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock("+sweepLock+")").Scan(&locked); err != nil {
			return err
		}
		if locked {
			var err error
			if swept.Inboxes, err = deleteExpired(ctx, tx, now, limit); err != nil {
				return err
			}
		}
		var next *time.Time
		if err := tx.QueryRow(ctx, "SELECT min(expires_at) FROM inboxes").Scan(&next); err != nil {
			return err
		}
		if next != nil {
			swept.Next = next.UTC()
		}
		return nil
	})
	return swept, err
}

// deleteExpired removes expired inboxes, after locking their owners like every change.
func deleteExpired(ctx context.Context, tx pgx.Tx, now time.Time, limit int) ([]service.Inbox, error) {
	rows, _ := tx.Query(ctx, `SELECT id, key_id, expires_at FROM inboxes WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2`, now, limit)
	expired, err := pgx.CollectRows(rows, scanExpired)
	if err != nil || len(expired) == 0 {
		return nil, err
	}
	var ids, keys []string
	for _, in := range expired {
		ids, keys = append(ids, in.ID), append(keys, in.KeyID)
	}
	if _, err := tx.Exec(ctx, "SELECT FROM owners WHERE key_id = ANY($1) ORDER BY key_id FOR NO KEY UPDATE", keys); err != nil {
		return nil, err
	}
	rows, _ = tx.Query(ctx, `WITH gone AS (
			DELETE FROM inboxes WHERE id = ANY($1) RETURNING id, key_id, address, expires_at
		), free AS (
			UPDATE addresses a SET inbox_id = NULL FROM gone WHERE a.address = gone.address AND a.inbox_id = gone.id
		), changed AS (
			UPDATE owners SET version = $2 WHERE key_id IN (SELECT key_id FROM gone)
		) SELECT id, key_id, expires_at FROM gone`, ids, newVersion())
	return pgx.CollectRows(rows, scanExpired)
}

func scanExpired(row pgx.CollectableRow) (service.Inbox, error) {
	var in service.Inbox
	err := row.Scan(&in.ID, &in.KeyID, &in.ExpiresAt)
	in.ExpiresAt = in.ExpiresAt.UTC()
	return in, err
}

// removeBatch is how many messages of deleted inboxes a transaction removes.
const removeBatch = 1000

// removeDeleted removes the messages of deleted inboxes, batch by batch.
func (s *Store) removeDeleted(ctx context.Context) error {
	for {
		more := false
		err := s.transact(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
			more, err = removeMessages(ctx, tx)
			return err
		})
		if err != nil || !more {
			return err
		}
	}
}

// removeMessages removes a batch of messages of a deleted inbox that no other process is removing,
// and reports whether there is one.
func removeMessages(ctx context.Context, tx pgx.Tx) (bool, error) {
	var id string
	var n int32
	var messages, removed int64
	err := tx.QueryRow(ctx, "SELECT inbox_id, slot, messages, removed FROM deleted LIMIT 1 FOR UPDATE SKIP LOCKED").
		Scan(&id, &n, &messages, &removed)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	upTo := min(messages, removed+removeBatch)
	for _, table := range partitioned {
		_, err := tx.Exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE inbox_id = $1 AND slot = %d AND place > $2 AND place <= $3", table, n), id, removed, upTo)
		if err != nil {
			return false, err
		}
	}
	if upTo < messages {
		_, err = tx.Exec(ctx, "UPDATE deleted SET removed = $2 WHERE inbox_id = $1", id, upTo)
	} else {
		_, err = tx.Exec(ctx, "DELETE FROM deleted WHERE inbox_id = $1", id)
	}
	return true, err
}
