// Package rest serves the REST API that assets/openapi.yaml describes.
//
// A request to /mcp, or to a path under /v1, is checked in this order: its key (401), the key's plan (403), its
// rate limit (429), the path (404), the method (405), and only then what it asks for. Without a
// valid key nothing can be learned, and an inbox of another key cannot be told from one that does
// not exist, neither by the answer nor by the time it takes.
//
// Every error has the contract's envelope, except those that net/http sends before a handler sees the
// request, such as for what is not HTTP.
//
// A request for a list can be a long poll: it waits, in its handler, until the list changes.
package rest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"golang.org/x/time/rate"

	"mayfly/api"
	"mayfly/service"
	"mayfly/service/limits"
)

// Service is what the API needs of [service.Service]. Its errors carry a [service.Code].
type Service interface {
	Ready(ctx context.Context) error
	Authenticate(ctx context.Context, secret string) (service.Key, error)
	AuthenticateSSH(ctx context.Context, fingerprint string) (service.Key, error)
	Allow(ctx context.Context, k service.Key) (service.Quota, error)

	CreateInbox(ctx context.Context, k service.Key, n service.NewInbox) (service.Inbox, error)
	Inbox(ctx context.Context, k service.Key, id string) (service.Inbox, error)
	Inboxes(ctx context.Context, k service.Key, p service.Page) (service.InboxList, error)
	DeleteInbox(ctx context.Context, k service.Key, id string) error
	ExtendInbox(ctx context.Context, k service.Key, id string, ttl time.Duration) (service.Inbox, error)
	DeleteMessages(ctx context.Context, k service.Key, inboxID, messageID string) error
	WaitInboxes(ctx context.Context, k service.Key, p service.Page, list service.InboxList) (changed bool, err error)
	CatchesAll(k service.Key) bool
	Domains() []string

	Messages(ctx context.Context, k service.Key, inboxID string, p service.Page) (service.List, error)
	Summary(ctx context.Context, k service.Key, inboxID, messageID string) (service.Summary, error)
	Message(ctx context.Context, k service.Key, inboxID, messageID string) (service.Message, error)
	Delivery(ctx context.Context, k service.Key, inboxID, messageID string) ([]byte, error)
	ClientStates(ctx context.Context, k service.Key) (map[string][]byte, error)
	SetClientState(ctx context.Context, k service.Key, inboxID string, before, after []byte) error
	WaitMessages(ctx context.Context, k service.Key, inboxID string, version uint64) (changed bool, err error)
}

// Options of a Server. The zero value works.
type Options struct {
	Balancers          []netip.Prefix // proxies whose X-Forwarded-For names the client
	LocalOnly          bool           // refuse requests with the name of another machine (403)
	MaxWait            time.Duration  // of a long poll; default 60 s
	MaxLongPolls       int            // that wait, others are answered at once; default 20,000
	MaxLongPollsPerKey int            // the same for each key; default 1,000

	Guesses *limits.Guesses // of keys, which other servers count too; default: no limit

	// Large is the memory for large messages in all requests, which other servers may use too. Default:
	// 256 MiB.
	Large *limits.Memory

	Providers http.Handler // serves /providers/; default: no such path

	// Sessions returns the SMTP sessions that concern a key.
	Sessions func(ctx context.Context, k service.Key) (api.SessionList, error)

	Relay   Relay                 // releases messages; default: they are not released
	MCP     MCP                   // serves /mcp; default: no such path
	Metrics prometheus.Registerer // default: none

	// Log gets a line per request at debug, and failures; never a key or a body. Default: none.
	Log *slog.Logger
}

// Bounds of a connection.
const (
	readTimeout    = 15 * time.Second // for a whole request
	idleTimeout    = 2 * time.Minute  // between two requests
	maxHeaderBytes = 16 << 10         // net/http adds 4 KiB
)

