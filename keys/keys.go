// Package keys finds and keeps API keys.
//
// A key comes from the environment variable MAYFLY_API_KEY, else from the keyring of the operating
// system, else from a file that only its owner can read, if the user asked for one when setting the
// key. A stored key belongs to the service at the base URL it was set for, and to all profiles of it.
package keys

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Variable is the environment variable that takes precedence over stored keys.
const Variable = "MAYFLY_API_KEY"

// ErrNone is the error when there is no key. The error returned may say more, such as that the keyring
// did not answer.
var ErrNone = errors.New("no API key")

// ErrInvalid is the error when what is given as a key cannot be one. The error returned says why, and
// does not contain the key.
var ErrInvalid = errors.New("invalid API key")

// ErrNoKeyring is the error when the keyring of the operating system cannot be used.
var ErrNoKeyring = errors.New("no keyring")

var errNoBus = fmt.Errorf("%w: there is no session bus with a secret service", ErrNoKeyring)

// Secret is an API key. No format prints it, for it is in a function: fmt prints unexported fields.
type Secret struct{ reveal func() string }

func newSecret(key string) Secret { return Secret{func() string { return key }} }

// Reveal returns the key itself, empty for the zero Secret.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// Last4 returns the last four characters of the key, by which people tell keys apart; "" for a key
// too short to show a part of it.
func (s Secret) Last4() string {
	key := s.Reveal()
	if len(key) < 12 {
		return ""
	}
	return key[len(key)-4:]
}

// Key is a key and where it was found.
type Key struct {
	Secret Secret
	Source string // for people, such as "the environment variable MAYFLY_API_KEY"
}

// serviceOf makes all ways to write a base URL one, under which the key of the service is stored.
func serviceOf(base string) string {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return strings.TrimSpace(base)
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	switch scheme {
	case "https":
		host = strings.TrimSuffix(host, ":443")
	case "http":
		host = strings.TrimSuffix(host, ":80")
	}
	return scheme + "://" + host + strings.TrimRight(u.EscapedPath(), "/")
}

// Place is where a key is kept.
type Place int

const (
	Keyring Place = iota // the keyring of the operating system
	File                 // a file that only its owner can read, keys.json
)

// Store finds and keeps keys.
type Store struct {
	getenv  func(string) string
	keyring keyring // nil for none
	file    keyFile
}

// New returns a store with its key file in dir, which is made with mode 0700 when a key is stored in it.
// It reads no keys; getenv reads the environment.
func New(dir string, getenv func(string) string) *Store {
	s := &Store{getenv: getenv, file: keyFile{dir}}
	if keyringAvailable(getenv) {
		s.keyring = systemKeyring{}
	}
	return s
}

// Resolve returns the key for the service at a base URL, within 3 s even when the keyring does not answer.
// Without a key the error is [ErrNone], and
// [ErrNoKeyring] if the keyring could not be asked.
func (s *Store) Resolve(ctx context.Context, baseURL string) (Key, error) {
	if value := s.getenv(Variable); strings.TrimSpace(value) != "" {
		key, err := check(value)
		if err != nil {
			return Key{}, fmt.Errorf("the environment variable %s: %w", Variable, err)
		}
		return Key{newSecret(key), "the environment variable " + Variable}, nil
	}
	keyringErr := errNoBus
	if s.keyring != nil {
		var key string
		key, keyringErr = s.ask(ctx, func(k keyring) (string, error) { return k.get(serviceOf(baseURL)) })
		if keyringErr == nil {
			if key, keyringErr = check(key); keyringErr == nil {
				return Key{newSecret(key), "the keyring"}, nil
			}
		}
		if err := ctx.Err(); err != nil {
			return Key{}, err
		}
	}
	key, err := s.file.get(serviceOf(baseURL))
	if err == nil {
		return Key{newSecret(key), "the file " + s.file.path()}, nil
	}
	if errors.Is(err, ErrNone) && keyringErr != nil && !errors.Is(keyringErr, ErrNone) {
		return Key{}, fmt.Errorf("%w: %w", ErrNone, keyringErr)
	}
	return Key{}, err
}

// Set stores the key for the service at a base URL in p, replacing the one that was there.
func (s *Store) Set(ctx context.Context, baseURL, key string, p Place) error {
	key, err := check(key)
	if err != nil {
		return err
	}
	if p == File {
		return s.file.set(serviceOf(baseURL), key)
	}
	if s.keyring == nil {
		return errNoBus
	}
	_, err = s.ask(ctx, func(k keyring) (string, error) { return "", k.set(serviceOf(baseURL), key) })
	return err
}

// Remove removes a key from the keyring and the file, and returns from which of them; [ErrNone] when it
// was in neither.
func (s *Store) Remove(ctx context.Context, baseURL string) ([]Place, error) {
	var removed []Place
	var failed error
	if s.keyring != nil {
		_, err := s.ask(ctx, func(k keyring) (string, error) { return "", k.remove(serviceOf(baseURL)) })
		if err == nil {
			removed = append(removed, Keyring)
		} else if !errors.Is(err, ErrNone) {
			failed = err
		}
	}
	switch err := s.file.remove(serviceOf(baseURL)); {
	case err == nil:
		removed = append(removed, File)
	case !errors.Is(err, ErrNone):
		failed = errors.Join(failed, err)
	}
	if failed == nil && removed == nil {
		failed = ErrNone
	}
	return removed, failed
}

// check returns a key without the white space around it, and refuses what cannot be one: an empty
// string, more than 1000 characters, anything but printable ASCII. The error is [ErrInvalid] and does
// not contain the key.
func check(key string) (string, error) {
	key = strings.TrimSpace(key)
	switch {
	case key == "":
		return "", fmt.Errorf("%w: it is empty", ErrInvalid)
	case len(key) > 1000:
		return "", fmt.Errorf("%w: it is longer than 1000 characters", ErrInvalid)
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return "", fmt.Errorf("%w: it has characters that cannot be in a key, such as spaces or line breaks", ErrInvalid)
		}
	}
	return key, nil
}
