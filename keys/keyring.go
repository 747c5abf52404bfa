package keys

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
			return "", fmt.Errorf("%w: %s", ErrNoKeyring, inWords(a.err))
		}
		return a.key, a.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("%w: it did not answer within %v; is it locked?", ErrNoKeyring, keyringTimeout)
	}
}

// inWords says why a keyring cannot be used, without the terms of D-Bus.
func inWords(err error) string {
	text := strings.TrimRight(err.Error(), ".")
	for _, known := range []struct{ part, words string }{
		{"failed to unlock", "it is locked"},
		{"was not provided by any", "no secret service runs in this session"},
		{"dial unix", "the session bus does not answer"},
	} {
		if strings.Contains(text, known.part) {
			return known.words
		}
	}
	return text
}

// TryKeyring stores a key of its own in the keyring, reads and removes it. The error, [ErrNoKeyring],
// says what the keyring cannot do; it comes within 3 s.
func (s *Store) TryKeyring(ctx context.Context) error {
	if s.keyring == nil {
		return errNoBus
	}
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
		err = fmt.Errorf("%w: it does not keep what is stored in it", ErrNoKeyring)
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
