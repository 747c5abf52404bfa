// Package service is the domain: inboxes and their messages, keys, plans and limits, expiry, and
// waiting for changes. It knows neither HTTP nor SMTP nor a database: the servers are service/rest
// and service/smtp, the stores service/pebble and service/postgres, which both pass
// service/storetest.
//
// # Rules
//
// An inbox belongs to the key that created it; to any other key it does not exist. When it expires
// or is deleted, it and its messages are gone at once; their storage is reclaimed later. Only the
// same key can create an inbox with the same address again; for all others the address stays taken,
// and so is every address that adds a tag to it. No mail for one key's address goes to another key. At domains
// that are not the service's own, each key has its own inbox at an address, for mail of sessions that it logs in to.
//
// A message is accepted when [Service.Deliver] returns nil, and then it is on disk.
//
// In any 60 seconds a key makes no more requests than its plan allows, and in a UTC day its inboxes
// accept no more messages than its plan allows, no matter how many callers there are at once. Only
// the key in [Options] that is unlimited is not counted.
//
// Every error carries a [Code]; its message is one line that may be shown to a user.
//
// # Terms
//
// The hub is the process's publish-subscribe hub: it wakes callers of [Service.WaitMessages] and
// [Service.WaitInboxes].
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Options of a Service. The zero value works, but has no domains for inboxes.
type Options struct {
	// Domains are the domains of inboxes, in lower case; the first is the default.
	Domains []string

	// CatchAll is the ID of the key that gets an inbox for each unknown address that mail arrives
	// for, at any domain. Empty: mail to an unknown address is refused.
	CatchAll string

	// Logins says that a key may log in to SMTP. It then gets an inbox for each unknown address that its
	// sessions send mail to. Other keys can get one for the same address, unless its domain is one of Domains.
	Logins bool

	// Unlimited is the ID of a key that may make any number of requests and get any number of
	// messages. Its requests are not counted, and its quota is zero. Empty: there is no such key.
	Unlimited string

	// CatchAllTTL is the lifetime of such an inbox. Default: 24 hours.
	CatchAllTTL time.Duration

	// Arrived is called with each message of an inbox once it is on disk, before the sender gets its
	// answer, so it must not block. Mail for the postmaster is not among them. Nil: nothing is called.
	Arrived func(Arrival)

	// Log gets what an operator has to know; never a body or a key. Default: slog.Default().
	Log *slog.Logger
}

// Service applies the rules of the domain to a store. It is safe for concurrent use.
type Service struct {
	store   Store
	options Options
	log     *slog.Logger
	limiter Limiter
	hub     *hub

	shared Shared         // the store if processes can share it, else nil
	ready  chan readiness // has one element while nobody asks the store
	used   sync.Map       // when keys were used that is not saved yet, by ID
}

// New returns a service on a store, which the caller closes after the last call.
func New(store Store, o Options) *Service {
	if o.CatchAllTTL <= 0 {
		o.CatchAllTTL = 24 * time.Hour
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	s := &Service{store: store, options: o, log: o.Log, hub: &hub{topics: map[string][]chan struct{}{}}, ready: make(chan readiness, 1)}
	s.ready <- readiness{}
	if s.shared, _ = store.(Shared); s.shared != nil {
		s.limiter = s.shared
	} else {
		s.limiter = newLocalLimiter()
	}
	return s
}

// IsUnlimited reports whether a key is that of Options.Unlimited.
func (s *Service) IsUnlimited(k Key) bool { return k.ID == s.options.Unlimited }

// IsShared reports whether other processes can have the store open, too.
func (s *Service) IsShared() bool { return s.shared != nil }

// readiness is what the store said when it was last asked.
type readiness struct {
	asked time.Time
	err   error
}

const (
	readyInterval = time.Second     // between two tries to write
	readyTimeout  = 3 * time.Second // for each of them
)

// Ready returns nil if the service can accept mail and answer requests, else why not, as a line that
// anyone may read. The store is asked at most once a second, for at most 3 s; all who come meanwhile
// get the same answer.
func (s *Service) Ready(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case r := <-s.ready:
		defer func() { s.ready <- r }()
		if time.Since(r.asked) >= readyInterval {
			bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
			r.err = s.store.Ready(bounded)
			r.asked = time.Now()
			cancel()
		}
		return r.err
	}
}

