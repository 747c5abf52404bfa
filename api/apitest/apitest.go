// Package apitest is a service that speaks the contract and nothing else, for tests.
package apitest

import (
	"net/http"
	"time"

	"mayfly/api"
)

// Key is the API key that the server accepts unless its options say otherwise.
const Key = "test-0123456789abcdef"

// Options are the choices of a [Server].
type Options struct {
	Key               string // Key when empty
	RequestsPerMinute int    // 0 for no limit
	Extensions        bool   // the extensions of Mayfly's own service: held lists, tags, list of inboxes, raw, attachments, paging, RateLimit fields
}

// Mail is a message to deliver.
type Mail struct {
	From, FromName, Subject, Text, HTML string
	Attachments                         []api.Attachment
	ReceivedAt                          time.Time // now when zero
	Raw                                 []byte
}

// Fault is a way to fail.
type Fault int

const (
	None           Fault = iota
	Limited              // 429 with Retry-After: 2
	LimitedNoTime        // 429 without Retry-After
	InternalError        // 500 with the error envelope
	BadGateway           // 502 with a page of HTML
	BrokenJSON           // 200, not JSON in spite of its content type
	Truncated            // 200, ends before its Content-Length
	HTML                 // 200, a page of HTML
	Cut                  // the connection ends without an answer
	Huge                 // 200, JSON without end
	Silent               // no answer until the request ends
)

// Server is an http.Handler that is a service.
type Server struct{}

// New returns a server.
func New(o Options) *Server { return &Server{} }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {}

// Transport returns a transport that calls the server without a network.
// It works in a bubble of testing/synctest.
func (s *Server) Transport() http.RoundTripper { return nil }

// Client returns a client of the server that uses Transport.
func (s *Server) Client(o api.Options) *api.Client { return nil }

// Deliver puts a message into the inbox with an address, and returns it.
func (s *Server) Deliver(address string, m Mail) (api.Message, error) { return api.Message{}, nil }

// Fail makes the next n requests fail; all until the next call when n is negative.
func (s *Server) Fail(f Fault, n int) {}

// SetDelay makes every answer wait so long.
func (s *Server) SetDelay(d time.Duration) {}
