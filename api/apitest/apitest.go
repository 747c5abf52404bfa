// Package apitest is a temporary inbox service for tests: Mayfly's own in memory, of which clients see only
// the bare contract unless a test asks for the extensions, and which fails on demand.
//
// It reads the time from package time and needs no network, so that it works in a bubble of
// testing/synctest: [Server.Transport] reaches it.
package apitest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"net/textproto"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mayfly/api"
	"mayfly/internal/mail"
	"mayfly/service"
	"mayfly/service/pebble"
	"mayfly/service/rest"
)

// Key is the API key that a server accepts unless its options say otherwise.
const Key = "test-key-0123456789abcdef0123456789"

// Domain and OtherDomain are the mail domains of a server, of which the first is the default.
const (
	Domain      = "apitest.example"
	OtherDomain = "other.example"
)

// Options are the choices of a [Server].
type Options struct {
	// Key is the API key that is accepted; the constant Key when empty.
	Key string
	// RequestsPerMinute is the rate limit, over a sliding minute; 0 for none.
	RequestsPerMinute int
	// Extensions keeps what Mayfly's own service adds to the contract.
	Extensions bool
	// CatchAll creates an inbox for mail to an address that has none. It needs Extensions.
	CatchAll bool
	// PageSize is how many inboxes are on a page at most; 1,000 when 0.
	PageSize int
	// RelayAllow is to whom messages can be released; nobody when empty. It needs Extensions.
	RelayAllow []string
	// Ahead is how far the clock of the server, which its Date and its times tell, is ahead of this
	// machine's.
	Ahead time.Duration
}

// Mail is a message to deliver.
type Mail struct {
	From, FromName, Subject, Text, HTML string
	Attachments                         []api.Attachment // with their Content
	ReceivedAt                          time.Time        // now when zero; of any order
	Raw                                 []byte           // made of the other fields when nil
	Delivery                            api.Delivery     // made up without Hello
}

// Request is a request that the server got.
type Request struct {
	Time   time.Time
	Method string
	Path   string // with the query
	Header http.Header
	Status int // 0 for a fault, and while there is no answer
}

// Server is a service. It is safe for concurrent use.
type Server struct {
	options Options
	key     service.Key
	service *service.Service
	rest    *rest.Server
	closed  context.Context
	close   context.CancelFunc

	mu       sync.Mutex
	requests []*Request
	accepted []time.Time          // the requests of the last minute
	received map[string]time.Time // by ID of a message, as its Mail has it
	fault    fault
	ahead    atomic.Int64 // see Options.Ahead
	delay    time.Duration
}

