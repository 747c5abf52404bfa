package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// Sweep implements service.Store. It also removes the tables of slots that are over and the messages
// of deleted inboxes. One process at a time does all that; for others there is nothing to sweep.
func (s *Store) Sweep(ctx context.Context, now time.Time, limit int) (service.Swept, error) {
	var swept service.Swept
	err := s.exclusively(ctx, func(conn *pgxpool.Conn) (err error) {
		if swept.Inboxes, err = s.sweepInboxes(ctx, now, limit); err != nil || len(swept.Inboxes) == limit {
			return err // there may be more, which come first
		}
		return errors.Join(s.removeDeleted(ctx), s.dropSlots(ctx, conn, now))
	})
	if err == nil {
		swept.Next, err = s.nextExpiry(ctx)
	}
	return swept, s.failure(ctx, s.coordinator, err)
}

// sweepLock is the advisory lock for sweeping.
const sweepLock = "hashtext(current_schema() || '.mayfly.sweep')"

// exclusively calls do with a connection to the coordinator, unless another process sweeps.
func (s *Store) exclusively(ctx context.Context, do func(*pgxpool.Conn) error) error {
	return s.coordinator.AcquireFunc(ctx, func(conn *pgxpool.Conn) (err error) {
		var locked bool
		err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock("+sweepLock+")").Scan(&locked)
		if err != nil || !locked {
			return err
		}
		defer func() {
			_, unlocked := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock("+sweepLock+")")
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
	expired, err := query(ctx, s.pool, scanKeyed, "SELECT key_id, id FROM inboxes WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2", now, limit)
	if err != nil {
		return nil, err
	}
	parts := make(map[*server][]keyed)
	for _, in := range expired {
		v, err := s.serverOf(ctx, in.keyID)
		if err != nil {
			return nil, err
		}
		parts[v] = append(parts[v], in)
	}
	var swept []service.Inbox
	for v, part := range parts {
		var gone []keyed
		err = errors.Join(err, s.transact(ctx, v.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
			gone, err = s.deleteInboxes(ctx, tx, part)
			return err
		}))
		for _, in := range gone {
			swept = append(swept, service.Inbox{ID: in.name, KeyID: in.keyID})
		}
	}
	for _, in := range swept {
		s.announcer.announce(in.ID)
	}
	return swept, err
}

// deleteInboxes removes inboxes, after locking their owners like every change, and returns those
// that were still there.
func (s *Store) deleteInboxes(ctx context.Context, tx pgx.Tx, list []keyed) (gone []keyed, err error) {
	keys, _ := columns(list)
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	var b pgx.Batch
	s.waitBriefly(&b)
	for part := range slices.Chunk(keys, s.rowsPerStatement) {
		queueNamed(&b, lockOwners, part, "")
	}
	for part := range slices.Chunk(list, s.rowsPerStatement) {
		queueDeletions(&b, part).Query(func(rows pgx.Rows) error {
			some, err := pgx.CollectRows(rows, scanKeyed)
			gone = append(gone, some...)
			return err
		})
	}
	return gone, tx.SendBatch(ctx, &b).Close()
}

func queueDeletions(b *pgx.Batch, list []keyed) *pgx.QueuedQuery {
	if len(list) == 1 {
		return b.Queue(`WITH gone AS (DELETE FROM inboxes WHERE key_id = $1 AND id = $2 RETURNING key_id, id),
				counted AS (UPDATE owners SET inboxes = inboxes - 1 WHERE key_id = $1 AND EXISTS (SELECT 1 FROM gone))
			SELECT key_id, id FROM gone`, list[0].keyID, list[0].name)
	}
	keyIDs, ids := columns(list)
	return b.Queue(`WITH gone AS (DELETE FROM inboxes i USING unnest($1::text[], $2::text[]) u (key_id, id)
			WHERE i.key_id = u.key_id AND i.id = u.id RETURNING i.key_id, i.id),
		counted AS (UPDATE owners o SET inboxes = o.inboxes - g.n FROM (SELECT key_id, count(*) n FROM gone GROUP BY key_id) g
			WHERE o.key_id = g.key_id)
		SELECT key_id, id FROM gone`, keyIDs, ids)
}

func scanKeyed(row pgx.CollectableRow) (k keyed, err error) {
	err = row.Scan(&k.keyID, &k.name)
	return k, err
}

// removeBatch is how many messages of a deleted inbox a transaction removes.
const removeBatch = 1000

// removeDeleted removes the messages of deleted inboxes, batch by batch.
func (s *Store) removeDeleted(ctx context.Context) error {
	for {
		list, err := query(ctx, s.pool, pgx.RowToStructByPos[leftOver], "SELECT key_id, inbox_id, slot, last FROM deleted LIMIT 100")
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
	KeyID, InboxID string
	Slot           slot
	Last           int64 // the sequence number of the newest
}

func (s *Store) removeMessages(ctx context.Context, l leftOver) error {
	for removed := int64(0); removed < l.Last; removed += removeBatch {
		err := s.batch(ctx, l.KeyID, func(b *pgx.Batch) {
			b.Queue(fmt.Sprintf("DELETE FROM messages WHERE key_id = $1 AND inbox_id = $2 AND slot = %d AND seq > $3 AND seq <= $4", l.Slot),
				l.KeyID, l.InboxID, removed, removed+removeBatch)
		})
		if err != nil {
			return err
		}
	}
	return s.batch(ctx, l.KeyID, func(b *pgx.Batch) {
		b.Queue("DELETE FROM deleted WHERE key_id = $1 AND inbox_id = $2", l.KeyID, l.InboxID)
	})
}