// Server serves the REST API.
type Server struct {
	service Service
	options Options
	log     *slog.Logger
	routes  *http.ServeMux
	http    *http.Server
	metrics *metrics

	unavailable rate.Sometimes // limits how often an unavailable or damaged store is logged

	answers answerCache
	opened  atomic.Pointer[openedMessage]

	polls    *limits.Count[string] // long polls, by the ID of the key
	draining context.Context       // done once Shutdown is called
	drain    context.CancelFunc

	unused sync.Map // of net.Conn: connections without a request yet
}

// New returns the REST API of a service.
func New(svc Service, o Options) *Server {
	o.MaxWait = cmp.Or(max(o.MaxWait, 0), 60*time.Second)
	o.MaxLongPolls = cmp.Or(max(o.MaxLongPolls, 0), 20_000)
	o.MaxLongPollsPerKey = cmp.Or(max(o.MaxLongPollsPerKey, 0), 1_000)
	o.Large = cmp.Or(o.Large, limits.NewMemory(0))
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		service:     svc,
		options:     o,
		log:         o.Log,
		unavailable: rate.Sometimes{Interval: time.Minute},
		polls:       limits.NewCount[string](o.MaxLongPolls, o.MaxLongPollsPerKey),
	}
	s.metrics = newMetrics(o.Metrics, func() float64 { return float64(s.LongPolls()) })
	s.draining, s.drain = context.WithCancel(context.Background())
	s.routes = s.newRoutes()
	s.http = &http.Server{
		Handler:        s,
		ReadTimeout:    readTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ConnState: func(c net.Conn, state http.ConnState) {
			if state == http.StateNew {
				s.unused.Store(c, nil)
				if s.draining.Err() != nil { // Shutdown may miss it
					time.AfterFunc(unusedGrace, s.closeUnused)
				}
			} else {
				s.unused.Delete(c)
			}
		},
		DisableGeneralOptionsHandler: true, // its answer lacks the envelope
		ErrorLog:                     slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return s
}

// Serve serves the connections of a listener until Shutdown is called, and then returns nil.
func (s *Server) Serve(l net.Listener) error {
	defer context.AfterFunc(s.draining, func() { _ = l.Close() })()
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) && s.draining.Err() == nil {
		return err
	}
	return nil
}

// Shutdown answers long polls at once, lets the other requests finish, and closes all connections. When
// the context ends first, the remaining connections are closed in the middle of their requests.
func (s *Server) Shutdown(ctx context.Context) error {
	s.drain()
	s.http.SetKeepAlivesEnabled(false)
	s.awaitUnused(ctx)
	s.closeUnused()
	err := s.http.Shutdown(ctx)
	if err == nil || errors.Is(err, net.ErrClosed) { // the listener was closed by drain
		return nil
	}
	return errors.Join(err, s.http.Close())
}

// unusedGrace is how long a client that has just connected may take to send its request, although the server is shutting
// down.
const unusedGrace = time.Second

// awaitUnused waits until all connections have sent a request: http.Server.Shutdown drops those that arrive later.
func (s *Server) awaitUnused(ctx context.Context) {
	const step = 10 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, unusedGrace)
	defer cancel()
	for unused := true; unused && ctx.Err() == nil; {
		unused = false
		s.unused.Range(func(any, any) bool { unused = true; return false })
		select { // also for one that has just been used, and gets to its handler meanwhile
		case <-time.After(step):
		case <-ctx.Done():
		}
	}
}

// closeUnused closes the connections that have not sent a request yet: http.Server.Shutdown would wait
// five seconds for them. A client dials some in reserve.
func (s *Server) closeUnused() {
	s.unused.Range(func(c, _ any) bool {
		_ = c.(net.Conn).Close()
		return true
	})
}

// LongPolls returns the number of requests that wait now.
func (s *Server) LongPolls() int { return s.polls.Len() }

