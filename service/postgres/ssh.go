package postgres

import (
	"bytes"
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"mayfly/service"
)

const sshColumns = "fingerprint, key_id, comment, created_at"

func scanSSHKey(row pgx.CollectableRow) (service.SSHKey, error) {
	k, err := pgx.RowToStructByPos[service.SSHKey](row)
	k.CreatedAt = k.CreatedAt.UTC()
	return k, err
}

// AddSSHKey implements service.Store.
func (s *Store) AddSSHKey(ctx context.Context, k service.SSHKey) error {
	if !isName(k.Fingerprint) {
		return service.Errorf(service.Invalid, "not a fingerprint")
	}
	return s.changeKey(ctx, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, "INSERT INTO ssh_keys ("+sshColumns+") VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
			k.Fingerprint, k.KeyID, text(k.Comment), k.CreatedAt)
		if err == nil && done.RowsAffected() == 0 {
			err = service.ErrHashTaken
		}
		return err
	})
}

// SSHKey implements service.Store.
func (s *Store) SSHKey(ctx context.Context, fingerprint string) (service.SSHKey, error) {
	if !isName(fingerprint) {
		return service.SSHKey{}, service.ErrNotFound
	}
	found, err := s.sshKeys(ctx, "fingerprint = $1", fingerprint)
	if err == nil && len(found) == 0 {
		err = service.ErrNotFound
	}
	if err != nil {
		return service.SSHKey{}, err
	}
	return found[0], nil
}

// SSHKeys implements service.Store.
func (s *Store) SSHKeys(ctx context.Context, keyID string) ([]service.SSHKey, error) {
	return s.sshKeys(ctx, "$1 IN ('', key_id)", keyID)
}

func (s *Store) sshKeys(ctx context.Context, where, arg string) ([]service.SSHKey, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	keys, err := query(ctx, s.pool, scanSSHKey, "SELECT "+sshColumns+" FROM ssh_keys WHERE "+where+" ORDER BY created_at, fingerprint", arg)
	return keys, s.failure(ctx, s.pool, err)
}

// RemoveSSHKey implements service.Store.
func (s *Store) RemoveSSHKey(ctx context.Context, fingerprint string) error {
	return s.changeKey(ctx, func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, "DELETE FROM ssh_keys WHERE fingerprint = $1", text(fingerprint))
		if err == nil && done.RowsAffected() == 0 {
			err = service.ErrNotFound
		}
		return err
	})
}

// Secret implements service.Store.
func (s *Store) Secret(ctx context.Context, name string, fresh []byte) (secret []byte, err error) {
	err = s.changeKey(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO secrets (name, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, fresh); err != nil {
			return err
		}
		return tx.QueryRow(ctx, "SELECT secret FROM secrets WHERE name = $1", name).Scan(&secret)
	})
	return secret, err
}

// ClientStates implements service.Store.
func (s *Store) ClientStates(ctx context.Context, keyID string) (map[string][]byte, error) {
	v, err := s.serverOf(ctx, keyID)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	rows, _ := v.pool.Query(ctx, "SELECT id, state FROM inboxes WHERE key_id = $1 AND state IS NOT NULL", text(keyID)) // the rows have its error
	states := map[string][]byte{}
	var id string
	var state []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &state}, func() error {
		states[id] = bytes.Clone(state)
		return nil
	})
	return states, s.failure(ctx, v.pool, err)
}

// SetClientState implements service.Store.
func (s *Store) SetClientState(ctx context.Context, keyID, inboxID string, before, after []byte) error {
	if !isName(keyID) || !isName(inboxID) {
		return service.ErrNotFound
	}
	var found, changed int64
	count := func(n *int64) func(pgconn.CommandTag) error {
		return func(done pgconn.CommandTag) error { *n = done.RowsAffected(); return nil }
	}
	err := s.batch(ctx, keyID, func(b *pgx.Batch) {
		b.Queue(lockOwner, keyID)
		b.Queue("SELECT FROM inboxes WHERE key_id = $1 AND id = $2", keyID, inboxID).Exec(count(&found))
		b.Queue("UPDATE inboxes SET state = $4 WHERE key_id = $1 AND id = $2 AND coalesce(state, '') = coalesce($3, ''::bytea)", keyID, inboxID, before, after).Exec(count(&changed))
	})
	switch {
	case err != nil:
		return err
	case found == 0:
		return service.ErrNotFound
	case changed == 0:
		return service.ErrChanged
	}
	return nil
}
