package postgres

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/klauspost/compress/zstd"

	"mayfly/service"
)

// Statements for the messages of a slot, whose table replaces %s.
const (
	summaryColumns  = "m.id, m.sender, m.sender_name, m.subject, m.received_at, m.size"
	selectSummaries = "SELECT " + summaryColumns + " FROM %s m WHERE m.key_id = $1 AND m.inbox_id = $2 AND m.seq < $3 ORDER BY m.seq DESC LIMIT $4"
	selectDelivery  = "SELECT m.delivery FROM %s m WHERE m.key_id = $1 AND m.inbox_id = $2 AND m.seq = $3"
	selectMessage   = "SELECT " + summaryColumns + ", m.recipient, m.raw, m.body_id, m.body_slot FROM %s m WHERE m.key_id = $1 AND m.inbox_id = $2 AND m.seq = $3"
)

// read reads what queue queues of an inbox, unless it is gone. If it has been moved since, it is found again.
func (s *Store) read(ctx context.Context, in service.Inbox, queue func(b *pgx.Batch, table string)) error {
	if !isName(in.KeyID) || !isName(in.ID) {
		return service.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	v, err := s.serverOf(ctx, in.KeyID)
	if err != nil {
		return err
	}
	return s.whereItIs(ctx, in, func(n slot) error {
		var b pgx.Batch
		queue(&b, n.table())
		// At last, since the messages of an inbox that was deleted or moved stay for a while.
		b.Queue("SELECT 1 FROM inboxes WHERE key_id = $1 AND id = $2 AND slot = $3", in.KeyID, in.ID, int32(n)).QueryRow(func(row pgx.Row) error {
			var one int
			return row.Scan(&one)
		})
		err := v.pool.SendBatch(ctx, &b).Close()
		if sqlState(err) == stateNoTable {
			return service.ErrNotFound // the slot has passed
		}
		return s.failure(ctx, v.pool, err)
	})
}

// whereItIs does something in the slot of an inbox. If that finds nothing, and the inbox is in another slot by
// now, it does it there.
func (s *Store) whereItIs(ctx context.Context, in service.Inbox, do func(slot) error) error {
	for {
		err := do(slotOf(in))
		if service.ErrorCode(err) != service.NotFound {
			return err
		}
		now, gone := s.Inbox(ctx, in.KeyID, in.ID)
		if gone != nil || slotOf(now) == slotOf(in) {
			return err
		}
		in = now
	}
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
	err = s.read(ctx, in, func(b *pgx.Batch, table string) {
		b.Queue(fmt.Sprintf(selectSummaries, table), in.KeyID, in.ID, int64(min(before, math.MaxInt64)), rowLimit).Query(func(rows pgx.Rows) (err error) {
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
func (s *Store) Summary(ctx context.Context, in service.Inbox, seq uint64) (service.Summary, error) {
	list, err := s.Messages(ctx, in, seq+1, 1)
	if err != nil {
		return service.Summary{}, err
	}
	for _, m := range list {
		if found, _ := service.MessageSeq(m.ID); found == seq {
			return m, nil
		}
	}
	return service.Summary{}, service.ErrNotFound
}

// Message implements service.Store.
func (s *Store) Message(ctx context.Context, in service.Inbox, seq uint64) (service.Message, error) {
	var m service.Message
	var packed []byte
	var bodyID *string
	var bodySlot *slot
	err := s.read(ctx, in, func(b *pgx.Batch, table string) {
		b.Queue(fmt.Sprintf(selectMessage, table), in.KeyID, in.ID, int64(min(seq, math.MaxInt64))).QueryRow(func(row pgx.Row) error {
			return scanSummary(row, &m.Summary, &m.To, &packed, &bodyID, &bodySlot)
		})
	})
	if err == nil && bodyID != nil {
		packed, err = s.readBody(ctx, in.KeyID, sharedBody{ID: *bodyID, Slot: *bodySlot})
	}
	if err == nil {
		m.Raw, err = unpack(packed, m.Size)
	}
	return m, s.failure(ctx, s.pool, err)
}

// Delivery implements service.Store.
func (s *Store) Delivery(ctx context.Context, in service.Inbox, seq uint64) (delivery []byte, err error) {
	err = s.read(ctx, in, func(b *pgx.Batch, table string) {
		b.Queue(fmt.Sprintf(selectDelivery, table), in.KeyID, in.ID, int64(min(seq, math.MaxInt64))).QueryRow(func(row pgx.Row) error {
			return row.Scan(&delivery)
		})
	})
	return delivery, err
}

// DeleteMessages implements service.Store.
func (s *Store) DeleteMessages(ctx context.Context, in service.Inbox, messageID string) error {
	seq, ok := service.MessageSeq(messageID)
	first := int64(min(seq, math.MaxInt64))
	last := first
	if messageID == "" {
		last = math.MaxInt64
	} else if !ok || !isName(messageID) {
		return service.ErrNotFound
	}
	err := s.whereItIs(ctx, in, func(n slot) error {
		var changed int64
		var bodies []sharedBody
		err := s.change(ctx, in.KeyID, func(b *pgx.Batch) {
			bodies = nil
			b.Queue(lockOwner, in.KeyID)
			queueBodies(b, n, &bodies, "inbox_id = $2 AND seq BETWEEN $3 AND $4 AND (id = $5 OR $5 = '')", in.KeyID, in.ID, first, last, messageID)
			b.Queue("WITH gone AS (DELETE FROM "+n.table()+` WHERE key_id = $1 AND inbox_id = $2 AND seq BETWEEN $3 AND $4
				AND (id = $5 OR $5 = '') RETURNING seq)
			UPDATE counts SET messages = messages - (SELECT count(*) FROM gone), version = $6
			WHERE `+newestCount+` AND EXISTS (SELECT 1 FROM inboxes WHERE key_id = $1 AND id = $2 AND slot = $7) AND ($5 = '' OR EXISTS (SELECT 1 FROM gone))`,
				in.KeyID, in.ID, first, last, messageID, newVersion(), int32(n)).Exec(func(done pgconn.CommandTag) error {
				changed = done.RowsAffected()
				return nil
			})
		}, func(b *pgx.Batch) { queueRelease(b, in.KeyID, bodies) })
		if err == nil && changed == 0 || sqlState(err) == stateNoTable {
			return service.ErrNotFound
		}
		return err
	})
	if err == nil {
		s.announcer.announce(in.ID)
	}
	return err
}

// The first byte of a stored body says how the rest is encoded.
const (
	uncompressed = 0
	compressed   = 1 // Zstandard, RFC 8878
)

// minCompressed is the size in bytes from which compression can pay.
const minCompressed = 256

var (
	compressor   = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20)))
	decompressor = must(zstd.NewReader(nil, zstd.WithDecoderMaxMemory(math.MaxUint32)))
)

// must panics on an error that only invalid options could cause.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// pack returns the body to store for a message, compressed if that makes it smaller.
func pack(raw []byte) []byte {
	if len(raw) >= minCompressed {
		packed := compressor.EncodeAll(raw, append(make([]byte, 0, 1+len(raw)/2), compressed))
		if len(packed) <= len(raw) {
			return packed
		}
	}
	return append([]byte{uncompressed}, raw...)
}

// unpack returns the message of the given size that a stored body encodes.
func unpack(packed []byte, size int64) ([]byte, error) {
	damaged := func(cause error) error {
		return &service.Error{Code: service.Damaged, Message: "This part of the store is damaged", Err: cause}
	}
	if len(packed) == 0 {
		return nil, damaged(fmt.Errorf("the body is empty"))
	}
	raw := packed[1:]
	if packed[0] == compressed {
		var err error
		if raw, err = decompressor.DecodeAll(raw, make([]byte, 0, size)); err != nil {
			return nil, damaged(err)
		}
	}
	if int64(len(raw)) != size {
		return nil, damaged(fmt.Errorf("the body has %d bytes instead of %d", len(raw), size))
	}
	return raw, nil
}

// isName reports whether s can be an ID or an address in the database. Nothing else was ever
// stored.
func isName(s string) bool {
	return s != "" && len(s) <= 512 && strings.IndexByte(s, 0) < 0 && utf8.ValidString(s)
}

// text replaces what the database does not accept in a text: NUL, and what is not UTF-8.
func text(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.ReplaceAll(s, "\x00", "\ufffd")
}
