package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
)

// The errors of calls, for errors.Is. An [*Error] has the details.
var (
	ErrInvalid      = errors.New("the service refused the parameters")          // 400
	ErrUnauthorized = errors.New("the API key is missing or invalid")           // 401
	ErrForbidden    = errors.New("the plan of the API key does not allow this") // 403
	ErrNotFound     = errors.New("no such inbox or message")                    // 404
	ErrRateLimited  = errors.New("too many requests")                           // 429, or the budget is used up
	ErrUnavailable  = errors.New("the service cannot be reached or has failed") // network errors, 5xx
	ErrUnexpected   = errors.New("the answer is not from this API")             // not JSON, broken, too large, a redirect
	ErrUnsupported  = errors.New("the service does not offer this")             // an extension of the contract
	ErrNotModified  = errors.New("nothing has changed")                         // 304 to a request with an ETag
)

// Error is an answer of the service other than success.
type Error struct {
	Op      string // what was being done, such as "list messages"
	Status  int    // HTTP status; 0 when the request was not sent because the budget is used up
	Message string // the text of the service, at most 500 bytes; untrusted
	// RetryAfter is how long the service asks to wait; 0 if it does not.
	RetryAfter time.Duration

	kind error
}

// Error returns one line of printable text: what was being done and what went wrong.
func (e *Error) Error() string {
	switch {
	case e.Status == 0:
		return e.Op + ": " + e.Message
	case e.Message == "":
		return fmt.Sprintf("%s: the service answered %d %s", e.Op, e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("%s: %s (%d)", e.Op, printable(e.Message), e.Status)
}

// printable replaces what no line of text should contain.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}

// Unwrap returns the one of the errors above that describes e, or nil.
func (e *Error) Unwrap() error { return e.kind }
