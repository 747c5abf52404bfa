package postgres

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"mayfly/service"
)

// delivery is a call of Append that waits for its commit.
type delivery struct {
	service.Append
	alone  bool   // has keys on several servers, whose transaction costs more
	size   int64  // of the raw message
	packed []byte // the raw message as it is stored
	done   chan error
	err    error // why it is not part of the current attempt's transaction
}

// fits reports whether it can share a transaction with another one.
func (d *delivery) fits(other *delivery) bool {
	return !d.alone && !other.alone && service.DayOf(d.Received) == service.DayOf(other.Received)
}

// Append implements service.Store.
func (s *Store) Append(ctx context.Context, a service.Append) error {
	d := &delivery{Append: a, size: int64(len(a.Raw)), packed: pack(a.Raw), done: make(chan error, 1)}
	d.Raw = nil
	var at *server
	for _, m := range d.Messages {
		v, err := s.serverOf(ctx, m.KeyID)
		if err != nil {
			return err
		}
		d.alone = d.alone || at != nil && at != v
		at = v
	}
	if at == nil {
		return errNotFound
	}
	at.deliveries.put(d)
	select {
	case err := <-d.done:
		return err
	case <-ctx.Done():
		if at.deliveries.remove(d) {
			return ctx.Err()
		}
	case <-s.ctx.Done():
		if at.deliveries.remove(d) {
			return errClosed
		}
	}
	return <-d.done // the timeout bounds this
}

// committers is the largest number of concurrent transactions of deliveries of a process on a
// server.
const committers = 4

// slowCommit is after what time a transaction no longer keeps the next one from starting. Until
// then deliveries gather for the next one, since the more of them share a transaction, the less
// each costs.
const slowCommit = 10 * time.Millisecond

// runCommits is a committer: it stores the deliveries in the queue, group by group.
func (s *Store) runCommits(v *server) {
	for {
		select {
		case v.committing <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		group := v.deliveries.next(s.ctx)
		if group == nil {
			<-v.committing
			return
		}
		release := sync.OnceFunc(func() { <-v.committing })
		slow := time.AfterFunc(slowCommit, release)
		s.commit(v.pool, group)
		v.deliveries.stored(group)
		slow.Stop()
		release()
	}
}

// commit stores a group and answers its callers. If a row that it needs stays locked, the
// deliveries for each key are tried again in a transaction of their own, and if the store fails,
// each delivery is, so that only those are refused that cannot be stored.
func (s *Store) commit(pool *pgxpool.Pool, group []*delivery) {
	// The group is stored even if the store is closed meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.timeout)
	defer cancel()
	err := s.commitTogether(ctx, pool, group)
	var parts [][]*delivery
	switch {
	case sqlState(err) == stateLocked:
		parts = slices.Collect(maps.Values(byKeys(group)))
	case service.ErrorCode(err) == service.Internal:
		parts = slices.Collect(slices.Chunk(group, 1))
	default:
		answer(group, err)
		return
	}
	var committing errgroup.Group
	committing.SetLimit(committers)
	for _, part := range parts {
		committing.Go(func() error {
			answer(part, s.commitTogether(ctx, pool, part))
			return nil
		})
	}
	_ = committing.Wait() // there is no error that was not passed on
}

// commitTogether stores a whole group or, with an error, nothing.
func (s *Store) commitTogether(ctx context.Context, pool *pgxpool.Pool, group []*delivery) error {
	started := time.Now()
	var changed []string
	err := s.retry(ctx, pool, func() (err error) {
		changed, err = s.store(ctx, pool, group)
		return err
	})
	if err == nil {
		s.commits.Observe(time.Since(started).Seconds())
		s.announcer.announce(changed...)
	}
	return err
}

func answer(group []*delivery, err error) {
	for _, d := range group {
		d.done <- cmp.Or(err, d.err)
	}
}

// byKeys splits a group into deliveries for the same keys.
func byKeys(group []*delivery) map[string][]*delivery {
	parts := make(map[string][]*delivery)
	for _, d := range group {
		var keys []string
		for _, m := range d.Messages {
			keys = append(keys, m.KeyID)
		}
		slices.Sort(keys)
		same := strings.Join(slices.Compact(keys), " ")
		parts[same] = append(parts[same], d)
	}
	return parts
}

// store stores a group in one transaction. It first counts the messages, which locks the rows of
// their keys, in order, and then of their inboxes, and tells their places. If some cannot be stored,
// it begins again without them. It returns the IDs of the inboxes and keys that have changed.
func (s *Store) store(ctx context.Context, pool *pgxpool.Pool, group []*delivery) ([]string, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	// The pool closes a connection that is still in a transaction, which rolls it back.
	defer conn.Release()
	for _, d := range group {
		d.err = nil
	}
	gone := make(map[*service.NewMessage]bool)
	for {
		t := newTally(group, gone)
		if len(t.deliveries) == 0 {
			return nil, nil
		}
		if err := t.count(ctx, conn.Conn(), s.together); err != nil {
			return nil, err
		}
		if t.refuse(gone) {
			if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
				return nil, err
			}
			continue
		}
		if err := t.write(ctx, conn.Conn()); err != nil {
			return nil, err
		}
		for _, o := range t.owners {
			s.counts.put(o.keyID, o)
		}
		return t.changed(), nil
	}
}

