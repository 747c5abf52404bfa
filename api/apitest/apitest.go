// Package apitest is a temporary inbox service for tests. It has the bare contract, with the
// extensions of Mayfly's own service on request, is strict about what it receives, and fails on
// demand.
//
// It keeps everything in memory and reads the time from package time, so that it works in a bubble
// of testing/synctest: [Server.Transport] reaches it without a network.
package apitest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mayfly/api"
	"mayfly/internal/address"
)

// Key is the API key that a server accepts unless its options say otherwise.
const Key = "test-key-0123456789abcdef"

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
	// Extensions turns on what Mayfly's own service adds to the contract: long polls, entity tags,
	// the list of inboxes, raw messages, how they came, the content of attachments, pages, deleting messages,
	// extending inboxes, and the header fields about the rate limit.
	Extensions bool
	// CatchAll makes an inbox for mail to an address that has none. It needs Extensions.
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
	ReceivedAt                          time.Time        // now when zero
	Raw                                 []byte           // made up when nil
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
	routes  *http.ServeMux

	mu       sync.Mutex
	inboxes  map[string]*inbox
	order    []string      // IDs of inboxes, the oldest first
	made     int           // inboxes and messages, for IDs
	version  int           // number of changes
	changed  chan struct{} // closed at the next change
	requests []*Request
	accepted []time.Time // the requests of the last minute
	fault    fault
	delay    time.Duration
	closed   chan struct{}
}

type inbox struct {
	api.Inbox
	version  int
	messages []message // the oldest first
}

type message struct {
	api.Message
	raw      []byte
	delivery api.Delivery
}

// New returns a server without inboxes.
func New(o Options) *Server {
	if o.Key == "" {
		o.Key = Key
	}
	s := &Server{options: o, routes: http.NewServeMux(), inboxes: map[string]*inbox{}, version: 1, changed: make(chan struct{}), closed: make(chan struct{})}
	s.routes.HandleFunc("POST /v1/inboxes", s.serveCreate)
	s.routes.HandleFunc("GET /v1/inboxes/{inbox}", s.serveInbox)
	s.routes.HandleFunc("DELETE /v1/inboxes/{inbox}", s.serveDelete)
	s.routes.HandleFunc("GET /v1/inboxes/{inbox}/messages", s.serveMessages)
	s.routes.HandleFunc("GET /v1/inboxes/{inbox}/messages/{message}", s.serveMessage)
	if o.Extensions {
		s.routes.HandleFunc("GET /v1/inboxes", s.serveInboxes)
		s.routes.HandleFunc("PATCH /v1/inboxes/{inbox}", s.serveExtend)
		s.routes.HandleFunc("DELETE /v1/inboxes/{inbox}/messages", s.serveDeleteMessages)
		s.routes.HandleFunc("DELETE /v1/inboxes/{inbox}/messages/{message}", s.serveDeleteMessages)
		s.routes.HandleFunc("GET /v1/inboxes/{inbox}/messages/{message}/attachments/{attachment}", s.serveAttachment)
		s.routes.HandleFunc("GET /v1/inboxes/{inbox}/messages/{message}/delivery", s.serveDelivery)
		s.routes.HandleFunc("POST /v1/inboxes/{inbox}/messages/{message}/release", s.serveRelease)
	}
	return s
}

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

// Close ends long polls and silent requests. It can be called once.
func (s *Server) Close() { close(s.closed) }

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

// Create makes an inbox with a local part without a request.
func (s *Server) Create(username string, ttl time.Duration) (api.Inbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.create(api.CreateInbox{Username: username, TTL: int(ttl / time.Second)})
}

// Delete deletes an inbox without a request.
func (s *Server) Delete(inboxID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delete(inboxID)
}

// Deliver puts a message into the inbox with an address, and returns it.
func (s *Server) Deliver(to string, m Mail) (api.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	if i := s.at(to); i != nil {
		return s.deliver(i, m), nil
	}
	if username, ok := strings.CutSuffix(to, "@"+Domain); ok && s.options.CatchAll {
		i, err := s.create(api.CreateInbox{Username: username})
		if err != nil {
			return api.Message{}, err
		}
		return s.deliver(s.inboxes[i.ID], m), nil
	}
	return api.Message{}, fmt.Errorf("no inbox has the address %s", to)
}

