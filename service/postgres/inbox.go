package postgres

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

// newVersion returns a version that is unique even if the database is restored from a backup.
func newVersion() int64 { return rand.Int64() }

// keyed names something of a key: an inbox by its ID or its address.
type keyed struct{ keyID, name string }

// CreateInbox implements service.Store. A process that ends in the middle leaves an address without
// an inbox, which its key can still use.
func (s *Store) CreateInbox(ctx context.Context, in service.Inbox, limit int) error {
	if !isName(in.ID) || !isName(in.KeyID) || !isName(in.Address) {
		return service.Errorf(service.Invalid, "not an inbox")
	}
	if err := s.ensureSlot(ctx, slotOf(in)); err != nil {
		return err
	}
	// It is counted below. This keeps a key that has as many as it may from claiming addresses.
	if o, err := s.owner(ctx, in.KeyID); err != nil {
		return err
	} else if o.inboxes >= limit {
		return service.ErrOverQuota
	}
	if err := s.claim(ctx, in.Address, in.KeyID); service.ErrorCode(err) == service.Unavailable {
		return fmt.Errorf("%w: %w", service.ErrOtherAddress, err) // it is on a server of its own
	} else if err != nil {
		return err
	}
	var before int
	var created int64
	err := s.batch(ctx, in.KeyID, func(b *pgx.Batch) {
		b.Queue("INSERT INTO owners (key_id, inboxes, day, emails, emails_before) VALUES ($1, 0, $2, 0, 0) ON CONFLICT DO NOTHING",
			in.KeyID, int32(service.DayOf(in.CreatedAt)))
		b.Queue(lockOwner+" RETURNING inboxes", in.KeyID).QueryRow(func(row pgx.Row) error { return row.Scan(&before) })
		b.Queue(`INSERT INTO inboxes (id, key_id, address, created_at, expires_at, slot)
			SELECT $2, o.key_id, $3, $4::timestamptz, $5::timestamptz, $6::integer
			FROM owners o WHERE `+newestOwner+` AND o.inboxes < $7::bigint
				AND NOT EXISTS (SELECT 1 FROM inboxes i WHERE i.key_id = $1 AND i.address = $3 AND i.expires_at > $4)`,
			in.KeyID, in.ID, in.Address, in.CreatedAt, in.ExpiresAt, int32(slotOf(in)), limit)
		b.Queue(`INSERT INTO counts (key_id, inbox_id, messages, last, version, received_at)
			SELECT i.key_id, i.id, 0, 0, $3::bigint, i.created_at FROM inboxes i WHERE i.key_id = $1 AND i.id = $2`, in.KeyID, in.ID, newVersion())
		b.Queue("UPDATE owners SET inboxes = inboxes + 1 WHERE "+newestOwner+" AND EXISTS (SELECT 1 FROM inboxes WHERE key_id = $1 AND id = $2)",
			in.KeyID, in.ID).Exec(func(done pgconn.CommandTag) error {
			created = done.RowsAffected()
			return nil
		})
	})
	if err != nil {
		return err
	}
	switch {
	case created > 0:
	case before >= limit:
		return service.ErrOverQuota
	default:
		return service.ErrTaken
	}
	s.announcer.announce(in.KeyID)
	return nil
}

// claim permanently gives an address to the key, unless it is another key's.
func (s *Store) claim(ctx context.Context, address, keyID string) error {
	untagged := service.Untagged(address)
	for i, a := range append([]string{address}, untagged...) {
		owner, err := s.ownerOf(ctx, a)
		switch {
		case err == nil && owner != keyID:
			return service.ErrTaken
		case err == nil && i == 0:
			return nil
		case err != nil && service.ErrorCode(err) != service.NotFound:
			return err
		}
	}
	err := s.batch(ctx, address, func(b *pgx.Batch) {
		b.Queue("INSERT INTO addresses (address, key_id) VALUES ($1, $2) ON CONFLICT DO NOTHING", address, keyID)
	})
	if err != nil {
		return err
	}
	if owner, err := s.ownerOf(ctx, address); err != nil || owner != keyID {
		return cmp.Or(err, error(service.ErrTaken))
	}
	return nil
}

// ownerOf returns the ID of the key that had an address first, or NotFound.
func (s *Store) ownerOf(ctx context.Context, address string) (string, error) {
	if keyID, ok := s.ownersOf.get(address); ok {
		return keyID, nil
	}
	v, err := s.serverOf(ctx, address)
	if err != nil {
		return "", err
	}
	a, err := v.addresses.get(ctx, address)
	if err == nil {
		s.ownersOf.put(address, a.KeyID)
	}
	return a.KeyID, err
}

// addressRow is an address with its owner.
type addressRow struct{ Address, KeyID string }

func (s *Store) readAddresses(ctx context.Context, pool *pgxpool.Pool, addresses []string) ([]addressRow, error) {
	return each(ctx, pool, addresses, pgx.RowToStructByPos[addressRow], func(b *pgx.Batch, address string) *pgx.QueuedQuery {
		return b.Queue("SELECT address, key_id FROM addresses WHERE address = $1", address)
	})
}

// Inbox implements service.Store.
func (s *Store) Inbox(ctx context.Context, keyID, id string) (service.Inbox, error) {
	if !isName(keyID) || !isName(id) {
		return service.Inbox{}, service.ErrNotFound
	}
	v, err := s.serverOf(ctx, keyID)
	if err != nil {
		return service.Inbox{}, err
	}
	return v.inboxes.get(ctx, keyed{keyID, id})
}

func (s *Store) readInboxes(ctx context.Context, pool *pgxpool.Pool, list []keyed) ([]service.Inbox, error) {
	return s.inboxesBy(ctx, pool, "id", list)
}

