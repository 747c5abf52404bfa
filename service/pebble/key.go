package pebble

import (
	"context"
	"slices"

	"mayfly/service"
)

// CreateKey implements service.Store.
func (s *Store) CreateKey(ctx context.Context, k service.StoredKey) error {
	if !isName(k.ID) {
		return service.Errorf(service.Invalid, "not a key's ID")
	}
	return s.commit(ctx, 0, func(g *group) error {
		if err := g.checkHash(k.Hash); err != nil {
			return err
		}
		g.putKey(k)
		return nil
	})
}

// checkHash fails with Taken if a key will have the hash after the group.
func (g *group) checkHash(hash [32]byte) error {
	for _, k := range g.keys {
		if k.Has(hash) {
			return service.ErrHashTaken
		}
	}
	id, err := g.store.get(hashKey(hash))
	if service.ErrorCode(err) == service.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if k, err := g.key(string(id)); err != nil || !k.Has(hash) {
		return err
	}
	return service.ErrHashTaken
}

// UpdateKey implements service.Store.
func (s *Store) UpdateKey(ctx context.Context, id string, change func(*service.StoredKey)) (service.StoredKey, error) {
	var k service.StoredKey
	err := s.commit(ctx, 0, func(g *group) error {
		var err error
		if k, err = g.key(id); err != nil {
			return err
		}
		old := k
		change(&k)
		for _, hash := range [][32]byte{old.Hash, old.OldHash} {
			if !k.Has(hash) {
				g.delete(hashKey(hash))
			}
		}
		g.putKey(k)
		return nil
	})
	return k, err
}

func (g *group) putKey(k service.StoredKey) {
	g.set(hashKey(k.Hash), []byte(k.ID))
	if k.OldHash != [32]byte{} {
		g.set(hashKey(k.OldHash), []byte(k.ID))
	}
	g.set(prefixed(keyPrefix, k.ID), encodeKey(k))
	g.keys[k.ID] = k
}

// Key implements service.Store.
func (s *Store) Key(ctx context.Context, id string) (service.StoredKey, error) {
	return s.keys.get(id, func() (service.StoredKey, error) { return s.readKey(id) })
}

func (s *Store) readKey(id string) (service.StoredKey, error) {
	if !isName(id) {
		return service.StoredKey{}, service.ErrNotFound
	}
	value, err := s.get(prefixed(keyPrefix, id))
	if err != nil {
		return service.StoredKey{}, err
	}
	k, err := decodeKey(id, value)
	return k, s.readError(err)
}

// KeyByHash implements service.Store.
func (s *Store) KeyByHash(ctx context.Context, hash [32]byte) (service.StoredKey, error) {
	id, err := s.hashes.get(hash, func() (string, error) {
		id, err := s.get(hashKey(hash))
		return string(id), err
	})
	if err != nil {
		return service.StoredKey{}, err
	}
	k, err := s.Key(ctx, id)
	if err == nil && !k.Has(hash) {
		return service.StoredKey{}, service.ErrNotFound
	}
	return k, err
}

// Keys implements service.Store.
func (s *Store) Keys(ctx context.Context) ([]service.StoredKey, error) {
	var keys []service.StoredKey
	prefix := []byte{keyPrefix}
	err := s.scan(ctx, prefix, after(prefix), func(key, value []byte) (bool, error) {
		k, err := decodeKey(string(key[1:]), value)
		keys = append(keys, k)
		return true, err
	})
	slices.SortStableFunc(keys, func(a, b service.StoredKey) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return keys, err
}
