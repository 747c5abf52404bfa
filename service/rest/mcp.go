package rest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"mayfly/api"
)

// MCP answers a request of an agent. It makes its own requests with client, which has the key of the ID
// keyID, until the answer is complete.
type MCP func(w http.ResponseWriter, r *http.Request, keyID string, client *api.Client)

const mcpPath = "/mcp"

const (
	// freeRequests is how many requests to the API the answer to an agent may take that are not counted:
	// to find an inbox, list it and fetch a message.
	freeRequests = 3
	// agentCost is how much memory a message takes on its way to an agent, in multiples of its size: as
	// in an answer of the API, and read, rendered or encoded, and wrapped in JSON twice.
	agentCost = 8
)

// serveMCP passes a request on to the MCP server. Its answers can be streams, which have no time
// limit but end with Shutdown, or when the client stops reading.
func (s *Server) serveMCP(w *response, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, "\ufeff \t\r\n"), []byte("[")) {
		return invalid("Send one message in a request: batches are not supported")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.clearReadDeadline()
	defer w.setDeadline() // for the end of a stream, whose last event may be long ago
	t := &agentTransport{server: s, remoteAddr: r.RemoteAddr, keyID: w.key.ID, release: func() {}}
	client, err := api.New("http://localhost", secretOf(r), api.Options{Transport: t})
	if err != nil {
		return err
	}
	defer t.end()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.draining, cancel)()
	t.ctx = ctx
	s.options.MCP(w, r.WithContext(ctx), w.key.ID, client)
	return nil
}

// agentTransport carries out the requests to the API that answering one of an agent's takes. They end with it.
type agentTransport struct {
	server     *Server
	remoteAddr string
	keyID      string
	ctx        context.Context // of the agent's request

	mu      sync.Mutex
	made    int
	ended   bool
	running sync.WaitGroup
	held    int64  // bytes, of all answers
	release func() // of the memory for them
}

// agentKey is the key of an agentTransport in the context of its requests.
type agentKey struct{}

// agentOf returns what makes a request for an agent, nil if it comes from outside.
func agentOf(r *http.Request) *agentTransport {
	t, _ := r.Context().Value(agentKey{}).(*agentTransport)
	return t
}

// RoundTrip implements http.RoundTripper.
func (t *agentTransport) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return nil, context.Canceled
	}
	t.running.Add(1)
	t.mu.Unlock()
	defer t.running.Done()
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), agentKey{}, t))
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	defer func() {
		if recover() != nil { // http.ErrAbortHandler: ServeHTTP lets no other pass
			answer, err = nil, cmp.Or(ctx.Err(), errors.New("the answer is incomplete"))
		}
	}()
	r = r.Clone(ctx)
	r.RemoteAddr = t.remoteAddr
	w := &memoryWriter{header: http.Header{}}
	t.server.ServeHTTP(w, r)
	return &http.Response{
		StatusCode: w.status, Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// counts reports whether the next request is one of its key. What is not is paid by the agent's request.
func (t *agentTransport) counts() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.made++
	return t.made > freeRequests
}

// reserve waits for the memory that a message of some size takes, until the agent's request ends.
func (t *agentTransport) reserve(ctx context.Context, size int64) (err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.release()
	t.held += agentCost * size
	if t.release, err = t.server.options.Large.Reserve(ctx, t.keyID, t.held); err != nil {
		t.release = func() {}
	}
	return err
}

// end waits for the requests, whose context has ended.
func (t *agentTransport) end() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.running.Wait()
	t.release()
}

// reserve waits for the memory for an answer with a message: cost bytes, or what an agent's takes.
func (s *Server) reserve(w *response, r *http.Request, size, cost int64) (release func(), err error) {
	if t := agentOf(r); t != nil {
		return func() {}, t.reserve(r.Context(), size)
	}
	return s.options.Large.Reserve(r.Context(), w.key.ID, cost)
}

// memoryWriter is an http.ResponseWriter that keeps the answer.
type memoryWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *memoryWriter) Header() http.Header { return w.header }

func (w *memoryWriter) WriteHeader(status int) {
	w.status = status
	if n, err := strconv.Atoi(w.header.Get("Content-Length")); err == nil {
		w.body.Grow(n)
	}
}

func (w *memoryWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.body.Write(b)
}

// secretOf returns the key that a request has, "" without one. Many MCP clients can be given no other than a
// bearer token (RFC 6750).
func secretOf(r *http.Request) string {
	// Several fields make one value (RFC 9110, section 5.3), which is no key.
	secret := strings.Join(r.Header["X-Api-Key"], ", ")
	if secret == "" && r.URL.Path == mcpPath {
		if scheme, token, _ := strings.Cut(strings.Join(r.Header["Authorization"], ", "), " "); strings.EqualFold(scheme, "Bearer") {
			secret = strings.TrimSpace(token)
		}
	}
	return secret
}