// inboxesBy returns the inboxes whose names are in a column, of several with the same name the newest last.
func (s *Store) inboxesBy(ctx context.Context, pool *pgxpool.Pool, column string, list []keyed) ([]service.Inbox, error) {
	return each(ctx, pool, list, scanInbox, func(b *pgx.Batch, of keyed) *pgx.QueuedQuery {
		return b.Queue(selectInboxes+" WHERE i.key_id = $1 AND i."+column+" = $2 ORDER BY i.expires_at", of.keyID, of.name)
	})
}

// InboxByAddress implements service.Store.
func (s *Store) InboxByAddress(ctx context.Context, address string) (service.Inbox, error) {
	if !isName(address) {
		return service.Inbox{}, service.ErrNotFound
	}
	keyID, err := s.ownerOf(ctx, address)
	if err != nil {
		return service.Inbox{}, err
	}
	v, err := s.serverOf(ctx, keyID)
	if err != nil {
		return service.Inbox{}, err
	}
	in, err := v.addressed.get(ctx, keyed{keyID, address})
	if service.ErrorCode(err) == service.NotFound {
		return service.Inbox{KeyID: keyID, Address: address}, nil
	}
	return in, err
}

func (s *Store) readAddressed(ctx context.Context, pool *pgxpool.Pool, list []keyed) ([]service.Inbox, error) {
	return s.inboxesBy(ctx, pool, "address", list)
}

// Inboxes implements service.Store.
func (s *Store) Inboxes(ctx context.Context, p service.PageOfInboxes) ([]service.Inbox, int, error) {
	if !isName(p.KeyID) {
		return nil, 0, nil
	}
	v, err := s.serverOf(ctx, p.KeyID)
	if err != nil {
		return nil, 0, err
	}
	found, err := v.pages.get(ctx, p)
	return found.inboxes, found.total, err
}

// page is a page of a key's list of inboxes, and how many the key has.
type page struct {
	of      service.PageOfInboxes
	inboxes []service.Inbox
	total   int
}

func (s *Store) readPages(ctx context.Context, pool *pgxpool.Pool, list []service.PageOfInboxes) ([]page, error) {
	pages := make([]page, len(list))
	var b pgx.Batch
	for i, of := range list {
		p := &pages[i]
		p.of = of
		b.Queue("SELECT inboxes FROM owners WHERE "+newestOwner, of.KeyID).Query(func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&p.total}, func() error { return nil })
			return err
		})
		b.Queue(selectInboxes+` WHERE i.key_id = $1 AND i.created_at <= $2 AND (i.created_at < $2 OR i.id > $3)
			ORDER BY i.created_at DESC, i.id LIMIT $4`, of.KeyID, of.CreatedAt, of.ID, of.Limit).Query(func(rows pgx.Rows) (err error) {
			p.inboxes, err = pgx.CollectRows(rows, scanInbox)
			return err
		})
	}
	return pages, pool.SendBatch(ctx, &b).Close()
}

func scanInbox(row pgx.CollectableRow) (service.Inbox, error) {
	var in service.Inbox
	var version int64
	err := row.Scan(&in.ID, &in.KeyID, &in.Address, &in.CreatedAt, &in.ExpiresAt, &in.Partition, &in.Messages, &in.Last, &version, &in.LastReceived)
	in.CreatedAt, in.ExpiresAt, in.LastReceived, in.Version = in.CreatedAt.UTC(), in.ExpiresAt.UTC(), in.LastReceived.UTC(), uint64(version)
	return in, err
}

// ExtendInbox implements service.Store. The messages stay in their slot until that is over, see dropSlots.
func (s *Store) ExtendInbox(ctx context.Context, keyID, id string, now, expires time.Time) (service.Inbox, error) {
	if !isName(keyID) || !isName(id) {
		return service.Inbox{}, service.ErrNotFound
	}
	var extended []service.Inbox
	var changed int64
	err := s.batch(ctx, keyID, func(b *pgx.Batch) {
		b.Queue(lockOwner, keyID)
		b.Queue("UPDATE inboxes SET expires_at = $4 WHERE key_id = $1 AND id = $2 AND expires_at > $3", keyID, id, now, expires).Exec(func(done pgconn.CommandTag) error {
			changed = done.RowsAffected()
			return nil
		})
		b.Queue("UPDATE counts SET version = $3 WHERE "+newestCount, keyID, id, newVersion())
		b.Queue(selectInboxes+" WHERE i.key_id = $1 AND i.id = $2", keyID, id).Query(func(rows pgx.Rows) (err error) {
			extended, err = pgx.CollectRows(rows, scanInbox)
			return err
		})
	})
	if err != nil {
		return service.Inbox{}, err
	}
	if changed == 0 || len(extended) == 0 {
		return service.Inbox{}, service.ErrNotFound
	}
	s.announcer.announce(id)
	return extended[0], nil
}

// DeleteInbox implements service.Store. The messages can no longer be read, but are left for Sweep
// to remove.
func (s *Store) DeleteInbox(ctx context.Context, keyID, id string) error {
	if !isName(keyID) || !isName(id) {
		return service.ErrNotFound
	}
	var deleted int64
	err := s.batch(ctx, keyID, func(b *pgx.Batch) {
		queueDeletion(b, keyID, []string{id}, "").Exec(func(done pgconn.CommandTag) error {
			deleted = done.RowsAffected()
			return nil
		})
	})
	if err != nil {
		return err
	}
	if deleted == 0 {
		return service.ErrNotFound
	}
	s.announcer.announce(id)
	return nil
}
