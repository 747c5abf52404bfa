package postgres

import (
	"context"
	"math/rand/v2"

	"github.com/jackc/pgx/v5"

	"mayfly/service"
)

const inboxColumns = "id, key_id, address, created_at, expires_at, messages, version"

// newVersion returns a version that no state has had, whatever backup the database was restored from.
func newVersion() int64 { return rand.Int64() }

// lockOwner has everybody else who changes something of the key wait until the transaction ends.
const lockOwner = "SELECT FROM owners WHERE key_id = $1 FOR NO KEY UPDATE"

// CreateInbox creates an inbox.
func (s *Store) CreateInbox(ctx context.Context, in service.Inbox) error {
	if !name(in.ID) || !name(in.KeyID) || !name(in.Address) {
		return service.Errorf(service.Invalid, "not an inbox")
	}
	if err := s.ensureSlot(ctx, slotOf(in)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	made := false
	err := s.again(ctx, func() error {
		var b pgx.Batch
		b.Queue(`INSERT INTO owners (key_id, version, day, emails, emails_before) VALUES ($1, $2, $3, 0, 0)
			ON CONFLICT (key_id) DO UPDATE SET version = EXCLUDED.version`,
			in.KeyID, newVersion(), int32(service.DayOf(in.CreatedAt)))
		b.Queue(`WITH had AS (
				INSERT INTO addresses AS a (address, key_id, inbox_id, created_at, expires_at) VALUES ($3, $2, $1, $4, $5)
				ON CONFLICT (address) DO UPDATE
					SET inbox_id = EXCLUDED.inbox_id, created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at
					WHERE a.key_id = EXCLUDED.key_id AND (a.inbox_id IS NULL OR a.expires_at <= EXCLUDED.created_at)
				RETURNING 1
			), made AS (
				INSERT INTO inboxes (`+inboxColumns+`, slot) SELECT $1, $2, $3, $4, $5, 0, $6, $7 FROM had RETURNING 1
			) SELECT EXISTS (SELECT FROM made)`,
			in.ID, in.KeyID, in.Address, in.CreatedAt, in.ExpiresAt, newVersion(), int32(slotOf(in)),
		).QueryRow(func(row pgx.Row) error { return row.Scan(&made) })
		return s.pool.SendBatch(ctx, &b).Close()
	})
	if err != nil {
		return err
	}
	if !made {
		return errTaken
	}
	s.told.tell(in.KeyID)
	return nil
}

// Inbox returns an inbox of the key.
func (s *Store) Inbox(ctx context.Context, keyID, id string) (service.Inbox, error) {
	if !name(id) {
		return service.Inbox{}, errNotFound
	}
	in, err := s.inboxes.get(ctx, id)
	if err == nil && in.KeyID != keyID {
		return service.Inbox{}, errNotFound
	}
	return in, err
}

func (s *Store) readInboxes(ctx context.Context, ids []string) (map[string]service.Inbox, error) {
	list, err := s.queryInboxes(ctx, "SELECT "+inboxColumns+" FROM inboxes WHERE id = ANY($1)", ids)
	found := make(map[string]service.Inbox, len(list))
	for _, in := range list {
		found[in.ID] = in
	}
	return found, err
}

// InboxByAddress returns the inbox that has the address, without counting its messages.
func (s *Store) InboxByAddress(ctx context.Context, address string) (service.Inbox, error) {
	if !name(address) {
		return service.Inbox{}, errNotFound
	}
	return s.addresses.get(ctx, address)
}

func (s *Store) readAddresses(ctx context.Context, addresses []string) (map[string]service.Inbox, error) {
	list, err := s.queryInboxes(ctx, `SELECT inbox_id, key_id, address, created_at, expires_at, 0::bigint, 0::bigint
		FROM addresses WHERE address = ANY($1) AND inbox_id IS NOT NULL`, addresses)
	found := make(map[string]service.Inbox, len(list))
	for _, in := range list {
		found[in.Address] = in
	}
	return found, err
}

// Inboxes returns the key's inboxes.
func (s *Store) Inboxes(ctx context.Context, keyID string) ([]service.Inbox, uint64, error) {
	if !name(keyID) {
		return nil, 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	version, err := s.InboxesVersion(ctx, keyID) // before the list, which may be newer
	if err != nil {
		return nil, 0, err
	}
	list, err := s.queryInboxes(ctx, "SELECT "+inboxColumns+" FROM inboxes WHERE key_id = $1", keyID)
	if err != nil {
		return nil, 0, s.failure(ctx, err)
	}
	return list, version, nil
}

// InboxesVersion returns the version of the key's list of inboxes; it is 0 for a key that never had one.
func (s *Store) InboxesVersion(ctx context.Context, keyID string) (uint64, error) {
	o, err := s.owner(ctx, keyID)
	return o.version, err
}

func (s *Store) queryInboxes(ctx context.Context, sql string, args ...any) ([]service.Inbox, error) {
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanInbox)
}

func scanInbox(row pgx.CollectableRow) (service.Inbox, error) {
	var in service.Inbox
	var version int64
	err := row.Scan(&in.ID, &in.KeyID, &in.Address, &in.CreatedAt, &in.ExpiresAt, &in.Messages, &version)
	in.CreatedAt, in.ExpiresAt, in.Version = in.CreatedAt.UTC(), in.ExpiresAt.UTC(), uint64(version)
	return in, err
}

// DeleteInbox removes an inbox of the key. Its messages cannot be found any more; Sweep removes them.
func (s *Store) DeleteInbox(ctx context.Context, keyID, id string) error {
	if !name(keyID) || !name(id) {
		return errNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	gone := false
	err := s.again(ctx, func() error {
		var b pgx.Batch
		b.Queue(lockOwner, keyID)
		b.Queue(`WITH gone AS (
				DELETE FROM inboxes WHERE id = $1 AND key_id = $2 RETURNING id, address, slot, messages
			), free AS (
				UPDATE addresses a SET inbox_id = NULL FROM gone WHERE a.address = gone.address AND a.inbox_id = gone.id
			), left_over AS (
				INSERT INTO deleted (inbox_id, slot, messages, removed) SELECT id, slot, messages, 0 FROM gone WHERE messages > 0
			), told AS (
				UPDATE owners SET version = $3 WHERE key_id = $2 AND EXISTS (SELECT FROM gone)
			) SELECT EXISTS (SELECT FROM gone)`, id, keyID, newVersion(),
		).QueryRow(func(row pgx.Row) error { return row.Scan(&gone) })
		return s.pool.SendBatch(ctx, &b).Close()
	})
	if err != nil {
		return err
	}
	if !gone {
		return errNotFound
	}
	s.told.tell(id, keyID)
	return nil
}

// owner is what changes for a key with each delivery.
type owner struct {
	keyID          string
	version        uint64
	day            service.Day
	emails, before int // on the day, and on the one before it
}

// on returns the messages of a day. What was before yesterday is forgotten.
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

// owner returns the zero owner for a key that never had an inbox.
func (s *Store) owner(ctx context.Context, keyID string) (owner, error) {
	if !name(keyID) {
		return owner{}, nil
	}
	o, err := s.owners.get(ctx, keyID)
	if service.ErrorCode(err) == service.NotFound {
		return owner{}, nil
	}
	return o, err
}

func (s *Store) readOwners(ctx context.Context, keyIDs []string) (map[string]owner, error) {
	rows, err := s.pool.Query(ctx, "SELECT "+ownerColumns+" FROM owners WHERE key_id = ANY($1)", keyIDs)
	if err != nil {
		return nil, err
	}
	return collectOwners(rows)
}

func collectOwners(rows pgx.Rows) (map[string]owner, error) {
	found := make(map[string]owner)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (owner, error) {
		var o owner
		var version int64
		var day int32
		err := row.Scan(&o.keyID, &version, &day, &o.emails, &o.before)
		o.version, o.day = uint64(version), service.Day(day)
		return o, err
	})
	for _, o := range list {
		found[o.keyID] = o
	}
	return found, err
}
