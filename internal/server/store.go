package server

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"mayfly/service"
	"mayfly/service/pebble"
	"mayfly/service/postgres"
)

// store is what a server needs of a store.
type store interface {
	service.Store
	prometheus.Collector
	Backup(ctx context.Context, dir string) error // into a directory that does not exist yet
	Wait(ctx context.Context) error               // for a fault that ends the process, or the end of ctx
	Close() error
}

// isDatabase reports whether a store is named by the URL of a database instead of a directory.
func isDatabase(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// StoreName returns the name of a store as people may see it: for a database, without user,
// password and parameters.
func StoreName(name string) string {
	if !isDatabase(name) {
		return name
	}
	u, err := url.Parse(name)
	if err != nil {
		return "a database"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// databaseTimeout bounds each operation on a database. While one hangs, a second may wait for it
// and then hang itself, so that an answer takes up to twice as long, which is less than the 15 s
// after which most clients give up.
const databaseTimeout = 6 * time.Second

// openStore opens the store of a server.
func (c Config) openStore(ctx context.Context, log *slog.Logger) (store, error) {
	if !c.InMemory {
		return openStore(ctx, c.Store, c.StoreMemory, log)
	}
	s, err := pebble.OpenMemory(pebble.Options{Log: log, Memory: c.StoreMemory})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// openStore opens a database, or the embedded store in a directory, which it creates if there is
// none and which uses that many bytes of memory, or else the default.
func openStore(ctx context.Context, name string, memory int64, log *slog.Logger) (store, error) {
	if isDatabase(name) {
		s, err := postgres.Open(ctx, name, postgres.Options{Log: log, Timeout: databaseTimeout})
		if err != nil {
			return nil, err
		}
		return database{s}, nil
	}
	if err := privateDir(name); err != nil {
		return nil, err
	}
	s, err := pebble.Open(name, pebble.Options{Log: log, Memory: memory})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// database is a store that is backed up with PostgreSQL's own tools, and whose faults pass.
type database struct{ *postgres.Store }

func (database) Wait(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (database) Backup(context.Context, string) error {
	return errors.New("this store is a database: back it up with pg_basebackup or pg_dump")
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
