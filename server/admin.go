package server

import (
	"context"
	"errors"
	"io"
	"time"
)

// Key is an API key as it is administered. The secret is stored as a hash and cannot be told.
type Key struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Plan      string     `json:"plan"`
	CreatedAt time.Time  `json:"created_at"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
}

// Admin administers a store: over the socket of the process that owns it, else directly.
type Admin struct{}

// OpenAdmin finds the process that owns the store and administers through it; with none running it opens the store
// itself until [Admin.Close].
func OpenAdmin(ctx context.Context, store string) (*Admin, error) {
	return nil, errors.New("server: no administration")
}

// CreateKey makes an API key. The secret is told here and never again.
func (a *Admin) CreateKey(ctx context.Context, name, plan string) (secret string, k Key, err error) {
	return "", Key{}, nil
}

// Keys lists all API keys, the revoked ones too, the oldest first.
func (a *Admin) Keys(ctx context.Context) ([]Key, error) { return nil, nil }

// RevokeKey ends a key at once.
func (a *Admin) RevokeKey(ctx context.Context, id string) (Key, error) { return Key{}, nil }

// RotateKey gives a key a new secret; the old one ends at once. Its inboxes stay its own.
func (a *Admin) RotateKey(ctx context.Context, id string) (secret string, k Key, err error) {
	return "", Key{}, nil
}

// SetPlan changes the plan of a key. It counts from the next request.
func (a *Admin) SetPlan(ctx context.Context, id, plan string) (Key, error) { return Key{}, nil }

// Backup writes a copy of the live store into a directory that does not exist or is empty, on this machine.
func (a *Admin) Backup(ctx context.Context, dir string) error { return nil }

// Close gives the store back.
func (a *Admin) Close() error { return nil }

var _ io.Closer = (*Admin)(nil)
