package service

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Code is the kind of an error; the servers turn it into a status.
type Code string

const (
	Invalid      Code = "invalid"      // the request is wrong: 400
	Unauthorized Code = "unauthorized" // no such key: 401
	Forbidden    Code = "forbidden"    // the plan does not allow it: 403
	NotFound     Code = "not found"    // no such inbox, message, address or key of the caller: 404, SMTP 550
	Taken        Code = "taken"        // the address belongs to another inbox or key, the secret to a key: 400
	RateLimited  Code = "rate limited" // too many requests, see RetryAfter: 429
	OverQuota    Code = "over quota"   // the day's messages are used up, see RetryAfter: SMTP 452
	Full         Code = "full"         // no space left in the store: 503, SMTP 452
	Unavailable  Code = "unavailable"  // the store cannot be used now, see RetryAfter: 503, SMTP 452
	Damaged      Code = "damaged"      // what was asked for cannot be read from the store: 500
	Canceled     Code = "canceled"     // the caller's context ended
	Undelivered  Code = "undelivered"  // another server did not take mail: 502
	Internal     Code = "internal"     // everything else: 500, SMTP 451
)

// Error is an error of the domain. Message is one line that may be shown to a user; Err, if not
// nil, is the cause, for the log only.
type Error struct {
	Code       Code
	Message    string
	RetryAfter time.Duration // with RateLimited, OverQuota and Unavailable, when known
	Err        error
}

// Error returns the message and the cause, for logs. A user is shown only Message.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an error with a code and a message for the user. What the arguments say, the user
// sees.
func Errorf(code Code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// ErrorCode returns the code of an error: empty for nil, Canceled for a context's error, Internal
// for any other error without a code.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Canceled
	}
	return Internal
}
