package api

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode"

	"mayfly/internal/sockets"
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
	ErrChanged      = errors.New("another client has changed it")               // 412
	ErrNotModified  = errors.New("nothing has changed")                         // 304 to a request with an ETag
)

// Error is an answer of the service other than success.
type Error struct {
	Op      string // what was being done, such as "list messages"
	Status  int    // HTTP status; 0 when the request was not sent because the budget is used up
	Message string // the text of the service, at most 500 bytes; untrusted
	// RetryAfter is how long the service asks to wait; 0 if it does not.
	RetryAfter time.Duration

	kind   error
	header http.Header
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

// NextStep says what people, and agents that work for them, can do about an error of a call; "" where the error says enough.
func NextStep(err error) string {
	var e *Error
	switch {
	case errors.Is(err, ErrUnauthorized):
		return "`mayfly key status` shows which API key was used and its source, `mayfly key set` stores another"
	case errors.Is(err, ErrForbidden):
		return "use a key with a plan that allows this"
	case errors.Is(err, ErrRateLimited) && errors.As(err, &e) && e.RetryAfter > 0:
		return fmt.Sprintf("try again in %.0f s", math.Ceil(e.RetryAfter.Seconds()))
	case errors.Is(err, ErrRateLimited):
		return "try again in a minute"
	case sockets.IsError(err, syscall.ECONNREFUSED):
		return "is the service running there?"
	}
	return ""
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

// lost describes a request without a complete answer.
func (c *Client) lost(caller, attempt context.Context, op string, err error) error {
	if cause := context.Cause(caller); cause != nil {
		return fmt.Errorf("%s: %w", op, cause)
	}
	if refused, ok := errors.AsType[*Error](err); ok { // by the budget, on a redirect
		return refused
	}
	switch {
	case errors.Is(context.Cause(attempt), errSilent):
		err = errSilent
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errCut
	}
	return &lostError{op, c.scrub(err)}
}

// lostError is a request without a complete answer.
type lostError struct {
	op    string // may be empty
	cause error
}

func (e *lostError) Error() string {
	text := shorten(inWords(e.cause))
	if e.op == "" {
		return text
	}
	return e.op + ": the service cannot be reached: " + text
}

func (e *lostError) Unwrap() []error { return []error{ErrUnavailable, e.cause} }

// scrub removes the URL from an error of net/http, and the key if it contains it.
func (c *Client) scrub(err error) error {
	err = withoutURL(err)
	if strings.Contains(err.Error(), c.key()) {
		return errors.New(c.withoutKey(err.Error()))
	}
	return err
}

// withoutURL returns the cause of an error of net/http.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

func (c *Client) withoutKey(s string) string { return strings.ReplaceAll(s, c.key(), "(key)") }

// neverSent reports whether a request failed before anything of it was sent.
func neverSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// permanent reports whether a retry is pointless.
func permanent(err error) bool {
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	return certificate || record
}

func (c *Client) tooLarge(op string) error {
	return fmt.Errorf("%s: %w: larger than %d MiB", op, ErrUnexpected, c.options.MaxResponse>>20)
}

// kinds are the errors that a status alone tells.
var kinds = map[int]error{
	http.StatusBadRequest: ErrInvalid, http.StatusUnprocessableEntity: ErrInvalid, http.StatusUnauthorized: ErrUnauthorized,
	http.StatusForbidden: ErrForbidden, http.StatusTooManyRequests: ErrRateLimited,
}

// failure describes an answer other than success.
func (c *Client) failure(op string, a *answer, after time.Duration) error {
	e := &Error{Op: op, Status: a.status, RetryAfter: after, header: a.header}
	if a.isJSON() {
		e.Message = c.message(a.body)
	}
	switch {
	case kinds[a.status] != nil:
		e.kind = kinds[a.status]
	case a.status >= 500:
		e.kind = ErrUnavailable
	case a.status < 400:
		e.kind = ErrUnexpected
		e.Message = "the service redirects elsewhere, where the API key is not sent; is the base URL right?"
		if to, err := url.Parse(a.header.Get("Location")); err == nil && to.Host != "" {
			e.Message = fmt.Sprintf("the service redirects to %s, where the API key is not sent; is the base URL right?", c.withoutKey(shorten(to.Scheme+"://"+to.Host)))
		}
	case !a.isJSON() || e.Message == "" && len(a.body) > 0:
		// A server at a wrong base URL answers 404, too: that must not be taken for an inbox that
		// is gone.
		e.kind = ErrUnexpected
		e.Message = "the service answered with " + a.describe() + "; is the base URL right?"
	case a.status == http.StatusPreconditionFailed:
		e.kind = ErrChanged
	case a.status == http.StatusNotFound:
		e.kind = ErrNotFound
	}
	return e
}

// describe names what came instead of JSON.
func (a *answer) describe() string {
	return shorten(cmp.Or(a.mediaType(), "something that is not JSON"))
}

// message returns the text of an error body, bounded.
func (c *Client) message(body []byte) string { return shorten(c.withoutKey(errorText(body))) }

func errorText(body []byte) string {
	var envelope struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &envelope) != nil {
		return ""
	}
	var detail struct{ Message string }
	text := envelope.Message
	if json.Unmarshal(envelope.Error, &detail) == nil {
		text = detail.Message
	} else {
		json.Unmarshal(envelope.Error, &text) // if it is a string
	}
	return text
}

// shorten cuts a text of the service to 500 bytes.
func shorten(s string) string {
	const most = 500
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len("…")], "") + "…"
}

// inWords says why the network gave no answer, without the terms of the system's calls.
func inWords(err error) string {
	var dns *net.DNSError
	var notTLS tls.RecordHeaderError
	var timeout net.Error
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no host " + dns.Name
	case errors.As(err, &dns):
		return "the host " + dns.Name + " could not be looked up"
	case sockets.IsError(err, syscall.ECONNREFUSED):
		return dialed(err) + " refused the connection"
	case sockets.IsError(err, syscall.ECONNRESET):
		return "the connection was reset"
	case sockets.IsError(err, syscall.EHOSTUNREACH), sockets.IsError(err, syscall.ENETUNREACH):
		return "the network has no route to " + dialed(err)
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &notTLS):
		return "it does not speak TLS; is its address http://?"
	case strings.Contains(err.Error(), "malformed HTTP"):
		return "it does not speak HTTP; is the port right?"
	case errors.As(err, &timeout) && timeout.Timeout():
		return errSilent.Error()
	}
	return certificateInWords(err)
}

// certificateInWords says why the certificate of a service is not accepted.
func certificateInWords(err error) string {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var alert tls.AlertError
	switch {
	case errors.As(err, &authority):
		return "its certificate is not signed by an authority that this machine trusts; SSL_CERT_FILE names a file with others"
	case errors.As(err, &name):
		return "its certificate is not for " + name.Host
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "its certificate has expired or is not valid yet"
	case errors.As(err, &alert):
		return fmt.Sprintf("it refused the TLS connection (%v)", alert)
	}
	return err.Error()
}

// dialed is the address that a connection could not be made to.
func dialed(err error) string {
	if op := (&net.OpError{}); errors.As(err, &op) && op.Addr != nil {
		return op.Addr.String()
	}
	return "the host"
}
