package postgres

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"mayfly/service"
)

const summaryColumns = "m.id, m.sender, m.sender_name, m.subject, m.received_at, m.size"

// alive is a condition of every query for messages, since those of a deleted inbox stay for a
// while.
const alive = "EXISTS (SELECT 1 FROM inboxes i WHERE i.key_id = $1 AND i.id = $2)"

// Statements for the messages of one slot, whose number replaces %[1]d. If it were a parameter,
// PostgreSQL would lock the tables of all slots, or have to plan each time.
const (
	selectSummaries = "SELECT " + summaryColumns + ` FROM messages m
		WHERE m.key_id = $1 AND m.inbox_id = $2 AND m.slot = %[1]d AND m.place < $3 AND ` + alive + " ORDER BY m.place DESC LIMIT $4"
	selectSummary = "SELECT " + summaryColumns + ` FROM messages m
		WHERE m.key_id = $1 AND m.inbox_id = $2 AND m.slot = %[1]d AND m.place = $3 AND ` + alive
	selectMessage = "SELECT " + summaryColumns + `, m.recipient, b.raw FROM messages m
		JOIN bodies b ON b.key_id = m.key_id AND b.inbox_id = m.inbox_id AND b.place = m.place AND b.slot = %[1]d
		WHERE m.key_id = $1 AND m.inbox_id = $2 AND m.slot = %[1]d AND m.place = $3 AND ` + alive
)

// Messages implements service.Store.
func (s *Store) Messages(ctx context.Context, in service.Inbox, before uint64, limit int) ([]service.Summary, error) {
	if before <= 1 || !isName(in.KeyID) || !isName(in.ID) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	rowLimit := int64(math.MaxInt64)
	if limit > 0 {
		rowLimit = int64(limit)
	}
	scan := func(row pgx.CollectableRow) (m service.Summary, err error) {
		err = scanSummary(row, &m)
		return m, err
	}
	v, err := s.serverOf(ctx, in.KeyID)
	if err != nil {
		return nil, err
	}
	list, err := query(ctx, v.pool, scan, fmt.Sprintf(selectSummaries, slotOf(in)), in.KeyID, in.ID, int64(min(before, math.MaxInt64)), rowLimit)
	return list, s.failure(ctx, v.pool, err)
}

// scanSummary scans summaryColumns, and what is selected after them.
func scanSummary(row pgx.Row, m *service.Summary, more ...any) error {
	err := row.Scan(append([]any{&m.ID, &m.From, &m.FromName, &m.Subject, &m.ReceivedAt, &m.Size}, more...)...)
	m.ReceivedAt = m.ReceivedAt.UTC()
	return err
}

// Summary implements service.Store.
func (s *Store) Summary(ctx context.Context, in service.Inbox, place uint64) (service.Summary, error) {
	var m service.Summary
	if !isName(in.KeyID) || !isName(in.ID) || place > math.MaxInt64 {
		return m, errNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	v, err := s.serverOf(ctx, in.KeyID)
	if err != nil {
		return m, err
	}
	row := v.pool.QueryRow(ctx, fmt.Sprintf(selectSummary, slotOf(in)), in.KeyID, in.ID, int64(place))
	return m, s.failure(ctx, v.pool, scanSummary(row, &m))
}

// Message implements service.Store.
func (s *Store) Message(ctx context.Context, in service.Inbox, place uint64) (service.Message, error) {
	var m service.Message
	if !isName(in.KeyID) || !isName(in.ID) || place > math.MaxInt64 {
		return m, errNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var packed []byte
	v, err := s.serverOf(ctx, in.KeyID)
	if err != nil {
		return m, err
	}
	row := v.pool.QueryRow(ctx, fmt.Sprintf(selectMessage, slotOf(in)), in.KeyID, in.ID, int64(place))
	err = scanSummary(row, &m.Summary, &m.To, &packed)
	if err == nil {
		m.Raw, err = unpack(packed, m.Size)
	}
	return m, s.failure(ctx, v.pool, err)
}
