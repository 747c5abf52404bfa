package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/google/renameio/v2/maybe"

	"mayfly/service"
)

// fileKey returns the key whose secret is in a file. If there is no file, or the store does not
// know the key, it creates both. Only its owner can read the file.
func fileKey(ctx context.Context, svc *service.Service, name string) (secret string, key service.Key, err error) {
	content, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", key, fmt.Errorf("reading the API key: %w", err)
	}
	if secret = strings.TrimSpace(string(content)); secret != "" {
		key, err = svc.Authenticate(ctx, secret)
		if service.ErrorCode(err) != service.Unauthorized {
			return secret, key, err
		}
	}
	if secret, key, err = svc.CreateKey(ctx, "local service", service.Enterprise); err != nil {
		return "", key, err
	}
	if err := maybe.WriteFile(name, []byte(secret+"\n"), 0o600); err != nil {
		return "", key, fmt.Errorf("saving the API key: %w", err)
	}
	return secret, key, nil
}
