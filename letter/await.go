package letter

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
	"mayfly/api/watch"
)

// Match says which messages are meant. A part that is empty matches every message; case does not matter.
type Match struct {
	From    string // part of the sender's address or name
	Subject string // part of the subject
}

func (m Match) matches(s api.Summary) bool {
	return (containsFold(s.From, m.From) || containsFold(s.FromName, m.From)) && containsFold(s.Subject, m.Subject)
}

func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// ErrGone is the error of waiting for mail to an inbox that was deleted or has expired.
var ErrGone = errors.New("the inbox is gone: deleted or expired")

// Between attempts to read messages that cannot be read.
const (
	minPause = time.Second
	maxPause = 30 * time.Second
)

// FailingError is the error of waiting for mail while the service failed.
type FailingError struct {
	Ended error // why the wait ended
	Last  error // what the service failed with at last
}

// Error tells both.
func (e *FailingError) Error() string {
	return fmt.Sprintf("%v; at last the service failed: %v", e.Ended, e.Last)
}

// Unwrap returns both.
func (e *FailingError) Unwrap() []error { return []error{e.Ended, e.Last} }

// Await returns the newest message that matches and that accept takes, be it there or still to arrive; accept nil takes
// every message. Messages that accept refuses are not shown to it again. The letter comes without its raw form, which
// [Letter.FetchRaw] adds.
//
// It follows the inbox as package watch does. Failures that may pass are waited out, and a message that cannot be read is
// passed over until it can; when ctx ends, the error wraps that of ctx, and is a [FailingError] where a failure lasted
// until then. What waiting does not mend ends it: [ErrGone], [api.ErrUnauthorized], [api.ErrForbidden], [api.ErrNotFound].
func Await(ctx context.Context, c *api.Client, inboxID string, m Match, accept func(Letter) bool) (Letter, error) {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	w := watch.New(c, watch.Options{NoInboxes: true})
	w.Add(inboxID)
	w.SetView([]string{inboxID})
	ended := make(chan error, 1)
	go func() { ended <- w.Run(watching) }()

	a := awaited{client: c, inboxID: inboxID, match: m, accept: accept, refused: map[string]bool{}}
	var result *Letter
	var failure error                                                     // nil while the service answers
	again := time.AfterFunc(math.MaxInt64, func() { w.Refresh(inboxID) }) // for a message that could not be read
	defer again.Stop()
	pause := minPause
	for e := range w.Events() {
		result, failure = a.on(ctx, e, failure)
		if result != nil || final(failure) || ctx.Err() != nil {
			break
		}
		if failure == nil {
			pause = minPause
		} else if e.Kind != watch.Failed {
			again.Reset(pause)
			pause = min(2*pause, maxPause)
		}
	}
	cancel()
	err := <-ended
	switch {
	case result != nil:
		return *result, nil
	case final(failure):
		return Letter{}, failure
	case ctx.Err() != nil && failure != nil:
		return Letter{}, &FailingError{ctx.Err(), failure}
	case ctx.Err() != nil:
		return Letter{}, ctx.Err()
	}
	return Letter{}, err
}

// final reports a failure that waiting does not mend.
func final(err error) bool {
	return errors.Is(err, ErrGone) || errors.Is(err, api.ErrUnauthorized) || errors.Is(err, api.ErrForbidden) || errors.Is(err, api.ErrNotFound)
}

type awaited struct {
	client  *api.Client
	inboxID string
	match   Match
	accept  func(Letter) bool
	refused map[string]bool
}

// on returns the letter when e brings it, and the failure that there is after e.
func (a *awaited) on(ctx context.Context, e watch.Event, failure error) (*Letter, error) {
	switch e.Kind {
	case watch.Gone:
		return nil, ErrGone
	case watch.Failed:
		return nil, e.Err
	case watch.Recovered:
		return nil, nil
	case watch.Listed, watch.Arrived:
		l, err := a.among(ctx, e.Messages)
		if l != nil || ctx.Err() == nil {
			return l, err
		}
	}
	return nil, failure
}

// lookBack is how many of the messages that match are read in search of one to accept.
const lookBack = 20

// among returns the newest message of the list that matches and is accepted, nil without one. The error is of a message
// that could not be read.
func (a *awaited) among(ctx context.Context, list []api.Summary) (*Letter, error) {
	list = slices.DeleteFunc(slices.Clone(list), func(s api.Summary) bool { return !a.match.matches(s) })
	slices.SortStableFunc(list, func(x, y api.Summary) int { return y.ReceivedAt.Compare(x.ReceivedAt) })
	var unread error
	for _, s := range list[:min(len(list), lookBack)] {
		if a.refused[s.ID] {
			continue
		}
		m, err := a.client.Message(ctx, a.inboxID, s.ID)
		if errors.Is(err, api.ErrUnexpected) { // of this message; others may be well
			unread = err
			continue
		}
		if err != nil && !errors.Is(err, api.ErrNotFound) {
			return nil, err
		}
		l := Letter{Message: m}
		if err == nil && (a.accept == nil || a.accept(l)) {
			l.Message.ID = cmp.Or(l.Message.ID, s.ID)
			return &l, nil
		}
		a.refused[s.ID] = true
	}
	return nil, unread
}
