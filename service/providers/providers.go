// Package providers takes mail as the HTTP APIs of mail providers do, so that applications that send over these alone, with
// the provider's own client, are tested like those that use SMTP. The API key is sent as the provider has it, and the mail is
// delivered as that of an SMTP session that logged in with it. Errors have the provider's form.
//
// A request is bounded before it is read: its size by that of a message, and its memory with that of other large messages.
// JSON is bounded in depth and in the number of its values. The MIME is made by github.com/emersion/go-message, which encodes
// or refuses whatever would break a header field.
package providers

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"mayfly/service"
	"mayfly/service/limits"
	"mayfly/service/smtp"
)

// Service is what the APIs need of [service.Service]. Its errors carry a [service.Code].
type Service interface {
	Authenticate(ctx context.Context, secret string) (service.Key, error)
	Recipient(ctx context.Context, login, address string) (service.Recipient, error)
	Deliver(ctx context.Context, d service.Delivery) error
	Allow(ctx context.Context, k service.Key) (service.Quota, error)
	Message(ctx context.Context, k service.Key, inboxID, messageID string) (service.Message, error)
}

// Options of the APIs.
type Options struct {
	AnyKey          string          // ID of the key of those that send any other; mail goes by address then. Empty: keys are checked
	AddressFaults   bool            // as in [smtp.Options]
	MaxMessageBytes int64           // of a message; default 25 MiB
	MaxRecipients   int             // of a message; default 100
	Guesses         *limits.Guesses // of keys, which other servers count too
	Large           *limits.Memory  // for messages in memory, which other servers may use too
	Log             *slog.Logger    // failures; default: none
}

// server is the handler that New returns.
type server struct {
	service Service
	Options
}

// provider is what differs between the APIs: their names, where the key is, the form of errors, and what there is by method
// and path.
type provider struct {
	name   string
	secret func(*http.Request) string
	fail   func(w http.ResponseWriter, p problem)
	routes map[string]func(*call) error
}

var all = []provider{resend, sendGrid, postmark, mailgun, ses}

// Names returns the names of the APIs in paths.
func Names() (names []string) {
	for _, p := range all {
		names = append(names, strings.ToLower(p.name))
	}
	return names
}

// problem is why a request fails: a status of HTTP, and a line for the user.
type problem struct {
	status  int
	message string
}

func (p problem) Error() string { return p.message }

// invalid returns a problem with what the client sent.
func invalid(format string, args ...any) error {
	return problem{http.StatusUnprocessableEntity, fmt.Sprintf(format, args...)}
}

// unsupported refuses what a provider does and this service does not, by its name.
func unsupported(name string) error {
	return invalid("%s is not supported by Mayfly, which delivers each message at once and as it is", name)
}

// New returns the handler of the APIs, each below /providers/ and its name.
func New(svc Service, o Options) http.Handler {
	o.MaxMessageBytes = cmp.Or(o.MaxMessageBytes, 25<<20)
	o.MaxRecipients = cmp.Or(o.MaxRecipients, 100)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &server{svc, o}
	mux := http.NewServeMux()
	for _, p := range all {
		prefix := "/providers/" + strings.ToLower(p.name)
		for route, handle := range p.routes {
			method, path, _ := strings.Cut(route, " ")
			mux.HandleFunc(method+" "+prefix+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, p, handle) })
		}
		mux.HandleFunc(prefix+"/", func(w http.ResponseWriter, r *http.Request) {
			s.serve(w, r, p, func(*call) error {
				return problem{http.StatusNotFound, "Mayfly does not have " + r.Method + " " + r.URL.Path}
			})
		})
	}
	return mux
}

// call is a request.
type call struct {
	*server
	w     http.ResponseWriter
	r     *http.Request
	api   provider
	key   service.Key
	login string // the ID of the key; empty with AnyKey
	begun time.Time
}

// readTimeout is for a whole request.
const readTimeout = time.Minute

func (s *server) serve(w http.ResponseWriter, r *http.Request, p provider, handle func(*call) error) {
	c := &call{server: s, w: w, r: r, api: p, begun: time.Now()}
	err := c.authenticate()
	if err == nil {
		err = c.handle(handle)
	}
	if err != nil {
		p.fail(w, c.problem(err))
	}
}