// at returns the inbox that mail to an address goes to, nil if there is none: with the extensions, an address without its
// own is that without its tags.
func (s *Server) at(email string) *inbox {
	local, domain, _ := strings.Cut(address.Normalise(email), "@")
	for {
		for _, i := range s.inboxes {
			if i.Email == local+"@"+domain {
				return i
			}
		}
		plus := strings.LastIndexByte(local, '+')
		if plus <= 0 || !s.options.Extensions {
			return nil
		}
		local = local[:plus]
	}
}

func (s *Server) deliver(i *inbox, m Mail) api.Message {
	if m.ReceivedAt.IsZero() {
		m.ReceivedAt = s.now()
	}
	if m.Raw == nil {
		m.Raw = fmt.Appendf(nil, "From: %s <%s>\r\nTo: %s\r\nSubject: %s\r\n\r\n%s\r\n", m.FromName, m.From, i.Email, m.Subject, m.Text)
	}
	if m.Delivery.Hello == "" {
		m.Delivery = api.Delivery{Client: "192.0.2.7:25", Hello: "EHLO app.example", From: m.From, Recipients: []api.Recipient{{Address: i.Email}}, Message: 1, After: 12}
	}
	s.made++
	d := message{raw: m.Raw, delivery: m.Delivery, Message: api.Message{
		ID: fmt.Sprintf("msg_%04d", s.made), From: m.From, FromName: m.FromName, To: i.Email, Subject: m.Subject,
		Text: m.Text, HTML: m.HTML, ReceivedAt: m.ReceivedAt, Attachments: slices.Clone(m.Attachments),
	}}
	for n := range d.Attachments {
		a := &d.Attachments[n]
		a.ID, a.Size = fmt.Sprint("att_", n+1), int64(len(a.Content))
	}
	i.messages = append(i.messages, d)
	s.change(i)
	return d.Message
}

func (s *Server) create(n api.CreateInbox) (api.Inbox, error) {
	switch n.Domain {
	case "":
		n.Domain = Domain
	case Domain, OtherDomain:
	default:
		return api.Inbox{}, errors.New("no such domain")
	}
	if n.TTL == 0 {
		n.TTL = 3600
	}
	s.made++
	if n.Username == "" {
		n.Username = fmt.Sprintf("random-%04d", s.made)
	}
	email := address.Normalise(n.Username + "@" + n.Domain)
	for _, i := range s.inboxes {
		if i.Email == email {
			return api.Inbox{}, errors.New("the username is taken")
		}
	}
	now := s.now()
	i := &inbox{Inbox: api.Inbox{ID: fmt.Sprintf("inbox_%04d", s.made), Email: email,
		CreatedAt: now, ExpiresAt: now.Add(time.Duration(n.TTL) * time.Second), TTL: n.TTL}}
	s.inboxes[i.ID] = i
	s.order = append(s.order, i.ID)
	s.change(i)
	return i.Inbox, nil
}

func (s *Server) delete(id string) {
	if i := s.inboxes[id]; i != nil {
		delete(s.inboxes, id)
		s.order = slices.DeleteFunc(s.order, func(o string) bool { return o == id })
		s.change(i)
	}
}

// change records a change and wakes the long polls.
func (s *Server) change(i *inbox) {
	s.version++
	i.version = s.version
	close(s.changed)
	s.changed = make(chan struct{})
}

// now is the time by the server's clock.
func (s *Server) now() time.Time { return time.Now().Add(s.options.Ahead) }

func (s *Server) expire() {
	now := s.now()
	for id, i := range s.inboxes {
		if !i.ExpiresAt.After(now) {
			s.delete(id)
		}
	}
}

func (i *inbox) got() api.Inbox {
	got, n := i.Inbox, len(i.messages)
	got.TTL, got.MessageCount, got.Status = 0, &n, "active"
	return got
}

