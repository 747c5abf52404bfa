package watch

import (
	"context"
	"slices"
	"sync"
	"time"

	"mayfly/api"
)

const (
	maxPolls   = 8                      // requests in flight that are not held; half as many for what is not in view
	maxBackOff = 30 * time.Second       // between attempts
	maxHold    = 25 * time.Second       // that the service is asked to hold a request for
	maxLag     = time.Second            // how old what is in view may be, and how long a held request may miss a change
	eventGap   = 100 * time.Millisecond // between events, unless one is about what is in view or the service
	longHeld   = 5 * time.Second        // a held request cut after this long was cut by a proxy in between
	longList   = 200                    // messages from which on a list is not requested completely again
	newest     = 100                    // messages that are requested instead
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
	prompt   bool      // it is to be sent now
	sent     time.Time // when the last events were

	inboxes map[string]*inbox
	view    []string
	focused bool
	mode    Mode
	behind  time.Time // as the last Behind had it
	polls   int       // requests in flight that are not held

	holds  answer // whether the service holds lists of messages
	list   inboxList
	trend  map[string]bool // inboxes that failed since the last success
	outage outage
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

	changed   bool      // its list is known to have changed
	changedAt time.Time // since when
	stale     time.Time // since when the list may be out of date; zero while a request is held for it
	counted   bool      // the list of inboxes shows when it changes
	count     int       // of its messages in that list; -1 if it was not in it
	overtaken *request  // the request that was in flight then, whose answer may be older
	held      bool      // it gets a held request
}

// poll is what is known of the requests for a list, of messages or of inboxes.
type poll struct {
	etag      string
	request   *request
	refreshed bool      // Refresh was called for it
	asked     time.Time // when the last request began
	ready     time.Time // when the next held request may begin
	cut       bool      // the last held request was cut
	trouble   outage
}

// abandon cancels the request, if there is one, and drops its result.
func (p *poll) abandon() {
	if p.request != nil {
		p.request.cancel()
		p.request = nil
	}
}

// request is a request in flight.
type request struct {
	cancel context.CancelFunc
	hold   time.Duration // 0 when it is not held
	began  time.Time
}

func newFollower(ctx context.Context, w *Watcher) *follower {
	f := &follower{w: w, results: make(chan func()),
		inboxes: map[string]*inbox{}, focused: true, trend: map[string]bool{}}
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
		delete(f.trend, id)
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

func (i *inbox) markChanged() {
	if !i.changed {
		i.changed, i.changedAt = true, time.Now()
		i.markStale()
	}
}

// outlet returns where to send the queue, nil until it is to be sent, and the time until then.
func (f *follower) outlet() (chan<- []Event, time.Duration) {
	if f.handling { // until the next reception
		return f.w.events, never
	}
	if len(f.queue) == 0 {
		return nil, never
	}
	if wait := eventGap - time.Since(f.sent); !f.prompt && wait > 0 {
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
	case f.holds == yes || f.list.holds == yes && f.list.counts:
		mode = Live
	case f.holds == no:
		mode = Polling
	}
	if mode != f.mode {
		f.mode = mode
		f.emit(Event{Kind: ModeChanged, Mode: mode})
	}
}

// start begins a request, whose result the follower handles.
func (f *follower) start(hold time.Duration, do func(ctx context.Context) (handle func(*request))) *request {
	ctx, cancel := context.WithCancel(f.ctx)
	r := &request{cancel: cancel, hold: hold, began: time.Now()}
	if hold == 0 {
		f.polls++
	}
	f.requests.Go(func() {
		defer cancel()
		handle := do(ctx)
		select {
		case f.results <- func() {
			if hold == 0 {
				f.polls--
			}
			handle(r)
		}:
		case <-f.ctx.Done():
		}
	})
	return r
}
