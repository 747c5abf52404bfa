package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"mayfly/service"
)

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
			d.err = service.ErrNotFound
			continue
		}
		t.deliveries = append(t.deliveries, d)
	}
	return t
}

// count begins a transaction in which the rows count the messages.
func (t *tally) count(ctx context.Context, conn *pgx.Conn, s *Store) error {
	t.owners, t.inboxes = make(map[string]owner), make(map[keyed]service.Inbox)
	keys := slices.Sorted(maps.Keys(t.inboxIDs))
	var b pgx.Batch
	b.Queue("BEGIN")
	if len(keys) > 1 {
		s.waitBriefly(&b)
	}
	if timeout := s.timeFor(t.deliveries); timeout > s.timeout {
		b.Queue(fmt.Sprintf("SET LOCAL statement_timeout = %d", timeout.Milliseconds()))
	}
	for _, keyID := range keys {
		b.Queue(addEmails, keyID, int32(t.day()), len(t.inboxIDs[keyID]), generationOf).Query(func(rows pgx.Rows) error {
			list, err := pgx.CollectRows(rows, scanOwner)
			maps.Copy(t.owners, index(list, func(o owner) string { return o.keyID }))
			return err
		})
	}
	for _, keyID := range keys {
		ids := t.inboxIDs[keyID]
		different := slices.Compact(slices.Sorted(slices.Values(ids)))
		b.Queue(addMessages, keyID, newVersion(), ids, t.received(), different, generationOf).Query(func(rows pgx.Rows) error {
			list, err := pgx.CollectRows(rows, scanInbox)
			maps.Copy(t.inboxes, index(list, func(in service.Inbox) keyed { return keyed{in.KeyID, in.ID} }))
			return err
		})
	}
	return conn.SendBatch(ctx, &b).Close()
}

// received returns the latest time of the deliveries, whose order was not known when they were given theirs.
func (t *tally) received() time.Time {
	return slices.MaxFunc(t.deliveries, func(a, b *delivery) int { return a.Received.Compare(b.Received) }).Received
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
		emails[keyID] = max(0, o.On(t.day())-len(ids))
	}
	for _, d := range t.deliveries {
		more := make(map[string]int, 1)
		for _, m := range t.messages[d] {
			if more[m.KeyID]++; emails[m.KeyID]+more[m.KeyID] > m.EmailsPerDay {
				d.err, refused = service.ErrOverQuota, true
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
	left := make(map[keyed]uint64) // messages of inboxes that have no sequence number yet
	for keyID, ids := range t.inboxIDs {
		for _, id := range ids {
			left[keyed{keyID, id}]++
		}
	}
	rows := make(messageRows)
	for _, d := range t.deliveries {
		shared := t.share(d, rows)
		for _, m := range t.messages[d] {
			in := t.inboxes[inboxFor(m)]
			left[inboxFor(m)]--
			seq := in.Last - left[inboxFor(m)]
			m.ID, m.ReceivedAt = service.NewMessageID(seq), in.LastReceived
			sum := service.Summary{ID: m.ID, From: m.From, FromName: m.FromName, Subject: m.Subject, ReceivedAt: m.ReceivedAt, Size: d.size}
			rows.add(in, int64(seq), service.Message{Summary: sum, To: m.To, Raw: d.packed}, shared[m.KeyID], m.Delivery)
		}
	}
	var b pgx.Batch
	if err := rows.insert(ctx, conn, &b); err != nil {
		return err
	}
	b.Queue("COMMIT")
	return conn.SendBatch(ctx, &b).Close()
}

// changed returns the IDs of the inboxes that have changed.
func (t *tally) changed() []string {
	var ids []string
	for in := range t.inboxes {
		ids = append(ids, in.name)
	}
	return ids
}

// inboxFor names the inbox of a message.
func inboxFor(m *service.NewMessage) keyed { return keyed{m.KeyID, m.InboxID} }

// messageRows are messages to insert, by their slots, in whose tables they are.
type messageRows map[slot][][]any

var messageColumns = []string{
	"key_id", "inbox_id", "seq", "id", "sender", "sender_name", "subject", "received_at", "size", "recipient", "raw", "delivery",
	"body_id", "body_slot", "shared",
}

var rawColumn = slices.Index(messageColumns, "raw")

// add adds a message whose Raw is packed, or shared.
func (r messageRows) add(in service.Inbox, seq int64, m service.Message, body sharedBody, delivery []byte) {
	n := slotOf(in)
	row := []any{
		in.KeyID, in.ID, seq, m.ID, text(m.From), text(m.FromName), text(m.Subject), m.ReceivedAt, m.Size, text(m.To), m.Raw, delivery, nil, nil, nil,
	}
	if body.ID != "" {
		row[rawColumn] = nil
		row[slices.Index(messageColumns, "body_id")], row[slices.Index(messageColumns, "body_slot")] = body.ID, int32(body.Slot)
	}
	r[n] = append(r[n], row)
}

// copyFrom is from how many messages COPY costs less than an INSERT for each, and copyLarge from how many bytes of bodies it
// is used anyway, since it sends them piece by piece.
const (
	copyFrom  = 16
	copyLarge = 1 << 20
)

// insert inserts the messages or, if they are few, queues that.
func (r messageRows) insert(ctx context.Context, conn *pgx.Conn, b *pgx.Batch) error {
	for n, rows := range r {
		size := 0
		for _, row := range rows {
			raw, _ := row[rawColumn].([]byte)
			size += len(raw)
		}
		if len(rows) >= copyFrom || size >= copyLarge {
			if _, err := conn.CopyFrom(ctx, pgx.Identifier{n.table()}, messageColumns, pgx.CopyFromRows(rows)); err != nil {
				return err
			}
			continue
		}
		insert := fmt.Sprintf("INSERT INTO %s (%s) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)", n.table(), strings.Join(messageColumns, ", "))
		for _, row := range rows {
			b.Queue(insert, row...)
		}
	}
	return nil
}
