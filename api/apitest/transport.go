package apitest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Transport returns a transport that calls the server without a network, for bubbles of
// testing/synctest.
func (s *Server) Transport() http.RoundTripper { return Transport(s) }

// Transport returns a transport that calls a handler without a network.
func Transport(h http.Handler) http.RoundTripper { return transport{h} }

type transport struct{ handler http.Handler }

var errCut = errors.New("connection reset by peer")

// RoundTrip runs the handler in a goroutine, which ends with the answer or when the body of the
// answer is closed.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	served := r.Clone(ctx)
	if served.Body == nil {
		served.Body = http.NoBody
	}
	served.RequestURI, served.RemoteAddr = r.URL.RequestURI(), "apitest"
	reader, writer := io.Pipe()
	w := &responseWriter{header: http.Header{}, body: writer, started: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() { reader.CloseWithError(context.Cause(ctx)) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			err := io.EOF
			if p := recover(); p == http.ErrAbortHandler {
				w.cut.Do(func() { w.aborted = true; close(w.started) })
				err = io.ErrUnexpectedEOF
			} else if p != nil {
				panic(p)
			}
			w.WriteHeader(http.StatusOK)
			if n, parseErr := strconv.Atoi(w.header.Get("Content-Length")); parseErr == nil && w.written < n {
				err = io.ErrUnexpectedEOF
			}
			writer.CloseWithError(err)
		}()
		t.handler.ServeHTTP(w, served)
	}()
	end := func() {
		stop()
		cancel()
		reader.Close()
		<-done
		served.Body.Close()
	}
	select {
	case <-w.started:
	case <-ctx.Done():
		end()
		return nil, context.Cause(r.Context())
	}
	if w.aborted {
		end()
		return nil, errCut
	}
	length := int64(-1)
	if n, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil {
		length = n
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: &body{reader, sync.OnceFunc(end)}, ContentLength: length, Request: r,
	}, nil
}

type body struct {
	io.Reader
	end func()
}

func (b *body) Close() error {
	b.end()
	return nil
}

type responseWriter struct {
	header, sent http.Header
	status       int
	written      int
	body         *io.PipeWriter
	cut          sync.Once
	aborted      bool
	started      chan struct{} // closed when sent, status and aborted are set
}

func (w *responseWriter) Header() http.Header { return w.header }

func (w *responseWriter) WriteHeader(status int) {
	w.cut.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.started)
	})
}

func (w *responseWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	n, err := w.body.Write(b)
	w.written += n
	return n, err
}

// Flush does nothing: nothing is buffered.
func (w *responseWriter) Flush() {}
