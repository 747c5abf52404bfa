package watch

import (
	"errors"
	"math/rand/v2"
	"time"

	"mayfly/api"
)

// outage is a run of failures.
type outage struct {
	failures int
	at       time.Time // of the last failure
	retry    time.Time
	limited  bool // the last failure was a limit that was reached
}

// succeeded ends an outage of the service when a request that began at some time was answered. A
// limit that was reached since then is not over.
func (f *follower) succeeded(began time.Time) {
	clear(f.trend)
	if f.outage.failures > 0 && !(f.outage.limited && !began.After(f.outage.at)) {
		f.outage = outage{}
		f.emit(Event{Kind: Recovered})
	}
}

// passing reports whether the failure of a request says nothing yet: it was not sent, or cut by a proxy, as
// long requests often are, and is tried again first.
func (f *follower) passing(p *poll, r *request, err error) bool {
	if notSent(err) && !p.refreshed {
		return true
	}
	p.refreshed = false
	if r.hold > 0 && time.Since(r.began) >= longHeld && !p.cut && lost(err) && f.outage.failures == 0 {
		p.cut = true
		return true
	}
	return false
}

func (f *follower) failed(i *inbox, r *request, err error) {
	if f.passing(&i.poll, r, err) {
		return
	}
	f.trend[i.id] = true
	if serviceWide(err) || len(f.trend) > 1 {
		f.failedService(r, err)
		return
	}
	i.trouble.add(err)
	f.emitInbox(i, Event{Kind: Failed, Err: err, RetryAt: i.trouble.retry})
}

func (f *follower) failedInboxes(r *request, err error) {
	switch {
	case f.passing(&f.list.poll, r, err):
	case serviceWide(err):
		f.failedService(r, err)
	default: // the inboxes can be followed without the list
		f.list.trouble.add(err)
		f.uncount()
	}
}

// failedService handles a failure that all requests would share.
func (f *follower) failedService(r *request, err error) {
	if f.outage.failures > 0 && !r.began.After(f.outage.at) {
		return // one of several that failed together
	}
	f.outage.add(err)
	if _, room := f.w.client.Budget().Background(); f.outage.limited {
		f.outage.retry = later(f.outage.retry, time.Now().Add(room))
	}
	f.emit(Event{Kind: Failed, Err: err, RetryAt: f.outage.retry})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// add counts a failure and sets the time of the next attempt.
func (o *outage) add(err error) {
	o.failures++
	o.at, o.limited = time.Now(), errors.Is(err, api.ErrRateLimited)
	wait := min(500*time.Millisecond<<min(o.failures-1, 10), maxBackOff)
	wait = wait*4/5 + rand.N(wait/5+1)
	var e *api.Error
	if errors.As(err, &e) {
		wait = max(wait, min(e.RetryAfter, time.Hour))
	}
	o.retry = o.at.Add(wait)
}

// notSent reports whether the budget had no room for a request.
func notSent(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Status == 0 && errors.Is(err, api.ErrRateLimited)
}

// lost reports whether a request got no answer, or one from a proxy in between.
func lost(err error) bool {
	var e *api.Error
	return errors.Is(err, api.ErrUnavailable) && (!errors.As(err, &e) || e.Status >= 502 && e.Status <= 504)
}

// serviceWide reports whether an error is about more than one inbox.
func serviceWide(err error) bool {
	return lost(err) || errors.Is(err, api.ErrUnauthorized) || errors.Is(err, api.ErrForbidden) || errors.Is(err, api.ErrRateLimited)
}
