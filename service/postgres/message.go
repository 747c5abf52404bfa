package postgres

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"mayfly/service"
)

// Statements for the messages of a slot, the suffix of whose tables replaces %s. Each is for one
// table, which a Citus cluster need not plan again.
const (
	summaryColumns  = "m.id, m.sender, m.sender_name, m.subject, m.received_at, m.size"
	selectSummaries = "SELECT " + summaryColumns + " FROM messages%s m WHERE m.key_id = $1 AND m.inbox_id = $2 AND m.place < $3 ORDER BY m.place DESC LIMIT $4"
	selectMessage   = "SELECT " + summaryColumns + ", m.recipient FROM messages%s m WHERE m.key_id = $1 AND m.inbox_id = $2 AND m.place = $3"
	selectBody      = "SELECT raw FROM bodies%s WHERE key_id = $1 AND inbox_id = $2 AND place = $3"
)

// read reads what queue queues of an inbox, unless it is gone.
func (s *Store) read(ctx context.Context, in service.Inbox, queue func(b *pgx.Batch, slot string)) error {
	if !isName(in.KeyID) || !isName(in.ID) {
		return errNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	v, err := s.serverOf(ctx, in.KeyID)
	if err != nil {
		return err
	}
	var b pgx.Batch
	queue(&b, slotOf(in).suffix())
	// At last, since the messages of a deleted inbox stay for a while.
	b.Queue("SELECT 1 FROM inboxes WHERE key_id = $1 AND id = $2", in.KeyID, in.ID).QueryRow(func(row pgx.Row) error {
		var one int
		return row.Scan(&one)
	})
	err = v.pool.SendBatch(ctx, &b).Close()
	if sqlState(err) == stateNoTable {
		return errNotFound // the slot is over
	}
	return s.failure(ctx, v.pool, err)
}

// Messages implements service.Store.
func (s *Store) Messages(ctx context.Context, in service.Inbox, before uint64, limit int) (list []service.Summary, err error) {
	if before <= 1 {
		return nil, nil
	}
	rowLimit := int64(math.MaxInt64)
	if limit > 0 {
		rowLimit = int64(limit)
	}
	err = s.read(ctx, in, func(b *pgx.Batch, slot string) {
		b.Queue(fmt.Sprintf(selectSummaries, slot), in.KeyID, in.ID, int64(min(before, math.MaxInt64)), rowLimit).Query(func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (m service.Summary, err error) {
				err = scanSummary(row, &m)
				return m, err
			})
			return err
		})
	})
	if service.ErrorCode(err) == service.NotFound {
		return nil, nil
	}
	return list, err
}

// scanSummary scans summaryColumns, and what is selected after them.
func scanSummary(row pgx.Row, m *service.Summary, more ...any) error {
	err := row.Scan(append([]any{&m.ID, &m.From, &m.FromName, &m.Subject, &m.ReceivedAt, &m.Size}, more...)...)
	m.ReceivedAt = m.ReceivedAt.UTC()
	return err
}

// Summary implements service.Store.
func (s *Store) Summary(ctx context.Context, in service.Inbox, place uint64) (service.Summary, error) {
	var m service.Message
	err := s.read(ctx, in, func(b *pgx.Batch, slot string) { queueMessage(b, in, slot, place, &m) })
	return m.Summary, err
}

func queueMessage(b *pgx.Batch, in service.Inbox, slot string, place uint64, m *service.Message) {
	b.Queue(fmt.Sprintf(selectMessage, slot), in.KeyID, in.ID, int64(min(place, math.MaxInt64))).QueryRow(func(row pgx.Row) error {
		return scanSummary(row, &m.Summary, &m.To)
	})
}

// Message implements service.Store.
func (s *Store) Message(ctx context.Context, in service.Inbox, place uint64) (service.Message, error) {
	var m service.Message
	var packed []byte
	err := s.read(ctx, in, func(b *pgx.Batch, slot string) {
		queueMessage(b, in, slot, place, &m)
		b.Queue(fmt.Sprintf(selectBody, slot), in.KeyID, in.ID, int64(min(place, math.MaxInt64))).QueryRow(func(row pgx.Row) error {
			return row.Scan(&packed)
		})
	})
	if err == nil {
		m.Raw, err = unpack(packed, m.Size)
	}
	return m, s.failure(ctx, s.pool, err)
}
