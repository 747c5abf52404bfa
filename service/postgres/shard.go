package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
)

// shard is a part of the tables that are distributed by key: all rows of a key are in one, and so on
// one server. A database that is not distributed is shard 0.
//
// Addresses are distributed like keys: the owner of an address is in the shard that a key of that
// name would be in.
type shard int64

// shardOf returns the shard of a key or an address. It asks once for each: if the shard is split
// later, what is grouped by the old one takes longer.
func (s *Store) shardOf(ctx context.Context, name string) (shard, error) {
	if !s.citus {
		return 0, nil
	}
	if n, ok := s.shards.get(name); ok {
		return n, nil
	}
	p, err := s.placements.get(ctx, name)
	if err == nil {
		s.shards.put(name, p.shard)
	}
	return p.shard, err
}

// placement is a key or an address with its shard.
type placement struct {
	name  string
	shard shard
}

func (s *Store) readPlacements(ctx context.Context, names []string) ([]placement, error) {
	scan := func(row pgx.CollectableRow) (p placement, err error) {
		err = row.Scan(&p.name, &p.shard)
		return p, err
	}
	return query(ctx, s, scan, "SELECT name, get_shard_id_for_distribution_column('owners', name) FROM unnest($1::text[]) name", names)
}

// byShard splits a list by the shards of the keys that its elements belong to.
func byShard[T any](ctx context.Context, s *Store, list []T, key func(T) string) (map[shard][]T, error) {
	parts := make(map[shard][]T, 1)
	for _, v := range list {
		n, err := s.shardOf(ctx, key(v))
		if err != nil {
			return nil, err
		}
		parts[n] = append(parts[n], v)
	}
	return parts, nil
}

// lockOwners locks keys, which are in one shard, against other changes until the transaction ends.
const lockOwners = "SELECT " + ownerColumns + " FROM owners WHERE key_id = ANY($1) ORDER BY key_id FOR NO KEY UPDATE"

// queueLocks locks keys, by their shards, in the order of their shards and IDs, so that transactions
// cannot deadlock, and calls got with their rows.
func queueLocks(b *pgx.Batch, keys map[shard][]string, got func(owner)) {
	for _, n := range slices.Sorted(maps.Keys(keys)) {
		b.Queue(lockOwners, keys[n]).Query(func(rows pgx.Rows) error {
			list, err := pgx.CollectRows(rows, scanOwner)
			for _, o := range list {
				got(o)
			}
			return err
		})
	}
}
