// Package keys finds and keeps the API key of a profile.
package keys

import (
	"context"
	"errors"
)

// ErrNone is the error when there is no key.
var ErrNone = errors.New("no API key")

// Secret is an API key that does not print.
type Secret struct{ reveal func() string }

// Reveal returns the key itself.
func (s Secret) Reveal() string { return s.reveal() }

// Key is a key and where it was found.
type Key struct {
	Secret Secret
	Source string // for people, such as "environment variable MAYFLY_API_KEY"
}

// Place is where Set keeps a key.
type Place int

const (
	Keyring Place = iota // the keyring of the operating system
	File                 // a file that only its owner can read
)

// Store finds and keeps keys.
type Store struct{}

// Options say where a [Store] looks.
type Options struct {
	// Dir is the folder of the key file; the file is called keys.json.
	Dir string
}

// New returns a store.
func New(o Options) *Store { return &Store{} }

// ID says whose key is meant: a key kept for one service is never used for another.
type ID struct{ Profile, BaseURL string }

// Resolve returns the key.
func (s *Store) Resolve(ctx context.Context, id ID) (Key, error) { return Key{}, ErrNone }

// Set keeps a key.
func (s *Store) Set(ctx context.Context, id ID, key string, p Place) error { return ErrNone }

// Remove removes a key from the keyring and the file, and returns from where it was removed.
func (s *Store) Remove(ctx context.Context, id ID) ([]string, error) { return nil, ErrNone }

// Last4 returns the last four characters of a key long enough to show them, for recognising it.
func (s Secret) Last4() string { return "" }