func (i *inbox) list() api.List {
	list := api.List{Total: len(i.messages)}
	for _, m := range slices.Backward(i.messages) {
		list.Messages = append(list.Messages, api.Summary{ID: m.ID, From: m.From, FromName: m.FromName,
			Subject: m.Subject, ReceivedAt: m.ReceivedAt, Size: int64(len(m.raw))})
	}
	return list
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", s.now().UTC().Format(http.TimeFormat))
	logged := &Request{Time: time.Now(), Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone()}
	s.mu.Lock()
	s.requests = append(s.requests, logged)
	fault, delay := s.fault.take(r), s.delay
	limited := s.limit(w.Header())
	s.mu.Unlock()
	if delay > 0 {
		s.sleep(r, delay)
	}
	if fault != None {
		s.fail(w, r, fault)
		return
	}
	answer := httptest.NewRecorder() // nothing is sent while the lock is held
	switch {
	case r.Header.Get("X-API-Key") != s.options.Key:
		writeError(answer, http.StatusUnauthorized, "Invalid API key")
	case limited:
		writeError(answer, http.StatusTooManyRequests, "Rate limit exceeded")
	default:
		s.route(answer, r)
	}
	s.mu.Lock()
	logged.Status = answer.Code
	s.mu.Unlock()
	send(w, answer)
}

func send(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	w.Write(answer.Body.Bytes())
}

// limit counts a request and reports whether it exceeds the limit.
func (s *Server) limit(h http.Header) bool {
	most := s.options.RequestsPerMinute
	if most == 0 {
		return false
	}
	now := time.Now()
	s.accepted = slices.DeleteFunc(s.accepted, func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	limited := len(s.accepted) >= most
	if !limited {
		s.accepted = append(s.accepted, now)
	}
	if s.options.Extensions {
		reset := int(time.Minute-now.Sub(s.accepted[0]))/int(time.Second) + 1
		h.Set("RateLimit-Policy", fmt.Sprintf(`"minute";q=%d;w=60`, most))
		h.Set("RateLimit", fmt.Sprintf(`"minute";r=%d;t=%d`, most-len(s.accepted), reset))
		if limited {
			h.Set("Retry-After", strconv.Itoa(reset))
		}
	}
	return limited
}

// sleep waits, unless the client leaves or the server is closed, which ends the request.
func (s *Server) sleep(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return
	case <-r.Context().Done():
	case <-s.closed:
	}
	panic(http.ErrAbortHandler)
}

// route carries out a request, holding the lock except while it waits.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	handler, pattern := s.routes.Handler(r)
	if pattern == "" {
		probe := httptest.NewRecorder()
		handler.ServeHTTP(probe, r)
		writeError(w, probe.Code, http.StatusText(probe.Code))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routes.ServeHTTP(w, r)
}

func (s *Server) serveCreate(w http.ResponseWriter, r *http.Request) {
	n, ok := readBody(w, r)
	if !ok {
		return
	}
	s.expire()
	i, err := s.create(n)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	writeJSON(w, http.StatusCreated, i)
}

// readBody answers 400 and returns false if the body is not one of a request.
func readBody(w http.ResponseWriter, r *http.Request) (n api.CreateInbox, ok bool) {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10))
	d.DisallowUnknownFields()
	t, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err := d.Decode(&n); err != io.EOF && (err != nil || d.More() || t != "application/json") {
		writeError(w, http.StatusBadRequest, "the body must be one object with domain, username and ttl, as application/json")
		return n, false
	}
	return n, true
}

// find answers 404 and returns nil if there is no such inbox.
func (s *Server) find(w http.ResponseWriter, r *http.Request) *inbox {
	s.expire()
	i := s.inboxes[r.PathValue("inbox")]
	if i == nil {
		writeError(w, http.StatusNotFound, "no such inbox")
	}
	return i
}

func (s *Server) serveInbox(w http.ResponseWriter, r *http.Request) {
	if i := s.find(w, r); i != nil {
		writeJSON(w, http.StatusOK, i.got())
	}
}

func (s *Server) serveDelete(w http.ResponseWriter, r *http.Request) {
	if i := s.find(w, r); i != nil {
		s.delete(i.ID)
		writeJSON(w, http.StatusOK, api.Deleted{Deleted: true})
	}
}

