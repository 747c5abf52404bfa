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
	for again := true; again; {
		again = false
		expired, err := query(ctx, s.pool, scanKeyed, "SELECT key_id, id FROM inboxes WHERE expires_at <= $1 AND key_id <> ALL($2) ORDER BY expires_at LIMIT $3",
			now, locked, limit-len(swept))
		if err != nil {
			return swept, err
		}
		ids := make(map[string][]string)
		for _, in := range expired {
			ids[in.keyID] = append(ids[in.keyID], in.name)
		}
		for keyID, list := range ids {
			var gone []keyed
			skipped, err := s.sweepKey(ctx, keyID, func(b *pgx.Batch) {
				queueDeletion(b, keyID, list, " AND "+shortened).Query(func(rows pgx.Rows) (err error) {
					gone, err = pgx.CollectRows(rows, scanKeyed)
					return err
				})
			}, nil)
			if err != nil {
				return swept, err
			}
			if skipped {
				locked, again = append(locked, keyID), true
				continue
			}
			for _, in := range gone {
				swept = append(swept, service.Inbox{ID: in.name, KeyID: in.keyID})
				s.announcer.announce(in.name)
			}
		}
	}
	return swept, nil
}

// sweepKey makes changes for a key, or reports that its row stays locked. They do not wait for the disk: after a crash the
// next sweep makes them again.
func (s *Store) sweepKey(ctx context.Context, keyID string, queue, then func(*pgx.Batch)) (locked bool, err error) {
	v, err := s.serverOf(ctx, keyID)
	if err != nil {
		return false, err
	}
	err = s.changeOn(ctx, v.pool, func(b *pgx.Batch) {
		b.Queue("SET LOCAL synchronous_commit = off")
		s.waitBriefly(b)
		queue(b)
	}, then)
	if sqlState(err) == stateLocked {
		return true, nil
	}
	return false, err
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
	for keyID, list := range byKey {
		var bodies []sharedBody
		_, err := s.sweepKey(ctx, keyID, func(b *pgx.Batch) {
			bodies = nil
			var whole []string
			bySlot := make(map[slot][]string)
			for _, l := range list {
				if rest := l.Last - removeMessages; rest > 0 {
					queueBodies(b, l.Slot, &bodies, "inbox_id = $2 AND seq > $3", keyID, l.InboxID, rest)
					b.Queue("DELETE FROM "+l.Slot.table()+" WHERE key_id = $1 AND inbox_id = $2 AND seq > $3", keyID, l.InboxID, rest)
					b.Queue("UPDATE deleted SET last = $3 WHERE key_id = $1 AND inbox_id = $2", keyID, l.InboxID, rest)
					continue
				}
				whole = append(whole, l.InboxID)
				bySlot[l.Slot] = append(bySlot[l.Slot], l.InboxID)
			}
			for n, ids := range bySlot {
				queueBodies(b, n, &bodies, "inbox_id = ANY($2)", keyID, ids)
				b.Queue("DELETE FROM "+n.table()+" WHERE key_id = $1 AND inbox_id = ANY($2)", keyID, ids)
			}
			b.Queue("DELETE FROM deleted WHERE key_id = $1 AND inbox_id = ANY($2)", keyID, whole)
		}, func(b *pgx.Batch) { queueRelease(b, keyID, bodies) })
		if err != nil {
			return false, err
		}
	}
	return more, nil
}
