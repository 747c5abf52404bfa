package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
	more := false
	err := s.exclusively(ctx, func(conn *pgxpool.Conn) (err error) {
		if swept.Inboxes, err = s.sweepInboxes(ctx, now, limit); err != nil {
			return err
		}
		if more, err = s.removeDeleted(ctx); err != nil || len(swept.Inboxes) == limit {
			return err // there may be more, which come first
		}
		return s.dropSlots(ctx, conn, now)
	})
	if err == nil {
		swept.Next, err = s.nextExpiry(ctx)
	}
	if more {
		swept.Next = now
	}
	return swept, s.failure(ctx, s.coordinator, err)
}

const (
	// sweepLock is the advisory lock for sweeping, held by a session.
	sweepLock = "hashtext(current_schema() || '.mayfly.sweep')"

	// sweepIdle is how long a session keeps it without a statement: that of a process that has stopped ends then.
	sweepIdle = time.Minute

	// sweepLate is after how long without a new statement of that session the other processes say so.
	sweepLate = 2 * time.Minute
)

// exclusively calls do with a connection to the coordinator, unless another process sweeps.
func (s *Store) exclusively(ctx context.Context, do func(*pgxpool.Conn) error) error {
	return s.coordinator.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		err := lockSweep(ctx, conn, sweepIdle)
		if errors.Is(err, errSweeping) {
			return s.reportLock(ctx, conn, sweepLate)
		}
		if err != nil {
			return err
		}
		err = do(conn)
		_, unlocked := conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock("+sweepLock+"), set_config('idle_session_timeout', '0', false)")
		return errors.Join(err, unlocked)
	})
}

var errSweeping = errors.New("another process sweeps")

// lockSweep has a session take the lock, which then ends when it does nothing for a while.
func lockSweep(ctx context.Context, conn *pgxpool.Conn, idle time.Duration) error {
	var locked bool
	err := conn.QueryRow(ctx, "SELECT pg_try_advisory_lock("+sweepLock+")").Scan(&locked)
	if err == nil && !locked {
		return errSweeping
	}
	if err == nil {
		_, err = conn.Exec(ctx, "SELECT set_config('idle_session_timeout', $1, false)", fmt.Sprint(idle.Milliseconds()))
	}
	return err
}

