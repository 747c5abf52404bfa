package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"mayfly/api"
)

// Match says which messages end a wait. A field that is empty matches every message.
type Match struct {
	From    string // part of the sender's address or name, in any case
	Subject string // part of the subject, in any case
	// Fits decides on a message that matches otherwise. It is asked once about each.
	Fits func(api.Message) bool
	// Take is given each message that fits, one at a time and in order, and reports whether the wait is
	// over: false leaves the message to others, or asks for more. Without Take the first that fits ends
	// the wait.
	Take func(Found) bool
}

// Matches reports whether a message has what From and Subject ask for.
func (m Match) Matches(s api.Summary) bool {
	return (containsFold(s.From, m.From) || containsFold(s.FromName, m.From)) && containsFold(s.Subject, m.Subject)
}

func (m Match) take(f Found) bool { return m.Take == nil || m.Take(f) }

func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// ErrGone is the error of waiting for mail to an inbox that was deleted or has expired.
var ErrGone = errors.New("the inbox expired or was deleted")

// Bounds of the pause before a message that could not be fetched is fetched again.
const (
	minPause = time.Second
	maxPause = 30 * time.Second
)

// FailingError is the error of waiting for mail until the context ended while the service failed.
type FailingError struct {
	Ended error // the error of the context
	Last  error // the last failure of the service
}

// Error names both.
func (e *FailingError) Error() string {
	return fmt.Sprintf("%v; the service was failing: %v", e.Ended, e.Last)
}

// Unwrap returns both.
func (e *FailingError) Unwrap() []error { return []error{e.Ended, e.Last} }

// NoMatchError is the error of waiting for mail until the context ended, once the inbox was listed.
type NoMatchError struct {
	InboxID  string
	Since    time.Time     // of the messages that were considered; zero for all
	Ended    error         // the error of the context, or a [FailingError]
	Others   []api.Summary // those that were considered and do not match, the newest first
	Consumed []api.Summary // those that were consumed before, the newest first
}

func (e *NoMatchError) Error() string { return e.Ended.Error() }

// Unwrap returns the error of the context.
func (e *NoMatchError) Unwrap() error { return e.Ended }

// WaitForMessage returns the first message of an inbox that matches among those that after names, whether it
// is there already or has yet to arrive.
//
// It follows the inbox as a [Watcher] does. Failures that may pass are waited out, and a message
// that cannot be fetched is skipped until it can be. When ctx ends, the error wraps that of ctx, or a
// [FailingError] if the service was failing then, and is an [NoMatchError] if the inbox was listed. Errors
// that waiting does not cure are returned at once: [ErrGone], [api.ErrUnauthorized], [api.ErrForbidden],
// [api.ErrNotFound].
func WaitForMessage(ctx context.Context, c *api.Client, inboxID string, after Cursor, m Match) (api.Message, error) {
	w := New(c, Options{NoInboxes: true, InStep: true})
	w.Add(inboxID)
	w.SetView([]string{inboxID})
	a := awaiter{client: c, inboxID: inboxID, after: after, match: m, began: time.Now(), examined: map[string]bool{}, left: map[string]bool{}, pause: minPause}
	a.again = time.AfterFunc(math.MaxInt64, func() { w.Refresh(inboxID) })
	defer a.again.Stop()
	if err := Follow(ctx, w, func(e Event) (bool, error) { return a.onEvent(ctx, e) }); err != nil {
		if ctx.Err() != nil && a.list != nil {
			err = a.inVain(err)
		}
		return api.Message{}, err
	}
	return *a.found, nil
}

// AwaitInbox returns the inbox of the key in which mail to an address arrives, as soon as there is
// one, and whether it was made since the call. The service must have [api.Client.InboxAt], and makes
// one if [api.Client.CatchesAll]. It fails as [Await] does.
func AwaitInbox(ctx context.Context, c *api.Client, address string) (found api.Inbox, made bool, err error) {
	began := c.ServiceTime()
	for {
		asked := time.Now()
		err = Ask(ctx, func() error {
			found, err = c.InboxAt(ctx, address, maxWait)
			return err
		})
		if !errors.Is(err, api.ErrNotFound) {
			return found, err == nil && !found.CreatedAt.Before(began), err
		}
		// A service with too many long polls answers at once.
		if err := sleep(ctx, minPause-time.Since(asked)); err != nil {
			return found, false, err
		}
	}
}

// Ask asks a service until it answers, and returns its error. Failures that may pass are waited out as in [Await], and an
// end of ctx has the same error.
func Ask(ctx context.Context, ask func() error) error {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		err := ask()
		if !errors.Is(err, api.ErrUnavailable) && !errors.Is(err, api.ErrRateLimited) {
			return err
		}
		wait := pause
		if e, ok := errors.AsType[*api.Error](err); ok {
			wait = max(wait, e.RetryAfter)
		}
		if ended := sleep(ctx, wait); ended != nil {
			return &FailingError{ended, err}
		}
	}
}

// sleep waits for d, or returns the error of ctx if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Follow runs a watcher and calls onEvent with what happens, until that is done or fails for good, which
// is what waiting does not cure, or ctx ends. A failure that onEvent returns lasts until the next event.
// The error is that of the last event, or that of ctx, a [FailingError] if there was a failure then.
func Follow(ctx context.Context, w *Watcher, onEvent func(Event) (done bool, failure error)) error {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- w.Run(watching) }()
	var failure error
	for events := range w.Events() {
		for _, e := range events {
			var done bool
			if done, failure = onEvent(e); !done && !final(failure) {
				continue
			}
			cancel()
			<-ended
			return failure
		}
	}
	err := <-ended
	switch {
	case ctx.Err() != nil && failure != nil:
		return &FailingError{ctx.Err(), failure}
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}

