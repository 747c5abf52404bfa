package ui

import (
	"context"
	"errors"
	"time"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/keys"
	"mayfly/render"
)

// link is how the connection to the service is.
type link struct {
	since   time.Time // when connecting began
	err     error     // nil while all is well
	retryAt time.Time // when the next attempt is made by itself
	mode    watch.Mode

	lost     bool // the service of the session is gone for good
	failures int  // attempts to connect that failed in a row
	creating bool // an inbox is being made
}

// trouble names what is wrong with the connection.
type troubleKind int

const (
	noTrouble    troubleKind = iota
	troubleNoKey             // there is no key
	troubleKey               // 401
	troublePlan              // 403
	troubleLimit             // 429
	troubleAway              // cannot be reached, or fails
)

func kindOf(err error) troubleKind {
	switch {
	case err == nil:
		return noTrouble
	case errors.Is(err, keys.ErrNone):
		return troubleNoKey
	case errors.Is(err, api.ErrUnauthorized):
		return troubleKey
	case errors.Is(err, api.ErrForbidden):
		return troublePlan
	case errors.Is(err, api.ErrRateLimited):
		return troubleLimit
	}
	return troubleAway
}

// wake notes the next second of a countdown.
func (l *link) wake(now time.Time, al *alarm) {
	if l.err != nil && l.retryAt.After(now) {
		_, next := remaining(l.retryAt.Sub(now))
		al.in(next)
	}
}

// retried says whether trying again by itself can mend an error.
func retried(err error) bool {
	k := kindOf(err)
	return k == troubleLimit || k == troubleAway
}

// countdown tells when the next attempt is made; empty when none is.
func (l *link) countdown(now time.Time) string {
	if !l.retryAt.After(now) {
		return ""
	}
	left, _ := remaining(l.retryAt.Sub(now))
	return left
}

// plainError is one line that can be shown, whoever wrote it.
func plainError(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "The service did not answer in time"
	}
	return render.Clean(err.Error())
}
