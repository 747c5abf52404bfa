package rest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

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
	body, err := readBody(w, r, maxBody)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, "\ufeff \t\r\n"), []byte("[")) {
		return invalid("Send one message in a request: batches are not supported")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.clearReadDeadline()
	defer w.setDeadline() // for the end of a stream, whose last event may be long ago
	ctx, cancel := context.WithCancel(r.Context())
	t := &agentTransport{server: s, ctx: ctx, remoteAddr: r.RemoteAddr, release: func() {}}
	defer t.end()
	defer cancel()
	defer context.AfterFunc(s.draining, cancel)()
	client, err := api.New("http://localhost", secretOf(r), api.Options{Transport: t})
	if err != nil {
		return err
	}
	s.options.MCP(w, r.WithContext(ctx), w.key.ID, client)
	return nil
}

// agentTransport carries out the requests to the API that answering one of an agent's takes. They end with it.
type agentTransport struct {
	server     *Server
	ctx        context.Context // of the agent's request
	remoteAddr string
	made       atomic.Int32

	running sync.RWMutex // is read-locked by each request

	mu      sync.Mutex
	held    int64  // bytes, for the largest message so far
	release func() // of them
}

// RoundTrip implements http.RoundTripper.
func (t *agentTransport) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	t.running.RLock()
	defer t.running.RUnlock()
	if t.ctx.Err() != nil {
		return nil, t.ctx.Err()
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	defer func() {
		if recover() != nil { // http.ErrAbortHandler: serve lets no other pass
			answer, err = nil, cmp.Or(ctx.Err(), errors.New("the answer is incomplete"))
		}
	}()
	r = r.Clone(ctx)
	r.RemoteAddr = t.remoteAddr
	w := &memoryWriter{header: http.Header{}, status: http.StatusOK}
	t.server.serve(&response{ResponseWriter: w, agent: t}, r)
	return &http.Response{StatusCode: w.status, Header: w.header, Body: io.NopCloser(w), ContentLength: int64(w.Len()), Request: r}, nil
}

// end waits for the requests. The context of the agent's has ended.
func (t *agentTransport) end() {
	t.running.Lock()
	defer t.running.Unlock()
	t.release()
}

// reserve waits for the memory for an answer with a message: cost bytes, or for an agent what the largest of its
// messages takes, until its request ends. Tools look at one message after the other.
func (s *Server) reserve(w *response, r *http.Request, size, cost int64) (release func(), err error) {
	t := w.agent
	if t == nil {
		return s.options.Large.Reserve(r.Context(), w.key.ID, cost)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.release()
	t.held = max(t.held, agentCost*size)
	if release, err = s.options.Large.Reserve(r.Context(), w.key.ID, t.held); err != nil {
		release = func() {}
	}
	t.release = release
	return func() {}, err
}

// memoryWriter is an http.ResponseWriter that keeps the answer.
type memoryWriter struct {
	bytes.Buffer
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (w *memoryWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *memoryWriter) WriteHeader(status int) { w.status = status }

// secretOf returns the key that a request has, "" without one. Many MCP clients can be given no other than a
// bearer token (RFC 6750).
func secretOf(r *http.Request) string {
	// Several fields make one value (RFC 9110, section 5.3), which is not a key.
	secret := strings.Join(r.Header["X-Api-Key"], ", ")
	if secret == "" && r.URL.Path == mcpPath {
		if scheme, token, _ := strings.Cut(strings.Join(r.Header["Authorization"], ", "), " "); strings.EqualFold(scheme, "Bearer") {
			secret = strings.TrimSpace(token)
		}
	}
	return secret
}