// statuses are those of errors of the service whose messages the client is told.
var statuses = map[service.Code]int{
	service.Unauthorized: http.StatusUnauthorized, service.Forbidden: http.StatusForbidden, service.Invalid: http.StatusUnprocessableEntity,
	service.NotFound: http.StatusUnprocessableEntity, service.OverQuota: http.StatusTooManyRequests, service.RateLimited: http.StatusTooManyRequests,
}

// problem returns what the client is told of an error, and logs one that is the service's fault.
func (c *call) problem(err error) problem {
	if p, ok := errors.AsType[problem](err); ok {
		return p
	}
	code := service.ErrorCode(err)
	if e, ok := errors.AsType[*service.Error](err); ok && statuses[code] != 0 {
		return problem{statuses[code], e.Message}
	}
	if code == service.Canceled { // the client has left
		panic(http.ErrAbortHandler)
	}
	c.Log.Error("request failed", "method", c.r.Method, "path", c.r.URL.Path, "error", err)
	if code == service.Full || code == service.Unavailable {
		return problem{http.StatusServiceUnavailable, "The service cannot do this now; try again later"}
	}
	return problem{http.StatusInternalServerError, "Internal server error"}
}

// authenticate finds the key of the request.
func (c *call) authenticate() (err error) {
	if c.AnyKey != "" {
		c.key.ID = c.AnyKey
		return nil
	}
	c.key, err = c.Guesses.Authenticate(c.r.Context(), c.service, limits.ParsePrefix(c.r.RemoteAddr), c.api.secret(c.r))
	if err == nil && c.key.Plan.Limits().EmailsPerDay == 0 {
		err = service.Errorf(service.Forbidden, "The plan of this API key has no access")
	}
	c.login = c.key.ID
	return err
}

// maxBody is how large a request may be: a message in base64, and what is around it.
func (c *call) maxBody() int64 { return c.MaxMessageBytes/3*4 + 1<<20 }

// handle reads a request and answers it. Four times its size is in memory: as it arrived, as strings, decoded and as MIME.
func (c *call) handle(handle func(*call) error) error {
	size := c.r.ContentLength
	if size < 0 {
		size = c.maxBody()
	}
	if size > c.maxBody() {
		return problem{http.StatusRequestEntityTooLarge, "The request is too large"}
	}
	release, err := c.Large.Reserve(c.r.Context(), c.key.ID, 4*size)
	if err != nil {
		return err
	}
	defer release()
	_ = http.NewResponseController(c.w).SetReadDeadline(c.begun.Add(readTimeout)) // a test's connection may have no deadlines
	c.r.Body = http.MaxBytesReader(c.w, c.r.Body, c.maxBody())
	return handle(c)
}

// tooLarge is why a body could not be read.
func tooLarge(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return problem{http.StatusRequestEntityTooLarge, "The request is too large"}
	}
	return invalid("The request cannot be read")
}

// Bounds of JSON: how deep it may be, and how many values it may have.
const maxDepth, maxValues = 16, 20_000

// json reads the body. What it has is bounded beforehand, since a value of two bytes can take a hundred.
func (c *call) json() (v any, err error) {
	body, err := io.ReadAll(c.r.Body)
	if err != nil {
		return nil, tooLarge(err)
	}
	depth, values, quoted := 0, 0, false
	for i := 0; i < len(body); i++ {
		switch b := body[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
			values++
		case b == '}' || b == ']':
			depth--
		case b == ',':
			values++
		}
		if depth > maxDepth || values > maxValues {
			return nil, invalid("The JSON is nested too deeply, or has too many values")
		}
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return nil, invalid("The request is not valid JSON")
	}
	return v, nil
}

// prepareEach prepares the messages of a batch, of at most so many.
func (c *call) prepareEach(l layout, most int) (all []prepared, err error) {
	v, err := c.json()
	if err != nil {
		return nil, err
	}
	batch, ok := v.([]any)
	if !ok || len(batch) > most {
		return nil, invalid("A batch is a list of at most %d messages", most)
	}
	for _, in := range batch {
		e, err := l.read(in)
		all = append(all, c.prepare(e, err))
	}
	return all, nil
}