// now is the time that stamps and expiry use, in UTC and whole milliseconds, as in the contract. Processes that
// share a store share its clock.
func (s *Service) now() time.Time {
	now := time.Now()
	if s.shared != nil {
		now = s.shared.Now()
	}
	return now.UTC().Truncate(time.Millisecond)
}

const (
	sweepLimit = 1000        // inboxes at once, so that other changes are not held up
	sweepPause = time.Second // shortest time between two sweeps that left nothing to do
)

// Run removes expired inboxes and listens to other processes until ctx ends, and then returns nil.
// It only reclaims storage: an inbox is gone when it expires, whether or not Run is called. The last use
// of keys is saved once a minute and at the end.
func (s *Service) Run(ctx context.Context) error {
	var others sync.WaitGroup
	defer others.Wait()
	var err error
	if s.shared != nil {
		others.Go(func() { err = s.shared.Listen(ctx, s.hub.notify) })
	}
	var saved time.Time
	for {
		pause := s.sweep(ctx)
		if time.Since(saved) >= time.Minute {
			s.saveUsed(ctx)
			saved = time.Now()
		}
		select {
		case <-ctx.Done():
			s.saveUsed(context.WithoutCancel(ctx))
			others.Wait()
			return err
		case <-time.After(pause):
		}
	}
}

// sweep removes expired inboxes and returns how long it takes until more can expire. Since no inbox
// lives for less than MinTTL, none that is created meanwhile can expire earlier.
func (s *Service) sweep(ctx context.Context) time.Duration {
	for {
		now := s.now()
		swept, err := s.store.Sweep(ctx, now, sweepLimit)
		if err != nil {
			if ctx.Err() == nil {
				s.log.Error("expired inboxes could not be removed, trying again in a minute", "error", err)
			}
			return MinTTL
		}
		for _, in := range swept.Inboxes {
			s.hub.notify(in.ID)
		}
		switch {
		case swept.Next.IsZero():
			return MinTTL
		case swept.Next.After(now) || len(swept.Inboxes) == 0:
			return min(max(swept.Next.Sub(now), sweepPause), MinTTL)
		}
	}
}

// Code is the kind of an error; the servers turn it into a status.
type Code string

const (
	Invalid      Code = "invalid"      // the request is wrong: 400
	Unauthorized Code = "unauthorized" // no such key: 401
	Forbidden    Code = "forbidden"    // the plan does not allow it: 403
	NotFound     Code = "not found"    // no such inbox, message, address or key of the caller: 404, SMTP 550
	Taken        Code = "taken"        // the address belongs to another inbox or key, the secret to a key: 400
	RateLimited  Code = "rate limited" // too many requests, see RetryAfter: 429
	OverQuota    Code = "over quota"   // the day's messages are used up, see RetryAfter, or there are too many inboxes: SMTP 452
	Full         Code = "full"         // no space left in the store: 503, SMTP 452
	Unavailable  Code = "unavailable"  // the store cannot be used now, see RetryAfter: 503, SMTP 452
	Damaged      Code = "damaged"      // what was asked for cannot be read from the store: 500
	Canceled     Code = "canceled"     // the caller's context ended
	Undelivered  Code = "undelivered"  // another server did not take mail: 502
	Internal     Code = "internal"     // everything else: 500, SMTP 451
)

// Error is an error of the domain. Message is one line that may be shown to a user; Err, if not
// nil, is the cause, for the log only.
type Error struct {
	Code       Code
	Message    string
	RetryAfter time.Duration // with RateLimited, OverQuota and Unavailable, when known
	Err        error
}

