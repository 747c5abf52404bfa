package watch

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"mayfly/api"
)

const (
	maxPolls   = 8                // requests in flight that are not held
	maxBackOff = 30 * time.Second // between attempts
	patience   = time.Second      // for a held request to tell what the list of inboxes already has
	longHeld   = 5 * time.Second  // a held request that is cut after so long was cut by something in between
	longList   = 200              // messages of a list that is not asked for whole again
	newest     = 100              // messages that are asked for instead
)

// follower is the state of a running watcher. It belongs to the goroutine in
// Run; the requests hand their results to it as functions.
type follower struct {
	w          *Watcher
	ctx        context.Context
	stop       context.CancelFunc
	background *api.Client
	requests   sync.WaitGroup
	results    chan func()
	queue      []Event // to be sent

	inboxes map[string]*inbox
	view    []string
	focused bool
	mode    Mode
	polls   int // requests in flight that are not held

	holds  answer // whether the service holds lists of messages
	list   inboxList
	trend  map[string]bool // the inboxes that failed since anything succeeded
	outage outage
}

// answer is what the service was found to do.
type answer int

const (
	unknown answer = iota
	yes
	no
)

// inbox is an inbox that is followed.
type inbox struct {
	id         string
	generation uint64
	added      time.Time

	known    bool // it was listed
	messages []api.Summary
	total    int
	etag     string

	inView, paused bool
	touched        time.Time

	request   *request
	refreshed bool      // somebody waits for its list
	changed   bool      // its list is known to differ
	changedAt time.Time // since when
	counted   bool      // the list of inboxes tells when it changes
	count     int       // of its messages, as that list told last; -1 when the inbox was not in it
	overtaken *request  // the request that was in flight then: its answer may be older
	held      bool      // it is to have a held request
	asked     time.Time // when the last request began
	ready     time.Time // when the next held request may begin
	cut       bool      // the last held request was cut
	trouble   outage
}

// inboxList is the list of the inboxes of the key.
type inboxList struct {
	has, holds answer
	counts     bool // its inboxes have counts
	etag       string
	raw        []byte
	request    *request
	refreshed  bool
	asked      time.Time
	ready      time.Time
	cut        bool
	trouble    outage
}

// outage is a row of failures.
type outage struct {
	failures int
	at       time.Time // of the last failure
	retry    time.Time
}

// request is a request in flight.
type request struct {
	cancel context.CancelFunc
	hold   time.Duration // 0 when it is not held
	began  time.Time
}

