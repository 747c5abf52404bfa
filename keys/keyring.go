package keys

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	gokeyring "github.com/zalando/go-keyring"
)

// keyring is what is needed of a keyring. Its errors are ErrNone for a key that is not there.
type keyring interface {
	get(name string) (string, error)
	set(name, key string) error
	remove(name string) error
}

// keyringTimeout is how long a keyring may take. One that wants to ask for a password, but has no
// screen to do it on, takes for ever.
const keyringTimeout = 3 * time.Second

// ask calls the keyring. A call that does not return in time is left behind: it cannot be ended, and
// there is one for each use of the keyring.
func (s *Store) ask(ctx context.Context, call func(keyring) (string, error)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, keyringTimeout)
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
			return "", fmt.Errorf("%w: %w", ErrNoKeyring, a.err)
		}
		return a.key, a.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%w: it did not answer within %v; is it locked?", ErrNoKeyring, keyringTimeout)
	}
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
