package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mayfly/internal/sockets"
)

// call is a call of the API: one request, or several attempts at it.
type call struct {
	op     string   // what is being done, for errors
	method string   // GET when empty
	path   []string // segments below /v1, not escaped
	query  url.Values
	body   any    // encoded as JSON unless nil
	accept string // JSON when empty
	etag   string
	wait   time.Duration // how long the service may take longer
	needs  *feature      // nil for what the contract has
}

// answer is an answer of the service, read completely.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// mediaType returns the content type without parameters; empty without one.
func (a *answer) mediaType() string {
	t, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	return t
}

// isJSON reports whether the body is JSON by its content type, or has none.
func (a *answer) isJSON() bool {
	t := a.mediaType()
	return t == "" || t == "application/json" || t == "text/json" || strings.HasSuffix(t, "+json")
}

// silenceTimeout is how long an attempt may go without a byte of an answer, after the wait of a long poll.
const silenceTimeout = 30 * time.Second

var (
	errSilent = errors.New("no answer in time")
	errCut    = errors.New("the connection was closed before the answer was complete")
)

// do makes a call, retries it where that is safe, and returns an answer with a status of 2xx or
// 304.
func (c *Client) do(ctx context.Context, k call) (*answer, error) {
	if k.needs != nil && k.needs.isAbsent() {
		return nil, unsupported(k.op)
	}
	k.method, k.accept = cmp.Or(k.method, http.MethodGet), cmp.Or(k.accept, "application/json")
	path, err := escape(k.path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.op, err)
	}
	target := c.base.String() + path
	if len(k.query) > 0 {
		target += "?" + k.query.Encode()
	}
	var body []byte
	if k.body != nil {
		if body, err = json.Marshal(k.body); err != nil {
			return nil, fmt.Errorf("%s: %w", k.op, err)
		}
	}
	carriedOut := false // perhaps, by an attempt whose answer was lost
	for attempt := 1; ; attempt++ {
		if err := c.takeBudget(ctx, k.op); err != nil {
			return nil, err
		}
		a, err := c.attempt(ctx, k, target, body, attempt)
		if err == nil && (a.status < 300 || a.status == http.StatusNotModified) {
			return a, nil
		}
		if err == nil && a.status == http.StatusNotFound && k.method == http.MethodDelete && carriedOut {
			return &answer{status: http.StatusOK, header: a.header}, nil
		}
		again, perhaps := retryable(k.method, a, err)
		carriedOut = carriedOut || perhaps
		var after time.Duration
		if err == nil {
			after = RetryAfter(a.header, time.Now())
			err = c.failure(k.op, a, after)
		}
		if !again || c.background || attempt > c.options.Retries {
			return nil, err
		}
		wait := max(after, backOff(attempt))
		if wait > c.options.MaxWait {
			return nil, err
		}
		if sleepErr := sleep(ctx, wait); sleepErr != nil {
			return nil, fmt.Errorf("%s: %w", k.op, sleepErr)
		}
	}
}

// retryable reports whether a failed attempt may be repeated, and whether it may have been carried
// out.
func retryable(method string, a *answer, err error) (again, carriedOut bool) {
	idempotent := method == http.MethodGet || method == http.MethodDelete
	switch {
	case err != nil:
		return neverSent(err) || idempotent && errors.Is(err, ErrUnavailable) && !permanent(err), !neverSent(err)
	case a.status == http.StatusTooManyRequests:
		return true, false
	case a.status == http.StatusNotImplemented || a.status == http.StatusHTTPVersionNotSupported || a.status < 500:
		return false, false
	}
	return idempotent, true
}

// backOff returns 0.3 s, doubled with each attempt, half of it random.
func backOff(attempt int) time.Duration {
	d := 300 * time.Millisecond << min(attempt-1, 6)
	return d/2 + rand.N(d/2+1)
}