// New returns a server without inboxes, which serves until the test ends. Without a test it does so for good.
func New(t testing.TB, o Options) *Server {
	o.Key = cmp.Or(o.Key, Key)
	quiet := slog.New(slog.DiscardHandler)
	db, err := pebble.OpenMemory(pebble.Options{Log: quiet, Memory: 1 << 20})
	if err != nil {
		panic(err)
	}
	s := &Server{options: o, received: map[string]time.Time{}}
	s.SetAhead(o.Ahead)
	s.closed, s.close = context.WithCancel(context.Background())
	so := service.Options{Domains: []string{Domain, OtherDomain}, CatchAllTTL: time.Hour, Log: quiet}
	if s.key, err = service.New(store{db, s}, so).EnsureKey(s.closed, o.Key, "", service.Enterprise); err != nil {
		panic(err) // the key in the options is invalid
	}
	if o.CatchAll {
		so.CatchAll = s.key.ID
	}
	if o.RequestsPerMinute == 0 {
		so.Unlimited = s.key.ID
	}
	s.service = service.New(store{db, s}, so)
	ro := rest.Options{Log: quiet}
	if len(o.RelayAllow) > 0 {
		ro.Relay = relay(o.RelayAllow)
	}
	s.rest = rest.New(s.service, ro)
	if t != nil {
		t.Cleanup(func() {
			s.Close()
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return s
}

// Close ends long polls and silent requests.
func (s *Server) Close() {
	s.close()
	_ = s.rest.Shutdown(context.Background()) // it serves no connections
}

// SetAhead moves the clock of the server, see [Options].
func (s *Server) SetAhead(by time.Duration) { s.ahead.Store(int64(by)) }

func (s *Server) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// store has the clock and the rate limit of a server, and what a [Mail] says of its arrival.
type store struct {
	*pebble.Store
	server *Server
}

// Now implements service.Shared.
func (s store) Now() time.Time { return s.server.now() }

// Listen implements service.Shared.
func (s store) Listen(context.Context, func(string)) error { return nil }

// Take implements service.Shared.
func (s store) Take(context.Context, string, int) (service.Quota, bool, error) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	now, most := time.Now(), s.server.options.RequestsPerMinute
	made := slices.DeleteFunc(s.server.accepted, func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	ok := len(made) < most
	if ok {
		made = append(made, now)
	}
	s.server.accepted = made
	return service.Quota{Limit: most, Remaining: most - len(made), Reset: made[0].Add(time.Minute).Sub(now)}, ok, nil
}

type delivered struct{}

// Append implements service.Store.
func (s store) Append(ctx context.Context, a service.Append) error {
	m := ctx.Value(delivered{}).(Mail)
	stored := &a.Messages[0]
	stored.From, stored.FromName, stored.Subject = cmp.Or(m.From, stored.From), cmp.Or(m.FromName, stored.FromName), cmp.Or(m.Subject, stored.Subject)
	if m.Delivery.Hello != "" {
		record, err := json.Marshal(m.Delivery)
		must(err)
		stored.Delivery = record
	}
	return s.Store.Append(ctx, a)
}

// relay sends nothing anywhere; [Server.Requests] has what was asked for.
type relay []string

func (relay) Release(context.Context, string, []string, []byte) error { return nil }

func (r relay) Allowed() []string { return r }

// Client returns a client of the server that needs no network.
func (s *Server) Client(o api.Options) *api.Client {
	if o.Transport == nil {
		o.Transport = s.Transport()
	}
	c, err := api.New("http://localhost", s.options.Key, o)
	if err != nil {
		panic(err) // the key in the options is invalid
	}
	return c
}

// Requests returns the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Request, len(s.requests))
	for i, r := range s.requests {
		all[i] = *r
	}
	return all
}

// Create creates an inbox with a local part without a request.
func (s *Server) Create(username string, ttl time.Duration) (api.Inbox, error) {
	defer time.Sleep(time.Millisecond) // lists have no order of inboxes created at the same time
	in, err := s.service.CreateInbox(context.Background(), s.key, service.NewInbox{Username: username, TTL: ttl})
	return api.Inbox{ID: in.ID, Email: in.Address, CreatedAt: in.CreatedAt, ExpiresAt: in.ExpiresAt, TTL: int(ttl / time.Second)}, err
}

// Delete deletes an inbox without a request.
func (s *Server) Delete(inboxID string) {
	_ = s.service.DeleteInbox(context.Background(), s.key, inboxID) // it may be gone
}

// Deliver puts a message into the inbox with an address, and returns it.
func (s *Server) Deliver(to string, m Mail) (got api.Message, err error) {
	ctx := context.WithValue(context.Background(), delivered{}, m)
	r, err := s.service.Recipient(ctx, "", to)
	if err != nil {
		return got, err
	}
	if m.Raw == nil {
		m.Raw = m.compose(r.Address)
	}
	d := service.Delivery{From: m.From, To: []service.Recipient{r}, Raw: m.Raw, Session: service.Session{Client: "192.0.2.7:25", Connected: time.Now().Add(-12 * time.Millisecond), Hello: "EHLO app.example"}}
	d.Messages = map[string]int{s.key.ID: 1}
	var inboxID string
	d.Stored = func(inbox, message string) {
		inboxID, got.ID = inbox, message
		s.mu.Lock()
		s.received[message] = m.ReceivedAt
		s.mu.Unlock()
	}
	if err := s.service.Deliver(ctx, d); err != nil {
		return got, err
	}
	return s.message(inboxID, got.ID)
}

// compose returns the message as it is sent to an address.
func (m Mail) compose(to string) []byte {
	var b bytes.Buffer
	if m.From != "" {
		from := netmail.Address{Name: m.FromName, Address: m.From}
		fmt.Fprintf(&b, "From: %s\r\n", from.String())
	}
	fmt.Fprintf(&b, "To: %s\r\nSubject: %s\r\n", to, mime.QEncoding.Encode("utf-8", m.Subject))
	if m.HTML == "" && len(m.Attachments) == 0 {
		fmt.Fprintf(&b, "\r\n%s", m.Text)
		return b.Bytes()
	}
	var bodies bytes.Buffer
	w, alternatives := multipart.NewWriter(&b), multipart.NewWriter(&bodies)
	fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=%s\r\n\r\n", w.Boundary())
	for _, body := range [][2]string{{"text/plain", m.Text}, {"text/html", m.HTML}} {
		if body[1] != "" {
			addPart(alternatives, body[0]+"; charset=utf-8", "", []byte(body[1]))
		}
	}
	must(alternatives.Close())
	part, err := w.CreatePart(textproto.MIMEHeader{"Content-Type": {"multipart/alternative; boundary=" + alternatives.Boundary()}})
	must(err)
	_, _ = part.Write(bodies.Bytes())
	for _, a := range m.Attachments {
		addPart(w, a.ContentType, mime.FormatMediaType("attachment", map[string]string{"filename": a.Filename}), a.Content)
	}
	must(w.Close())
	return b.Bytes()
}

func addPart(w *multipart.Writer, contentType, disposition string, content []byte) {
	h := textproto.MIMEHeader{"Content-Type": {contentType}, "Content-Transfer-Encoding": {"base64"}}
	if disposition != "" {
		h.Set("Content-Disposition", disposition)
	}
	part, err := w.CreatePart(h)
	must(err)
	_, _ = io.WriteString(part, base64.StdEncoding.EncodeToString(content))
}

// must panics on what cannot fail while a message is written to memory.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// message returns a message with the content of its attachments.
func (s *Server) message(inboxID, id string) (api.Message, error) {
	m, err := s.service.Message(context.Background(), s.key, inboxID, id)
	parsed := mail.Parse(m.Raw)
	got := api.Message{ID: m.ID, From: m.From, FromName: m.FromName, To: m.To, Subject: m.Subject, Text: parsed.Text, HTML: parsed.HTML, ReceivedAt: s.receivedAt(m.ID, m.ReceivedAt)}
	for _, a := range parsed.Attachments {
		got.Attachments = append(got.Attachments, api.Attachment{ID: a.ID, Filename: a.Filename, ContentType: a.ContentType,
			Size: int64(a.Size), ContentID: a.ContentID, Inline: a.Inline, Content: a.Content})
	}
	return got, err
}

// receivedAt is when a message was received, which another service may say in any order.
func (s *Server) receivedAt(id string, stored time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.received[id], stored)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	logged := &Request{Time: time.Now(), Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone()}
	s.mu.Lock()
	s.requests = append(s.requests, logged)
	fault, delay := s.fault.take(r), s.delay
	s.mu.Unlock()
	if delay > 0 {
		s.sleep(r, delay)
	}
	if fault != None {
		s.fail(w, r, fault)
		return
	}
	answer := s.answer(r)
	s.mu.Lock()
	logged.Status = answer.Code
	s.mu.Unlock()
	s.send(w, answer)
}

// answer carries out a request.
func (s *Server) answer(r *http.Request) *httptest.ResponseRecorder {
	// There is no SMTP that would have sessions, and the clients keep by themselves what they know.
	if r.URL.Path == "/v1/sessions" || r.URL.Path == "/v1/states" || !s.options.Extensions && !contract.MatchString(r.Method+" "+r.URL.Path) {
		r.URL.Path = "/v1/no-such-path"
	}
	q := r.URL.Query()
	switch {
	case !s.options.Extensions:
		r.URL.RawQuery = ""
		for _, name := range []string{"Accept", "If-None-Match", "Prefer"} {
			r.Header.Del(name)
		}
	case r.URL.Path == "/v1/inboxes" && s.options.PageSize > 0 && !q.Has("address"):
		limit, err := strconv.Atoi(q.Get("limit"))
		if err != nil {
			limit = s.options.PageSize
		}
		q.Set("limit", strconv.Itoa(min(limit, s.options.PageSize)))
		r.URL.RawQuery = q.Encode()
	}
	w := httptest.NewRecorder()
	s.rest.ServeHTTP(w, r)
	if !s.options.Extensions {
		clear(w.Header())
		w.Header().Set("Content-Type", "application/json")
	}
	if r.Method == http.MethodGet && w.Code == http.StatusOK && w.Header().Get("Content-Type") == "application/json" {
		s.rewrite(w, r.URL.Path)
	}
	return w
}

// contract matches the requests of the contract.
var contract = regexp.MustCompile(`^(POST /v1/inboxes|(GET|DELETE) /v1/inboxes/[^/]+|GET /v1/inboxes/[^/]+/messages(/[^/]+)?)$`)

// messages matches the path of an inbox's messages or of one of them.
var messages = regexp.MustCompile(`^/v1/inboxes/([^/]+)/messages(?:/([^/]+))?$`)

// rewrite has messages say what their [Mail] says, and makes them plain without the extensions.
func (s *Server) rewrite(w *httptest.ResponseRecorder, path string) {
	var answer any
	switch match := messages.FindStringSubmatch(path); {
	case match == nil:
		return
	case match[2] == "":
		list := api.List{}
		must(json.Unmarshal(w.Body.Bytes(), &list))
		for i, m := range list.Messages {
			list.Messages[i].ReceivedAt = s.receivedAt(m.ID, m.ReceivedAt)
		}
		answer = list
	default:
		m, err := s.message(match[1], match[2])
		if err != nil {
			return // it was deleted a moment ago
		}
		if answer = m; !s.options.Extensions {
			answer = plain(m)
		}
	}
	w.Header().Del("Content-Length")
	w.Body.Reset()
	must(json.NewEncoder(w.Body).Encode(answer))
}

// plain is a message with attachments as another service might write them, since the contract does
// not name their fields.
func plain(m api.Message) any {
	attachments := []map[string]any{}
	for _, a := range m.Attachments {
		attachments = append(attachments, map[string]any{"name": a.Filename, "contentType": a.ContentType, "size": a.Size, "content": a.Content})
	}
	return map[string]any{"id": m.ID, "from": m.From, "to": m.To, "subject": m.Subject, "text": m.Text, "html": m.HTML,
		"received_at": m.ReceivedAt.UTC().Format(api.TimeFormat), "attachments": attachments}
}

// send sends an answer with the time by the server's clock.
func (s *Server) send(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.Header().Set("Date", s.now().UTC().Format(http.TimeFormat))
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// sleep waits, unless the client leaves or the server is closed, which ends the request.
func (s *Server) sleep(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return
	case <-r.Context().Done():
	case <-s.closed.Done():
	}
	panic(http.ErrAbortHandler)
}
