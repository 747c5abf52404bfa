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
// deliveries for each key are tried again in a transaction of their own, so that only those that
// need that row are refused.
func (s *Store) commit(pool *pgxpool.Pool, group []*delivery) {
	// The group is stored even if the store is closed meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.timeout)
	defer cancel()
	err := s.commitTogether(ctx, pool, group)
	if sqlState(err) != stateLocked {
		answer(group, err)
		return
	}
	var committing errgroup.Group
	committing.SetLimit(committers)
	for _, part := range byKeys(group) {
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

// store stores a group in one transaction of two round trips: the first locks and reads rows, the
// second writes. Many messages are copied in between. It returns the IDs of the inboxes and keys that
// have changed.
func (s *Store) store(ctx context.Context, pool *pgxpool.Pool, group []*delivery) ([]string, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	l, err := s.lock(ctx, conn.Conn(), group)
	if err == nil {
		for _, d := range group {
			d.err = l.add(d)
		}
		err = l.write(ctx, conn.Conn(), s.together)
	}
	if err != nil {
		// The pool closes a connection that is still in a transaction, which rolls it back.
		return nil, err
	}
	for keyID, o := range l.owners {
		s.counts.put(keyID, o)
	}
	return l.changed(), nil
}

// locked is the rows that a transaction has locked, with its changes, and the rows that it inserts.
type locked struct {
	owners  map[string]owner
	inboxes map[string]*lockedInbox
	touched map[string]bool // owners that have changed
	messageRows
}

type lockedInbox struct {
	service.Inbox
	touched bool
}

// lock begins a transaction, locks the owners of a group in the order of their IDs, and then reads
// the inboxes, which change only while their owner is locked.
func (s *Store) lock(ctx context.Context, conn *pgx.Conn, group []*delivery) (*locked, error) {
	keys, inboxes := make(map[string]bool), make(map[keyed]bool)
	for _, d := range group {
		for _, m := range d.Messages {
			if isName(m.KeyID) && isName(m.InboxID) {
				keys[m.KeyID], inboxes[keyed{m.KeyID, m.InboxID}] = true, true
			}
		}
	}
	l := &locked{owners: make(map[string]owner), inboxes: make(map[string]*lockedInbox), touched: make(map[string]bool)}
	var b pgx.Batch
	b.Queue("BEGIN")
	s.queueLocks(&b, slices.Sorted(maps.Keys(keys)), func(o owner) { l.owners[o.keyID] = o })
	for part := range slices.Chunk(slices.Collect(maps.Keys(inboxes)), s.together) {
		queueInboxes(&b, part).Query(func(rows pgx.Rows) error {
			list, err := pgx.CollectRows(rows, scanInbox)
			for _, in := range list {
				l.inboxes[in.ID] = &lockedInbox{Inbox: in}
			}
			return err
		})
	}
	return l, conn.SendBatch(ctx, &b).Close()
}

// queueLocks locks keys, in ascending order, against other changes until the transaction ends.
func (s *Store) queueLocks(b *pgx.Batch, keys []string, got func(owner)) {
	for part := range slices.Chunk(keys, s.together) {
		queueOwners(b, part, " ORDER BY key_id FOR NO KEY UPDATE").Query(func(rows pgx.Rows) error {
			list, err := pgx.CollectRows(rows, scanOwner)
			for _, o := range list {
				got(o)
			}
			return err
		})
	}
}

// add adds a whole delivery or, with an error, nothing.
func (l *locked) add(d *delivery) error {
	day := service.DayOf(d.Received)
	more := make(map[string]int, 1) // messages by key
	var taken []*service.NewMessage
	for i := range d.Messages {
		m := &d.Messages[i]
		m.ID = "" // of an attempt that failed
		in := l.inboxes[m.InboxID]
		if in == nil || in.KeyID != m.KeyID || !d.Received.Before(in.ExpiresAt) {
			continue
		}
		o := l.owners[m.KeyID]
		if more[m.KeyID]++; o.on(day)+more[m.KeyID] > m.EmailsPerDay {
			return errOverQuota
		}
		taken = append(taken, m)
	}
	if len(taken) == 0 {
		return errNotFound
	}
	for _, m := range taken {
		l.append(d, m)
	}
	for keyID, n := range more {
		o := l.owners[keyID]
		o.count(day, n)
		l.owners[keyID] = o
		l.touched[keyID] = true
	}
	return nil
}

func (l *locked) append(d *delivery, m *service.NewMessage) {
	in := l.inboxes[m.InboxID]
	in.Messages++
	in.touched = true
	m.ID = service.NewMessageID(uint64(in.Messages))
	sum := service.Summary{
		ID: m.ID, From: m.From, FromName: m.FromName, Subject: m.Subject,
		ReceivedAt: d.Received, Size: d.size,
	}
	l.row(in.Inbox, int64(in.Messages), service.Message{Summary: sum, To: m.To}, d.packed)
}

// messageRows are messages to insert.
type messageRows struct {
	summaries, bodies [][]any
	keys              map[string]bool
}

func (r *messageRows) row(in service.Inbox, place int64, m service.Message, packed []byte) {
	if r.keys == nil {
		r.keys = make(map[string]bool)
	}
	r.keys[in.KeyID] = true
	n := int32(slotOf(in))
	r.summaries = append(r.summaries, []any{in.KeyID, in.ID, n, place, m.ID, text(m.From), text(m.FromName), text(m.Subject), m.ReceivedAt, m.Size, text(m.To)})
	r.bodies = append(r.bodies, []any{in.KeyID, in.ID, n, place, packed})
}

// copyFrom is from how many messages in a part of the tables COPY costs less than an INSERT for each.
const copyFrom = 10

// insert inserts the messages or, if they are few, queues that.
func (r *messageRows) insert(ctx context.Context, conn *pgx.Conn, b *pgx.Batch, together int) error {
	parts := min(len(r.keys), 1+len(r.keys)/together)
	for _, t := range []struct {
		table, values string
		rows          [][]any
	}{
		{"messages (key_id, inbox_id, slot, place, id, sender, sender_name, subject, received_at, size, recipient)",
			" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)", r.summaries},
		{"bodies (key_id, inbox_id, slot, place, raw)", " VALUES ($1, $2, $3, $4, $5)", r.bodies},
	} {
		if len(t.rows) >= copyFrom*parts {
			if err := copyInto(ctx, conn, t.table, t.rows); err != nil {
				return err
			}
			continue
		}
		for _, row := range t.rows {
			b.Queue("INSERT INTO "+t.table+t.values, row...)
		}
	}
	return nil
}

// write writes the changes and commits, or rolls back if there are none.
func (l *locked) write(ctx context.Context, conn *pgx.Conn, together int) error {
	if len(l.touched) == 0 {
		_, err := conn.Exec(ctx, "ROLLBACK")
		return err
	}
	var b pgx.Batch
	if err := l.insert(ctx, conn, &b, together); err != nil {
		return err
	}
	var inboxes []service.Inbox
	for _, in := range l.inboxes {
		if in.touched {
			inboxes = append(inboxes, in.Inbox)
		}
	}
	for part := range slices.Chunk(inboxes, together) {
		updateInboxes(&b, part)
	}
	for part := range slices.Chunk(slices.Collect(maps.Keys(l.touched)), together) {
		l.updateOwners(&b, part)
	}
	b.Queue("COMMIT")
	return conn.SendBatch(ctx, &b).Close()
}

// updateInboxes sets the number of messages of inboxes.
func updateInboxes(b *pgx.Batch, list []service.Inbox) {
	if len(list) == 1 {
		in := list[0]
		b.Queue("UPDATE inboxes SET messages = $3, version = $4 WHERE key_id = $1 AND id = $2", in.KeyID, in.ID, int64(in.Messages), newVersion())
		return
	}
	var keyIDs, ids []string
	var counts, versions []int64
	for _, in := range list {
		keyIDs, ids, counts, versions = append(keyIDs, in.KeyID), append(ids, in.ID), append(counts, int64(in.Messages)), append(versions, newVersion())
	}
	b.Queue(`UPDATE inboxes i SET messages = u.messages, version = u.version
		FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) u (key_id, id, messages, version)
		WHERE i.key_id = u.key_id AND i.id = u.id`, keyIDs, ids, counts, versions)
}

func (l *locked) updateOwners(b *pgx.Batch, list []string) {
	if len(list) == 1 {
		o := l.owners[list[0]]
		b.Queue("UPDATE owners SET version = $2, day = $3, emails = $4, emails_before = $5 WHERE key_id = $1",
			list[0], newVersion(), int32(o.day), int32(o.emails), int32(o.before))
		return
	}
	var versions []int64
	var days, emails, before []int32
	for _, keyID := range list {
		o := l.owners[keyID]
		versions, days, emails, before = append(versions, newVersion()), append(days, int32(o.day)), append(emails, int32(o.emails)), append(before, int32(o.before))
	}
	b.Queue(`UPDATE owners SET version = u.version, day = u.day, emails = u.emails, emails_before = u.emails_before
		FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::integer[], $5::integer[]) u (key_id, version, day, emails, emails_before)
		WHERE owners.key_id = u.key_id`, list, versions, days, emails, before)
}

// changed returns the IDs of the inboxes and keys that the transaction has changed.
func (l *locked) changed() []string {
	var ids []string
	for id, in := range l.inboxes {
		if in.touched {
			ids = append(ids, id)
		}
	}
	return slices.AppendSeq(ids, maps.Keys(l.touched))
}
