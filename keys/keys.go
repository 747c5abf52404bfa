// Package keys finds and keeps API keys.
//
// A key comes from the environment variable MAYFLY_API_KEY, else from the keyring of the operating
// system, else from a file that only its owner can read, if the user asked for one when setting the
// key. Each belongs to one service: that of the variable to the one that the environment means, a stored
// key to the one at the base URL it was set for, and to all profiles of it.
package keys

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"
)

// Variable is the environment variable that takes precedence over stored keys.
const Variable = "MAYFLY_API_KEY"

// ErrNone is the error when there is no key. The error returned may say more, such as that the keyring
// is locked.
var ErrNone = errors.New("no API key")

// ErrInvalid is the error when what is given as a key cannot be one. The error returned says why, and
// does not contain the key.
var ErrInvalid = errors.New("invalid API key")

// ErrNoKeyring is the error when the keyring of the operating system cannot be used. The error returned
// says whether there is none, it is locked, or it denies access.
var ErrNoKeyring = errors.New("no keyring")

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

// SameService reports whether two base URLs are of one service, to which the same key belongs.
func SameService(a, b string) bool { return serviceOf(a) == serviceOf(b) }

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
	means   string  // the base URL of the service that the environment means
	keyring keyring // nil for none
	file    keyFile
}

// New returns a store with its key file in dir, which is created with mode 0700 when a key is stored in it.
// It reads no keys; getenv reads the environment, whose key is for the service at the base URL means, and
// for no other.
func New(dir string, getenv func(string) string, means string) *Store {
	s := &Store{getenv: getenv, means: means, file: keyFile{dir}}
	if keyringAvailable(getenv) {
		s.keyring = systemKeyring{}
	}
	return s
}

// Each yields the places where a key for the service at a base URL may be, the one that counts first: with
// the key, or with the error why it has none, [ErrNone] if it is just not there. The keyring takes 3 s at most.
func (s *Store) Each(ctx context.Context, baseURL string) iter.Seq2[Key, error] {
	service := serviceOf(baseURL)
	return func(yield func(Key, error) bool) {
		key, err := s.variable(service)
		if !yield(Key{newSecret(key), "the environment variable " + Variable}, err) {
			return
		}
		key, err = s.ask(ctx, func(k keyring) (string, error) { return k.get(service) })
		if err == nil {
			key, err = check(key)
		}
		if !yield(Key{newSecret(key), "the keyring"}, err) {
			return
		}
		key, err = s.file.get(service)
		yield(Key{newSecret(key), "the file " + s.file.path()}, err)
	}
}

// variable returns the key of the environment, if it is for a service.
func (s *Store) variable(service string) (string, error) {
	value := s.getenv(Variable)
	switch {
	case strings.TrimSpace(value) == "":
		return "", ErrNone
	case serviceOf(s.means) != service:
		return "", elsewhere{serviceOf(s.means)}
	}
	key, err := check(value)
	if err != nil {
		return "", fmt.Errorf("the environment variable %s: %w", Variable, err)
	}
	return key, nil
}

// elsewhere says which service the key of the environment is for.
type elsewhere struct{ service string }

func (e elsewhere) Error() string {
	if e.service == serviceOf("") {
		return Variable + " is for the service that the program was started for"
	}
	return Variable + " is for " + e.service
}

// Resolve returns the key for the service at a base URL, the first that there is. Without one the error is
// [ErrNone], and says why the places that may have one have not; it is [ErrNoKeyring], too, if the keyring
// could not be asked. A place that is damaged is an error, and what is behind it is not looked at.
func (s *Store) Resolve(ctx context.Context, baseURL string) (Key, error) {
	missing := fmt.Errorf("%w for %s", ErrNone, serviceOf(baseURL))
	for key, err := range s.Each(ctx, baseURL) {
		switch other := (elsewhere{}); {
		case err == nil:
			return key, nil
		case errors.Is(err, ErrNone):
		case errors.Is(err, ErrNoKeyring), errors.As(err, &other):
			missing = fmt.Errorf("%w; %w", missing, err)
		default:
			return Key{}, err
		}
	}
	return Key{}, missing
}

// Set stores the key for the service at a base URL in p, replacing the one that was there, and removes it
// from the other place, so that there is one. The error left says why another key may be there still.
func (s *Store) Set(ctx context.Context, baseURL, key string, p Place) (left, err error) {
	if key, err = check(key); err != nil {
		return nil, err
	}
	service := serviceOf(baseURL)
	inKeyring := func(do func(keyring) error) error {
		_, err := s.ask(ctx, func(k keyring) (string, error) { return "", do(k) })
		return err
	}
	if p == File {
		if err = s.file.set(service, key); err != nil {
			return nil, err
		}
		left = inKeyring(func(k keyring) error { return k.remove(service) })
		if errors.Is(left, errAbsent) {
			left = nil
		}
	} else {
		if err = inKeyring(func(k keyring) error { return k.set(service, key) }); err != nil {
			return nil, err
		}
		left = s.file.remove(service)
	}
	if left == nil || errors.Is(left, ErrNone) {
		return nil, nil
	}
	return fmt.Errorf("the key is stored, but another may be left elsewhere: %w", left), nil
}

// Remove removes a key from the keyring and the file; [ErrNone] when it was in neither.
func (s *Store) Remove(ctx context.Context, baseURL string) error {
	_, err := s.ask(ctx, func(k keyring) (string, error) { return "", k.remove(serviceOf(baseURL)) })
	if errors.Is(err, errAbsent) {
		err = ErrNone
	}
	inFile := s.file.remove(serviceOf(baseURL))
	switch {
	case errors.Is(err, ErrNone):
		return inFile
	case errors.Is(inFile, ErrNone):
		return err
	}
	return errors.Join(err, inFile)
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