// tally is the messages of deliveries, and the rows of their keys and inboxes that count them.
type tally struct {
	deliveries []*delivery // of the same day
	messages   map[*delivery][]*service.NewMessage
	inboxIDs   map[string][]string // by ID of key; one for each message

	// Once they are counted:
	owners  map[string]owner // by ID
	inboxes map[keyed]service.Inbox
}

// newTally returns the messages of the deliveries that are not refused, but for those whose inbox is
// gone. It refuses deliveries that have no others.
func newTally(group []*delivery, gone map[*service.NewMessage]bool) *tally {
	t := &tally{messages: make(map[*delivery][]*service.NewMessage), inboxIDs: make(map[string][]string)}
	for _, d := range group {
		if d.err != nil {
			continue
		}
		for i := range d.Messages {
			m := &d.Messages[i]
			m.ID = "" // of an attempt that failed
			if isName(m.KeyID) && isName(m.InboxID) && !gone[m] {
				t.messages[d] = append(t.messages[d], m)
				t.inboxIDs[m.KeyID] = append(t.inboxIDs[m.KeyID], m.InboxID)
			}
		}
		if t.messages[d] == nil {
			d.err = errNotFound
			continue
		}
		t.deliveries = append(t.deliveries, d)
	}
	return t
}

// A row has as many new messages as its ID is in an array.
const (
	countEmails = `UPDATE owners SET version = $2, day = greatest(day, $3),
		emails = CASE WHEN day > $3 THEN emails WHEN day = $3 THEN emails + cardinality(array_positions($4::text[], key_id))
			ELSE cardinality(array_positions($4::text[], key_id)) END,
		emails_before = CASE WHEN day = $3 + 1 THEN emails_before + cardinality(array_positions($4::text[], key_id))
			WHEN day >= $3 THEN emails_before WHEN day = $3 - 1 THEN emails ELSE 0 END
		WHERE key_id`
	countMessages = `UPDATE inboxes i SET version = $2, messages = messages + cardinality(array_positions($3::text[], id))
		WHERE id = ANY($3) AND key_id`
)

// count begins a transaction in which the rows count the messages.
func (t *tally) count(ctx context.Context, conn *pgx.Conn, together int) error {
	t.owners, t.inboxes = make(map[string]owner), make(map[keyed]service.Inbox)
	keys := slices.Sorted(maps.Keys(t.inboxIDs))
	var b pgx.Batch
	b.Queue("BEGIN")
	for part := range slices.Chunk(keys, together) {
		var all []string
		for _, k := range part {
			all = append(all, slices.Repeat([]string{k}, len(t.inboxIDs[k]))...)
		}
		queueNamed(&b, countEmails, part, " RETURNING "+ownerColumns, newVersion(), int32(t.day()), all).Query(func(rows pgx.Rows) error {
			list, err := pgx.CollectRows(rows, scanOwner)
			maps.Copy(t.owners, index(list, func(o owner) string { return o.keyID }))
			return err
		})
	}
	for part := range slices.Chunk(keys, together) {
		var all []string
		for _, k := range part {
			all = append(all, t.inboxIDs[k]...)
		}
		queueNamed(&b, countMessages, part, " RETURNING "+inboxColumns, newVersion(), all).Query(func(rows pgx.Rows) error {
			list, err := pgx.CollectRows(rows, scanInbox)
			maps.Copy(t.inboxes, index(list, func(in service.Inbox) keyed { return keyed{in.KeyID, in.ID} }))
			return err
		})
	}
	return conn.SendBatch(ctx, &b).Close()
}

func (t *tally) day() service.Day { return service.DayOf(t.deliveries[0].Received) }

