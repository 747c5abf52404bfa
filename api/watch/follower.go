package watch

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"mayfly/api"
)

const (
	maxInFlight = 8                      // requests other than long polls; half as many for what is not in view
	maxBackOff  = 30 * time.Second       // between attempts
	maxWait     = 25 * time.Second       // of a long poll
	maxLag      = time.Second            // how old what is in view may be, and how long a long poll may miss a change
	eventGap    = 100 * time.Millisecond // between events, unless one is about what is in view or the service
	longWait    = 5 * time.Second        // a long poll cut after this long was cut by a proxy in between
	longList    = 200                    // messages from which on a list is not requested completely again
	newest      = 100                    // messages that are requested instead
)

// follower is the state of a running watcher. It belongs to the goroutine of Run; requests pass it
// their results as functions.
type follower struct {
	w        *Watcher
	ctx      context.Context
	stop     context.CancelFunc
	requests sync.WaitGroup
	results  chan func()
	queue    []Event   // to send
	handling bool      // the receiver is, with InStep
	prompt   bool      // the queue is to be sent now
	sent     time.Time // when the last events were

	inboxes  map[string]*inbox
	view     []string
	focused  bool
	mode     Mode
	behind   time.Time // as the last Behind had it
	inFlight int       // requests other than long polls

	waits   answer // whether lists of messages can be long polls
	list    inboxList
	failing map[string]bool // inboxes that failed since the last success
	outage  outage
}

// answer is what is known about an ability of the service.
type answer int

const (
	unknown answer = iota
	yes
	no
)

// inbox is an inbox that is followed.
type inbox struct {
	poll
	id         string
	generation uint64
	added      time.Time

	known    bool // it was listed
	messages []api.Summary
	total    int

	inView, paused bool
	viewed         time.Time // when it came into view
	touched        time.Time

	changed    bool      // its list is known to have changed
	changedAt  time.Time // since when
	stale      time.Time // since when the list may be out of date; zero during a long poll for it
	counted    bool      // the list of inboxes shows when it changes
	count      int       // of its messages in that list; -1 if it was not in it
	tag        string    // of it in that list
	overtaken  *request  // in flight when the count came: its answer may be older
	longPolled bool      // it gets long polls
}

// poll is what is known of the requests for a list, of messages or of inboxes.
type poll struct {
	etag      string
	request   *request  // in flight
	refreshed bool      // Refresh was called for it
	asked     time.Time // when the last request began
	ready     time.Time // when the next long poll may begin
	cut       bool      // the last long poll was cut
	trouble   outage
}

// request is a request in flight.
type request struct {
	cancel context.CancelFunc
	wait   time.Duration // of a long poll; else 0
	began  time.Time
}

// abandon cancels the request, if there is one, and drops its result.
func (p *poll) abandon() {
	if p.request != nil {
		p.request.cancel()
		p.request = nil
	}
}

func newFollower(ctx context.Context, w *Watcher) *follower {
	f := &follower{w: w, results: make(chan func()),
		inboxes: map[string]*inbox{}, focused: true, failing: map[string]bool{}}
	f.ctx, f.stop = context.WithCancel(ctx)
	if w.options.NoInboxes {
		f.list.has = no
	}
	return f
}

// end waits for all requests.
func (f *follower) end() {
	f.stop()
	f.requests.Wait()
}

// start begins a request for a list in place of the one in flight, and has the follower handle what do
// returns, unless it is abandoned. A list that is not known yet comes without a wait.
func (f *follower) start(p *poll, wait time.Duration, do func(context.Context) (handle func(*request))) {
	p.abandon()
	if p.etag == "" {
		wait = 0
	}
	ctx, cancel := context.WithCancel(f.ctx)
	r := &request{cancel, wait, time.Now()}
	p.request = r
	if f.outage.failures > 0 {
		f.outage.probe = r
	}
	if wait == 0 {
		f.inFlight++
	}
	f.requests.Go(func() {
		defer cancel()
		handle := do(ctx)
		select {
		case f.results <- func() {
			if wait == 0 {
				f.inFlight--
			}
			if f.outage.probe == r {
				f.outage.probe = nil
			}
			if p.request == r {
				p.request = nil
				handle(r)
			}
		}:
		case <-f.ctx.Done():
		}
	})
}

func (f *follower) add(id string, generation uint64) {
	f.remove(id)
	i := &inbox{id: id, generation: generation, added: time.Now(), stale: time.Now()}
	i.setInView(slices.Contains(f.view, id))
	f.inboxes[id] = i
}

func (i *inbox) setInView(inView bool) {
	if inView && !i.inView {
		i.viewed = time.Now()
	}
	i.inView = inView
}

func (f *follower) remove(id string) {
	if i := f.inboxes[id]; i != nil {
		i.abandon()
		delete(f.inboxes, id)
		delete(f.failing, id)
		f.queue = slices.DeleteFunc(f.queue, func(e Event) bool { return e.InboxID == id })
	}
}

func (i *inbox) abandon() {
	if i.request != nil {
		i.poll.abandon()
		i.markStale()
	}
}

func (i *inbox) markStale() {
	if i.stale.IsZero() {
		i.stale = time.Now()
	}
}

func (i *inbox) markChanged() {
	if !i.changed {
		i.changed, i.changedAt = true, time.Now()
		i.markStale()
	}
}

