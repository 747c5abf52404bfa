package keys

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"
	gokeyring "github.com/zalando/go-keyring"

	"mayfly/internal/files"
)

// keyring is what is needed of a keyring. Its errors are ErrNone for a key that is not there.
type keyring interface {
	get(name string) (string, error)
	set(name, key string) error
	remove(name string) error
}

// keyringTimeout is how long a keyring may take. One that wants to ask for a password, but has no
// screen to do it on, takes forever.
const keyringTimeout = 3 * time.Second

// ask calls the keyring. A call that does not return in time is left behind: it cannot be ended, and
// there is one for each use of the keyring.
func (s *Store) ask(caller context.Context, call func(keyring) (string, error)) (string, error) {
	if s.keyring == nil {
		return "", errAbsent
	}
	ctx, cancel := context.WithTimeout(caller, keyringTimeout)
	defer cancel()
	type answer struct {
		key string
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		key, err := call(s.keyring)
		answers <- answer{key, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil && !errors.Is(a.err, ErrNone) {
			return "", inWords(a.err)
		}
		return a.key, a.err
	case <-ctx.Done():
		if err := caller.Err(); err != nil {
			return "", err
		}
		return "", errSilent
	}
}

// keyringError is a sentence that says why the keyring cannot be used.
type keyringError string

func (e keyringError) Error() string      { return string(e) }
func (keyringError) Is(target error) bool { return target == ErrNoKeyring }

const (
	errAbsent keyringError = "there is no keyring (no session bus with a secret service)"
	errLocked keyringError = "the keyring is locked"
	errDenied keyringError = "the keyring denies access"
	errSilent keyringError = "the keyring did not answer within 3 s: it may be locked, and ask for its password where nobody sees it"
)

// inWords says why a keyring cannot be used, without the terms of D-Bus and of macOS's security command,
// whose exit statuses are the last byte of Apple's error codes.
func inWords(err error) error {
	text := strings.TrimRight(err.Error(), ".")
	for _, known := range []struct {
		part string
		err  keyringError
	}{
		{"failed to unlock", errLocked}, {"locked collection", errLocked}, {"exit status 36", errLocked},
		{"enied", errDenied}, {"olicy prevents", errDenied}, {"ejected send message", errDenied}, {"dismissed", errDenied},
		{"exit status 51", errDenied}, {"exit status 128", errDenied},
		{"was not provided by any", errAbsent}, {"dial unix", errAbsent},
	} {
		if strings.Contains(text, known.part) {
			return known.err
		}
	}
	return keyringError("the keyring cannot be used: " + text)
}

// TryKeyring stores a key of its own in the keyring, reads and removes it. The error, [ErrNoKeyring],
// says what the keyring cannot do; it arrives within 3 s.
func (s *Store) TryKeyring(ctx context.Context) error {
	const name = "a test by mayfly doctor"
	_, err := s.ask(ctx, func(k keyring) (string, error) {
		if err := k.set(name, name); err != nil {
			return "", err
		}
		got, err := k.get(name)
		if err == nil && got != name {
			err = errors.New("it returns another key than was stored")
		}
		return "", cmp.Or(err, k.remove(name))
	})
	if errors.Is(err, ErrNone) {
		err = keyringError("the keyring does not keep what is stored in it")
	}
	return err
}

// keyringAvailable reports whether the keyring can be asked without starting anything, which is in
// question on Linux and the BSDs only.
func keyringAvailable(getenv func(string) string) bool {
	switch runtime.GOOS {
	case "darwin", "windows":
		return true
	}
	if getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	dir := getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		return false
	}
	info, err := os.Stat(filepath.Join(dir, "bus"))
	return err == nil && info.Mode().Type() == os.ModeSocket
}

// systemKeyring is the keyring of the operating system.
type systemKeyring struct{}

// keyringService is the name that people see in their keyring.
const keyringService = "mayfly"

func (systemKeyring) get(name string) (string, error) {
	key, err := gokeyring.Get(keyringService, name)
	return key, none(err)
}

func (systemKeyring) set(name, key string) error {
	return gokeyring.Set(keyringService, name, key)
}

func (systemKeyring) remove(name string) error {
	return none(gokeyring.Delete(keyringService, name))
}

func none(err error) error {
	if errors.Is(err, gokeyring.ErrNotFound) {
		return ErrNone
	}
	return err
}

// maxKeyFile is how large the key file may be, in bytes.
const maxKeyFile = 1 << 20

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
		return fmt.Errorf("creating the directory of the key file: %w", err)
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
	content, info, err := files.Read(f.path(), maxKeyFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return stored, ErrNone
	case err != nil:
		return stored, fmt.Errorf("reading the key file: %w", err)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return stored, fmt.Errorf("others may read the key file %s: run chmod 600 on it", f.path())
	}
	if json.Unmarshal(content, &stored) != nil || stored == nil {
		return stored, fmt.Errorf("the key file %s is damaged: remove it, and set the key again", f.path())
	}
	return stored, nil
}
