package pebble

import (
	"bytes"
	"context"
	"slices"

	"mayfly/service"
)

func stateKey(keyID, inboxID string) []byte {
	return append(append(append(prefixed(statePrefix, keyID), 0), inboxID...), 0)
}

// value returns a value as it will be after the group, nil for none.
func (g *group) value(key []byte) ([]byte, error) {
	if v, ok := g.values[string(key)]; ok {
		return v, nil
	}
	v, err := g.store.get(key)
	if service.ErrorCode(err) == service.NotFound {
		return nil, nil
	}
	return v, err
}

func (g *group) setValue(key, value []byte) {
	if g.values[string(key)] = value; value == nil {
		g.delete(key)
		return
	}
	g.set(key, value)
}

// AddSSHKey implements service.Store.
func (s *Store) AddSSHKey(ctx context.Context, k service.SSHKey) error {
	if !isName(k.Fingerprint) {
		return service.Errorf(service.Invalid, "not a fingerprint")
	}
	return s.commit(ctx, 0, func(g *group) error {
		key := prefixed(sshPrefix, k.Fingerprint)
		before, err := g.value(key)
		if err != nil {
			return err
		}
		if before != nil {
			return service.ErrHashTaken
		}
		var w writer
		w.string(k.KeyID)
		w.time(k.CreatedAt)
		w.string(k.Comment)
		g.setValue(key, w)
		return nil
	})
}

func decodeSSHKey(fingerprint string, value []byte) (service.SSHKey, error) {
	r := reader{b: value}
	k := service.SSHKey{Fingerprint: fingerprint, KeyID: r.string(), CreatedAt: r.time(), Comment: r.string()}
	return k, r.err
}

// SSHKey implements service.Store.
func (s *Store) SSHKey(ctx context.Context, fingerprint string) (service.SSHKey, error) {
	value, err := s.get(prefixed(sshPrefix, fingerprint))
	if err != nil {
		return service.SSHKey{}, err
	}
	k, err := decodeSSHKey(fingerprint, value)
	return k, s.readError(err)
}

// SSHKeys implements service.Store.
func (s *Store) SSHKeys(ctx context.Context, keyID string) ([]service.SSHKey, error) {
	var keys []service.SSHKey
	prefix := []byte{sshPrefix}
	err := s.scan(ctx, prefix, after(prefix), func(key, value []byte) (bool, error) {
		k, err := decodeSSHKey(string(key[1:]), value)
		if keyID == "" || k.KeyID == keyID {
			keys = append(keys, k)
		}
		return true, err
	})
	slices.SortStableFunc(keys, func(a, b service.SSHKey) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return keys, err
}

// RemoveSSHKey implements service.Store.
func (s *Store) RemoveSSHKey(ctx context.Context, fingerprint string) error {
	return s.commit(ctx, 0, func(g *group) error {
		key := prefixed(sshPrefix, fingerprint)
		before, err := g.value(key)
		if err == nil && before == nil {
			err = service.ErrNotFound
		}
		if err == nil {
			g.setValue(key, nil)
		}
		return err
	})
}

// Secret implements service.Store.
func (s *Store) Secret(ctx context.Context, name string, fresh []byte) (secret []byte, err error) {
	err = s.commit(ctx, 0, func(g *group) error {
		key := prefixed(secretPrefix, name)
		var err error
		if secret, err = g.value(key); err == nil && secret == nil {
			secret = bytes.Clone(fresh)
			g.setValue(key, secret)
		}
		return err
	})
	return secret, err
}

// ClientStates implements service.Store.
func (s *Store) ClientStates(ctx context.Context, keyID string) (map[string][]byte, error) {
	states := map[string][]byte{}
	prefix := append(prefixed(statePrefix, keyID), 0)
	err := s.scan(ctx, prefix, after(prefix), func(key, value []byte) (bool, error) {
		states[string(key[len(prefix):len(key)-1])] = bytes.Clone(value)
		return true, nil
	})
	return states, err
}

// SetClientState implements service.Store.
func (s *Store) SetClientState(ctx context.Context, keyID, inboxID string, before, after []byte) error {
	return s.commit(ctx, len(after), func(g *group) error {
		in, err := g.inbox(inboxOf{keyID, inboxID})
		if err != nil {
			return err
		}
		if in.gone {
			return service.ErrNotFound
		}
		now, err := g.value(stateKey(keyID, inboxID))
		if err != nil {
			return err
		}
		if !bytes.Equal(now, before) {
			return service.ErrChanged
		}
		g.setValue(stateKey(keyID, inboxID), bytes.Clone(after))
		return nil
	})
}
