package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"mayfly/service"
)

// delivery is a call of Append that waits for its commit.
type delivery struct {
	service.Append
	shards []shard // of each message's key
	size   int64   // of the raw message
	packed []byte  // the raw message as it is stored
	done   chan error
	err    error // why it is not part of the current attempt's transaction
}

// Append implements service.Store.
func (s *Store) Append(ctx context.Context, a service.Append) error {
	d := &delivery{Append: a, size: int64(len(a.Raw)), packed: pack(a.Raw), done: make(chan error, 1)}
	d.Raw = nil
	for _, m := range d.Messages {
		n, err := s.shardOf(ctx, m.KeyID)
		if err != nil {
			return err
		}
		d.shards = append(d.shards, n)
	}
	s.deliveries.put(d)
	select {
	case err := <-d.done:
		return err
	case <-ctx.Done():
		if s.deliveries.remove(d) {
			return ctx.Err()
		}
	case <-s.ctx.Done():
		if s.deliveries.remove(d) {
			return errClosed
		}
	}
	return <-d.done // the timeout bounds this
}

// committers is the largest number of concurrent transactions of deliveries of a process.
const committers = 4

// slowCommit is after what time a transaction no longer keeps the next one from starting. Until
// then deliveries gather for the next one, since the more of them share a transaction, the less
// each costs.
const slowCommit = 10 * time.Millisecond

// runCommits is a committer: it stores the deliveries in the queue, group by group.
func (s *Store) runCommits() {
	for {
		group := s.deliveries.next(s.ctx)
		if group == nil {
			return
		}
		release := sync.OnceFunc(func() { s.deliveries.release(group) })
		slow := time.AfterFunc(slowCommit, release)
		s.commit(group)
		s.deliveries.stored(group)
		slow.Stop()
		release()
	}
}

// commit stores a group and answers its callers. If a row that it needs stays locked, the
// deliveries for each key are tried again in a transaction of their own, so that only those that
// need that row are refused.
func (s *Store) commit(group []*delivery) {
	// The group is stored even if the store is closed meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.timeout)
	defer cancel()
	err := s.commitTogether(ctx, group)
	if sqlState(err) != stateLocked {
		answer(group, err)
		return
	}
	var committing errgroup.Group
	committing.SetLimit(committers)
	for _, part := range byKeys(group) {
		committing.Go(func() error {
			answer(part, s.commitTogether(ctx, part))
			return nil
		})
	}
	_ = committing.Wait() // there is no error that was not passed on
}