func (c *Client) takeBudget(ctx context.Context, op string) error {
	var wait time.Duration
	var err error
	switch {
	case c.reserved != nil && c.reserved.Swap(false):
	case c.background:
		if err = context.Cause(ctx); err == nil {
			wait = c.budget.takeBackground()
		}
	default:
		wait, err = c.budget.take(ctx, c.options.MaxWait)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if wait > 0 {
		return &Error{Op: op, Message: "the requests of this minute are used up", RetryAfter: wait, kind: ErrRateLimited}
	}
	return nil
}

// attempt sends a request once and reads the answer completely.
func (c *Client) attempt(ctx context.Context, k call, target string, body []byte, attempt int) (a *answer, err error) {
	began := time.Now()
	if c.options.Trace != nil {
		defer func() {
			t := Trace{Method: k.method, URL: target, Attempt: attempt, Duration: time.Since(began), Err: err}
			if a != nil {
				t.Status, t.Bytes = a.status, len(a.body)
			}
			c.options.Trace(t)
		}()
	}
	caller := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(silenceTimeout+k.wait, func() { cancel(errSilent) })
	defer silence.Stop()

	request, err := http.NewRequestWithContext(ctx, k.method, target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.op, c.scrub(err))
	}
	h := request.Header
	h.Set("X-API-Key", c.key())
	h.Set("User-Agent", c.options.UserAgent)
	h.Set("Accept", k.accept)
	if body != nil {
		h.Set("Content-Type", "application/json")
	}
	if k.etag != "" {
		h.Set("If-None-Match", k.etag)
	}
	if seconds := int(k.wait / time.Second); seconds > 0 {
		h.Set("Prefer", fmt.Sprintf("wait=%d", seconds))
	}

	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.lost(caller, ctx, k.op, err)
	}
	defer response.Body.Close()
	c.account(response, began)
	if response.ContentLength > c.options.MaxResponse {
		return nil, c.tooLarge(k.op)
	}
	content := progress{response.Body, func() { silence.Reset(silenceTimeout) }}
	read, err := io.ReadAll(io.LimitReader(content, c.options.MaxResponse+1))
	if err != nil {
		return nil, c.lost(caller, ctx, k.op, err)
	}
	if int64(len(read)) > c.options.MaxResponse {
		return nil, c.tooLarge(k.op)
	}
	return &answer{response.StatusCode, response.Header, read}, nil
}

// progress calls a function whenever something was read.
type progress struct {
	io.Reader
	made func()
}

func (p progress) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if n > 0 {
		p.made()
	}
	return n, err
}

// account updates the budget and the service's time from the header of an answer.
func (c *Client) account(response *http.Response, sent time.Time) {
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		c.mu.Lock()
		c.ahead = time.Until(date)
		c.mu.Unlock()
	}
	if q, ok := parseQuota(response.Header); ok {
		c.mu.Lock()
		c.quota = &q
		c.mu.Unlock()
		c.budget.adopt(q)
	} else if response.StatusCode < 400 && (waitApplied(response.Header) || c.features.inboxes.isPresent()) {
		c.budget.removeLimit()
	}
	if response.StatusCode == http.StatusTooManyRequests {
		c.budget.limited(sent, RetryAfter(response.Header, time.Now()))
	} else if response.StatusCode < 500 {
		c.budget.accepted()
	}
}

// checkRedirect follows redirects of GET within the origin. Others become answers with a status of
// 3xx.
func (c *Client) checkRedirect(request *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet || len(via) > 5 || request.URL.Scheme != c.base.Scheme || !strings.EqualFold(request.URL.Host, c.base.Host) {
		return http.ErrUseLastResponse
	}
	return c.takeBudget(request.Context(), "follow a redirect")
}

// decode reads the JSON of an answer.
func decode[T any](op string, a *answer) (T, error) {
	var v T
	if !a.isJSON() {
		return v, fmt.Errorf("%s: %w: the service answered with %s; is the base URL right?", op, ErrUnexpected, a.describe())
	}
	if err := json.Unmarshal(a.body, &v); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return v, fmt.Errorf("%s: %w: JSON with an unexpected %s", op, ErrUnexpected, wrong.Value)
		}
		return v, fmt.Errorf("%s: %w: broken JSON", op, ErrUnexpected)
	}
	return v, nil
}

// Ready returns nil if the service at a base URL is ready, else why not, as its /readyz says:
// [ErrUnavailable], or [ErrUnexpected] if it has none. It makes one request, without a key. On
// loopback any certificate will do, since it is for the name that others know the service by.
func Ready(ctx context.Context, baseURL string) error {
	base, err := parseBase(baseURL, true)
	if err != nil {
		return err
	}
	a, err := getReadiness(ctx, base)
	if err != nil {
		return notReady(base, withoutURL(err))
	}
	switch {
	case a.status == http.StatusOK && a.isJSON():
		return nil
	case a.status < 500:
		return fmt.Errorf("%w: %s/readyz answered %d with %s; is the URL right?", ErrUnexpected, base, a.status, a.describe())
	}
	text := fmt.Sprintf("it answered %d %s", a.status, http.StatusText(a.status))
	if said := errorText(a.body); a.isJSON() && said != "" {
		text = printable(said)
	}
	return notReady(base, errors.New(text))
}

func notReady(base *url.URL, cause error) error {
	return fmt.Errorf("the service at %s is not ready: %w", base, &lostError{cause: cause})
}

// maxReadiness is how much is read of an answer of /readyz, in bytes.
const maxReadiness = 64 << 10

func getReadiness(ctx context.Context, base *url.URL) (*answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.String()+"/readyz", nil)
	if err != nil {
		return nil, err
	}
	transport := NewTransport()
	transport.DisableKeepAlives = true
	if sockets.IsLoopback(base.Hostname()) {
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	}
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxReadiness))
	return &answer{response.StatusCode, response.Header, body}, err
}
