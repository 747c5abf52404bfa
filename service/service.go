// Package service is the domain: inboxes and their messages, keys, plans and limits, expiry, and who
// waits for what. It knows neither HTTP nor SMTP nor a database: the doors are service/rest and
// service/smtp, the stores service/pebble and service/postgres, each of which passes
// service/storetest.
//
// # Rules
//
// An inbox belongs to the key that made it; for any other key it does not exist. It ends at ExpiresAt
// or when it is deleted, and then it and its messages are gone at once; their storage follows later.
// Its address can be made anew by the same key only and stays taken for every other one.
//
// A message is accepted when [Service.Deliver] returns nil, and then it is on disk.
//
// A key makes no more requests than its plan allows in any 60 seconds, and its inboxes accept no more
// messages than its plan allows in a UTC day, however many callers there are at once.
//
// Every error carries a [Code]; its message is one line that may be shown to a user.
package service

import (
	"context"
	"log/slog"
	"time"
)

// Options of a Service. The zero value works, and has no domains to make inboxes in.
type Options struct {
	// Domains that inboxes may be made in, in lower case; the first is the default.
	Domains []string

	// CatchAll is the ID of the key that owns the inboxes made for mail to unknown addresses, at any
	// domain. Empty: mail to an unknown address is refused.
	CatchAll string

	// CatchAllTTL is the lifetime of such an inbox. Default: 24 hours.
	CatchAllTTL time.Duration

	// Log receives what an operator has to know; never a body or a key. Default: slog.Default().
	Log *slog.Logger
}

// Service is the domain on a store. Its methods may be called concurrently.
type Service struct {
	store   Store
	options Options
	log     *slog.Logger
	clock   *clock
	limiter limiter
	hub     *hub
	shared  Shared // the store, if other processes have it too; else nil
}

// New returns the service on a store, which the caller closes after the last call.
func New(store Store, o Options) *Service {
	if o.CatchAllTTL <= 0 {
		o.CatchAllTTL = 24 * time.Hour
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	s := &Service{
		store:   store,
		options: o,
		log:     o.Log,
		clock:   newClock(readClock()),
		hub:     newHub(),
	}
	if shared, ok := store.(Shared); ok {
		s.shared = shared
		s.limiter = newSharedLimiter(shared)
	} else {
		s.limiter = newLocalLimiter()
	}
	return s
}

// Domains returns the domains that inboxes may be made in; the first is the default.
func (s *Service) Domains() []string { return s.options.Domains }

// Ready tells whether the service can accept and answer: nil, or an error of code Unavailable.
func (s *Service) Ready(ctx context.Context) error { return s.store.Ready(ctx) }
