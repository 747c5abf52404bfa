// Package watch follows inboxes within the request budget of their key.
//
// On a service with long polls a [Watcher] reports what arrives immediately: for a few inboxes, those
// in view first, with a long poll each, and for the others with one for the list of the key's inboxes,
// whose counts say which have changed. A service with the bare contract is polled: often
// for what is in view or was just used, less often for the rest, and less often still while the
// terminal has no focus. All of it leaves room in the budget for what a person does with the same
// client, see [api.Budget]. [Await] waits for one message.
package watch

import (
	"context"
	"slices"
	"sync"
	"time"

	"mayfly/api"
)

// Kind says what an [Event] is about.
type Kind int

const (
	// Listed has the list of an inbox: the first one, one that changed without a new message, or
	// the answer to Refresh.
	Listed Kind = iota
	// Arrived has the list of an inbox with new messages.
	Arrived
	// Gone means that the inbox was deleted or has expired. It is no longer followed.
	Gone
	// Failed has the error and the time of the next attempt. Without an inbox the service as a
	// whole fails, and all inboxes wait. Each failed attempt sends one.
	Failed
	// Recovered ends Failed.
	Recovered
	// ModeChanged has the new mode.
	ModeChanged
	// Inboxes has the first page of the list of the key's inboxes: whenever it changes, and as the answer
	// to Refresh. Only a service with such a list sends it.
	Inboxes
	// Behind has the time since when what is in view has been out of date, once that is more than a
	// second: since then a request for it has been due, or its answer. The zero time ends it. It is
	// not sent while the service fails.
	Behind
)

// Mode is how the service is followed.
type Mode int

const (
	Unknown Mode = iota // no answer yet
	Live                // by long polls
	Polling             // by polling
)

// Event is something that happened. Its slices are shared and must not be changed.
type Event struct {
	Kind    Kind
	InboxID string // empty if the event is about the service
	// Generation is the one that Add returned. An event of an earlier generation is stale.
	Generation uint64

	Messages []api.Summary // Listed, Arrived: the complete list, newest first
	New      []string      // Arrived: the IDs of the new messages
	Err      error         // Failed
	RetryAt  time.Time     // Failed
	Mode     Mode          // ModeChanged
	Inboxes  []api.Inbox   // Inboxes
	Total    int           // Inboxes: how many there are
	Since    time.Time     // Behind
}

// Options are the choices of a [Watcher].
type Options struct {
	// NoInboxes does not ask for the list of the key's inboxes. It is for following one or two
	// inboxes of many.
	NoInboxes bool
	// InStep begins no request between the reception of events and the next one, which is empty. It
	// is for a receiver that any event may satisfy.
	InStep bool
}

// Watcher follows inboxes. Its methods may be called from several goroutines, before and while it
// runs, and do not block.
type Watcher struct {
	client  *api.Client
	options Options
	events  chan []Event
	wake    chan struct{}

	mu          sync.Mutex
	commands    []func(*follower)
	generations map[string]uint64
	last        uint64
}

// New returns a watcher that makes its requests with c and shares the budget of c.
func New(c *api.Client, o Options) *Watcher {
	return &Watcher{client: c, options: o, events: make(chan []Event), wake: make(chan struct{}, 1), generations: map[string]uint64{}}
}

// Events returns the channel of events, which is closed when Run returns. What happens between two
// receptions arrives at once: a newer list replaces an older one.
func (w *Watcher) Events() <-chan []Event { return w.events }

// do runs a command in the follower's goroutine.
func (w *Watcher) do(command func(*follower)) {
	w.mu.Lock()
	w.commands = append(w.commands, command)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Add follows an inbox and returns its generation. An inbox that is followed already keeps its
// generation; one that was removed or is gone gets a new one.
func (w *Watcher) Add(inboxID string) uint64 {
	w.mu.Lock()
	if generation, ok := w.generations[inboxID]; ok {
		w.mu.Unlock()
		return generation
	}
	w.last++
	generation := w.last
	w.generations[inboxID] = generation
	w.mu.Unlock()
	w.do(func(f *follower) { f.add(inboxID, generation) })
	return generation
}

// Remove stops following an inbox. No more events of its generation are sent, except those that are
// being received.
func (w *Watcher) Remove(inboxID string) {
	w.mu.Lock()
	delete(w.generations, inboxID)
	w.mu.Unlock()
	w.do(func(f *follower) { f.remove(inboxID) })
}

func (w *Watcher) forget(inboxID string, generation uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.generations[inboxID] == generation {
		delete(w.generations, inboxID)
	}
}

// Pause stops the requests for an inbox, or resumes them.
func (w *Watcher) Pause(inboxID string, paused bool) {
	w.do(func(f *follower) {
		if i := f.inboxes[inboxID]; i != nil && i.paused != paused {
			i.paused, i.changed = paused, false
			i.abandon()
			if !paused {
				i.stale = time.Now()
				i.markChanged()
			}
		}
	})
}

// SetView says which inboxes are on the screen.
func (w *Watcher) SetView(inboxIDs []string) {
	inboxIDs = slices.Clone(inboxIDs)
	w.do(func(f *follower) {
		f.view = inboxIDs
		for _, i := range f.inboxes {
			i.setInView(slices.Contains(inboxIDs, i.id))
		}
	})
}

// Touch says that an inbox was just used, for example that its address was copied, so that mail is
// likely.
func (w *Watcher) Touch(inboxID string) {
	now := time.Now()
	w.do(func(f *follower) {
		if i := f.inboxes[inboxID]; i != nil {
			i.touched = now
		}
	})
}

// SetFocused says whether the terminal has the focus. It does until SetFocused is called.
func (w *Watcher) SetFocused(focused bool) { w.do(func(f *follower) { f.focused = focused }) }

// Refresh asks for the list of an inbox now, even while it fails, and Listed or Arrived follows.
// With an empty ID it asks for all inboxes: those in view now, the others as the budget allows.
func (w *Watcher) Refresh(inboxID string) {
	w.do(func(f *follower) { f.refresh(inboxID) })
}

// Report says how a request that others made with the client ended; nil is success. An outage of the
// service begins and ends with it as with a request of the watcher.
func (w *Watcher) Report(err error) {
	w.do(func(f *follower) {
		switch {
		case err == nil:
			f.succeeded(time.Now())
		case serviceWide(err):
			f.failedService(time.Now(), err)
		}
	})
}

// Run follows the inboxes until ctx ends, waits for all its requests to end, and returns the cause.
// It can be called once.
func (w *Watcher) Run(ctx context.Context) error {
	f := newFollower(ctx, w)
	defer close(w.events)
	defer f.end()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		w.mu.Lock()
		commands := w.commands
		w.commands = nil
		w.mu.Unlock()
		for _, command := range commands {
			command(f)
		}
		wait := never
		if !f.handling && !(f.w.options.InStep && len(f.queue) > 0) {
			wait = min(f.schedule(), f.updateLag())
		}
		out, unsent := f.outlet()
		timer.Reset(min(wait, unsent))
		select {
		case out <- f.queue:
			f.handling = f.w.options.InStep && len(f.queue) > 0
			f.queue, f.prompt, f.sent = nil, false, time.Now()
		case <-w.wake:
		case <-timer.C:
		case done := <-f.results:
			done()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
