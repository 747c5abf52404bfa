package postgres

import (
	"context"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"

	"mayfly/service"
)

const inboxColumns = "id, key_id, address, created_at, expires_at, messages, version"

// newVersion returns a version that is unique even if the database is restored from a backup.
func newVersion() int64 { return rand.Int64() }

// lockOwner locks a key against other changes until the transaction ends.
const lockOwner = "SELECT FROM owners WHERE key_id = $1 FOR NO KEY UPDATE"

// CreateInbox implements service.Store.
func (s *Store) CreateInbox(ctx context.Context, in service.Inbox) error {
	if !isName(in.ID) || !isName(in.KeyID) || !isName(in.Address) {
		return service.Errorf(service.Invalid, "not an inbox")
	}
	if err := s.ensureSlot(ctx, slotOf(in)); err != nil {
		return err
	}
	created := false
	err := s.batch(ctx, func(b *pgx.Batch) {
		b.Queue(`INSERT INTO owners (key_id, version, day, emails, emails_before) VALUES ($1, $2, $3, 0, 0)
			ON CONFLICT (key_id) DO UPDATE SET version = EXCLUDED.version`,
			in.KeyID, newVersion(), int32(service.DayOf(in.CreatedAt)))
		b.Queue(`WITH free AS (
				INSERT INTO addresses AS a (address, key_id, inbox_id, created_at, expires_at) SELECT $3, $2, $1, $4, $5
				WHERE NOT EXISTS (SELECT FROM addresses WHERE address = ANY($8) AND key_id <> $2)
					OR EXISTS (SELECT FROM addresses WHERE address = $3)
				ON CONFLICT (address) DO UPDATE
					SET inbox_id = EXCLUDED.inbox_id, created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at
					WHERE a.key_id = EXCLUDED.key_id AND (a.inbox_id IS NULL OR a.expires_at <= EXCLUDED.created_at)
				RETURNING 1
			), created AS (
				INSERT INTO inboxes (`+inboxColumns+`, slot) SELECT $1, $2, $3, $4, $5, 0, $6, $7 FROM free RETURNING 1
			) SELECT EXISTS (SELECT FROM created)`,
			in.ID, in.KeyID, in.Address, in.CreatedAt, in.ExpiresAt, newVersion(), int32(slotOf(in)), service.Untagged(in.Address),
		).QueryRow(func(row pgx.Row) error { return row.Scan(&created) })
	})
	if err != nil {
		return err
	}
	if !created {
		return errTaken
	}
	s.announcer.announce(in.KeyID)
	return nil
}

// Inbox implements service.Store.
func (s *Store) Inbox(ctx context.Context, keyID, id string) (service.Inbox, error) {
	if !isName(id) {
		return service.Inbox{}, errNotFound
	}
	in, err := s.inboxes.get(ctx, id)
	if err == nil && in.KeyID != keyID {
		return service.Inbox{}, errNotFound
	}
	return in, err
}

func (s *Store) readInboxes(ctx context.Context, ids []string) ([]service.Inbox, error) {
	return query(ctx, s, scanInbox, "SELECT "+inboxColumns+" FROM inboxes WHERE id = ANY($1)", ids)
}

// InboxByAddress implements service.Store. It does not count the messages.
func (s *Store) InboxByAddress(ctx context.Context, address string) (service.Inbox, error) {
	if !isName(address) {
		return service.Inbox{}, errNotFound
	}
	return s.addresses.get(ctx, address)
}

func (s *Store) readAddresses(ctx context.Context, addresses []string) ([]service.Inbox, error) {
	return query(ctx, s, scanInbox, `SELECT coalesce(inbox_id, ''), key_id, address, created_at, expires_at, 0::bigint, 0::bigint
		FROM addresses WHERE address = ANY($1)`, addresses)
}

