package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mayfly/service"
)

// ownKey returns the server's own key: the one in [Config].KeyFile, or a new one of a store in memory.
func ownKey(ctx context.Context, svc *service.Service, c Config) (secret string, key service.Key, err error) {
	if c.KeyFile == "" {
		return svc.CreateKey(ctx, "in memory", service.Enterprise)
	}
	return fileKey(ctx, svc, c)
}

// fileKey returns the key whose secret is in [Config].KeyFile. If there is no file, it creates both,
// and only its owner can read the file. It never changes a file.
func fileKey(ctx context.Context, svc *service.Service, c Config) (secret string, key service.Key, err error) {
	name := c.KeyFile
	secret, err = ReadKeyFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if secret, key, err = createFileKey(ctx, svc, name); !errors.Is(err, fs.ErrExist) {
			return secret, key, err
		}
		secret, err = ReadKeyFile(name) // another process has created it
	}
	if err != nil {
		return "", key, err
	}
	if info, err := os.Stat(name); err == nil && exposed(info) {
		c.Log.Warn("every user of this machine can read the API key: chmod 600 the file", "file", name)
	}
	key, err = svc.KeyOf(ctx, secret)
	switch {
	case service.ErrorCode(err) == service.NotFound:
		add := "mayfly admin key create --plan enterprise --secret-file " + name
		if !isDatabase(c.Store) {
			add += " --store " + c.Store
		}
		return "", key, fmt.Errorf("the store does not know the API key in %s: add it with `%s`, or name a file that does not exist yet", name, add)
	case err == nil && !key.RevokedAt.IsZero():
		return "", key, fmt.Errorf("the API key in %s, %s, is revoked: name a file with another, or one that does not exist yet", name, key.ID)
	}
	return secret, key, err
}

// maxKeyFile is how much is read of a file with a secret, in bytes.
const maxKeyFile = 4 << 10

// ReadKeyFile returns the secret in a file, without white space around it. An error does not contain
// the secret.
func ReadKeyFile(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("reading the API key: %w", err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxKeyFile))
	if err != nil {
		return "", fmt.Errorf("reading the API key: %w", err)
	}
	secret := strings.TrimSpace(string(content))
	if secret == "" {
		return "", fmt.Errorf("%s is empty: put an API key into it, or remove it", name)
	}
	if err := service.CheckSecret(secret); err != nil {
		return "", fmt.Errorf("%s has no API key in it: %w", name, err)
	}
	return secret, nil
}

// createFileKey creates a key and the file with its secret. If the file exists by then, the error is
// fs.ErrExist, and the key is revoked.
func createFileKey(ctx context.Context, svc *service.Service, name string) (secret string, key service.Key, err error) {
	// The file comes first: a key whose secret cannot be saved is of no use.
	file, err := os.CreateTemp(filepath.Dir(name), ".mayfly-key-*") // mode 0600
	if err != nil {
		return "", key, unsaved(name, err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // it may have been renamed
	if secret, key, err = svc.CreateKey(ctx, "key file", service.Enterprise); err != nil {
		return "", key, errors.Join(err, file.Close())
	}
	_, err = file.WriteString(secret + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		// Unlike a rename, a link does not replace a file. Some file systems have no links.
		if err = os.Link(file.Name(), name); err != nil && !errors.Is(err, fs.ErrExist) {
			err = os.Rename(file.Name(), name)
		}
	}
	if err != nil {
		_, revoked := svc.RevokeKey(ctx, key.ID)
		return "", service.Key{}, errors.Join(unsaved(name, err), revoked)
	}
	return secret, key, nil
}

// unsaved says that a key file could not be created, without the name of the temporary file.
func unsaved(name string, err error) error {
	if path := (&fs.PathError{}); errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("saving the API key in %s: %w", name, err)
}
