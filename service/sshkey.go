package service

import (
	"context"
	"strings"
	"time"
)

// SSHKey is a public key of SSH that stands for an API key.
type SSHKey struct {
	Fingerprint string    `json:"fingerprint"` // as SSH shows it: "SHA256:…"
	KeyID       string    `json:"key_id"`
	Comment     string    `json:"comment,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
}

// maxClientState bounds what clients keep of an inbox, in bytes, and MaxClientStates what they keep of all inboxes of a key,
// since they read that at once.
const (
	maxClientState  = 128 << 10
	MaxClientStates = 8 << 20
)

// AddSSHKey makes a public key stand for an API key. Taken: it stands for another one that is not revoked.
func (s *Service) AddSSHKey(ctx context.Context, keyID, fingerprint, comment string) (SSHKey, error) {
	k, err := s.store.Key(ctx, keyID)
	switch {
	case err != nil:
		return SSHKey{}, err
	case !k.RevokedAt.IsZero():
		return SSHKey{}, Errorf(Invalid, "the key %s is revoked", keyID)
	}
	comment = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.TrimSpace(comment))
	comment = strings.ToValidUTF8(comment[:min(len(comment), 100)], "")
	before, err := s.store.SSHKey(ctx, fingerprint)
	switch {
	case err == nil && before.KeyID == keyID:
		return before, nil
	case err == nil:
		if other, err := s.store.Key(ctx, before.KeyID); err == nil && other.RevokedAt.IsZero() {
			return SSHKey{}, Errorf(Taken, "the public key already stands for the API key %s: `mayfly admin key ssh-key rm %s` removes it", other.ID, fingerprint)
		}
		if err := s.store.RemoveSSHKey(ctx, fingerprint); err != nil && ErrorCode(err) != NotFound {
			return SSHKey{}, err
		}
	case ErrorCode(err) != NotFound:
		return SSHKey{}, err
	}
	added := SSHKey{Fingerprint: fingerprint, KeyID: keyID, Comment: comment, CreatedAt: s.now()}
	return added, s.store.AddSSHKey(ctx, added)
}

// SSHKeys returns the public keys that stand for an API key, or all of them for "", oldest first.
func (s *Service) SSHKeys(ctx context.Context, keyID string) ([]SSHKey, error) {
	return s.store.SSHKeys(ctx, keyID)
}

// RemoveSSHKey removes a public key, or returns NotFound. Sessions that use it end soon.
func (s *Service) RemoveSSHKey(ctx context.Context, fingerprint string) error {
	return s.store.RemoveSSHKey(ctx, fingerprint)
}

// AuthenticateSSH returns the API key that a public key stands for, whose owner has proved to have it, or an error of
// code Unauthorized.
func (s *Service) AuthenticateSSH(ctx context.Context, fingerprint string) (Key, error) {
	of, err := s.store.SSHKey(ctx, fingerprint)
	var k StoredKey
	if err == nil {
		k, err = s.store.Key(ctx, of.KeyID)
	}
	if ErrorCode(err) == NotFound || err == nil && !k.RevokedAt.IsZero() {
		return Key{}, errKey()
	}
	if err == nil && s.shared == nil {
		s.used.Store(k.ID, s.now())
	}
	return k.Key, err
}

// Secret returns the secret that the store keeps under a name for all processes: fresh, unless there was one.
func (s *Service) Secret(ctx context.Context, name string, fresh []byte) ([]byte, error) {
	return s.store.Secret(ctx, name, fresh)
}

// ClientStates returns what clients keep of the inboxes of a key, by their IDs.
func (s *Service) ClientStates(ctx context.Context, k Key) (map[string][]byte, error) {
	return s.store.ClientStates(ctx, k.ID)
}

// SetClientState replaces what clients keep of an inbox. Taken: it is not before any more. Forbidden: it is too much.
func (s *Service) SetClientState(ctx context.Context, k Key, inboxID string, before, after []byte) error {
	if len(after) > maxClientState {
		return Errorf(Invalid, "the state is too long")
	}
	if _, err := s.Inbox(ctx, k, inboxID); err != nil {
		return err
	}
	states, err := s.store.ClientStates(ctx, k.ID)
	if err != nil {
		return err
	}
	total := len(after) - len(states[inboxID])
	for _, state := range states {
		total += len(state)
	}
	if total > MaxClientStates {
		return Errorf(Forbidden, "Clients keep too much of the inboxes of this API key: delete some inboxes")
	}
	return s.store.SetClientState(ctx, k.ID, inboxID, before, after)
}
