package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"

	"mayfly/internal/files"
)

// keyFile is the file for keys where there is no keyring.
type keyFile struct{ dir string }

// storedKeys are keys by the service, see [serviceOf].
type storedKeys map[string]string

func (f keyFile) path() string { return filepath.Join(f.dir, "keys.json") }

func (f keyFile) get(service string) (string, error) {
	stored, err := f.read()
	if err != nil {
		return "", err
	}
	key, ok := stored[service]
	if !ok {
		return "", ErrNone
	}
	if key, err = check(key); err != nil {
		return "", fmt.Errorf("%s: %w", f.path(), err)
	}
	return key, nil
}

func (f keyFile) set(service, key string) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of the key file: %w", err)
	}
	return f.change(func(s storedKeys) { s[service] = key })
}

func (f keyFile) remove(service string) error {
	if _, err := f.get(service); err != nil {
		return err
	}
	return f.change(func(s storedKeys) { delete(s, service) })
}

// change reads, changes and replaces the file while no other process does.
func (f keyFile) change(do func(storedKeys)) error {
	lock := flock.New(f.path()+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("locking the key file: %w", err)
	}
	defer lock.Close()
	stored, err := f.read()
	if err != nil && !errors.Is(err, ErrNone) {
		return err
	}
	do(stored)
	content, err := json.MarshalIndent(stored, "", "  ")
	if err != nil {
		return err
	}
	if err := files.Write(f.path(), append(content, '\n')); err != nil {
		return fmt.Errorf("writing the key file: %w", err)
	}
	return nil
}

// read returns what is in the file; without a file, none and ErrNone.
func (f keyFile) read() (storedKeys, error) {
	stored := storedKeys{}
	info, err := os.Stat(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		return stored, ErrNone
	}
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return stored, fmt.Errorf("others may read the key file %s: run chmod 600 on it", f.path())
	}
	content, err := os.ReadFile(f.path())
	if err != nil {
		return stored, fmt.Errorf("reading the key file: %w", err)
	}
	if json.Unmarshal(content, &stored) != nil || stored == nil {
		return stored, fmt.Errorf("the key file %s is damaged: remove it, and set the key again", f.path())
	}
	return stored, nil
}