// refuse reports whether messages cannot be stored: those whose inbox is gone or had expired, which
// it adds to gone, or else those of deliveries that are over the quota of a key, which it refuses.
func (t *tally) refuse(gone map[*service.NewMessage]bool) bool {
	refused := false
	for _, d := range t.deliveries {
		for _, m := range t.messages[d] {
			if in, ok := t.inboxes[inboxFor(m)]; !ok || !d.Received.Before(in.ExpiresAt) {
				gone[m], refused = true, true
			}
		}
	}
	if refused {
		return true
	}
	emails := make(map[string]int) // before these messages, by ID of key
	for keyID, ids := range t.inboxIDs {
		o := t.owners[keyID]
		emails[keyID] = max(0, o.on(t.day())-len(ids)) // 0 for a day that is no longer counted
	}
	for _, d := range t.deliveries {
		more := make(map[string]int, 1)
		for _, m := range t.messages[d] {
			if more[m.KeyID]++; emails[m.KeyID]+more[m.KeyID] > m.EmailsPerDay {
				d.err, refused = errOverQuota, true
			}
		}
		if d.err == nil {
			for keyID, n := range more {
				emails[keyID] += n
			}
		}
	}
	return refused
}

// write inserts the messages and commits.
func (t *tally) write(ctx context.Context, conn *pgx.Conn) error {
	left := make(map[keyed]int) // messages of inboxes that have no place yet
	for keyID, ids := range t.inboxIDs {
		for _, id := range ids {
			left[keyed{keyID, id}]++
		}
	}
	rows := make(messageRows)
	for _, d := range t.deliveries {
		for _, m := range t.messages[d] {
			in := t.inboxes[inboxFor(m)]
			left[inboxFor(m)]--
			place := in.Messages - left[inboxFor(m)]
			m.ID = service.NewMessageID(uint64(place))
			sum := service.Summary{ID: m.ID, From: m.From, FromName: m.FromName, Subject: m.Subject, ReceivedAt: d.Received, Size: d.size}
			rows.add(in, int64(place), service.Message{Summary: sum, To: m.To}, d.packed)
		}
	}
	var b pgx.Batch
	if err := rows.insert(ctx, conn, &b); err != nil {
		return err
	}
	b.Queue("COMMIT")
	return conn.SendBatch(ctx, &b).Close()
}

// changed returns the IDs of the inboxes and keys whose rows have changed.
func (t *tally) changed() []string {
	ids := slices.Collect(maps.Keys(t.inboxIDs))
	for in := range t.inboxes {
		ids = append(ids, in.name)
	}
	return ids
}

// inboxFor names the inbox of a message.
func inboxFor(m *service.NewMessage) keyed { return keyed{m.KeyID, m.InboxID} }

// messageRows are messages to insert, by their slots, into whose tables they go at once: finding
// these for each row costs more, and Citus would lock those of all slots.
type messageRows map[slot]*slotRows

type slotRows struct{ summaries, bodies [][]any }

func (r messageRows) add(in service.Inbox, place int64, m service.Message, packed []byte) {
	n := slotOf(in)
	rows := r[n]
	if rows == nil {
		rows = &slotRows{}
		r[n] = rows
	}
	rows.summaries = append(rows.summaries, []any{in.KeyID, in.ID, int32(n), place, m.ID, text(m.From), text(m.FromName), text(m.Subject), m.ReceivedAt, m.Size, text(m.To)})
	rows.bodies = append(rows.bodies, []any{in.KeyID, in.ID, int32(n), place, packed})
}

// copyFrom is from how many messages COPY costs less than an INSERT for each.
const copyFrom = 16

// insert inserts the messages or, if they are few, queues that.
func (r messageRows) insert(ctx context.Context, conn *pgx.Conn, b *pgx.Batch) error {
	for n, rows := range r {
		for _, t := range []struct {
			table, columns, values string
			rows                   [][]any
		}{
			{"messages", " (key_id, inbox_id, slot, place, id, sender, sender_name, subject, received_at, size, recipient)",
				" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)", rows.summaries},
			{"bodies", " (key_id, inbox_id, slot, place, raw)", " VALUES ($1, $2, $3, $4, $5)", rows.bodies},
		} {
			into := t.table + n.suffix() + t.columns
			if len(t.rows) >= copyFrom {
				if err := copyInto(ctx, conn, into, t.rows); err != nil {
					return err
				}
				continue
			}
			for _, row := range t.rows {
				b.Queue("INSERT INTO "+into+t.values, row...)
			}
		}
	}
	return nil
}
