package apitest

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"time"
)

// Fault is a way to fail.
type Fault int

const (
	None          Fault = iota
	Limited             // 429 with Retry-After: 2
	LimitedNoTime       // 429 without Retry-After
	Forbidden           // 403, the plan does not allow it
	InternalError       // 500 with the error envelope
	BadGateway          // 502 with a page of HTML
	BrokenJSON          // 200, broken JSON
	Truncated           // 200, ends before its Content-Length
	HTML                // 200, a page of HTML
	NotFoundHTML        // 404, a page of HTML, as for a wrong base URL
	NotFound            // 404 with the error envelope
	Cut                 // the connection closes without an answer
	CutAfter            // the request is carried out, then the connection closes without an answer
	Late                // the request is carried out and answered two seconds later
	Huge                // 200, JSON without end
	Silent              // no answer until the request ends
	Echo                // 400 with a message that repeats the API key
)

type fault struct {
	Fault
	times int
	match func(*http.Request) bool
}

// Fail makes the given number of requests fail; all from now on if times is negative. It replaces
// an earlier fault.
func (s *Server) Fail(f Fault, times int) { s.FailIf(f, times, nil) }

// FailIf is Fail for the requests that match.
func (s *Server) FailIf(f Fault, times int, match func(*http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault{f, times, match}
}

// SetDelay delays every answer.
func (s *Server) SetDelay(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = d
}

func (f *fault) take(r *http.Request) Fault {
	if f.times == 0 || f.match != nil && !f.match(r) {
		return None
	}
	f.times--
	return f.Fault
}

// answers are those of the faults that are nothing else.
var answers = map[Fault]struct {
	status  int
	message string // in the error envelope; "": a page of HTML
}{
	Limited:       {http.StatusTooManyRequests, "Rate limit exceeded"},
	LimitedNoTime: {http.StatusTooManyRequests, "Rate limit exceeded"},
	Forbidden:     {http.StatusForbidden, "Your plan does not allow this"},
	NotFound:      {http.StatusNotFound, "No such message"},
	InternalError: {http.StatusInternalServerError, "Internal server error"},
	Echo:          {http.StatusBadRequest, `The key KEY is odd\u001b[2J`},
	BadGateway:    {status: http.StatusBadGateway},
	HTML:          {status: http.StatusOK},
	NotFoundHTML:  {status: http.StatusNotFound},
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, f Fault) {
	if a, ok := answers[f]; ok {
		kind, body := "text/html; charset=utf-8", "<!DOCTYPE html><title>Welcome</title><p>It works."
		if a.message != "" {
			kind, body = "application/json", fmt.Sprintf(`{"error":{"code":%d,"message":"%s"}}`, a.status, strings.ReplaceAll(a.message, "KEY", r.Header.Get("X-API-Key")))
		}
		if f == Limited {
			w.Header().Set("Retry-After", "2")
		}
		writeText(w, a.status, kind, body)
		return
	}
	switch f {
	case BrokenJSON:
		writeText(w, http.StatusOK, "application/json", `{"messages": [{"id": "msg_`)
	case Truncated:
		w.Header().Set("Content-Length", "1000")
		writeText(w, http.StatusOK, "application/json", `{"messages": [`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case CutAfter:
		s.answer(r)
		panic(http.ErrAbortHandler)
	case Late:
		answer := s.answer(r)
		s.sleep(r, 2*time.Second)
		s.send(w, answer)
	case Huge:
		writeText(w, http.StatusOK, "application/json", `{"messages": [`)
		blank := strings.Repeat(" ", 1<<16)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, blank); err != nil {
				return
			}
		}
	case Silent:
		_, _ = io.Copy(io.Discard, r.Body) // else net/http does not notice that the client has left
		s.sleep(r, math.MaxInt64)
	default:
		panic(http.ErrAbortHandler)
	}
}

func writeText(w http.ResponseWriter, status int, contentType, text string) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// Transport returns a transport that calls the server without a network, for bubbles of
// testing/synctest.
func (s *Server) Transport() http.RoundTripper { return Transport(s) }

// Transport returns a transport that calls a handler without a network. Each request has a connection of
// its own, which ends with it.
func Transport(h http.Handler) http.RoundTripper {
	dial := func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go (&http.Server{Handler: h}).Serve(&listener{server})
		return client, nil
	}
	return &http.Transport{DialContext: dial, DialTLSContext: dial, DisableKeepAlives: true, DisableCompression: true}
}

// listener has one connection.
type listener struct{ net.Conn }

func (l *listener) Accept() (c net.Conn, err error) {
	if c, l.Conn = l.Conn, nil; c == nil {
		err = io.EOF
	}
	return c, err
}

func (l *listener) Close() error { return nil }

func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "apitest"} }
