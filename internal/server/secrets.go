package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"mayfly/internal/files"
	"mayfly/service"
	"mayfly/service/webhook"
)

// secretFile returns the secret in a file, such as an "API key". If there is no file, it creates one
// that only its owner can read, with the secret that create returns. It never changes a file.
func secretFile(name, what string, log *slog.Logger, create func() (string, error)) (string, error) {
	secret, err := readSecretFile(name, what)
	if errors.Is(err, fs.ErrNotExist) {
		if secret, err = createSecretFile(name, what, create); !errors.Is(err, fs.ErrExist) {
			return secret, err
		}
		secret, err = readSecretFile(name, what) // another process has created it
	}
	if err != nil {
		return "", err
	}
	warnIfExposed(name, what, log)
	return secret, nil
}

// warnIfExposed logs that others than its owner can read a file with a secret.
func warnIfExposed(name, what string, log *slog.Logger) {
	if info, err := os.Stat(name); err == nil && exposed(info) {
		log.Warn("every user of this machine can read the "+what+": chmod 600 the file", "file", name)
	}
}

// webhookSecrets returns the secrets in [Config].WebhookSecretFile.
func webhookSecrets(c Config) ([][]byte, error) {
	text, err := secretFile(c.WebhookSecretFile, "webhook secret", c.Log, func() (string, error) { return webhook.NewSecret(), nil })
	if err != nil {
		return nil, err
	}
	secrets, err := webhook.ParseSecrets(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.WebhookSecretFile, err)
	}
	return secrets, nil
}

// readSecretFile returns what is in a file, without white space around it.
func readSecretFile(name, what string) (string, error) {
	content, err := files.ReadNamed(name, 1<<20)
	if err != nil {
		return "", fmt.Errorf("reading the %s: %w", what, err)
	}
	secret := strings.TrimSpace(string(content))
	if secret == "" {
		return "", fmt.Errorf("%s is empty: put the %s into it, or remove it", name, what)
	}
	return secret, nil
}

// createSecretFile creates a file with a new secret. If it exists by then, the error is fs.ErrExist.
func createSecretFile(name, what string, create func() (string, error)) (string, error) {
	// The file comes first: a secret that cannot be saved is of no use.
	file, err := os.CreateTemp(filepath.Dir(name), ".mayfly-key-*") // mode 0600
	if err != nil {
		return "", unsaved(name, what, err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // it may have been renamed
	secret, err := create()
	if err != nil {
		return "", errors.Join(err, file.Close())
	}
	_, err = file.WriteString(secret + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		// Unlike a rename, a link does not replace a file. Some file systems have no links.
		if err = os.Link(file.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) {
			err = os.Rename(file.Name(), name)
		}
	}
	if err != nil {
		return "", unsaved(name, what, err)
	}
	return secret, nil
}

// unsaved says that a file could not be created, without the name of the temporary file.
func unsaved(name, what string, err error) error {
	if path := (&fs.PathError{}); errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("saving the %s in %s: %w", what, name, err)
}

// OwnKeyName is the name of the key that a service creates for itself.
const OwnKeyName = "the service's own"

// ownKey returns the server's own key, as [Config].KeyFile and OwnKey have it.
func ownKey(ctx context.Context, svc *service.Service, c Config) (secret string, key service.Key, err error) {
	if c.KeyFile == "" {
		keys, err := svc.Keys(ctx)
		if err != nil {
			return "", key, err
		}
		for _, k := range keys {
			if k.Name == OwnKeyName && k.RevokedAt.IsZero() {
				return svc.RotateKey(ctx, k.ID, 0)
			}
		}
		return svc.CreateKey(ctx, OwnKeyName, service.Enterprise)
	}
	name := c.KeyFile
	created := ""
	secret, err = secretFile(name, "API key", c.Log, func() (string, error) {
		created, key, err = svc.CreateKey(ctx, "key file", service.Enterprise)
		return created, err
	})
	if created != "" && created != secret { // it could not be saved, or another process has created the file
		_, revoked := svc.RevokeKey(ctx, key.ID)
		err = errors.Join(err, revoked)
	}
	if err == nil {
		err = checkKeyFile(name, secret)
	}
	if err != nil {
		return "", service.Key{}, err
	}
	key, err = svc.KeyOf(ctx, secret)
	switch {
	case service.ErrorCode(err) == service.NotFound:
		add := "mayfly admin key create --plan enterprise --secret-file " + name
		if !isDatabase(c.Store) {
			add += " --store " + c.Store
		}
		return "", key, fmt.Errorf("the store does not have the API key in %s: add it with `%s`, or name a file that does not exist yet", name, add)
	case err == nil && !key.RevokedAt.IsZero():
		return "", key, fmt.Errorf("the API key in %s, %s, is revoked: name a file with another, or one that does not exist yet", name, key.ID)
	}
	return secret, key, err
}

// ReadKeyFile returns the secret in a file, without white space around it. An error does not contain
// the secret.
func ReadKeyFile(name string) (string, error) {
	secret, err := readSecretFile(name, "API key")
	if err != nil {
		return "", err
	}
	return secret, checkKeyFile(name, secret)
}

func checkKeyFile(name, secret string) error {
	if err := service.CheckSecret(secret); err != nil {
		return fmt.Errorf("%s has no API key in it: %w", name, err)
	}
	return nil
}

// certificate is a TLS certificate on disk. It is read again when its files change, so that a
// renewal needs no restart.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	unreadable        rate.Sometimes // limits how often it is logged
	invalid           rate.Sometimes // the same of one that has expired or is not valid yet

	mu      sync.Mutex
	current *tls.Certificate
	read    [2]time.Time // when the files were changed
}

// loadCertificate reads a certificate. The files must exist and match.
func loadCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log,
		unreadable: rate.Sometimes{Interval: time.Minute}, invalid: rate.Sometimes{Interval: time.Hour}}
	if err := c.reload(); err != nil {
		return nil, err
	}
	c.warnIfInvalid()
	return c, nil
}

// config returns the TLS configuration of a listener with this certificate.
func (c *certificate) config() *tls.Config {
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.reload(); err != nil {
		c.unreadable.Do(func() {
			c.log.Warn("the changed TLS certificate cannot be used, the previous one still is", "error", err)
		})
	}
	c.warnIfInvalid()
	return c.current, nil
}

// warnIfInvalid logs that clients refuse the certificate because of its dates.
func (c *certificate) warnIfInvalid() {
	switch now, leaf := time.Now(), c.current.Leaf; {
	case now.After(leaf.NotAfter):
		c.invalid.Do(func() {
			c.log.Warn("the TLS certificate has expired: renew it", "file", c.certFile, "expired", leaf.NotAfter)
		})
	case now.Before(leaf.NotBefore):
		c.invalid.Do(func() {
			c.log.Warn("the TLS certificate is not valid yet: check the clock", "file", c.certFile, "valid", leaf.NotBefore)
		})
	}
}

// reload reads the files if they have changed. Files that do not match, as in the middle of a
// renewal, change nothing.
func (c *certificate) reload() error {
	var now [2]time.Time
	for i, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return fmt.Errorf("TLS certificate: %w", err)
		}
		now[i] = info.ModTime()
	}
	if now == c.read {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("TLS certificate %s: %w", c.certFile, err)
	}
	c.current, c.read = &pair, now
	return nil
}
