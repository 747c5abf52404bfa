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

// Import makes the database what another store is. It can be ended at any point and made again: it goes on from what is
// there, and takes what has changed since. Its methods are not called concurrently.
type Import struct {
	store *Store
	conn  *pgxpool.Conn // has the lock, and the IDs of the inboxes that were seen
}

// importLock is held by who copies into the database.
const importLock = "hashtext(current_schema() || '.mayfly.import')"

// Import begins to copy from a store, which is named so that nothing is copied over what came from elsewhere: the
// database is empty, or was copied from the same store and never served. End it with Close.
func (s *Store) Import(ctx context.Context, source string) (*Import, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, s.failure(ctx, err)
	}
	i := &Import{s, conn}
	if err := i.begin(ctx, source); err != nil {
		return nil, errors.Join(s.failure(ctx, err), i.Close(ctx))
	}
	return i, nil
}

func (i *Import) begin(ctx context.Context, source string) error {
	var mine bool
	if err := i.conn.QueryRow(ctx, "SELECT pg_try_advisory_lock("+importLock+")").Scan(&mine); err != nil {
		return err
	}
	if !mine {
		return service.Errorf(service.Invalid, "another process copies into this database")
	}
	var known, served, used bool
	err := i.conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM imports WHERE source = $1), EXISTS (SELECT FROM imports WHERE served),
		EXISTS (SELECT FROM keys) OR EXISTS (SELECT FROM addresses)`, source).Scan(&known, &served, &used)
	switch {
	case err != nil:
		return err
	case known && served:
		return service.Errorf(service.Invalid, "this database has been served since it was copied: what it has now would be lost")
	case !known && used:
		return service.Errorf(service.Invalid, "this database has inboxes that are not from this store: name an empty one")
	}
	if _, err := i.conn.Exec(ctx, "INSERT INTO imports (source) VALUES ($1) ON CONFLICT DO NOTHING", source); err != nil {
		return err
	}
	_, err = i.conn.Exec(ctx, "CREATE TEMPORARY TABLE seen (id text PRIMARY KEY)")
	return err
}

// Served notes that the database is served from now on, so that nothing more is copied into it.
func (s *Store) Served(ctx context.Context) error {
	return s.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE imports SET served = true WHERE NOT served")
		return err
	})
}

// Close ends the import.
func (i *Import) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), i.store.timeout)
	defer cancel()
	// The lock and the temporary table go with the session.
	err := i.conn.Conn().Close(ctx)
	i.conn.Release()
	return err
}

// Key copies a key, and how many messages it had on a day and on the one before.
func (i *Import) Key(ctx context.Context, k service.StoredKey, day service.Day, today, before int) error {
	return i.store.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO keys (`+keyColumns+`) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (id) DO UPDATE SET hash = EXCLUDED.hash, name = EXCLUDED.name, plan = EXCLUDED.plan, revoked_at = EXCLUDED.revoked_at`,
			k.ID, k.Hash[:], text(k.Name), string(k.Plan), k.CreatedAt, revocation(k))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO owners (`+ownerColumns+`) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (key_id) DO UPDATE SET version = EXCLUDED.version, day = EXCLUDED.day, emails = EXCLUDED.emails,
				emails_before = EXCLUDED.emails_before`,
			k.ID, newVersion(), int32(day), today, before)
		return err
	})
}

// Address is an address that was ever had.
type Address struct{ Address, KeyID string }

// Addresses copies who owns addresses; which inbox has one comes with the inbox.
func (i *Import) Addresses(ctx context.Context, list []Address) error {
	var addresses, keys []string
	for _, a := range list {
		addresses, keys = append(addresses, a.Address), append(keys, a.KeyID)
	}
	return i.store.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO addresses (address, key_id, created_at, expires_at)
			SELECT address, key_id, 'epoch', 'epoch' FROM unnest($1::text[], $2::text[]) a (address, key_id) ON CONFLICT DO NOTHING`,
			addresses, keys)
		return err
	})
}

// Inbox copies an inbox without its messages, and returns how many of those are there already. has tells whether it has
// its address still.
func (i *Import) Inbox(ctx context.Context, in service.Inbox, has bool) (copied int, err error) {
	if err := i.store.ensureSlot(ctx, slotOf(in)); err != nil {
		return 0, err
	}
	if _, err := i.conn.Exec(ctx, "INSERT INTO seen (id) VALUES ($1) ON CONFLICT DO NOTHING", in.ID); err != nil {
		return 0, i.store.failure(ctx, err)
	}
	err = i.store.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		err := tx.QueryRow(ctx, "INSERT INTO inboxes AS i ("+inboxColumns+`, slot) VALUES ($1, $2, $3, $4, $5, 0, $6, $7)
			ON CONFLICT (id) DO UPDATE SET version = i.version RETURNING messages`,
			in.ID, in.KeyID, in.Address, in.CreatedAt, in.ExpiresAt, newVersion(), int32(slotOf(in))).Scan(&copied)
		if err != nil || !has {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE addresses SET inbox_id = $2, created_at = $3, expires_at = $4 WHERE address = $1",
			in.Address, in.ID, in.CreatedAt, in.ExpiresAt)
		return err
	})
	return copied, err
}

// Messages copies messages of an inbox, those that follow the ones that are there, with their IDs.
func (i *Import) Messages(ctx context.Context, in service.Inbox, list []service.Message) error {
	var l messageRows
	for _, m := range list {
		place, ok := service.MessagePlace(m.ID)
		if !ok || place > math.MaxInt64 {
			return &service.Error{Code: service.Damaged, Message: fmt.Sprintf("a message of %s has no valid ID", in.ID)}
		}
		l.row(in, int64(place), m, pack(m.Raw))
	}
	return i.store.transact(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var b pgx.Batch
		l.insert(&b)
		b.Queue("UPDATE inboxes SET messages = $2, version = $3 WHERE id = $1", in.ID, l.places[len(l.places)-1], newVersion())
		return tx.SendBatch(ctx, &b).Close()
	})
}

// Finish removes the inboxes that were not seen: they were deleted in the store that was copied, or have expired.
func (i *Import) Finish(ctx context.Context) (removed int, err error) {
	rows, err := i.conn.Query(ctx, "SELECT key_id, id FROM inboxes WHERE id NOT IN (SELECT id FROM seen)")
	if err != nil {
		return 0, i.store.failure(ctx, err)
	}
	type gone struct{ KeyID, ID string }
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[gone])
	if err != nil {
		return 0, i.store.failure(ctx, err)
	}
	for _, g := range list {
		if err := i.store.DeleteInbox(ctx, g.KeyID, g.ID); err != nil && service.ErrorCode(err) != service.NotFound {
			return removed, err
		}
		removed++
	}
	_, err = i.store.Sweep(ctx, time.Unix(0, 0), 1) // removes their messages
	return removed, err
}