// Values of header fields that every answer has. This package spells field names in their canonical
// form, since any other costs an allocation.
var noSniff, noCache, closing = []string{"nosniff"}, []string{"private, no-cache"}, []string{"close"}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.nameClient(r)
	s.serve(&response{ResponseWriter: w}, r)
}

// nameClient makes the address of a request that comes through a balancer that of its client: the last one in X-Forwarded-For
// that is no balancer. Any client can write the field, and Forwarded, which many proxies pass on as it is.
func (s *Server) nameClient(r *http.Request) {
	balancer := func(a netip.Addr) bool {
		return slices.ContainsFunc(s.options.Balancers, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
	for i := len(hops) - 1; i >= 0 && err == nil && balancer(peer.Addr()); i-- {
		var a netip.Addr
		if a, err = netip.ParseAddr(strings.TrimSpace(hops[i])); err == nil {
			peer = netip.AddrPortFrom(a, 0)
			r.RemoteAddr = peer.String()
		}
	}
}

func (s *Server) serve(w *response, r *http.Request) {
	start := time.Now()
	h := w.Header()
	h["X-Content-Type-Options"], h["Cache-Control"] = noSniff, noCache
	if len(r.TransferEncoding) > 0 {
		// The request may have had a Content-Length as well, by which a proxy could take the end of
		// the body for another request (RFC 9112, section 6.1). net/http does not say whether it
		// had.
		h["Connection"] = closing
	}
	defer func() { s.done(w, r, time.Since(start)-w.waited) }()
	defer func() {
		if p := recover(); p != nil {
			s.recovered(w, r, p)
		}
	}()
	if s.options.LocalOnly && !isLocalRequest(r) {
		w.sendError(http.StatusForbidden, "This service answers only requests to localhost from this machine")
		return
	}
	if s.options.Providers != nil && strings.HasPrefix(r.URL.Path, "/providers/") {
		s.options.Providers.ServeHTTP(w, r)
		return
	}
	if s.needsKey(r.URL.Path) {
		if err := s.admit(w, r); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	// ServeMux would answer with a redirect, which the contract does not know.
	if p := r.URL.EscapedPath(); !strings.HasPrefix(p, "/") || path.Clean(p) != p {
		w.sendError(http.StatusNotFound, "No such path")
		return
	}
	s.routes.ServeHTTP(w, r)
}

func (s *Server) needsKey(path string) bool {
	return path == "/v1" || strings.HasPrefix(path, "/v1/") || path == mcpPath && s.options.MCP != nil
}

// admit authenticates the request and counts it against the key's rate limit.
func (s *Server) admit(w *response, r *http.Request) error {
	key, err := s.authenticate(r)
	if err != nil {
		return err
	}
	w.key = key
	if w.agent != nil && w.agent.made.Add(1) <= freeRequests {
		return nil
	}
	w.quota, err = s.service.Allow(r.Context(), key)
	w.setQuota(w.quota)
	return err
}

func (s *Server) authenticate(r *http.Request) (service.Key, error) {
	if fingerprint, ok := r.Context().Value(sshKey{}).(string); ok {
		return s.service.AuthenticateSSH(r.Context(), fingerprint)
	}
	secret := secretOf(r)
	if secret == "" {
		return s.service.Authenticate(r.Context(), secret)
	}
	key, err := s.options.Guesses.Authenticate(r.Context(), s.service, limits.ParsePrefix(r.RemoteAddr), secret)
	if err == limits.ErrGuesses {
		s.metrics.guesses.Inc()
	}
	return key, err
}

// retryUnavailable is when to try again what the service cannot do now.
const retryUnavailable = 5 * time.Second

// fail answers with an error, and logs those that are the service's fault.
func (s *Server) fail(w *response, r *http.Request, err error) {
	status, message := http.StatusInternalServerError, "Internal server error"
	if e, ok := errors.AsType[*service.Error](err); ok {
		switch e.Code {
		case service.Invalid, service.Taken:
			status, message = http.StatusBadRequest, e.Message
		case service.Unauthorized:
			scheme := "ApiKey"
			if r.URL.Path == mcpPath {
				scheme = "Bearer"
			}
			w.Header().Set("Www-Authenticate", scheme+` realm="mayfly"`)
			status, message = http.StatusUnauthorized, e.Message
		case service.Forbidden:
			status, message = http.StatusForbidden, e.Message
		case service.NotFound:
			status, message = http.StatusNotFound, e.Message
		case service.RateLimited:
			w.retryAfter(e.RetryAfter)
			status, message = http.StatusTooManyRequests, e.Message
			if r.URL.Path == mcpPath { // agents see the text alone
				message += "; wait " + english.Plural(max(1, seconds(e.RetryAfter)), "second", "") + " before the next call"
			}
		case service.Undelivered:
			status, message = http.StatusBadGateway, e.Message
		case service.Full, service.Unavailable:
			w.retryAfter(max(e.RetryAfter, retryUnavailable))
			status, message = http.StatusServiceUnavailable, "The service cannot do this now; try again later"
		}
	}
	if service.ErrorCode(err) == service.Canceled {
		// The client has left. If nothing were written, net/http would take it for a 200.
		panic(http.ErrAbortHandler)
	}
	logError := func() {
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "status", status, "error", err)
	}
	switch code := service.ErrorCode(err); {
	case code == service.Unavailable || code == service.Damaged || code == service.Full:
		s.unavailable.Do(logError) // not once for each of many clients
	case status >= 500 && code != service.Undelivered: // it has a line of its own
		logError()
	}
	if w.status != 0 {
		panic(http.ErrAbortHandler) // half an answer must not look complete
	}
	w.sendError(status, message)
}

// recovered answers in place of a handler that panicked, if nothing has been sent yet.
func (s *Server) recovered(w *response, r *http.Request, p any) {
	if p == http.ErrAbortHandler {
		panic(p)
	}
	s.log.Error("request panicked", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	w.sendError(http.StatusInternalServerError, "Internal server error")
}

// done logs and counts an answer. The time it took excludes that of a long poll.
func (s *Server) done(w *response, r *http.Request, took time.Duration) {
	s.metrics.answered(r.Pattern, r.Method, w.status, took)
	if s.log.Enabled(r.Context(), slog.LevelDebug) {
		s.log.LogAttrs(r.Context(), slog.LevelDebug, "request",
			slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", w.status),
			slog.Int64("bytes", w.bytes), slog.Duration("took", took), slog.Duration("waited", w.waited),
			slog.String("key", w.key.ID), slog.String("peer", r.RemoteAddr))
	}
}

// metrics are the Prometheus metrics of the API. No label has a value that a client can choose,
// which would make an unbounded number of series.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	guesses  prometheus.Counter
}

func newMetrics(r prometheus.Registerer, longPolls func() float64) *metrics {
	promauto.With(r).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mayfly_http_long_polls",
		Help: "Requests that are waiting for a change.",
	}, longPolls)
	return &metrics{
		requests: promauto.With(r).NewCounterVec(prometheus.CounterOpts{
			Name: "mayfly_http_requests_total",
			Help: "Requests answered, by path, method and status. Status 0: the client had left.",
		}, []string{"path", "method", "status"}),
		seconds: promauto.With(r).NewHistogramVec(prometheus.HistogramOpts{
			Name:    "mayfly_http_request_seconds",
			Help:    "Time to answer, excluding that of long polls.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
		}, []string{"path"}),
		guesses: promauto.With(r).NewCounter(prometheus.CounterOpts{
			Name: "mayfly_http_guesses_refused_total",
			Help: "Requests refused because of too many wrong keys from their address.",
		}),
	}
}

func (m *metrics) answered(path, method string, status int, took time.Duration) {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE":
	default:
		method = "other"
	}
	m.requests.WithLabelValues(path, method, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(path).Observe(took.Seconds())
}