// reportLock says which session has the lock and made no statement for that long.
func (s *Store) reportLock(ctx context.Context, conn *pgxpool.Conn, late time.Duration) error {
	var pid int
	var client, state string
	var held time.Duration
	err := conn.QueryRow(ctx, `SELECT a.pid, coalesce(host(a.client_addr), 'local'), coalesce(a.state, ''), clock_timestamp() - a.query_start
		FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND l.objid::bigint = `+sweepLock+`::bigint & 4294967295 AND a.query_start < clock_timestamp() - make_interval(secs => $1)`,
		late.Seconds()).Scan(&pid, &client, &state, &held)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil {
		s.sayLocked.Do(func() {
			s.log.Warn("expired inboxes are not removed, since another session holds the lock for that", "pid", pid, "client", client, "state", state, "for", held.Round(time.Second))
		})
	}
	return err
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

// sweepInboxes removes expired inboxes, but for those of keys whose rows somebody else has locked.
func (s *Store) sweepInboxes(ctx context.Context, now time.Time, limit int) (swept []service.Inbox, err error) {
	locked := []string{}
	for {
		expired, err := query(ctx, s.pool, scanKeyed, "SELECT key_id, id FROM inboxes WHERE expires_at <= $1 AND key_id <> ALL($2) ORDER BY expires_at LIMIT $3",
			now, locked, limit-len(swept))
		if err != nil || len(expired) == 0 {
			return swept, err
		}
		ids := make(map[string][]string)
		for _, in := range expired {
			ids[in.keyID] = append(ids[in.keyID], in.name)
		}
		gone := make(map[string][]keyed)
		more, err := s.forKeys(ctx, slices.Collect(maps.Keys(ids)), func(b *pgx.Batch, keyID string) {
			queueDeletion(b, keyID, ids[keyID], " AND "+shortened).Query(func(rows pgx.Rows) (err error) {
				gone[keyID], err = pgx.CollectRows(rows, scanKeyed)
				return err
			})
		}, nil)
		for keyID, list := range gone {
			for _, in := range list {
				if !slices.Contains(more, keyID) {
					swept = append(swept, service.Inbox{ID: in.name, KeyID: in.keyID})
					s.announcer.announce(in.name)
				}
			}
		}
		if err != nil || len(more) == 0 {
			return swept, err
		}
		locked = append(locked, more...)
	}
}

// forKeys makes changes for keys, those on a server in one transaction. If a row stays locked, those of each
// key are made in one of its own. What then queues depends on what the first changes returned. It returns the keys for which they could not be made.
func (s *Store) forKeys(ctx context.Context, keys []string, queue, then func(b *pgx.Batch, keyID string)) (locked []string, err error) {
	parts := make(map[*server][]string)
	for _, keyID := range slices.Sorted(slices.Values(keys)) {
		v, err := s.serverOf(ctx, keyID)
		if err != nil {
			return keys, err
		}
		parts[v] = append(parts[v], keyID)
	}
	for v, part := range parts {
		change := func(keys []string) error {
			each := func(queue func(b *pgx.Batch, keyID string)) func(*pgx.Batch) {
				if queue == nil {
					return nil
				}
				return func(b *pgx.Batch) {
					for _, keyID := range keys {
						queue(b, keyID)
					}
				}
			}
			return s.changeOn(ctx, v.pool, func(b *pgx.Batch) {
				s.waitBriefly(b)
				each(queue)(b)
			}, each(then))
		}
		failed := change(part)
		if sqlState(failed) != stateLocked {
			if failed != nil {
				locked, err = append(locked, part...), cmp.Or(err, failed)
			}
			continue
		}
		for _, keyID := range part {
			if failed := change([]string{keyID}); failed != nil {
				locked = append(locked, keyID)
				if sqlState(failed) != stateLocked {
					err = cmp.Or(err, failed)
				}
			}
		}
	}
	return locked, err
}

// queueDeletion queues the deletion of inboxes of a key, and returns the query whose rows are those that were
// there. The messages of those that meet a condition are left for removeDeleted, and others for the end of their slot.
func queueDeletion(b *pgx.Batch, keyID string, ids []string, condition string) *pgx.QueuedQuery {
	b.Queue(lockOwner, keyID)
	b.Queue(`INSERT INTO deleted (key_id, inbox_id, slot, last)
		SELECT i.key_id, i.id, i.slot, c.last FROM inboxes i JOIN counts c ON c.key_id = i.key_id AND c.inbox_id = i.id
		WHERE i.key_id = $1 AND i.id = ANY($2) AND c.messages > 0`+condition, keyID, ids)
	b.Queue("DELETE FROM counts WHERE key_id = $1 AND inbox_id = ANY($2)", keyID, ids)
	return b.Queue(`WITH gone AS (DELETE FROM inboxes WHERE key_id = $1 AND id = ANY($2) RETURNING key_id, id),
			counted AS (UPDATE owners SET inboxes = inboxes - (SELECT count(*) FROM gone) WHERE `+newestOwner+` AND EXISTS (SELECT 1 FROM gone))
		SELECT key_id, id FROM gone`, keyID, ids)
}

func scanKeyed(row pgx.CollectableRow) (k keyed, err error) {
	err = row.Scan(&k.keyID, &k.name)
	return k, err
}

// How much of deleted inboxes a sweep removes at most: then it is the turn of those that have expired.
const (
	removeInboxes  = 1000
	removeMessages = 10_000
)

// leftOver is a deleted inbox with messages.
type leftOver struct {
	KeyID, InboxID string
	Slot           slot
	Last           int64 // the sequence number of the newest
}

// removeDeleted removes messages of deleted inboxes, and reports whether there are more. Of a large inbox it
// removes the newest, and notes that.
func (s *Store) removeDeleted(ctx context.Context) (more bool, err error) {
	list, err := query(ctx, s.pool, pgx.RowToStructByPos[leftOver], "SELECT key_id, inbox_id, slot, last FROM deleted LIMIT $1", removeInboxes)
	if err != nil {
		return false, err
	}
	more = len(list) == removeInboxes
	left := int64(removeMessages)
	byKey := make(map[string][]leftOver)
	for _, l := range list {
		if left <= 0 {
			more = true
			break
		}
		left -= l.Last
		byKey[l.KeyID] = append(byKey[l.KeyID], l)
		more = more || left < 0
	}
	bodies := make(map[string]*[]sharedBody)
	_, err = s.forKeys(ctx, slices.Collect(maps.Keys(byKey)), func(b *pgx.Batch, keyID string) {
		bodies[keyID] = new([]sharedBody)
		var whole []string
		bySlot := make(map[slot][]string)
		for _, l := range byKey[keyID] {
			if rest := l.Last - removeMessages; rest > 0 {
				queueBodies(b, l.Slot, bodies[keyID], "inbox_id = $2 AND seq > $3", keyID, l.InboxID, rest)
				b.Queue("DELETE FROM "+l.Slot.table()+" WHERE key_id = $1 AND inbox_id = $2 AND seq > $3", keyID, l.InboxID, rest)
				b.Queue("UPDATE deleted SET last = $3 WHERE key_id = $1 AND inbox_id = $2", keyID, l.InboxID, rest)
				continue
			}
			whole = append(whole, l.InboxID)
			bySlot[l.Slot] = append(bySlot[l.Slot], l.InboxID)
		}
		for n, ids := range bySlot {
			queueBodies(b, n, bodies[keyID], "inbox_id = ANY($2)", keyID, ids)
			b.Queue("DELETE FROM "+n.table()+" WHERE key_id = $1 AND inbox_id = ANY($2)", keyID, ids)
		}
		if whole != nil {
			b.Queue("DELETE FROM deleted WHERE key_id = $1 AND inbox_id = ANY($2)", keyID, whole)
		}
	}, func(b *pgx.Batch, keyID string) { queueRelease(b, keyID, *bodies[keyID]) })
	return more, err
}
