package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"mayfly/service/webhook"
)

// maxSecretFile is how much is read of a file with a secret, in bytes.
const maxSecretFile = 4 << 10

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
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("reading the %s: %w", what, err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxSecretFile))
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
