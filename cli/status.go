package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"mayfly/api"
	"mayfly/keys"
	"mayfly/render"
)

// Exit statuses; scripts rely on them.
const (
	statusDone        = 0
	statusError       = 1
	statusUsage       = 2
	statusNotFound    = 3
	statusKey         = 4 // missing, invalid or not allowed
	statusTimeout     = 5 // nothing arrived in time
	statusRateLimit   = 6
	statusBrokenPipe  = 141
	statusSignalFloor = 128 // plus the number of the signal that ended the run
)

// failure is an error with the exit status it ends the run with and what to do next.
type failure struct {
	status int
	err    error
	next   string // "" when there is nothing to do
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usagef is a usage error of the command that runs, whose help it points at.
func usagef(format string, args ...any) error {
	return &failure{status: statusUsage, err: fmt.Errorf(format, args...)}
}

func notFoundf(next, format string, args ...any) error {
	return &failure{status: statusNotFound, err: fmt.Errorf(format, args...), next: next}
}

// withNext says what to do about err, keeping the status err has.
func withNext(err error, next string) error {
	return &failure{status: exitStatus(err), err: err, next: next}
}

// reportedError is an error that has been reported already: it only carries the exit status.
type reportedError struct{ status int }

func (q reportedError) Error() string { return fmt.Sprintf("status %d", q.status) }

func exitStatus(err error) int {
	var f *failure
	var q reportedError
	switch {
	case err == nil:
		return statusDone
	case errors.As(err, &q):
		return q.status
	case errors.As(err, &f):
		return f.status
	case errors.Is(err, syscall.EPIPE):
		return statusBrokenPipe
	case errors.Is(err, api.ErrNotFound):
		return statusNotFound
	case errors.Is(err, api.ErrUnauthorized), errors.Is(err, api.ErrForbidden), errors.Is(err, keys.ErrNone),
		errors.Is(err, keys.ErrInvalid):
		return statusKey
	case errors.Is(err, api.ErrRateLimited):
		return statusRateLimit
	case errors.Is(err, context.DeadlineExceeded):
		return statusTimeout
	default:
		return statusError
	}
}

// nextStep says what to do about err, "" when the error says enough.
func nextStep(err error) string {
	var f *failure
	switch {
	case errors.As(err, &f) && f.next != "":
		return f.next
	case errors.Is(err, os.ErrPermission):
		return "check the permissions"
	}
	return api.NextStep(err)
}

// errorLine formats err for people: one line, safe for a terminal.
func errorLine(err error) string {
	line := strings.TrimRight(strings.Join(strings.Fields(err.Error()), " "), ".")
	if next := nextStep(err); next != "" {
		line += "; " + next
	}
	return "mayfly: " + render.Clean(line)
}
