package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// Import copies another store into the database. It can be interrupted at any point and repeated:
// it continues where it was, and copies what has changed since. It is not safe for concurrent use.
type Import struct {
	store *Store
	conn  *pgxpool.Conn // has the lock
}

// importLock is the advisory lock of an import.
const importLock = "hashtext(current_schema() || '.mayfly.import')"

// Import begins to copy from a source, whose name protects what came from elsewhere: the database
// must be empty, or a copy of the same source that was never served. The caller ends the import
// with Close.
func (s *Store) Import(ctx context.Context, source string) (*Import, error) {
	conn, err := s.coordinator.Acquire(ctx)
	if err != nil {
		return nil, s.failure(ctx, s.coordinator, err)
	}
	i := &Import{s, conn}
	if err := i.begin(ctx, source); err != nil {
		return nil, errors.Join(s.failure(ctx, s.coordinator, err), i.Close(ctx))
	}
	return i, nil
}

func (i *Import) begin(ctx context.Context, source string) error {
	// If the previous import was killed, it may take the database a moment to notice.
	if _, err := i.conn.Exec(ctx, "SELECT pg_advisory_lock("+importLock+")"); sqlState(err) == stateLocked {
		return service.Errorf(service.Invalid, "another process is copying into this database")
	} else if err != nil {
		return err
	}
	var known, served, used bool
	err := i.conn.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM imports WHERE source = $1), EXISTS (SELECT 1 FROM imports WHERE served),
		EXISTS (SELECT 1 FROM keys) OR EXISTS (SELECT 1 FROM addresses)`, source).Scan(&known, &served, &used)
	switch {
	case err != nil:
		return err
	case known && served:
		return service.Errorf(service.Invalid, "this database has been served since it was copied: what it has received would be lost")
	case !known && used:
		return service.Errorf(service.Invalid, "this database has inboxes that are not from this store: name an empty one")
	}
	_, err = i.conn.Exec(ctx, "INSERT INTO imports (source) VALUES ($1) ON CONFLICT DO NOTHING", source)
	return err
}

// Served records that the database is served from now on, after which nothing can be copied into
// it.
func (s *Store) Served(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	// Asked first, since a change needs all servers of a cluster.
	unserved, err := query(ctx, s.pool, pgx.RowTo[string], "SELECT source FROM imports WHERE NOT served")
	if err != nil || len(unserved) == 0 {
		return s.failure(ctx, s.pool, err)
	}
	return s.batch(ctx, "", func(b *pgx.Batch) { b.Queue("UPDATE imports SET served = true WHERE NOT served") })
}

// Close ends the import.
func (i *Import) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), i.store.timeout)
	defer cancel()
	// The lock ends with the session.
	err := i.conn.Conn().Close(ctx)
	i.conn.Release()
	return err
}

// Key copies a key, and how many messages it had on a day and on the day before.
func (i *Import) Key(ctx context.Context, k service.StoredKey, day service.Day, today, before int) error {
	return i.store.batch(ctx, "", func(b *pgx.Batch) {
		b.Queue(`INSERT INTO keys (`+keyColumns+`) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (id) DO UPDATE SET hash = EXCLUDED.hash, name = EXCLUDED.name, plan = EXCLUDED.plan, revoked_at = EXCLUDED.revoked_at`,
			k.ID, k.Hash[:], text(k.Name), string(k.Plan), k.CreatedAt, revocation(k))
		b.Queue(`INSERT INTO owners (`+ownerColumns+`) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (key_id) DO UPDATE SET version = EXCLUDED.version, day = EXCLUDED.day, emails = EXCLUDED.emails,
				emails_before = EXCLUDED.emails_before`,
			k.ID, newVersion(), int32(day), today, before)
	})
}

// Address is an address and its owner.
type Address struct{ Address, KeyID string }

// Addresses copies the owners of addresses.
func (i *Import) Addresses(ctx context.Context, list []Address) error {
	var addresses, keys []string
	for _, a := range list {
		addresses, keys = append(addresses, a.Address), append(keys, a.KeyID)
	}
	return i.store.batch(ctx, "", func(b *pgx.Batch) {
		b.Queue(`INSERT INTO addresses (address, key_id)
			SELECT address, key_id FROM unnest($1::text[], $2::text[]) a (address, key_id) ON CONFLICT DO NOTHING`,
			addresses, keys)
	})
}

// Inboxes copies inboxes without their messages, and returns by ID how many messages of each are already there.
func (i *Import) Inboxes(ctx context.Context, list []service.Inbox) (copied map[string]int, err error) {
	var ids, keys, addresses []string
	var created, expires []time.Time
	var versions []int64
	var slots []int32
	for _, in := range list {
		if err := i.store.ensureSlot(ctx, slotOf(in)); err != nil {
			return nil, err
		}
		ids, keys, addresses = append(ids, in.ID), append(keys, in.KeyID), append(addresses, in.Address)
		created, expires = append(created, in.CreatedAt), append(expires, in.ExpiresAt)
		versions, slots = append(versions, newVersion()), append(slots, int32(slotOf(in)))
	}
	err = i.store.batch(ctx, "", func(b *pgx.Batch) {
		b.Queue("SELECT i.id, i.messages FROM unnest($1::text[], $2::text[]) u (key_id, id) JOIN inboxes i ON i.key_id = u.key_id AND i.id = u.id",
			keys, ids).Query(func(rows pgx.Rows) error {
			copied = make(map[string]int)
			var id string
			var n int
			_, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error {
				copied[id] = n
				return nil
			})
			return err
		})
		// Not every owner of an inbox is a key that was copied: the postmaster is none.
		b.Queue(`INSERT INTO owners (key_id, version, day, emails, emails_before)
			SELECT DISTINCT key_id, $2::bigint, 0, 0, 0 FROM unnest($1::text[]) key_id ON CONFLICT DO NOTHING`, keys, newVersion())
		b.Queue(`INSERT INTO inboxes (id, key_id, address, created_at, expires_at, messages, version, slot)
			SELECT id, key_id, address, created_at, expires_at, 0, version, slot
			FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::bigint[], $7::integer[])
				u (id, key_id, address, created_at, expires_at, version, slot) ON CONFLICT DO NOTHING`,
			ids, keys, addresses, created, expires, versions, slots)
	})
	return copied, err
}

// Message is a message of an inbox.
type Message struct {
	Inbox service.Inbox
	service.Message
}

// Messages copies messages with their IDs. For each inbox they follow those that are already there,
// in order.
func (i *Import) Messages(ctx context.Context, list []Message) error {
	rows := make(messageRows)
	inboxes := make(map[keyed]service.Inbox)
	for _, m := range list {
		place, ok := service.MessagePlace(m.ID)
		if !ok || place > math.MaxInt64 {
			return &service.Error{Code: service.Damaged, Message: fmt.Sprintf("a message of %s has no valid ID", m.Inbox.ID)}
		}
		rows.add(m.Inbox, int64(place), m.Message, pack(m.Raw))
		in := m.Inbox
		in.Messages = int(place)
		inboxes[keyed{in.KeyID, in.ID}] = in
	}
	return i.store.transact(ctx, i.store.pool, func(ctx context.Context, tx pgx.Tx) error {
		var b pgx.Batch
		if err := rows.insert(ctx, tx.Conn(), &b); err != nil {
			return err
		}
		for _, in := range inboxes {
			b.Queue("UPDATE inboxes SET messages = $3, version = $4 WHERE key_id = $1 AND id = $2", in.KeyID, in.ID, int64(in.Messages), newVersion())
		}
		return tx.SendBatch(ctx, &b).Close()
	})
}

// Finish removes the inboxes that the source does not have any more.
func (i *Import) Finish(ctx context.Context, has func(keyID, id string) (bool, error)) (removed int, err error) {
	// To look at all inboxes can take long.
	if _, err := i.conn.Exec(ctx, "SET statement_timeout = 0"); err != nil {
		return 0, i.store.failure(ctx, i.store.coordinator, err)
	}
	rows, _ := i.conn.Query(ctx, "SELECT key_id, id FROM inboxes") // the rows have its error
	var gone []keyed
	var in keyed
	_, err = pgx.ForEachRow(rows, []any{&in.keyID, &in.name}, func() error {
		there, err := has(in.keyID, in.name)
		if err == nil && !there {
			gone = append(gone, in)
		}
		return err
	})
	if err != nil {
		return 0, i.store.failure(ctx, i.store.coordinator, err)
	}
	for _, in := range gone {
		if err := i.store.DeleteInbox(ctx, in.keyID, in.name); err != nil && service.ErrorCode(err) != service.NotFound {
			return removed, err
		}
		removed++
	}
	_, err = i.store.Sweep(ctx, time.Unix(0, 0), 1) // removes their messages
	return removed, err
}
