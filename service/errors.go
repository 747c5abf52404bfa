package service

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Code says what kind of error it is; the doors turn it into a status.
type Code string

const (
	Invalid      Code = "invalid"      // the request is wrong: 400
	Unauthorized Code = "unauthorized" // no such key: 401
	Forbidden    Code = "forbidden"    // the plan does not allow it: 403
	NotFound     Code = "not found"    // no such inbox, message, address or key, or not the caller's: 404, SMTP 550
	Taken        Code = "taken"        // the address is not to be had: 400
	RateLimited  Code = "rate limited" // too many requests, see RetryAfter: 429
	OverQuota    Code = "over quota"   // the day's messages are used up, see RetryAfter: SMTP 452
	Full         Code = "full"         // no space left in the store: 503, SMTP 452
	Unavailable  Code = "unavailable"  // the store cannot be reached or written for now, see RetryAfter: 503, SMTP 452
	Damaged      Code = "damaged"      // what was asked for cannot be read from the store: 500
	Canceled     Code = "canceled"     // the caller's context ended
	Internal     Code = "internal"     // everything else: 500, SMTP 451
)

// Error is an error of the domain. Message is one line fit for a user; Err, if any, is the cause, for
// the log only.
type Error struct {
	Code       Code
	Message    string
	RetryAfter time.Duration // with RateLimited, OverQuota and Unavailable, when known
	Err        error
}

// Error returns the message and the cause: for logs. What a user sees is Message.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an error of the code with a message for the user; a cause is wrapped with %w and
// appears in the message, so wrap only what a user may see.
func Errorf(code Code, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: nil}
}

// ErrorCode returns the code of an error: empty for nil, Canceled for a context that ended, Internal
// for an error that has none.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Canceled
	}
	return Internal
}
