package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"mayfly/service"
	"mayfly/service/pebble"
	"mayfly/service/ssh"
)

// Key is an API key without its secret, of which only a hash is stored.
type Key = service.Key

// SSHKey is a public key of SSH that stands for an API key.
type SSHKey = service.SSHKey

// NewKey is a key with its secret, which cannot be shown again.
type NewKey struct {
	Key
	Secret string `json:"secret"`
	SMTP   string `json:"smtp,omitempty"` // where the key logs in to send mail to itself, host:port; empty if the service does not run
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
	service *service.Service // nil: the store is another process's
	store   store            // likewise
	client  *http.Client     // of that process
	smtp    string           // where keys log in to this process, empty if nowhere
}

// CreateKey creates an API key. The name is for people; the plan is free, dev, startup or enterprise. A
// secret of "" becomes a random one, which is returned only here; for any other, the key that has this
// secret and plan is returned if there is one.
func (a *Admin) CreateKey(ctx context.Context, name, plan, secret string) (NewKey, error) {
	return call[NewKey](ctx, a, "create-key", adminRequest{Name: name, Plan: plan, Secret: secret})
}

// Keys returns all API keys, oldest first, including revoked ones.
func (a *Admin) Keys(ctx context.Context) ([]Key, error) {
	return call[[]Key](ctx, a, "keys", adminRequest{})
}

// RevokeKey revokes a key with immediate effect.
func (a *Admin) RevokeKey(ctx context.Context, id string) (Key, error) {
	return call[Key](ctx, a, "revoke-key", adminRequest{ID: id})
}

// RotateKey replaces a key's secret. The new one is returned only here; the old one works for as long as
// keepOld says. The key keeps its inboxes.
func (a *Admin) RotateKey(ctx context.Context, id string, keepOld time.Duration) (NewKey, error) {
	return call[NewKey](ctx, a, "rotate-key", adminRequest{ID: id, KeepOld: keepOld})
}

// SetPlan changes the plan of a key, with effect from its next request.
func (a *Admin) SetPlan(ctx context.Context, id, plan string) (Key, error) {
	return call[Key](ctx, a, "set-plan", adminRequest{ID: id, Plan: plan})
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

// Postmaster lists the mail for the postmaster of the service's domains, newest first.
func (a *Admin) Postmaster(ctx context.Context) ([]PostmasterMessage, error) {
	return call[[]PostmasterMessage](ctx, a, "postmaster", adminRequest{})
}

// PostmasterRaw returns a message for the postmaster as it was received.
func (a *Admin) PostmasterRaw(ctx context.Context, id string) ([]byte, error) {
	return call[[]byte](ctx, a, "postmaster-raw", adminRequest{ID: id})
}

// Backup writes a copy of the live store to a directory on this machine that does not exist yet.
func (a *Admin) Backup(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir) // the owner of the store may have another working directory
	if err != nil {
		return err
	}
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s already exists: name a new directory for the backup", dir)
	}
	if _, err := call[struct{}](ctx, a, "backup", adminRequest{Dir: dir}); err != nil {
		return err
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) { // the owner's /tmp may end with it
		return fmt.Errorf("the service that has the store sees another %s, perhaps by PrivateTmp of systemd: name a directory elsewhere", filepath.Dir(dir))
	}
	return nil
}

// Close closes the store or the connection to its owner.
func (a *Admin) Close() error {
	if a.service == nil {
		a.client.CloseIdleConnections()
		return nil
	}
	return a.store.Close()
}

// adminRequest has the arguments of an operation. Each uses some of them.
type adminRequest struct {
	ID     string `json:"id,omitempty"`
	Name   string `json:"name,omitempty"`
	Plan   string `json:"plan,omitempty"`
	Secret string `json:"secret,omitempty"` // "" for a new one
	Dir    string `json:"dir,omitempty"`

	Fingerprint string        `json:"fingerprint,omitempty"`
	KeepOld     time.Duration `json:"keep_old,omitempty"` // nanoseconds
}

// call runs an operation whose result is T.
func call[T any](ctx context.Context, a *Admin, operation string, in adminRequest) (out T, err error) {
	if a.service == nil {
		err = ask(ctx, a.client, "http://admin/admin/"+operation, in, &out)
		return out, err
	}
	result, err := a.carryOut(ctx, operation, in)
	out, _ = result.(T)
	return out, err
}

// carryOut carries out an operation on the store of this process.
func (a *Admin) carryOut(ctx context.Context, operation string, in adminRequest) (result any, err error) {
	plan := service.Plan(in.Plan)
	var key service.Key
	secret := in.Secret
	switch operation {
	case "keys":
		return a.service.Keys(ctx)
	case "revoke-key":
		return a.service.RevokeKey(ctx, in.ID)
	case "set-plan":
		return a.service.SetPlan(ctx, in.ID, plan)
	case "create-key":
		if secret == "" {
			secret, key, err = a.service.CreateKey(ctx, in.Name, plan)
		} else {
			key, err = a.service.EnsureKey(ctx, secret, in.Name, plan)
		}
		return NewKey{key, secret, a.smtp}, err
	case "rotate-key":
		secret, key, err = a.service.RotateKey(ctx, in.ID, in.KeepOld)
		return NewKey{key, secret, a.smtp}, err
	case "add-ssh-key":
		return a.service.AddSSHKey(ctx, in.ID, in.Fingerprint, in.Name)
	case "ssh-keys":
		return a.service.SSHKeys(ctx, "")
	case "remove-ssh-key":
		return struct{}{}, a.service.RemoveSSHKey(ctx, in.Fingerprint)
	case "postmaster":
		list, err := a.service.PostmasterMail(ctx)
		messages := make([]PostmasterMessage, len(list))
		for i, m := range list {
			messages[i] = PostmasterMessage{m.ID, m.From, m.Subject, m.ReceivedAt, m.Size}
		}
		return messages, err
	case "postmaster-raw":
		m, err := a.service.PostmasterMessage(ctx, in.ID)
		return m.Raw, err
	case "backup":
		return struct{}{}, a.store.Backup(ctx, in.Dir)
	}
	return nil, service.Errorf(service.Invalid, "the service that has the store does not support %s: is it another version?", operation)
}

// OpenAdmin connects to the process that owns the store in a directory. If there is none, and for a
// database, it opens the store itself, or creates it, until it is closed. The log gets what happens
// to a database meanwhile, such as an update that takes long.
func OpenAdmin(ctx context.Context, store string, log *slog.Logger) (*Admin, error) {
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
		switch c, err := dialSocket(ctx, store); {
		case err == nil:
			_ = c.Close() // it only tested whether there is a server
			return &Admin{client: ControlClient(store)}, nil
		case errors.Is(err, ErrOtherUser):
			return nil, err
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

// openDirect opens a store, or creates it.
func openDirect(ctx context.Context, name string, log *slog.Logger) (*Admin, error) {
	s, err := openStore(ctx, name, 0, log)
	if err != nil {
		return nil, err
	}
	return &Admin{service: service.New(s, service.Options{}), store: s}, nil
}
