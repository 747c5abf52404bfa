package cli

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mayfly/internal/server"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What several sessions of a key ask at a time is one request, which one that ends does not take with it.
func TestSessionsOfAKeyShareRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		service := roundTrip(func(r *http.Request) (*http.Response, error) {
			made.Add(1)
			time.Sleep(25 * time.Second)
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Etag": {`"2"`}}, Body: io.NopCloser(strings.NewReader("list")), Request: r}, r.Context().Err()
		})
		key, session := new(keySessions), new(server.Session)
		ask := func(ctx context.Context, method, path, tag string) (string, error) {
			r, _ := http.NewRequestWithContext(ctx, method, sessionURL+path, nil)
			r.Header.Set("Prefer", "wait=25")
			if tag != "" {
				r.Header.Set("If-None-Match", tag)
			}
			answer, err := (&coalescing{key, session, service}).RoundTrip(r)
			if err != nil {
				return "", err
			}
			body, err := io.ReadAll(answer.Body)
			return string(body), err
		}
		together := func(path, method, tag string, want int64) {
			t.Helper()
			made.Store(0)
			var sessions sync.WaitGroup
			for range 10 {
				sessions.Go(func() {
					if body, err := ask(t.Context(), method, path, tag); err != nil || body != "list" {
						t.Errorf("%s %s: %q, %v", method, path, body, err)
					}
				})
			}
			sessions.Wait()
			if made.Load() != want {
				t.Errorf("%s %s: %d requests, want %d", method, path, made.Load(), want)
			}
		}
		together("/v1/inboxes/a/messages", "GET", `"1"`, 1)
		together("/v1/inboxes/a/messages/b", "GET", "", 1)
		together("/v1/inboxes/a/messages", "GET", "", 10) // what comes before it may be missing in another's
		together("/v1/inboxes", "POST", `"1"`, 10)

		made.Store(0)
		first, endFirst := context.WithCancel(t.Context())
		go func() { _, _ = ask(first, "GET", "/v1/inboxes", `"1"`) }()
		synctest.Wait()
		time.AfterFunc(time.Second, endFirst)
		if body, err := ask(t.Context(), "GET", "/v1/inboxes", `"1"`); body != "list" || err != nil || made.Load() != 1 {
			t.Errorf("a session that ends takes the request of another with it: %q, %v, %d requests", body, err, made.Load())
		}
		refused := roundTrip(func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return &http.Response{StatusCode: http.StatusUnauthorized, Body: http.NoBody, Request: r}, nil
		})
		r, _ := http.NewRequestWithContext(t.Context(), "GET", sessionURL+"/v1/inboxes/a/messages/c", nil)
		go func() { _, _ = (&coalescing{key, session, refused}).RoundTrip(r) }()
		synctest.Wait()
		if body, err := ask(t.Context(), "GET", "/v1/inboxes/a/messages/c", ""); body != "list" || err != nil {
			t.Errorf("the session of a public key that was removed is answered for another: %q, %v", body, err)
		}
		if session.Largest.Load() != int64(len("list")) {
			t.Errorf("the largest answer has %d bytes", session.Largest.Load())
		}
	})
}
