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

	"mayfly/api"
	"mayfly/internal/registry"
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
	mu       sync.Mutex
	known    *registry.Registry // nil until a session asks for it
	asked    map[string]*flight // by what is asked
}

func (v *visits) join(keyID string) *keySessions {
	v.mu.Lock()
	defer v.mu.Unlock()
	k := v.keys[keyID]
	if k == nil {
		k = &keySessions{id: keyID, asked: map[string]*flight{}}
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

// registry returns what is known, which the first client that asks for it reads and keeps.
func (k *keySessions) registry(c *api.Client) *registry.Registry {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil {
		k.known = registry.Remote(c)
	}
	return k.known
}

// flight is a request that several sessions wait for, and its answer.
type flight struct {
	waiting int
	cancel  context.CancelFunc
	done    chan struct{} // closed when the rest is set
	answer  *http.Response
	body    []byte
	err     error
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
	through http.RoundTripper
}

// RoundTrip implements http.RoundTripper. Long polls for the same change are one, and so are requests for the same message.
func (c *coalescing) RoundTrip(r *http.Request) (*http.Response, error) {
	message := oneMessage.MatchString(r.URL.Path)
	if r.Method != http.MethodGet || !message && (r.Header.Get("Prefer") == "" || r.Header.Get("If-None-Match") == "") {
		return c.through.RoundTrip(r)
	}
	k := c.key
	what := r.URL.RequestURI() + "\n" + r.Header.Get("Accept") + "\n" + r.Header.Get("If-None-Match") // and not how long: who waits less ends by itself
	k.mu.Lock()
	f := k.asked[what]
	if f == nil {
		f = &flight{done: make(chan struct{})}
		var ctx context.Context
		ctx, f.cancel = context.WithCancel(context.WithoutCancel(r.Context()))
		k.asked[what] = f
		go k.ask(f, what, r.Clone(ctx), c.through, message)
	}
	f.waiting++
	k.mu.Unlock()
	var err error
	select {
	case <-f.done:
		err = f.err
	case <-r.Context().Done():
		err = context.Cause(r.Context())
	}
	k.mu.Lock()
	if f.waiting--; f.waiting == 0 {
		select {
		case <-f.done:
		default: // nobody wants it any more
			f.cancel()
			if k.asked[what] == f {
				delete(k.asked, what)
			}
		}
	}
	k.mu.Unlock()
	if err != nil {
		return nil, err
	}
	answer := *f.answer
	answer.Header, answer.Request, answer.Body = maps.Clone(f.answer.Header), r, io.NopCloser(bytes.NewReader(f.body))
	return &answer, nil
}

// ask makes a request for all who wait for it, and keeps the answer for a message for a while.
func (k *keySessions) ask(f *flight, what string, r *http.Request, through http.RoundTripper, message bool) {
	defer f.cancel()
	if f.answer, f.err = through.RoundTrip(r); f.err == nil {
		f.body, f.err = io.ReadAll(f.answer.Body) // whose length the service bounds
		_ = f.answer.Body.Close()
	}
	close(f.done)
	forget := func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.asked[what] == f {
			delete(k.asked, what)
		}
	}
	if f.err == nil && message && f.answer.StatusCode == http.StatusOK && len(f.body) <= maxShared {
		time.AfterFunc(sharedTime, forget)
	} else {
		forget()
	}
}