// Error returns the message and the cause, for logs. A user is shown only Message.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an error with a code and a message for the user. What the arguments say, the user
// sees.
func Errorf(code Code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// ErrorCode returns the code of an error: empty for nil, Canceled for a context's error, Internal
// for any other error without a code.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Canceled
	}
	return Internal
}

// recheckInterval is how long a waiter trusts that other processes announce their changes. A
// process that dies between a change and its announcement is thus made up for.
const recheckInterval = 5 * time.Second

// WaitMessages returns true as soon as the inbox has a version other than the given one, which may
// be at once, and false without an error when ctx ends first. NotFound: no such inbox, or it was
// deleted or expired while waiting.
func (s *Service) WaitMessages(ctx context.Context, k Key, inboxID string, version uint64) (changed bool, err error) {
	return s.wait(ctx, []string{inboxID}, version, func() (uint64, time.Duration, error) {
		in, err := s.Inbox(ctx, k, inboxID)
		return in.Version, in.ExpiresAt.Sub(s.now()), err
	})
}

// WaitInboxes does for a page of the key's list of inboxes what WaitMessages does for an inbox. It waits for
// changes of the page that the caller has; the total is none.
func (s *Service) WaitInboxes(ctx context.Context, k Key, p Page, list InboxList) (changed bool, err error) {
	topics := make([]string, 0, 1+len(list.Inboxes))
	if p.After == "" {
		topics = append(topics, k.ID)
	}
	for _, in := range list.Inboxes {
		topics = append(topics, in.ID)
	}
	return s.wait(ctx, topics, list.Version, func() (uint64, time.Duration, error) {
		now, err := s.Inboxes(ctx, k, p)
		return now.Version, math.MaxInt64, err
	})
}

// wait waits until read returns a version other than the given one. Besides the version, read
// returns how long to wait for a notification before reading again.
func (s *Service) wait(ctx context.Context, topics []string, version uint64, read func() (uint64, time.Duration, error)) (changed bool, err error) {
	// Before reading, so that no change is missed.
	notified, unsubscribe := s.hub.subscribe(topics)
	defer unsubscribe()
	for {
		current, limit, err := read()
		if err != nil || current != version {
			if ctx.Err() != nil && ErrorCode(err) == Canceled {
				return false, nil
			}
			return err == nil, err
		}
		if s.shared != nil {
			limit = min(limit, recheckInterval+rand.N(recheckInterval)) // so that not all read at once
		}
		recheck := time.NewTimer(limit)
		select {
		case <-notified:
		case <-recheck.C:
		case <-ctx.Done():
		}
		recheck.Stop()
		if ctx.Err() != nil {
			return false, nil
		}
	}
}

// hub is a publish-subscribe hub within the process. A topic is the ID of an inbox, or the ID of a
// key, which is about new inboxes. Publishing carries no data: it wakes the subscribers, which then
// read the store.
type hub struct {
	mu          sync.Mutex
	topics      map[string][]chan struct{} // one for each subscriber
	subscribers int
}

// subscribe returns a channel that has an element after notifications of the topics, and the function
// that ends the subscription.
func (h *hub) subscribe(ids []string) (notified <-chan struct{}, unsubscribe func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := make(chan struct{}, 1)
	for _, id := range ids {
		h.topics[id] = append(h.topics[id], c)
	}
	h.subscribers++
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, id := range ids {
			list := h.topics[id]
			n := slices.Index(list, c)
			if h.topics[id] = slices.Delete(list, n, n+1); len(list) == 1 {
				delete(h.topics, id)
			}
		}
		h.subscribers--
	}
}

// notify wakes the subscribers of a topic, or with "" those of all.
func (h *hub) notify(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if id != "" {
		wake(h.topics[id])
		return
	}
	for _, subscribers := range h.topics {
		wake(subscribers)
	}
}

func wake(subscribers []chan struct{}) {
	for _, c := range subscribers {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Waiting returns the number of callers in WaitMessages and WaitInboxes.
func (s *Service) Waiting() int {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.hub.subscribers
}
