package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"mayfly/service"
	"mayfly/service/pebble"
)

// Key is an API key as it is administered. The secret is stored as a hash and cannot be told.
type Key struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Plan      string     `json:"plan"`
	CreatedAt time.Time  `json:"created_at"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
}

// NewKey is a key with its secret, which is told once.
type NewKey struct {
	Key
	Secret string `json:"secret"`
}

// operations are what can be done to a store, here or through a socket.
type operations interface {
	createKey(ctx context.Context, name, plan string) (NewKey, error)
	keys(ctx context.Context) ([]Key, error)
	revokeKey(ctx context.Context, id string) (Key, error)
	rotateKey(ctx context.Context, id string) (NewKey, error)
	setPlan(ctx context.Context, id, plan string) (Key, error)
	backup(ctx context.Context, dir string) error
	close() error
}

// Admin administers a store: over the socket of the process that owns it, else directly.
type Admin struct {
	operations operations
}

// OpenAdmin finds the process that owns the store in a directory and administers through it. With none running, and for
// a database, it opens the store itself, and makes one where there is none, until [Admin.Close].
func OpenAdmin(ctx context.Context, store string) (*Admin, error) {
	if err := checkStore(store); err != nil {
		return nil, err
	}
	if isDatabase(store) {
		s, err := openStore(ctx, store, slog.New(slog.DiscardHandler))
		if err != nil {
			return nil, err
		}
		return &Admin{direct{service.New(s, service.Options{}), s}}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, takeoverTimeout)
	defer cancel()
	again := time.NewTicker(takeoverTimeout / 100)
	defer again.Stop()
	for {
		if r, err := dialAdmin(ctx, store); err == nil {
			return &Admin{r}, nil
		}
		s, err := openStore(ctx, store, slog.New(slog.DiscardHandler))
		if err == nil {
			return &Admin{direct{service.New(s, service.Options{}), s}}, nil
		}
		if !errors.Is(err, pebble.ErrInUse) {
			return nil, err
		}
		select { // a process that starts or stops has the store, but no socket
		case <-again.C:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// takeoverTimeout is how long a process may have a store without a socket, while it starts or stops.
const takeoverTimeout = 5 * time.Second

// CreateKey makes an API key; the name is for people, the plan one of free, dev, startup and enterprise. The secret
// is told here and never again.
func (a *Admin) CreateKey(ctx context.Context, name, plan string) (NewKey, error) {
	return a.operations.createKey(ctx, name, plan)
}

// Keys lists all API keys, the revoked ones too, the oldest first.
func (a *Admin) Keys(ctx context.Context) ([]Key, error) { return a.operations.keys(ctx) }

// RevokeKey ends a key at once.
func (a *Admin) RevokeKey(ctx context.Context, id string) (Key, error) {
	return a.operations.revokeKey(ctx, id)
}

// RotateKey gives a key a new secret, which is told here and never again; the old one ends at once. Its inboxes stay
// its own.
func (a *Admin) RotateKey(ctx context.Context, id string) (NewKey, error) {
	return a.operations.rotateKey(ctx, id)
}

// SetPlan changes the plan of a key, from its next request on.
func (a *Admin) SetPlan(ctx context.Context, id, plan string) (Key, error) {
	return a.operations.setPlan(ctx, id, plan)
}

// Backup writes a copy of the live store into a new directory of this machine.
func (a *Admin) Backup(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir) // the process that owns the store has another working directory
	if err != nil {
		return err
	}
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s is there already: name a new folder for the backup", dir)
	}
	return a.operations.backup(ctx, dir)
}

// Close gives the store back.
func (a *Admin) Close() error { return a.operations.close() }

func keyJSON(k service.Key) Key {
	j := Key{ID: k.ID, Name: k.Name, Plan: string(k.Plan), CreatedAt: k.CreatedAt}
	if !k.RevokedAt.IsZero() {
		j.RevokedAt = &k.RevokedAt
	}
	return j
}
