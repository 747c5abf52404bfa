package cli

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"regexp"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"mayfly/api"
	"mayfly/internal/registry"
	"mayfly/internal/server"
)

// visits are the sessions over SSH of a service.
type visits struct {
	mu   sync.Mutex
	keys map[string]*keySessions // by the ID of the key, while it has sessions
}

// keySessions are the sessions of an API key. They share what was read and printed, and one request for what several of them
// ask at a time: each counts in the plan of the key, and a team watches the same inboxes.
type keySessions struct {
	id       string
	sessions int
	once     sync.Once
	known    *registry.Registry
	asked    singleflight.Group // by what is asked
	kept     sync.Map           // of *sharedAnswer, likewise
}

func (v *visits) join(keyID string) *keySessions {
	v.mu.Lock()
	defer v.mu.Unlock()
	k := v.keys[keyID]
	if k == nil {
		k = &keySessions{id: keyID}
		v.keys[keyID] = k
	}
	k.sessions++
	return k
}

func (v *visits) leave(k *keySessions) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if k.sessions--; k.sessions == 0 {
		delete(v.keys, k.id)
	}
}

// registry returns what is known, for the client of a session: its public key may be one of several.
func (k *keySessions) registry(c *api.Client) *registry.Registry {
	k.once.Do(func() { k.known = registry.Remote(c) })
	return k.known.As(c)
}

const (
	maxShared  = 1 << 20         // bytes of an answer that is kept for others
	sharedTime = 5 * time.Second // how long the answer for a message is: a new one is opened by all who watch
)

// oneMessage is the path of a message, which never changes.
var oneMessage = regexp.MustCompile(`^/v1/inboxes/[^/]+/messages/[^/]+$`)

// coalescing makes the requests of a session.
type coalescing struct {
	key     *keySessions
	session *server.Session
	through http.RoundTripper
}

// sharedAnswer is what several requests for the same get.
type sharedAnswer struct {
	http.Response
	body []byte
}

// RoundTrip implements http.RoundTripper. Long polls for the same change are one, and so are requests for the same message.
func (c *coalescing) RoundTrip(r *http.Request) (*http.Response, error) {
	message := oneMessage.MatchString(r.URL.Path)
	if r.Method != http.MethodGet || !message && (r.Header.Get("Prefer") == "" || r.Header.Get("If-None-Match") == "") {
		answer, err := c.through.RoundTrip(r)
		if err == nil {
			answer.Body = &weighed{answer.Body, c.session, 0}
		}
		return answer, err
	}
	what := r.URL.RequestURI() + "\n" + r.Header.Get("Accept") + "\n" + r.Header.Get("If-None-Match") // and not how long: who waits less ends by itself
	kept, known := c.key.kept.Load(what)
	if !known {
		asked := c.key.asked.DoChan(what, func() (any, error) {
			return c.ask(what, r.Clone(context.WithoutCancel(r.Context())), message)
		})
		select {
		case result := <-asked:
			if kept = result.Val; result.Err != nil {
				return nil, result.Err
			}
		case <-r.Context().Done():
			return nil, context.Cause(r.Context())
		}
	}
	shared := kept.(*sharedAnswer)
	if shared.StatusCode == http.StatusUnauthorized { // the public key of the session that asked was removed
		return c.through.RoundTrip(r)
	}
	answer := shared.Response
	answer.Header, answer.Request = maps.Clone(shared.Header), r
	answer.Body = &weighed{io.NopCloser(bytes.NewReader(shared.body)), c.session, 0}
	return &answer, nil
}

// ask makes a request for all who wait for it, and keeps the answer for a message for a while. A long poll ends by itself.
func (c *coalescing) ask(what string, r *http.Request, message bool) (*sharedAnswer, error) {
	answer, err := c.through.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body) // whose length the service bounds
	shared := &sharedAnswer{*answer, body}
	if err == nil && message && answer.StatusCode == http.StatusOK && len(body) <= maxShared {
		c.key.kept.Store(what, shared)
		time.AfterFunc(sharedTime, func() { c.key.kept.Delete(what) })
	}
	return shared, err
}

// weighed is what a session reads: the body of an answer, or its input.
type weighed struct {
	io.ReadCloser
	session *server.Session
	read    int64
}

func (w *weighed) Read(b []byte) (int, error) {
	n, err := w.ReadCloser.Read(b)
	if w.read += int64(n); w.read > w.session.Largest.Load() {
		w.session.Largest.Store(w.read)
	}
	return n, err
}
