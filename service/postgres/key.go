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
	wanted := make([][]byte, len(hashes))
	for i := range hashes {
		wanted[i] = hashes[i][:]
	}
	return query(ctx, pool, scanKey, "SELECT "+keyColumns+" FROM keys WHERE hash = ANY($1)", wanted)
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
