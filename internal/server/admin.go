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

// PostmasterMessage is a message for the postmaster of a domain of the service.
type PostmasterMessage struct {
	ID         string    `json:"id"`
	From       string    `json:"from"`
	Subject    string    `json:"subject"`
	ReceivedAt time.Time `json:"received_at"`
	Size       int64     `json:"size"` // bytes
}

// Admin administers a store: over the socket of the process that owns it, or else directly.
type Admin interface {
	// CreateKey creates an API key. The name is for people; the plan is free, dev, startup or
	// enterprise. A secret of "" becomes a random one, which is returned only here; for any other, the
	// key that has this secret and plan is returned if there is one.
	CreateKey(ctx context.Context, name, plan, secret string) (NewKey, error)
	// Keys returns all API keys, oldest first, including revoked ones.
	Keys(ctx context.Context) ([]Key, error)
	// RevokeKey revokes a key with immediate effect.
	RevokeKey(ctx context.Context, id string) (Key, error)
	// RotateKey replaces a key's secret with immediate effect. The new one is returned only here. The
	// key keeps its inboxes.
	RotateKey(ctx context.Context, id string) (NewKey, error)
	// SetPlan changes the plan of a key, with effect from its next request.
	SetPlan(ctx context.Context, id, plan string) (Key, error)
	// Postmaster lists the mail for the postmaster of the service's domains, newest first.
	Postmaster(ctx context.Context) ([]PostmasterMessage, error)
	// PostmasterRaw returns a message for the postmaster as it was received.
	PostmasterRaw(ctx context.Context, id string) ([]byte, error)
	// Backup writes a copy of the live store to a new directory on this machine.
	Backup(ctx context.Context, dir string) error
	// Close closes the store or the connection to its owner.
	Close() error
}

// OpenAdmin connects to the process that owns the store in a directory. If there is none, and for a
// database, it opens the store itself, or creates it, until it is closed. The log gets what happens
// to a database meanwhile, such as an update that takes long.
func OpenAdmin(ctx context.Context, store string, log *slog.Logger) (Admin, error) {
	if err := checkStore(store); err != nil {
		return nil, err
	}
	if isDatabase(store) {
		return openDirect(ctx, store, log)
	}
	ctx, cancel := context.WithTimeout(ctx, takeoverTimeout)
	defer cancel()
	retry := time.NewTicker(takeoverTimeout / 100)
	defer retry.Stop()
	for {
		if r, err := dialAdmin(ctx, store); err == nil {
			return r, nil
		}
		d, err := openDirect(ctx, store, slog.New(slog.DiscardHandler))
		if !errors.Is(err, pebble.ErrInUse) {
			return d, err
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

// newFolder returns the absolute path of a directory for a backup, which must not exist yet.
func newFolder(dir string) (string, error) {
	dir, err := filepath.Abs(dir) // the owner of the store may have another working directory
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(dir); err == nil {
		return "", fmt.Errorf("%s already exists: name a new folder for the backup", dir)
	}
	return dir, nil
}

func keyJSON(k service.Key) Key {
	j := Key{ID: k.ID, Name: k.Name, Plan: string(k.Plan), CreatedAt: k.CreatedAt}
	if !k.RevokedAt.IsZero() {
		j.RevokedAt = &k.RevokedAt
	}
	return j
}

// direct is an Admin of a store that this process has open.
type direct struct {
	service *service.Service
	store   store
}

// openDirect opens a store, or creates it.
func openDirect(ctx context.Context, name string, log *slog.Logger) (Admin, error) {
	s, err := openStore(ctx, name, 0, log)
	if err != nil {
		return nil, err
	}
	return direct{service.New(s, service.Options{}), s}, nil
}

func (d direct) CreateKey(ctx context.Context, name, plan, secret string) (NewKey, error) {
	if secret == "" {
		secret, k, err := d.service.CreateKey(ctx, name, service.Plan(plan))
		return NewKey{keyJSON(k), secret}, err
	}
	k, err := d.service.EnsureKey(ctx, secret, name, service.Plan(plan))
	return NewKey{keyJSON(k), secret}, err
}

func (d direct) Keys(ctx context.Context) ([]Key, error) {
	list, err := d.service.Keys(ctx)
	keys := make([]Key, len(list))
	for i, k := range list {
		keys[i] = keyJSON(k)
	}
	return keys, err
}

func (d direct) RevokeKey(ctx context.Context, id string) (Key, error) {
	k, err := d.service.RevokeKey(ctx, id)
	return keyJSON(k), err
}

func (d direct) RotateKey(ctx context.Context, id string) (NewKey, error) {
	secret, k, err := d.service.RotateKey(ctx, id)
	return NewKey{keyJSON(k), secret}, err
}

func (d direct) SetPlan(ctx context.Context, id, plan string) (Key, error) {
	k, err := d.service.SetPlan(ctx, id, service.Plan(plan))
	return keyJSON(k), err
}

func (d direct) Postmaster(ctx context.Context) ([]PostmasterMessage, error) {
	list, err := d.service.PostmasterMail(ctx)
	messages := make([]PostmasterMessage, len(list))
	for i, m := range list {
		messages[i] = PostmasterMessage{m.ID, m.From, m.Subject, m.ReceivedAt, m.Size}
	}
	return messages, err
}

func (d direct) PostmasterRaw(ctx context.Context, id string) ([]byte, error) {
	m, err := d.service.PostmasterMessage(ctx, id)
	return m.Raw, err
}

func (d direct) Backup(ctx context.Context, dir string) error {
	dir, err := newFolder(dir)
	if err != nil {
		return err
	}
	return d.store.Backup(ctx, dir)
}

func (d direct) Close() error { return d.store.Close() }