// final reports a failure that waiting does not cure.
func final(err error) bool {
	return errors.Is(err, ErrGone) || errors.Is(err, api.ErrUnauthorized) || errors.Is(err, api.ErrForbidden) || errors.Is(err, api.ErrNotFound)
}

// awaiter looks for the message that is awaited among those that a watcher lists.
type awaiter struct {
	client   *api.Client
	inboxID  string
	after    Cursor
	match    Match
	began    time.Time
	listed   bool            // and the newest were chosen, if after asks for them
	list     []api.Summary   // the last one, nil before
	examined map[string]bool // by ID: whether it fits, or was passed over
	left     map[string]bool // by ID: was not taken, since another wait was faster, or more are wanted
	fitting  []Found         // the newest that fit, the newest first, until listed
	found    *api.Message
	failure  error // that lasts

	unfetched bool        // a message could not be fetched
	again     *time.Timer // asks for the list again then
	pause     time.Duration
}

// onEvent reports whether e brings the message, and the failure that lasts after e.
func (a *awaiter) onEvent(ctx context.Context, e Event) (done bool, failure error) {
	switch e.Kind {
	case Gone:
		a.failure = ErrGone
	case Failed:
		a.failure = e.Err
	case Recovered:
		a.failure, a.pause = nil, minPause
	case Listed, Arrived:
		var err error
		a.list = append([]api.Summary{}, e.Messages...)
		if a.found, err = a.onList(ctx, e.Messages); ctx.Err() == nil {
			a.failure = err
		}
		if a.unfetched = err != nil; !a.unfetched {
			a.pause = minPause
		}
	}
	if a.unfetched && e.Kind != Failed { // else the watcher asks again
		a.again.Reset(a.pause)
		a.pause = min(2*a.pause, maxPause)
	}
	if a.found != nil {
		return true, nil
	}
	return false, a.failure
}

// onList returns the message in list (newest first) that satisfies the wait, or nil.
// The error is of a message that could not be fetched.
func (a *awaiter) onList(ctx context.Context, list []api.Summary) (*api.Message, error) {
	if a.listed || a.after.Newest == 0 {
		return a.oldest(ctx, list)
	}
	skipped, err := a.chooseNewest(ctx, list)
	if err != nil {
		return nil, err
	}
	a.listed = true
	for _, f := range slices.Backward(a.fitting) {
		if a.take(f) {
			return &f.Message, nil
		}
	}
	return nil, skipped
}

// oldest offers those that fit, the oldest first.
func (a *awaiter) oldest(ctx context.Context, list []api.Summary) (found *api.Message, skipped error) {
	if a.after.ago > 0 {
		a.after.since, a.after.ago = a.client.ServiceTime().Add(-time.Since(a.began)-a.after.ago), 0
	}
	for n, s := range slices.Backward(list) {
		if !a.after.includes(s) {
			continue
		}
		f, err := a.examine(ctx, list, n)
		switch {
		case errors.Is(err, api.ErrUnexpected): // of this message; others may be well
			skipped = err
		case err != nil:
			return nil, err
		case f != nil && a.take(*f):
			return &f.Message, nil
		}
	}
	return nil, skipped
}

func (a *awaiter) take(f Found) bool {
	taken := a.match.take(f)
	a.left[f.ID] = !taken
	return taken
}

// lookBack is how many messages are fetched in search of the newest that fit.
const lookBack = 20

// chooseNewest adds the newest that fit to a.fitting, and passes over what is older.
func (a *awaiter) chooseNewest(ctx context.Context, list []api.Summary) (skipped, err error) {
	fetched := 0
	for n, s := range list {
		_, examined := a.examined[s.ID]
		switch {
		case examined || !a.match.Matches(s):
			continue
		case len(a.fitting) == a.after.Newest || fetched == lookBack:
			a.examined[s.ID] = true
			continue
		}
		fetched++
		f, err := a.examine(ctx, list, n)
		switch {
		case errors.Is(err, api.ErrUnexpected):
			skipped = err
		case err != nil:
			return nil, err
		case f != nil:
			a.fitting = append(a.fitting, *f)
		}
	}
	return skipped, nil
}

// examine fetches a message of a list unless that is known to fail, and returns it if it fits.
func (a *awaiter) examine(ctx context.Context, list []api.Summary, n int) (*Found, error) {
	s := list[n]
	if _, examined := a.examined[s.ID]; examined || !a.match.Matches(s) {
		return nil, nil
	}
	m, err := a.client.Message(ctx, a.inboxID, s.ID)
	if err != nil && !errors.Is(err, api.ErrNotFound) {
		return nil, err
	}
	m.ID = cmp.Or(m.ID, s.ID)
	a.examined[s.ID] = err == nil && (a.match.Fits == nil || a.match.Fits(m))
	if !a.examined[s.ID] {
		return nil, nil
	}
	return &Found{Message: m, received: s.ReceivedAt, passed: olderOfThatTime(list, n)}, nil
}

// inVain says what the inbox has instead of what was awaited until ctx ended with err.
func (a *awaiter) inVain(err error) error {
	e := &NoMatchError{InboxID: a.inboxID, Since: a.after.since, Ended: err}
	for _, s := range a.list {
		switch {
		case a.after.except[hash(s.ID)] || a.left[s.ID]:
			e.Consumed = append(e.Consumed, s)
		case a.after.includes(s) && !a.examined[s.ID]:
			e.Others = append(e.Others, s)
		}
	}
	return e
}