func newFollower(ctx context.Context, w *Watcher) *follower {
	f := &follower{w: w, background: w.client.Background(), results: make(chan func()),
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
	f.inboxes[id] = &inbox{id: id, generation: generation, added: time.Now(), inView: slices.Contains(f.view, id)}
}

func (f *follower) remove(id string) {
	if i := f.inboxes[id]; i != nil {
		i.abandon()
		delete(f.inboxes, id)
		delete(f.trend, id)
		f.queue = slices.DeleteFunc(f.queue, func(e Event) bool { return e.InboxID == id })
	}
}

// abandon ends the request of an inbox, if there is one; its result is dropped.
func (i *inbox) abandon() {
	if i.request != nil {
		i.request.cancel()
		i.request = nil
	}
}

func (f *follower) refresh(id string) {
	f.outage.retry = time.Time{}
	if id == "" {
		f.list.refreshed, f.list.trouble = true, outage{}
		if f.list.request != nil {
			f.list.request.cancel()
			f.list.request = nil
		}
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
	}
}

// emit queues an event, and lets a newer list of an inbox take the place of
// one that nobody has received yet.
func (f *follower) emit(e Event) {
	if e.Kind == Listed || e.Kind == Arrived || e.Kind == Inboxes {
		for n := range f.queue {
			q := &f.queue[n]
			if q.InboxID != e.InboxID || q.Kind != Listed && q.Kind != Arrived && q.Kind != Inboxes {
				continue
			}
			q.Kind = max(q.Kind, e.Kind) // a Listed that is an Arrived too is one
			q.Messages, q.Inboxes, q.New = e.Messages, e.Inboxes, slices.Concat(q.New, e.New)
			return
		}
	}
	f.queue = append(f.queue, e)
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

// start begins a request, and has its result handled by the follower.
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

func (f *follower) client(urgent bool) *api.Client {
	if urgent {
		return f.w.client
	}
	return f.background
}

func (f *follower) askMessages(i *inbox) {
	h := api.Hold{ETag: i.etag}
	if i.held && !i.refreshed && !i.changed {
		h.Wait = f.w.options.Hold
	}
	if (f.holds == yes || f.list.holds == yes) && len(i.messages) >= longList && i.etag != "" && !i.refreshed {
		h.Limit = newest
	}
	client := f.client(i.refreshed)
	hold := h.Wait
	if i.etag == "" {
		hold = 0 // it is answered at once
	}
	i.request = f.start(hold, func(ctx context.Context) func(*request) {
		list, err := client.HoldMessages(ctx, i.id, h)
		return func(r *request) {
			if i.request == r { // else it was abandoned
				i.request = nil
				if !notSent(err) {
					i.asked = r.began
				}
				f.gotMessages(i, r, h, list, err)
			}
		}
	})
}

func (f *follower) gotMessages(i *inbox, r *request, h api.Hold, list api.List, err error) {
	switch {
	case err == nil, errors.Is(err, api.ErrNotModified):
		if h.Wait > 0 && list.Held {
			f.holds = yes
		}
	case errors.Is(err, api.ErrUnsupported):
		f.holds = no
		if list.Messages == nil && list.ETag == "" {
			return // it was known: nothing was sent
		}
	case errors.Is(err, api.ErrNotFound):
		f.succeeded()
		f.w.forget(i.id, i.generation)
		f.remove(i.id)
		f.emitInbox(i, Event{Kind: Gone})
		return
	default:
		f.failed(i, r, err)
		return
	}
	f.succeeded()
	f.updateMode()
	i.cut = false
	refreshed := i.refreshed
	i.refreshed = false
	event, changed := Event{Kind: Listed}, !i.known
	if list.Messages != nil {
		i.etag = list.ETag
		slices.SortStableFunc(list.Messages, func(a, b api.Summary) int { return b.ReceivedAt.Compare(a.ReceivedAt) })
		whole, fresh, ok := i.join(list, h.Limit)
		if !ok {
			i.etag = "" // more has changed than was asked for
			i.markChanged()
			return
		}
		if i.known && len(fresh) > 0 {
			event.Kind, event.New = Arrived, fresh
		}
		changed = changed || event.Kind == Arrived || !sameIDs(i.messages, whole)
		i.messages, i.total, i.known = whole, list.Total, true
	}
	i.changed = i.changed && i.overtaken == r && i.count != i.total
	if i.trouble.failures > 0 {
		i.trouble = outage{}
		f.emitInbox(i, Event{Kind: Recovered})
	}
	if changed || refreshed {
		event.Messages = i.messages
		f.emitInbox(i, event)
	}
	i.ready = time.Time{}
	if h.Wait > 0 && (!list.Held || !changed && time.Since(r.began) < h.Wait/2) {
		// An answer before its time, and nothing new: as good as a poll.
		i.ready = r.began.Add(f.pace().interval(f.class(i, time.Now())))
	}
}

// join returns the whole list that the answer tells of, and the IDs that are new in it. With a limit the answer may be
// the newest part only: then all that came must stand before what was there, else it is not ok.
func (i *inbox) join(answer api.List, limit int) (whole []api.Summary, fresh []string, ok bool) {
	part := answer.Messages
	if limit == 0 || len(part) > limit || len(part) == answer.Total {
		return part, i.fresh(part), true
	}
	n := slices.IndexFunc(part, func(m api.Summary) bool { return m.ID == i.messages[0].ID })
	if n < 0 || len(i.messages)+n != answer.Total || !sameIDs(part[n:], i.messages[:len(part)-n]) {
		return nil, nil, false
	}
	for _, m := range part[:n] {
		fresh = append(fresh, m.ID)
	}
	return slices.Concat(part[:n], i.messages), fresh, true
}

// fresh returns the IDs that are not in the list of the inbox.
func (i *inbox) fresh(messages []api.Summary) []string {
	old := make(map[string]bool, len(i.messages))
	for _, m := range i.messages {
		old[m.ID] = true
	}
	var fresh []string
	for _, m := range messages {
		if !old[m.ID] {
			fresh = append(fresh, m.ID)
		}
	}
	return fresh
}

func sameIDs(a, b []api.Summary) bool {
	return slices.EqualFunc(a, b, func(a, b api.Summary) bool { return a.ID == b.ID })
}

func (f *follower) askInboxes() {
	l := &f.list
	h := api.Hold{ETag: l.etag}
	if l.holds != no && !l.refreshed {
		h.Wait = f.w.options.Hold
	}
	client := f.client(l.refreshed)
	hold := h.Wait
	if l.etag == "" {
		hold = 0
	}
	l.request = f.start(hold, func(ctx context.Context) func(*request) {
		list, err := client.HoldInboxes(ctx, h)
		return func(r *request) {
			if l.request == r {
				l.request = nil
				if !notSent(err) {
					l.asked = r.began
				}
				f.gotInboxes(r, h, list, err)
			}
		}
	})
}

func (f *follower) gotInboxes(r *request, h api.Hold, list api.InboxList, err error) {
	l := &f.list
	switch {
	case err == nil, errors.Is(err, api.ErrNotModified):
		if h.Wait > 0 && list.Held {
			l.holds = yes
		}
	case errors.Is(err, api.ErrUnsupported):
		l.holds = no
		if list.Inboxes == nil && list.ETag == "" {
			if h.Wait == 0 { // else it may have been about holding only
				l.has = no
				f.uncount()
			}
			return
		}
	default:
		f.failedInboxes(r, err)
		return
	}
	f.succeeded()
	l.has, l.cut, l.trouble = yes, false, outage{}
	changed := list.Inboxes != nil && !bytes.Equal(list.Raw, l.raw)
	if list.Inboxes != nil {
		l.etag, l.raw = list.ETag, list.Raw
		f.count(list.Inboxes, r.began)
	}
	if changed {
		f.emit(Event{Kind: Inboxes, Inboxes: list.Inboxes})
	}
	l.refreshed = false
	f.updateMode()
	// Mails often come several at once.
	l.ready = r.began.Add(listGap)
	if h.Wait > 0 && (!list.Held || !changed && time.Since(r.began) < h.Wait/2) {
		l.ready = r.began.Add(f.pace().list)
	}
}

// count marks the inboxes of which the list says that they have changed.
func (f *follower) count(inboxes []api.Inbox, asked time.Time) {
	f.list.counts = len(inboxes) == 0 || inboxes[0].MessageCount != nil
	counts := make(map[string]int, len(inboxes))
	for _, i := range inboxes {
		if i.MessageCount != nil {
			counts[i.ID] = *i.MessageCount
		}
	}
	for _, i := range f.inboxes {
		n, counted := counts[i.id]
		if !counted {
			n = -1
		}
		i.count, i.overtaken = n, i.request
		switch {
		case counted && n == 0 && !i.known && i.request == nil && !i.paused:
			i.known, i.messages = true, []api.Summary{}
			f.emitInbox(i, Event{Kind: Listed, Messages: i.messages})
		case counted && (!i.known || n != i.total):
			i.markChanged()
		case !counted && i.counted && i.added.Before(asked):
			i.markChanged() // it is not in the list any more: it is gone, or soon will be
		}
		if counted || i.added.Before(asked) {
			i.counted = counted
		}
	}
}

// succeeded ends an outage of the service.
func (f *follower) succeeded() {
	clear(f.trend)
	if f.outage.failures > 0 {
		f.outage = outage{}
		f.emit(Event{Kind: Recovered})
	}
}

// failed handles a request for messages that failed.
func (f *follower) failed(i *inbox, r *request, err error) {
	if notSent(err) && !i.refreshed {
		return
	}
	i.refreshed = false
	if r.hold > 0 && time.Since(r.began) >= longHeld && !i.cut && lost(err) && f.outage.failures == 0 {
		i.cut = true // many a proxy ends what takes long: ask again before saying anything
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

// failedInboxes handles a request for the list of inboxes that failed.
func (f *follower) failedInboxes(r *request, err error) {
	l := &f.list
	if notSent(err) && !l.refreshed {
		return
	}
	l.refreshed = false
	if r.hold > 0 && time.Since(r.began) >= longHeld && !l.cut && lost(err) && f.outage.failures == 0 {
		l.cut = true
		return
	}
	if serviceWide(err) {
		f.failedService(r, err)
		return
	}
	// The inboxes can be followed without the list.
	l.trouble.add(err)
	f.uncount()
}

// uncount is for when the list of inboxes does not tell what has changed any more.
func (f *follower) uncount() {
	f.list.counts = false
	for _, i := range f.inboxes {
		i.counted = false
	}
}

// failedService handles a failure that all requests would share.
func (f *follower) failedService(r *request, err error) {
	if f.outage.failures > 0 && r.began.Before(f.outage.at) {
		return // one of several that failed together
	}
	f.outage.add(err)
	if _, room := f.w.client.Budget().Background(); errors.Is(err, api.ErrRateLimited) {
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
	o.at = time.Now()
	wait := min(500*time.Millisecond<<min(o.failures-1, 10), maxBackOff)
	wait = wait*4/5 + rand.N(wait/5+1)
	var e *api.Error
	if errors.As(err, &e) {
		wait = max(wait, min(e.RetryAfter, time.Hour))
	}
	o.retry = o.at.Add(wait)
}

// notSent reports whether there was no room in the budget for a request.
func notSent(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Status == 0 && errors.Is(err, api.ErrRateLimited)
}

// lost reports whether a request got no answer, or one of something in between.
func lost(err error) bool {
	var e *api.Error
	return errors.Is(err, api.ErrUnavailable) && (!errors.As(err, &e) || e.Status >= 502 && e.Status <= 504)
}

// serviceWide reports whether an error is about more than one inbox.
func serviceWide(err error) bool {
	return lost(err) || errors.Is(err, api.ErrUnauthorized) || errors.Is(err, api.ErrForbidden) || errors.Is(err, api.ErrRateLimited)
}
