package keys

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gofrs/flock"

	"mayfly/internal/files"
)

// keyFile is the file for keys where there is no keyring.
type keyFile struct{ dir string }

type storedKeys struct {
	Keys []storedKey `json:"keys"`
}

type storedKey struct {
	Profile string `json:"profile"`
	BaseURL string `json:"base_url"`
	Key     string `json:"key"`
}

func (f keyFile) path() string { return filepath.Join(f.dir, "keys.json") }

func (f keyFile) get(id ID) (string, error) {
	stored, err := f.read()
	if err != nil {
		return "", err
	}
	if n := stored.index(id); n >= 0 {
		key, err := check(stored.Keys[n].Key)
		if err != nil {
			return "", fmt.Errorf("%s: %w", f.path(), err)
		}
		return key, nil
	}
	return "", ErrNone
}

func (s storedKeys) index(id ID) int {
	return slices.IndexFunc(s.Keys, func(k storedKey) bool {
		return k.Profile == id.Profile && k.BaseURL == normalBase(id.BaseURL)
	})
}

func (f keyFile) set(id ID, key string) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of the key file: %w", err)
	}
	return f.change(func(s *storedKeys) error {
		if n := s.index(id); n >= 0 {
			s.Keys[n].Key = key
		} else {
			s.Keys = append(s.Keys, storedKey{id.Profile, normalBase(id.BaseURL), key})
		}
		return nil
	})
}

func (f keyFile) remove(id ID) error {
	if _, err := f.get(id); err != nil {
		return err
	}
	return f.change(func(s *storedKeys) error {
		n := s.index(id)
		if n < 0 {
			return ErrNone
		}
		s.Keys = slices.Delete(s.Keys, n, n+1)
		return nil
	})
}

// change reads, changes and replaces the file while no other process does.
func (f keyFile) change(do func(*storedKeys) error) error {
	lock := flock.New(f.path()+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("locking the key file: %w", err)
	}
	defer lock.Close()
	stored, err := f.read()
	if err != nil && !errors.Is(err, ErrNone) {
		return err
	}
	if err := do(&stored); err != nil {
		return err
	}
	content, err := json.MarshalIndent(stored, "", "  ")
	if err != nil {
		return err
	}
	if err := files.Write(f.path(), append(content, '\n')); err != nil {
		return fmt.Errorf("writing the key file: %w", err)
	}
	return nil
}

// read returns what is in the file; without a file, ErrNone.
func (f keyFile) read() (storedKeys, error) {
	file, err := os.Open(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		return storedKeys{}, ErrNone
	} else if err != nil {
		return storedKeys{}, fmt.Errorf("reading the key file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return storedKeys{}, fmt.Errorf("reading the key file: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return storedKeys{}, fmt.Errorf("others may read the key file %s: run chmod 600 on it", f.path())
	}
	content, err := io.ReadAll(io.LimitReader(file, 1<<20))
	if err != nil {
		return storedKeys{}, fmt.Errorf("reading the key file: %w", err)
	}
	var stored storedKeys
	if err := json.Unmarshal(content, &stored); err != nil {
		return storedKeys{}, fmt.Errorf("the key file %s is damaged: remove it, and set the key again", f.path())
	}
	return stored, nil
}
