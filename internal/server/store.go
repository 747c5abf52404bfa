package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"mayfly/service"
	"mayfly/service/pebble"
	"mayfly/service/postgres"
)

// store is what a server needs of a store.
type store interface {
	service.Store
	prometheus.Collector
	Backup(ctx context.Context, dir string) error // into a directory that does not exist yet
	Wait(ctx context.Context) error               // for a fault that stops the process, or the end of ctx
	Close() error
}

// isDatabase reports whether a store is named by the URL of a database instead of a directory.
func isDatabase(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// IsStore reports whether a directory is a store, or empty. What is no directory has to be asked.
func IsStore(name string) bool { return strings.Contains(name, "://") || pebble.IsStore(name) }

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

// databaseWait is how long the start of a server waits for its database.
const databaseWait = time.Minute

// openStore opens the store of a server. It waits for a database that cannot be reached: at boot, that may
// come up later.
func (c Config) openStore(ctx context.Context, log *slog.Logger) (store, error) {
	if c.InMemory {
		s, err := pebble.OpenMemory(pebble.Options{Log: log, Memory: c.StoreMemory})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	said := rate.Sometimes{Interval: 10 * time.Second}
	for began := time.Now(); ; {
		s, err := openStore(ctx, c.Store, c.StoreMemory, log)
		if !isDatabase(c.Store) || service.ErrorCode(err) != service.Unavailable || time.Since(began) > databaseWait {
			return s, err
		}
		said.Do(func() { log.Warn("waiting for PostgreSQL, at most a minute", "error", err) })
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(500 * time.Millisecond):
		}
	}
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
	return errors.New("this store is a database: back it up with pg_basebackup")
}

// Restore creates a store from a backup, which it does not change. The directory of the store must be empty or missing. It
// is used as it is: it may be a mount point, or one whose parent this user cannot write to.
func Restore(ctx context.Context, backup, store string) error {
	if isDatabase(store) {
		return errors.New("this store is a database: restore it from a copy by pg_basebackup, or name a directory")
	}
	if entries, err := os.ReadDir(backup); err != nil || len(entries) == 0 {
		return fmt.Errorf("%s is not a backup: it is not a directory with files", backup)
	}
	_, missing := os.Stat(store)
	if err := privateDir(store); err != nil {
		return err
	}
	if entries, err := os.ReadDir(store); err != nil || len(entries) > 0 {
		return cmp.Or(err, fmt.Errorf("%s is not empty: move its content away first", store))
	}
	err := pebble.Restore(ctx, backup, store)
	if err == nil {
		err = checkRestored(ctx, store)
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("restoring %s: %w", backup, err)
	entries, _ := os.ReadDir(store)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(store, e.Name())))
	}
	if missing != nil {
		err = errors.Join(err, os.Remove(store))
	}
	return err
}

// checkRestored opens a store that was copied.
func checkRestored(ctx context.Context, name string) error {
	s, err := openStore(ctx, name, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	keys, err := service.New(s, service.Options{}).Keys(ctx)
	if err == nil && len(keys) == 0 {
		err = errors.New("it has no API keys, so it is not the backup of a service that was used")
	}
	return errors.Join(err, s.Close())
}
