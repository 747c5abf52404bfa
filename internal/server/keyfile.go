package server

import (
	"context"
	"errors"
	"fmt"

	"mayfly/service"
)

// ownKey returns the server's own key: the one in [Config].KeyFile, or a new one of a store in memory.
func ownKey(ctx context.Context, svc *service.Service, c Config) (secret string, key service.Key, err error) {
	if c.KeyFile == "" {
		return svc.CreateKey(ctx, "in memory", service.Enterprise)
	}
	return fileKey(ctx, svc, c)
}

// fileKey returns the key whose secret is in [Config].KeyFile. If there is no file, it creates both.
func fileKey(ctx context.Context, svc *service.Service, c Config) (secret string, key service.Key, err error) {
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
		return "", key, fmt.Errorf("the store does not know the API key in %s: add it with `%s`, or name a file that does not exist yet", name, add)
	case err == nil && !key.RevokedAt.IsZero():
		return "", key, fmt.Errorf("the API key in %s, %s, is revoked: name a file with another, or one that does not exist yet", name, key.ID)
	}
	return secret, key, err
}

// ReadKeyFile returns the secret in a file, without white space around it. An error does not contain
// the secret.
func ReadKeyFile(name string) (string, error) {
	secret, err := readSecretFile(name, "API key")
	if err == nil {
		err = checkKeyFile(name, secret)
	}
	if err != nil {
		return "", err
	}
	return secret, nil
}

func checkKeyFile(name, secret string) error {
	if err := service.CheckSecret(secret); err != nil {
		return fmt.Errorf("%s has no API key in it: %w", name, err)
	}
	return nil
}