// commitTogether stores a whole group or, with an error, nothing.
func (s *Store) commitTogether(ctx context.Context, group []*delivery) error {
	started := time.Now()
	var changed []string
	err := s.retry(ctx, func() (err error) {
		changed, err = s.store(ctx, group)
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
// second writes. It returns the IDs of the inboxes and keys that have changed.
func (s *Store) store(ctx context.Context, group []*delivery) ([]string, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	l, err := lock(ctx, conn.Conn(), group)
	if err == nil {
		for _, d := range group {
			d.err = l.add(d)
		}
		err = l.write(ctx, conn.Conn())
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

// lock begins a transaction, locks the owners of a group, and then reads the inboxes, which change
// only while their owner is locked.
func lock(ctx context.Context, conn *pgx.Conn, group []*delivery) (*locked, error) {
	l := &locked{owners: make(map[string]owner), inboxes: make(map[string]*lockedInbox), touched: make(map[string]bool)}
	keys, inboxes := make(map[shard][]string, 1), make(map[keyed]bool)
	for _, d := range group {
		for i, m := range d.Messages {
			if !isName(m.KeyID) || !isName(m.InboxID) {
				continue
			}
			if _, seen := l.owners[m.KeyID]; !seen {
				l.owners[m.KeyID] = owner{}
				keys[d.shards[i]] = append(keys[d.shards[i]], m.KeyID)
			}
			inboxes[keyed{m.KeyID, m.InboxID}] = true
		}
	}
	var b pgx.Batch
	b.Queue("BEGIN")
	queueLocks(&b, keys, func(o owner) { l.owners[o.keyID] = o })
	keyIDs, ids := columns(slices.Collect(maps.Keys(inboxes)))
	b.Queue(selectInboxes, keyIDs, ids).Query(func(rows pgx.Rows) error {
		list, err := pgx.CollectRows(rows, scanInbox)
		for _, in := range list {
			l.inboxes[in.ID] = &lockedInbox{Inbox: in}
		}
		return err
	})
	return l, conn.SendBatch(ctx, &b).Close()
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

// messageRows are messages to insert, as columns.
type messageRows struct {
	keyIDs, inboxIDs, ids, senders, names, subjects, recipients []string
	slots                                                       []int32
	places, sizes                                               []int64
	times                                                       []time.Time
	bodies                                                      [][]byte
}

func (r *messageRows) row(in service.Inbox, place int64, m service.Message, packed []byte) {
	r.keyIDs = append(r.keyIDs, in.KeyID)
	r.inboxIDs = append(r.inboxIDs, in.ID)
	r.slots = append(r.slots, int32(slotOf(in)))
	r.places = append(r.places, place)
	r.ids = append(r.ids, m.ID)
	r.senders = append(r.senders, text(m.From))
	r.names = append(r.names, text(m.FromName))
	r.subjects = append(r.subjects, text(m.Subject))
	r.times = append(r.times, m.ReceivedAt)
	r.sizes = append(r.sizes, m.Size)
	r.recipients = append(r.recipients, text(m.To))
	r.bodies = append(r.bodies, packed)
}

// insert inserts the messages of owners. Joining these lets each shard insert its own, in a single
// statement.
func (r *messageRows) insert(b *pgx.Batch, owners []string) {
	b.Queue(`INSERT INTO messages (key_id, inbox_id, slot, place, id, sender, sender_name, subject, received_at, size, recipient)
		SELECT o.key_id, u.inbox_id, u.slot, u.place, u.id, u.sender, u.sender_name, u.subject, u.received_at, u.size, u.recipient
		FROM owners o JOIN unnest($2::text[], $3::text[], $4::integer[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[],
			$10::timestamptz[], $11::bigint[], $12::text[])
			u (key_id, inbox_id, slot, place, id, sender, sender_name, subject, received_at, size, recipient)
			ON u.key_id = o.key_id WHERE o.key_id = ANY($1)`,
		owners, r.keyIDs, r.inboxIDs, r.slots, r.places, r.ids, r.senders, r.names, r.subjects, r.times, r.sizes, r.recipients).Exec(r.all)
	b.Queue(`INSERT INTO bodies (key_id, inbox_id, slot, place, raw) SELECT o.key_id, u.inbox_id, u.slot, u.place, u.raw
		FROM owners o JOIN unnest($2::text[], $3::text[], $4::integer[], $5::bigint[], $6::bytea[]) u (key_id, inbox_id, slot, place, raw)
			ON u.key_id = o.key_id WHERE o.key_id = ANY($1)`,
		owners, r.keyIDs, r.inboxIDs, r.slots, r.places, r.bodies).Exec(r.all)
}

// all returns an error unless all messages were inserted, which is so if their owners exist.
func (r *messageRows) all(done pgconn.CommandTag) error {
	if n := done.RowsAffected(); n != int64(len(r.ids)) {
		return fmt.Errorf("%d of %d messages were inserted", n, len(r.ids))
	}
	return nil
}

// write writes the changes and commits, or rolls back if there are none.
func (l *locked) write(ctx context.Context, conn *pgx.Conn) error {
	if len(l.ids) == 0 {
		_, err := conn.Exec(ctx, "ROLLBACK")
		return err
	}
	var b pgx.Batch
	l.insert(&b, slices.Collect(maps.Keys(l.touched)))
	counts := make(map[keyed]int64, len(l.inboxes))
	for id, in := range l.inboxes {
		if in.touched {
			counts[keyed{in.KeyID, id}] = int64(in.Messages)
		}
	}
	updateInboxes(&b, counts)
	l.updateOwners(&b)
	b.Queue("COMMIT")
	return conn.SendBatch(ctx, &b).Close()
}

// updateInboxes sets the number of messages of inboxes.
func updateInboxes(b *pgx.Batch, messages map[keyed]int64) {
	var keyIDs, ids []string
	var counts, versions []int64
	for in, n := range messages {
		keyIDs, ids, counts, versions = append(keyIDs, in.keyID), append(ids, in.name), append(counts, n), append(versions, newVersion())
	}
	b.Queue(`UPDATE inboxes i SET messages = u.messages, version = u.version
		FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) u (key_id, id, messages, version)
		WHERE i.key_id = u.key_id AND i.id = u.id AND i.key_id = ANY($1)`, keyIDs, ids, counts, versions)
}

func (l *locked) updateOwners(b *pgx.Batch) {
	var keyIDs []string
	var versions []int64
	var days, emails, before []int32
	for keyID := range l.touched {
		o := l.owners[keyID]
		keyIDs, versions = append(keyIDs, keyID), append(versions, newVersion())
		days, emails, before = append(days, int32(o.day)), append(emails, int32(o.emails)), append(before, int32(o.before))
	}
	b.Queue(`UPDATE owners o SET version = u.version, day = u.day, emails = u.emails, emails_before = u.emails_before
		FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::integer[], $5::integer[]) u (key_id, version, day, emails, emails_before)
		WHERE o.key_id = u.key_id AND o.key_id = ANY($1)`, keyIDs, versions, days, emails, before)
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