func (s *Server) serveExtend(w http.ResponseWriter, r *http.Request) {
	n, ok := readBody(w, r)
	if !ok {
		return
	}
	i := s.find(w, r)
	switch {
	case i == nil:
	case n != api.CreateInbox{TTL: n.TTL} || n.TTL < 60 || n.TTL > 30*24*3600:
		writeError(w, http.StatusBadRequest, "ttl must be a whole number of seconds from 60 to 2592000")
	default:
		i.ExpiresAt = s.now().Add(time.Duration(n.TTL) * time.Second)
		s.change(i)
		writeJSON(w, http.StatusOK, i.got())
	}
}

// serveDeleteMessages deletes one message, or all of an inbox.
func (s *Server) serveDeleteMessages(w http.ResponseWriter, r *http.Request) {
	i, id := s.find(w, r), r.PathValue("message")
	if i == nil || id != "" && s.message(w, r) == nil {
		return
	}
	i.messages = slices.DeleteFunc(i.messages, func(m message) bool { return id == "" || m.ID == id })
	s.change(i)
	writeJSON(w, http.StatusOK, api.Deleted{Deleted: true})
}

func (s *Server) serveMessages(w http.ResponseWriter, r *http.Request) {
	i := s.find(w, r)
	if i == nil || s.options.Extensions && !s.longPoll(w, r, func() (version int, ok bool) {
		i = s.find(w, r)
		if i == nil {
			return 0, false
		}
		return i.version, true
	}) {
		return
	}
	list := i.list()
	if s.options.Extensions {
		var ok bool
		if list.Messages, ok = page(r, list.Messages, len(list.Messages), func(m api.Summary) string { return m.ID }); !ok {
			writeError(w, http.StatusNotFound, "no such message")
			return
		}
	}
	writeJSON(w, http.StatusOK, list)
}

// page returns the part of a list, the newest first, that a request asks for: at most size elements. One after an element
// that is gone begins at its place; ok is false after what never was one.
func page[T any](r *http.Request, list []T, size int, id func(T) string) (part []T, ok bool) {
	number := func(id string) int { // 0 if it is none
		_, digits, _ := strings.Cut(id, "_")
		n, _ := strconv.Atoi(digits)
		return n
	}
	if after := r.FormValue("after"); after != "" {
		n := number(after)
		if n == 0 {
			return nil, false
		}
		list = slices.DeleteFunc(list, func(one T) bool { return number(id(one)) >= n })
	}
	if limit, err := strconv.Atoi(r.FormValue("limit")); err == nil && limit > 0 {
		size = min(size, limit)
	}
	return list[:min(size, len(list))], true
}