// sendOne sends a message that JSON describes.
func (c *call) sendOne(l layout) (id string, err error) {
	v, err := c.json()
	if err != nil {
		return "", err
	}
	return c.send(l.read(v))
}

// answer sends a value as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it fails when the client has left
}

// prepared is a message to deliver, or why it cannot be.
type prepared struct {
	email    *email
	delivery service.Delivery
	lost     bool // the answer
	err      error
}

// send delivers a message that was read, unless it could not be.
func (c *call) send(e *email, err error) (id string, _ error) { return c.deliver(c.prepare(e, err)) }

func (c *call) prepare(e *email, err error) (p prepared) {
	if p.email = e; err == nil {
		p.delivery, p.lost, err = c.address(e)
	}
	p.err = err
	return p
}

// address makes a delivery of a message that has yet to be composed. lost: an address asks for no answer.
func (c *call) address(e *email) (d service.Delivery, lost bool, err error) {
	addresses, err := e.recipients(c.MaxRecipients)
	if err != nil {
		return d, false, err
	}
	d = service.Delivery{From: e.from.Address, Session: service.Session{
		Client: c.r.RemoteAddr, Connected: c.begun, Hello: c.api.name + "'s API", Messages: map[string]int{},
	}}
	if c.login != "" {
		d.Hello += ", key " + cmp.Or(c.key.Name, c.login)
	}
	if c.r.TLS != nil {
		d.TLS = tls.VersionName(c.r.TLS.Version)
	}
	for _, address := range addresses {
		if c.AddressFaults {
			this, err := c.fault(address)
			if err != nil {
				return d, false, err
			}
			lost = lost || this
		}
		to, err := c.service.Recipient(c.r.Context(), c.login, address)
		if err != nil {
			if code := service.ErrorCode(err); code == service.NotFound || code == service.Invalid {
				return d, false, invalid("No inbox can receive mail for %s", address)
			}
			return d, false, err
		}
		d.To = append(d.To, to)
		d.Messages[to.KeyID] = 1
	}
	return d, lost, nil
}

// deliver delivers a message, and returns its ID: that of the first inbox and of the message in it.
func (c *call) deliver(p prepared) (id string, err error) {
	if p.delivery.Raw, err = c.compose(p); err != nil {
		return "", err
	}
	p.delivery.Stored = func(inboxID, messageID string) { id = cmp.Or(id, inboxID+"."+messageID) }
	if err := c.service.Deliver(c.r.Context(), p.delivery); err != nil {
		return "", err
	}
	if p.lost {
		panic(http.ErrAbortHandler)
	}
	return id, nil
}

// compose composes a message, unless it cannot be delivered.
func (c *call) compose(p prepared) ([]byte, error) {
	if p.err != nil {
		return nil, p.err
	}
	raw, err := p.email.compose(time.Now())
	if err == nil && int64(len(raw)) > c.MaxMessageBytes {
		err = problem{http.StatusRequestEntityTooLarge, fmt.Sprintf("The message is larger than %d bytes", c.MaxMessageBytes)}
	}
	return raw, err
}

// deliverAll delivers messages, none if one of them cannot be, so that a client that sends all of them again sends none twice.
// Only one at a time is in memory as MIME.
func (c *call) deliverAll(all []prepared) (ids []string, err error) {
	for _, p := range all {
		if _, err := c.compose(p); err != nil {
			return nil, err
		}
	}
	for _, p := range all {
		id, err := c.deliver(p)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// fault does what an address asks for, see [smtp.AddressFault]. lost: it asks for no answer.
func (c *call) fault(address string) (lost bool, err error) {
	reply, slow, drop, lost := smtp.AddressFault(address)
	switch {
	case drop:
		panic(http.ErrAbortHandler)
	case strings.HasPrefix(reply, "4"):
		return false, problem{http.StatusServiceUnavailable, reply}
	case reply != "":
		return false, invalid("%s", reply)
	case slow > 0:
		select {
		case <-time.After(min(slow, readTimeout)):
		case <-c.r.Context().Done():
			return false, c.r.Context().Err()
		}
	}
	return lost, nil
}
