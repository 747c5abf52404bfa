package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"mayfly/service"
)

// What several messages of a key have in common of a delivery, its body, is stored once. It is a row among the
// messages, whose inbox is the body's ID and whose sequence number is 0. It lies in the slot that ends last of
// those of the messages, counts them, and goes with the last of them, or with its slot.

// minShared is from how many bytes a body costs less in a row of its own.
const minShared = 2048

// share adds the bodies of a delivery to rows, one for each key that has several of its messages, and returns where
// they are.
func (t *tally) share(d *delivery, rows messageRows) map[string]sharedBody {
	ins := make(map[string][]service.Inbox)
	for _, m := range t.messages[d] {
		ins[m.KeyID] = append(ins[m.KeyID], t.inboxes[inboxFor(m)])
	}
	shared := make(map[string]sharedBody)
	for keyID, list := range ins {
		if len(list) == 1 || len(d.packed) < minShared {
			continue
		}
		in := slices.MaxFunc(list, func(a, b service.Inbox) int { return slotOf(a).ends().Compare(slotOf(b).ends()) })
		body := sharedBody{ID: "body_" + rand.Text(), Slot: slotOf(in), Messages: int64(len(list))}
		rows[body.Slot] = append(rows[body.Slot], []any{
			keyID, body.ID, 0, "", "", "", "", d.Received, d.size, "", d.packed, nil, nil, nil, body.Messages,
		})
		shared[keyID] = body
	}
	return shared
}

// sharedBody is a body, and how many messages that something is done with have it.
type sharedBody struct {
	ID       string
	Slot     slot
	Messages int64
}

// queueBodies queues a query for the bodies that messages in a slot share, those that meet a condition.
func queueBodies(b *pgx.Batch, n slot, list *[]sharedBody, condition string, args ...any) {
	b.Queue("SELECT body_id, body_slot, count(*) FROM "+n.table()+" WHERE key_id = $1 AND body_id IS NOT NULL AND "+condition+" GROUP BY body_id, body_slot", args...).
		Query(func(rows pgx.Rows) error {
			some, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sharedBody])
			*list = append(*list, some...)
			return err
		})
}

// queueRelease queues the removal of bodies whose last messages have been removed.
func queueRelease(b *pgx.Batch, keyID string, list []sharedBody) {
	for _, body := range list {
		of := body.Slot.table() + " WHERE key_id = $1 AND inbox_id = $2 AND seq = 0"
		b.Queue("UPDATE "+strings.Replace(of, " WHERE", " SET shared = shared - $3 WHERE", 1), keyID, body.ID, body.Messages)
		b.Queue("DELETE FROM "+of+" AND shared <= 0", keyID, body.ID)
	}
}

// queueMove queues the move of messages from one slot to another, with bodies that would end before them. The rows
// in the old slot are left for its end.
func queueMove(b *pgx.Batch, keyID, inboxID string, from, to slot, bodies []sharedBody) {
	columns := strings.Join(messageColumns, ", ")
	copied := func(of slot, column, value string) string {
		return fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s WHERE key_id = $1 AND inbox_id = $2",
			to.table(), columns, strings.Replace(columns, column, value, 1), of.table())
	}
	stay := []int32{int32(to)}
	for _, body := range bodies {
		if !body.Slot.ends().Before(to.ends()) {
			stay = append(stay, int32(body.Slot))
			continue
		}
		b.Queue(copied(body.Slot, "shared", "0")+" ON CONFLICT DO NOTHING", keyID, body.ID)
		b.Queue("UPDATE "+to.table()+" SET shared = shared + $3 WHERE key_id = $1 AND inbox_id = $2 AND seq = 0", keyID, body.ID, body.Messages)
	}
	b.Queue(copied(from, "body_slot", fmt.Sprintf("CASE WHEN body_slot = ANY($3) THEN body_slot ELSE %d END", to)), keyID, inboxID, stay)
}

// readBody reads a body that messages share.
func (s *Store) readBody(ctx context.Context, keyID string, body sharedBody) (packed []byte, err error) {
	v, err := s.serverOf(ctx, keyID)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	err = v.pool.QueryRow(ctx, "SELECT raw FROM "+body.Slot.table()+" WHERE key_id = $1 AND inbox_id = $2 AND seq = 0", keyID, body.ID).Scan(&packed)
	if sqlState(err) == stateNoTable {
		err = service.ErrNotFound
	}
	return packed, s.failure(ctx, v.pool, err)
}
