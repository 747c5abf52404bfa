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

// Key is an API key without its secret, of which only a hash is stored.
type Key struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Plan      string     `json:"plan"`
	CreatedAt time.Time  `json:"created_at"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
}

// NewKey is a key with its secret, which cannot be shown again.
type NewKey struct {
	Key
	Secret string `json:"secret"`
}

// operations are the administrative operations on a store, in this process or over a socket.
type operations interface {
	createKey(ctx context.Context, k keyRequest) (NewKey, error)
	keys(ctx context.Context) ([]Key, error)
	revokeKey(ctx context.Context, id string) (Key, error)
	rotateKey(ctx context.Context, id string) (NewKey, error)
	setPlan(ctx context.Context, id, plan string) (Key, error)
	postmaster(ctx context.Context) ([]PostmasterMessage, error)
	postmasterRaw(ctx context.Context, id string) ([]byte, error)
	backup(ctx context.Context, dir string) error
	close() error
}

// PostmasterMessage is a message for the postmaster of a domain of the service.
type PostmasterMessage struct {
	ID         string    `json:"id"`
	From       string    `json:"from"`
	Subject    string    `json:"subject"`
	ReceivedAt time.Time `json:"received_at"`
	Size       int64     `json:"size"` // bytes
}

// Admin administers a store: over the socket of the process that owns it, or else directly.
type Admin struct {
	operations operations
}

// OpenAdmin connects to the process that owns the store in a directory. If there is none, and for a
// database, it opens the store itself, or creates it, until [Admin.Close].
func OpenAdmin(ctx context.Context, store string) (*Admin, error) {
	if err := checkStore(store); err != nil {
		return nil, err
	}
	if isDatabase(store) {
		s, err := openStore(ctx, store, 0, slog.New(slog.DiscardHandler))
		if err != nil {
			return nil, err
		}
		return &Admin{direct{service.New(s, service.Options{}), s}}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, takeoverTimeout)
	defer cancel()
	retry := time.NewTicker(takeoverTimeout / 100)
	defer retry.Stop()
	for {
		if r, err := dialAdmin(ctx, store); err == nil {
			return &Admin{r}, nil
		}
		s, err := openStore(ctx, store, 0, slog.New(slog.DiscardHandler))
		if err == nil {
			return &Admin{direct{service.New(s, service.Options{}), s}}, nil
		}
		if !errors.Is(err, pebble.ErrInUse) {
			return nil, err
		}
		select { // a process that is starting or stopping has the store, but no socket
		case <-retry.C:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// takeoverTimeout bounds the time that a process has a store open without a socket, while it starts
// or stops.
const takeoverTimeout = 5 * time.Second

// CreateKey creates an API key. The name is for people; the plan is free, dev, startup or
// enterprise. A secret of "" becomes a random one, which is returned only here; for any other, the key
// that has this secret and plan is returned if there is one.
func (a *Admin) CreateKey(ctx context.Context, name, plan, secret string) (NewKey, error) {
	return a.operations.createKey(ctx, keyRequest{name, plan, secret})
}

// Keys returns all API keys, oldest first, including revoked ones.
func (a *Admin) Keys(ctx context.Context) ([]Key, error) { return a.operations.keys(ctx) }

// RevokeKey revokes a key with immediate effect.
func (a *Admin) RevokeKey(ctx context.Context, id string) (Key, error) {
	return a.operations.revokeKey(ctx, id)
}

// RotateKey replaces a key's secret with immediate effect. The new one is returned only here. The
// key keeps its inboxes.
func (a *Admin) RotateKey(ctx context.Context, id string) (NewKey, error) {
	return a.operations.rotateKey(ctx, id)
}

// SetPlan changes the plan of a key, with effect from its next request.
func (a *Admin) SetPlan(ctx context.Context, id, plan string) (Key, error) {
	return a.operations.setPlan(ctx, id, plan)
}

// Postmaster lists the mail for the postmaster of the service's domains, newest first.
func (a *Admin) Postmaster(ctx context.Context) ([]PostmasterMessage, error) {
	return a.operations.postmaster(ctx)
}

// PostmasterRaw returns a message for the postmaster as it was received.
func (a *Admin) PostmasterRaw(ctx context.Context, id string) ([]byte, error) {
	return a.operations.postmasterRaw(ctx, id)
}

// Backup writes a copy of the live store to a new directory on this machine.
func (a *Admin) Backup(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir) // the owner of the store may have another working directory
	if err != nil {
		return err
	}
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s already exists: name a new folder for the backup", dir)
	}
	return a.operations.backup(ctx, dir)
}

// Close closes the store or the connection to its owner.
func (a *Admin) Close() error { return a.operations.close() }

func keyJSON(k service.Key) Key {
	j := Key{ID: k.ID, Name: k.Name, Plan: string(k.Plan), CreatedAt: k.CreatedAt}
	if !k.RevokedAt.IsZero() {
		j.RevokedAt = &k.RevokedAt
	}
	return j
}