func (f *follower) refresh(id string) {
	f.outage.retry, f.outage.failures = time.Time{}, min(f.outage.failures, 1)
	if id == "" {
		f.list.refreshed, f.list.trouble, f.list.etag = true, outage{}, ""
		f.list.abandon()
	}
	for _, i := range f.inboxes {
		if i.paused && id != i.id || id != "" && id != i.id {
			continue
		}
		i.trouble.retry = time.Time{}
		if id == i.id || i.inView {
			i.refreshed = true
			i.abandon()
		} else {
			i.markChanged()
		}
	}
}

// outlet returns where to send the queue, nil until it is to be sent, and the time until then.
func (f *follower) outlet() (chan<- []Event, time.Duration) {
	wait := eventGap - time.Since(f.sent)
	switch {
	case f.handling: // until the next reception
	case len(f.queue) == 0:
		return nil, never
	case !f.prompt && wait > 0:
		return nil, wait
	}
	return f.w.events, never
}

// emit queues an event. A newer list of an inbox replaces one that was not received yet.
func (f *follower) emit(e Event) {
	i := f.inboxes[e.InboxID]
	f.prompt = f.prompt || i != nil && i.inView || e.InboxID == "" && e.Kind != Inboxes
	n := slices.IndexFunc(f.queue, func(q Event) bool { return q.InboxID == e.InboxID && q.replacedBy(e.Kind) })
	if n < 0 {
		f.queue = append(f.queue, e)
		return
	}
	q := &f.queue[n]
	e.Kind, e.New = max(q.Kind, e.Kind), slices.Concat(q.New, e.New) // Listed and Arrived become Arrived
	*q = e
}

// replacedBy reports whether a later event of a kind says all that e does.
func (e Event) replacedBy(kind Kind) bool {
	switch kind {
	case Listed, Arrived:
		return e.Kind == Listed || e.Kind == Arrived
	case Inboxes, Behind:
		return e.Kind == kind
	}
	return false
}

func (f *follower) emitInbox(i *inbox, e Event) {
	e.InboxID, e.Generation = i.id, i.generation
	f.emit(e)
}

func (f *follower) updateMode() {
	mode := f.mode
	switch {
	case f.waits == yes || f.list.waits == yes && f.list.counts:
		mode = Live
	case f.waits == no:
		mode = Polling
	}
	if mode != f.mode {
		f.mode = mode
		f.emit(Event{Kind: ModeChanged, Mode: mode})
	}
}

// outage is a run of failures: of the service, or of the requests for one list.
type outage struct {
	failures int
	at       time.Time // of the last failure
	retry    time.Time
	limited  bool     // the last failure was a limit that was reached
	probe    *request // in flight, that shows whether the service still fails
}

// add counts a failure and sets the time of the next attempt.
func (o *outage) add(err error) {
	wait := min(500*time.Millisecond<<min(o.failures, 10), maxBackOff)
	wait = wait*4/5 + rand.N(wait/5+1)
	if e, ok := errors.AsType[*api.Error](err); ok {
		wait = max(wait, min(e.RetryAfter, time.Hour))
	}
	now := time.Now()
	*o = outage{failures: o.failures + 1, at: now, retry: now.Add(wait), limited: errors.Is(err, api.ErrRateLimited)}
}

// succeeded ends an outage of the service when a request that began at some time was answered. A
// limit that was reached since then is not over.
func (f *follower) succeeded(began time.Time) {
	clear(f.failing)
	if f.outage.failures > 0 && !(f.outage.limited && !began.After(f.outage.at)) {
		f.outage = outage{}
		f.emit(Event{Kind: Recovered})
	}
}

// failed handles the failure of a request for the list of an inbox, or without one for that of inboxes.
// A request that was not sent, and a long poll that a proxy cut for the first time, is repeated first.
func (f *follower) failed(p *poll, i *inbox, r *request, err error) {
	if notSent(err) && !p.refreshed {
		return
	}
	p.refreshed = false
	if r.wait > 0 && time.Since(r.began) >= longWait && !p.cut && lost(err) && f.outage.failures == 0 {
		p.cut = true
		return
	}
	if i != nil {
		f.failing[i.id] = true
	}
	switch {
	case serviceWide(err) || i != nil && len(f.failing) > 1:
		f.failedService(r.began, err)
	case i == nil: // the inboxes can be followed without the list
		p.trouble.add(err)
		f.uncount()
	default:
		p.trouble.add(err)
		f.emitInbox(i, Event{Kind: Failed, Err: err, RetryAt: p.trouble.retry})
	}
}

// failedService handles a failure that all requests would share, of one that began at some time.
func (f *follower) failedService(began time.Time, err error) {
	if f.outage.failures > 0 && !began.After(f.outage.at) {
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

// notSent reports whether the budget had no room for a request.
func notSent(err error) bool {
	e, ok := errors.AsType[*api.Error](err)
	return ok && e.Status == 0 && errors.Is(err, api.ErrRateLimited)
}

// lost reports whether a request got no answer, or one from a proxy in between.
func lost(err error) bool {
	e, ok := errors.AsType[*api.Error](err)
	return errors.Is(err, api.ErrUnavailable) && (!ok || e.Status >= 502 && e.Status <= 504)
}

// serviceWide reports whether an error is about more than one inbox.
func serviceWide(err error) bool {
	return lost(err) || errors.Is(err, api.ErrUnauthorized) || errors.Is(err, api.ErrForbidden) || errors.Is(err, api.ErrRateLimited)
}
