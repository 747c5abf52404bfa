package server

import (
	"context"
	"time"

	"mayfly/service/ssh"
)

// SSHKey is a public key of SSH that stands for an API key.
type SSHKey struct {
	Fingerprint string    `json:"fingerprint"`
	KeyID       string    `json:"key_id"`
	Comment     string    `json:"comment,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
}

// ParseSSHKey returns the public key in a line of an id_….pub or authorized_keys file, which stands for no API key yet.
func ParseSSHKey(line string) (k SSHKey, err error) {
	k.Fingerprint, k.Comment, err = ssh.ParseKey([]byte(line))
	return k, err
}

// AddSSHKey makes a public key of SSH stand for an API key.
func (a *Admin) AddSSHKey(ctx context.Context, keyID string, k SSHKey) (SSHKey, error) {
	return call[SSHKey](ctx, a, "add-ssh-key", adminRequest{ID: keyID, Name: k.Comment, Fingerprint: k.Fingerprint})
}

// SSHKeys returns the public keys of SSH, oldest first.
func (a *Admin) SSHKeys(ctx context.Context) ([]SSHKey, error) {
	return call[[]SSHKey](ctx, a, "ssh-keys", adminRequest{})
}

// RemoveSSHKey removes the public key of SSH with a fingerprint. Its sessions end within ten seconds.
func (a *Admin) RemoveSSHKey(ctx context.Context, fingerprint string) error {
	_, err := call[struct{}](ctx, a, "remove-ssh-key", adminRequest{Fingerprint: fingerprint})
	return err
}

// changeSSHKeys is the part of [Admin.carryOut] that is about public keys.
func (a *Admin) changeSSHKeys(ctx context.Context, operation string, in adminRequest) (any, error) {
	switch operation {
	case "add-ssh-key":
		k, err := a.service.AddSSHKey(ctx, in.ID, in.Fingerprint, in.Name)
		return SSHKey(k), err
	case "remove-ssh-key":
		return struct{}{}, a.service.RemoveSSHKey(ctx, in.Fingerprint)
	}
	list, err := a.service.SSHKeys(ctx, "")
	keys := make([]SSHKey, len(list))
	for i, k := range list {
		keys[i] = SSHKey(k)
	}
	return keys, err
}