// Inboxes implements service.Store.
func (s *Store) Inboxes(ctx context.Context, keyID string) ([]service.Inbox, uint64, error) {
	if !isName(keyID) {
		return nil, 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	// Before the list, which may be newer but not older.
	version, err := s.InboxesVersion(ctx, keyID)
	if err != nil {
		return nil, 0, err
	}
	list, err := query(ctx, s, scanInbox, "SELECT "+inboxColumns+" FROM inboxes WHERE key_id = $1", keyID)
	if err != nil {
		return nil, 0, s.failure(ctx, err)
	}
	return list, version, nil
}

// InboxesVersion implements service.Store. It is 0 for a key that never had an inbox.
func (s *Store) InboxesVersion(ctx context.Context, keyID string) (uint64, error) {
	o, err := s.owner(ctx, keyID)
	return o.version, err
}

func scanInbox(row pgx.CollectableRow) (service.Inbox, error) {
	var in service.Inbox
	var version int64
	err := row.Scan(&in.ID, &in.KeyID, &in.Address, &in.CreatedAt, &in.ExpiresAt, &in.Messages, &version)
	in.CreatedAt, in.ExpiresAt, in.Version = in.CreatedAt.UTC(), in.ExpiresAt.UTC(), uint64(version)
	return in, err
}

// DeleteInbox implements service.Store. The messages can no longer be read, but are left for Sweep
// to remove.
func (s *Store) DeleteInbox(ctx context.Context, keyID, id string) error {
	if !isName(keyID) || !isName(id) {
		return errNotFound
	}
	deleted := false
	err := s.batch(ctx, func(b *pgx.Batch) {
		b.Queue(lockOwner, keyID)
		b.Queue(`WITH gone AS (
				DELETE FROM inboxes WHERE id = $1 AND key_id = $2 RETURNING id, address, slot, messages
			), free AS (
				UPDATE addresses a SET inbox_id = NULL FROM gone WHERE a.address = gone.address AND a.inbox_id = gone.id
			), left_over AS (
				INSERT INTO deleted (inbox_id, slot, messages, removed) SELECT id, slot, messages, 0 FROM gone WHERE messages > 0
			), changed AS (
				UPDATE owners SET version = $3 WHERE key_id = $2 AND EXISTS (SELECT FROM gone)
			) SELECT EXISTS (SELECT FROM gone)`, id, keyID, newVersion(),
		).QueryRow(func(row pgx.Row) error { return row.Scan(&deleted) })
	})
	if err != nil {
		return err
	}
	if !deleted {
		return errNotFound
	}
	s.announcer.announce(id, keyID)
	return nil
}

// owner is what each delivery changes of a key.
type owner struct {
	keyID          string
	version        uint64
	day            service.Day
	emails, before int // messages on the day, and on the day before
}

// on returns the number of messages on a day, which is only known for the last two.
func (o *owner) on(day service.Day) int {
	switch day {
	case o.day:
		return o.emails
	case o.day - 1:
		return o.before
	}
	return 0
}

// count adds messages to a day.
func (o *owner) count(day service.Day, n int) {
	switch {
	case day == o.day:
		o.emails += n
	case day == o.day-1:
		o.before += n
	case day > o.day:
		o.before = o.on(day - 1)
		o.day, o.emails = day, n
	}
}

const ownerColumns = "key_id, version, day, emails, emails_before"

// owner returns a key's owner, which is zero for a key that never had an inbox.
func (s *Store) owner(ctx context.Context, keyID string) (owner, error) {
	if !isName(keyID) {
		return owner{}, nil
	}
	o, err := s.owners.get(ctx, keyID)
	if service.ErrorCode(err) == service.NotFound {
		return owner{}, nil
	}
	return o, err
}

func (s *Store) readOwners(ctx context.Context, keyIDs []string) ([]owner, error) {
	return query(ctx, s, scanOwner, "SELECT "+ownerColumns+" FROM owners WHERE key_id = ANY($1)", keyIDs)
}

func ownerKey(o owner) string { return o.keyID }

func scanOwner(row pgx.CollectableRow) (owner, error) {
	var o owner
	var version int64
	var day int32
	err := row.Scan(&o.keyID, &version, &day, &o.emails, &o.before)
	o.version, o.day = uint64(version), service.Day(day)
	return o, err
}
