package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"mayfly/service"
)

const keyColumns = "id, hash, name, plan, created_at, revoked_at"

// CreateKey implements service.Store.
func (s *Store) CreateKey(ctx context.Context, k service.StoredKey) error {
	if !isName(k.ID) {
		return service.Errorf(service.Invalid, "not a key's ID")
	}
	return s.transact(ctx, s.pool, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, "INSERT INTO keys ("+keyColumns+") VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (hash) DO NOTHING",
			k.ID, k.Hash[:], text(k.Name), string(k.Plan), k.CreatedAt, revocation(k))
		if err == nil && done.RowsAffected() == 0 {
			err = errHashTaken
		}
		return err
	})
}

// UpdateKey implements service.Store.
func (s *Store) UpdateKey(ctx context.Context, id string, change func(*service.StoredKey)) (service.StoredKey, error) {
	var k service.StoredKey
	if !isName(id) {
		return k, errNotFound
	}
	err := s.transact(ctx, s.pool, func(ctx context.Context, tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, "SELECT "+keyColumns+" FROM keys WHERE id = $1 FOR UPDATE", id) // the rows have its error
		var err error
		if k, err = pgx.CollectExactlyOneRow(rows, scanKey); err != nil {
			return err
		}
		change(&k)
		_, err = tx.Exec(ctx, "UPDATE keys SET hash = $2, name = $3, plan = $4, revoked_at = $5 WHERE id = $1",
			id, k.Hash[:], text(k.Name), string(k.Plan), revocation(k))
		return err
	})
	return k, err
}

// Key implements service.Store.
func (s *Store) Key(ctx context.Context, id string) (service.StoredKey, error) {
	if !isName(id) {
		return service.StoredKey{}, errNotFound
	}
	return s.keys.get(ctx, id)
}

// KeyByHash implements service.Store.
func (s *Store) KeyByHash(ctx context.Context, hash [32]byte) (service.StoredKey, error) {
	return s.hashes.get(ctx, hash)
}

// Keys implements service.Store.
func (s *Store) Keys(ctx context.Context) ([]service.StoredKey, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	keys, err := query(ctx, s.pool, scanKey, "SELECT "+keyColumns+" FROM keys ORDER BY created_at, id")
	return keys, s.failure(ctx, s.pool, err)
}

func (s *Store) readKeys(ctx context.Context, pool *pgxpool.Pool, ids []string) ([]service.StoredKey, error) {
	return query(ctx, pool, scanKey, "SELECT "+keyColumns+" FROM keys WHERE id = ANY($1)", ids)
}

func (s *Store) readHashes(ctx context.Context, pool *pgxpool.Pool, hashes [][32]byte) ([]service.StoredKey, error) {
	list := make([][]byte, len(hashes))
	for i := range hashes {
		list[i] = hashes[i][:]
	}
	return query(ctx, pool, scanKey, "SELECT "+keyColumns+" FROM keys WHERE hash = ANY($1)", list)
}

func scanKey(row pgx.CollectableRow) (service.StoredKey, error) {
	var k service.StoredKey
	var hash []byte
	var plan string
	var revoked *time.Time
	if err := row.Scan(&k.ID, &hash, &k.Name, &plan, &k.CreatedAt, &revoked); err != nil {
		return k, err
	}
	if len(hash) != len(k.Hash) {
		return k, errors.New("the hash of a key has the wrong length")
	}
	k.Hash, k.Plan, k.CreatedAt = [32]byte(hash), service.Plan(plan), k.CreatedAt.UTC()
	if revoked != nil {
		k.RevokedAt = revoked.UTC()
	}
	return k, nil
}

// revocation returns when a key was revoked, or nil if it is valid.
func revocation(k service.StoredKey) *time.Time {
	if k.RevokedAt.IsZero() {
		return nil
	}
	return &k.RevokedAt
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

const ownerColumns = "key_id, version, day, emails, emails_before"

// owner returns a key's owner, which is zero for a key that never had an inbox.
func (s *Store) owner(ctx context.Context, keyID string) (owner, error) {
	if !isName(keyID) {
		return owner{}, nil
	}
	v, err := s.serverOf(ctx, keyID)
	if err != nil {
		return owner{}, err
	}
	o, err := v.owners.get(ctx, keyID)
	if service.ErrorCode(err) == service.NotFound {
		return owner{}, nil
	}
	return o, err
}

func (s *Store) readOwners(ctx context.Context, pool *pgxpool.Pool, keyIDs []string) ([]owner, error) {
	return each(ctx, s, pool, keyIDs, scanOwner, func(b *pgx.Batch, part []string) *pgx.QueuedQuery {
		return queueNamed(b, "SELECT "+ownerColumns+" FROM owners WHERE key_id", part, "")
	})
}

func scanOwner(row pgx.CollectableRow) (owner, error) {
	var o owner
	var version int64
	var day int32
	err := row.Scan(&o.keyID, &version, &day, &o.emails, &o.before)
	o.version, o.day = uint64(version), service.Day(day)
	return o, err
}

// EmailsToday implements service.Store. It knows only the key's last day with messages and the day
// before, and what other processes append only when this one appends again.
func (s *Store) EmailsToday(ctx context.Context, keyID string, day service.Day) (int, error) {
	if o, ok := s.counts.get(keyID); ok && o.day >= day {
		return o.on(day), nil
	}
	o, err := s.owner(ctx, keyID)
	return o.on(day), err
}
