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

// Match says which messages are wanted. A field that is empty matches every message.
type Match struct {
	From    string // part of the sender's address or name, in any case
	Subject string // part of the subject, in any case
	// Accept decides on a message that matches otherwise. It is asked once about each.
	Accept func(api.Message) bool
}

func (m Match) matches(s api.Summary) bool {
	return (containsFold(s.From, m.From) || containsFold(s.FromName, m.From)) && containsFold(s.Subject, m.Subject)
}

func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// ErrGone is the error of waiting for mail to an inbox that was deleted or has expired.
var ErrGone = errors.New("the inbox is gone: deleted or expired")

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
	return fmt.Sprintf("%v; at last the service failed: %v", e.Ended, e.Last)
}

// Unwrap returns both.
func (e *FailingError) Unwrap() []error { return []error{e.Ended, e.Last} }

// Await returns the newest message of an inbox that matches, whether it is there already or has yet
// to arrive.
//
// It follows the inbox as a [Watcher] does. Failures that may pass are waited out, and a message
// that cannot be fetched is skipped until it can be. When ctx ends, the error wraps that of ctx,
// and is a [FailingError] if the service was failing then. Errors that waiting does not cure are
// returned at once: [ErrGone], [api.ErrUnauthorized], [api.ErrForbidden], [api.ErrNotFound].
func Await(ctx context.Context, c *api.Client, inboxID string, m Match) (api.Message, error) {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	w := New(c, Options{NoInboxes: true})
	w.Add(inboxID)
	w.SetView([]string{inboxID})
	ended := make(chan error, 1)
	go func() { ended <- w.Run(watching) }()

	a := awaiter{client: c, inboxID: inboxID, match: m, refused: map[string]bool{}}
	var found *api.Message
	var failure error                                                     // nil while the service answers
	again := time.AfterFunc(math.MaxInt64, func() { w.Refresh(inboxID) }) // for a message that could not be fetched
	defer again.Stop()
	pause := minPause
waiting:
	for events := range w.Events() {
		for _, e := range events {
			found, failure = a.onEvent(ctx, e, failure)
			if found != nil || final(failure) || ctx.Err() != nil {
				break waiting
			}
			if failure == nil {
				pause = minPause
			} else if e.Kind == Listed || e.Kind == Arrived {
				again.Reset(pause)
				pause = min(2*pause, maxPause)
			}
		}
	}
	cancel()
	err := <-ended
	switch {
	case found != nil:
		return *found, nil
	case final(failure):
		return api.Message{}, failure
	case ctx.Err() != nil && failure != nil:
		return api.Message{}, &FailingError{ctx.Err(), failure}
	case ctx.Err() != nil:
		return api.Message{}, ctx.Err()
	}
	return api.Message{}, err
}

// final reports a failure that waiting does not cure.
func final(err error) bool {
	return errors.Is(err, ErrGone) || errors.Is(err, api.ErrUnauthorized) || errors.Is(err, api.ErrForbidden) || errors.Is(err, api.ErrNotFound)
}

// awaiter looks for the message that is awaited among those that a watcher lists.
type awaiter struct {
	client  *api.Client
	inboxID string
	match   Match
	refused map[string]bool // by ID: not accepted, or deleted meanwhile
}

// onEvent returns the message if e brings it, and the failure that lasts after e.
func (a *awaiter) onEvent(ctx context.Context, e Event, failure error) (*api.Message, error) {
	switch e.Kind {
	case Gone:
		return nil, ErrGone
	case Failed:
		return nil, e.Err
	case Recovered:
		return nil, nil
	case Listed, Arrived:
		m, err := a.among(ctx, e.Messages)
		if m != nil || ctx.Err() == nil {
			return m, err
		}
	}
	return nil, failure
}

// lookBack is how many of the messages that match are fetched in search of one to accept.
const lookBack = 20

// among returns the newest message of the list that matches, nil without one. The error is of a
// message that could not be fetched.
func (a *awaiter) among(ctx context.Context, list []api.Summary) (*api.Message, error) {
	list = slices.DeleteFunc(slices.Clone(list), func(s api.Summary) bool { return !a.match.matches(s) })
	slices.SortStableFunc(list, func(x, y api.Summary) int { return y.ReceivedAt.Compare(x.ReceivedAt) })
	var skipped error
	for _, s := range list[:min(len(list), lookBack)] {
		if a.refused[s.ID] {
			continue
		}
		m, err := a.client.Message(ctx, a.inboxID, s.ID)
		m.ID = cmp.Or(m.ID, s.ID)
		switch {
		case errors.Is(err, api.ErrUnexpected): // of this message; others may be well
			skipped = err
		case errors.Is(err, api.ErrNotFound):
			a.refused[s.ID] = true
		case err != nil:
			return nil, err
		case a.match.Accept != nil && !a.match.Accept(m):
			a.refused[s.ID] = true
		default:
			return &m, nil
		}
	}
	return nil, skipped
}