// longPoll waits, if the request asks for it, until the version differs from the client's. It returns
// false if it answered the request. The version 0 is that of what is not there, which every client has.
func (s *Server) longPoll(w http.ResponseWriter, r *http.Request, version func() (int, bool)) bool {
	var wait time.Duration
	if value, ok := strings.CutPrefix(r.Header.Get("Prefer"), "wait="); ok {
		if seconds, err := strconv.Atoi(value); err == nil && seconds >= 0 {
			wait = time.Duration(min(seconds, 60)) * time.Second
			w.Header().Set("Preference-Applied", "wait")
		}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	over := wait == 0
	for {
		v, ok := version()
		if !ok {
			return false
		}
		tag := fmt.Sprintf(`"%d"`, v)
		switch {
		case v != 0 && r.Header.Get("If-None-Match") != tag:
			w.Header().Set("ETag", tag)
			return true
		case over && v != 0:
			w.Header().Set("ETag", tag)
			w.WriteHeader(http.StatusNotModified)
			return false
		case over:
			return true
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-timer.C:
			over = true
		case <-r.Context().Done():
			over = true
		case <-s.closed:
			over = true
		}
		s.mu.Lock()
		w.Header().Set("Date", s.now().UTC().Format(http.TimeFormat)) // of the answer
	}
}

// serveInboxAt answers with the inbox that mail to an address goes to.
func (s *Server) serveInboxAt(w http.ResponseWriter, r *http.Request, email string) {
	var i *inbox
	if !s.longPoll(w, r, func() (int, bool) {
		s.expire()
		if i = s.at(email); i == nil {
			return 0, true
		}
		return i.version, true
	}) {
		return
	}
	if i == nil {
		writeError(w, http.StatusNotFound, "no inbox gets mail to this address")
		return
	}
	writeJSON(w, http.StatusOK, i.got())
}

func (s *Server) serveInboxes(w http.ResponseWriter, r *http.Request) {
	if s.options.CatchAll {
		w.Header().Set("Catch-All", "?1")
	}
	if email := r.FormValue("address"); email != "" {
		if !s.options.CatchAll {
			w.Header().Set("Catch-All", "?0")
		}
		s.serveInboxAt(w, r, email)
		return
	}
	if !s.longPoll(w, r, func() (int, bool) { s.expire(); return s.version, true }) {
		return
	}
	list := api.InboxList{Total: len(s.order), Domains: []string{Domain, OtherDomain}, RelayAllow: s.options.RelayAllow}
	for _, id := range slices.Backward(s.order) {
		got := s.inboxes[id].got()
		got.ETag = fmt.Sprintf(`"%d"`, s.inboxes[id].version)
		list.Inboxes = append(list.Inboxes, got)
	}
	var ok bool
	if list.Inboxes, ok = page(r, list.Inboxes, cmp.Or(s.options.PageSize, 1000), func(i api.Inbox) string { return i.ID }); !ok {
		writeError(w, http.StatusNotFound, "no such inbox")
		return
	}
	writeJSON(w, http.StatusOK, list)
}

// message answers 404 and returns nil if there is no such message.
func (s *Server) message(w http.ResponseWriter, r *http.Request) *message {
	i := s.find(w, r)
	if i == nil {
		return nil
	}
	n := slices.IndexFunc(i.messages, func(m message) bool { return m.ID == r.PathValue("message") })
	if n < 0 {
		writeError(w, http.StatusNotFound, "no such message")
		return nil
	}
	return &i.messages[n]
}

func (s *Server) serveMessage(w http.ResponseWriter, r *http.Request) {
	m := s.message(w, r)
	switch {
	case m == nil:
	case s.options.Extensions && r.Header.Get("Accept") == "message/rfc822":
		w.Header().Set("Content-Type", "message/rfc822")
		w.Write(m.raw)
	case s.options.Extensions:
		writeJSON(w, http.StatusOK, m.Message)
	default:
		writeJSON(w, http.StatusOK, plain(m.Message))
	}
}

// plain is a message with attachments as another service might write them, since the contract does
// not name their fields.
func plain(m api.Message) any {
	attachments := []map[string]any{}
	for _, a := range m.Attachments {
		attachments = append(attachments, map[string]any{"name": a.Filename, "contentType": a.ContentType,
			"size": a.Size, "content": base64.StdEncoding.EncodeToString(a.Content)})
	}
	return map[string]any{"id": m.ID, "from": m.From, "to": m.To, "subject": m.Subject, "text": m.Text, "html": m.HTML,
		"received_at": m.ReceivedAt.UTC().Format(api.TimeFormat), "attachments": attachments}
}

func (s *Server) serveAttachment(w http.ResponseWriter, r *http.Request) {
	m := s.message(w, r)
	if m == nil {
		return
	}
	for _, a := range m.Attachments {
		if a.ID == r.PathValue("attachment") {
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Write(a.Content)
			return
		}
	}
	writeError(w, http.StatusNotFound, "no such attachment")
}

func (s *Server) serveDelivery(w http.ResponseWriter, r *http.Request) {
	if m := s.message(w, r); m != nil {
		writeJSON(w, http.StatusOK, m.delivery)
	}
}

// serveRelease sends nothing anywhere; [Server.Requests] has what was asked for.
func (s *Server) serveRelease(w http.ResponseWriter, r *http.Request) {
	var to api.Released
	switch {
	case len(s.options.RelayAllow) == 0:
		writeError(w, http.StatusNotImplemented, "no relay")
	case s.message(w, r) == nil:
	case json.NewDecoder(r.Body).Decode(&to) != nil || len(to.To) == 0:
		writeError(w, http.StatusBadRequest, "to must be a list of addresses")
	default:
		writeJSON(w, http.StatusOK, to)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // all values passed can be encoded
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}

func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, api.ErrorBody{Error: api.ErrorDetail{Code: status, Message: message}})
}
