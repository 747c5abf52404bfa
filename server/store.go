package server

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"mayfly/service"
	"mayfly/service/pebble"
)

// store is a store that can be administered.
type store interface {
	service.Store
	prometheus.Collector
	Backup(ctx context.Context, dir string) error // into a directory that does not exist yet
	Close() error
}

// openStore opens the embedded store in a directory, and makes it where there is none.
func openStore(dir string, log *slog.Logger) (store, error) {
	if err := privateDir(dir); err != nil {
		return nil, err
	}
	s, err := pebble.Open(dir, pebble.Options{Log: log})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// direct carries out operations on a store of this process.
type direct struct {
	service *service.Service
	store   store
}

func (d direct) createKey(ctx context.Context, name, plan string) (NewKey, error) {
	secret, k, err := d.service.CreateKey(ctx, name, service.Plan(plan))
	return NewKey{keyJSON(k), secret}, err
}

func (d direct) keys(ctx context.Context) ([]Key, error) {
	list, err := d.service.Keys(ctx)
	keys := make([]Key, len(list))
	for i, k := range list {
		keys[i] = keyJSON(k)
	}
	return keys, err
}

func (d direct) revokeKey(ctx context.Context, id string) (Key, error) {
	k, err := d.service.RevokeKey(ctx, id)
	return keyJSON(k), err
}

func (d direct) rotateKey(ctx context.Context, id string) (NewKey, error) {
	secret, k, err := d.service.RotateKey(ctx, id)
	return NewKey{keyJSON(k), secret}, err
}

func (d direct) setPlan(ctx context.Context, id, plan string) (Key, error) {
	k, err := d.service.SetPlan(ctx, id, service.Plan(plan))
	return keyJSON(k), err
}

func (d direct) backup(ctx context.Context, dir string) error { return d.store.Backup(ctx, dir) }

func (d direct) close() error { return d.store.Close() }
