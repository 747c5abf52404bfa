package api

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mayfly/internal/sockets"
)

// Options are the choices of a [Client]. The zero value is right for most.
type Options struct {
	// Insecure allows sending the key over plain HTTP to hosts other than loopback.
	Insecure bool
	// Transport sends the requests; one that honours the environment's proxy settings when nil.
	Transport http.RoundTripper
	// UserAgent is the User-Agent header field; "mayfly" when empty.
	UserAgent string
	// Retries is how often a call is retried; 3 when 0, never when negative.
	Retries int
	// MaxWait bounds the wait before a retry and the wait for the budget; 15 s when 0. A call that
	// would have to wait longer fails at once, with [ErrRateLimited] if it is for the budget.
	MaxWait time.Duration
	// MaxResponse bounds the size of an answer, in bytes; 64 MiB when 0.
	MaxResponse int64
	// Trace, when set, is called after every attempt, by the goroutine that made it.
	Trace func(Trace)
}

// Trace describes an attempt. It contains neither the key nor any part of a body.
type Trace struct {
	Method   string
	URL      string
	Attempt  int // counted from 1
	Status   int // 0 when there was no answer
	Bytes    int // of the body
	Duration time.Duration
	Err      error
}

// Client makes calls to one service with one API key. It is safe for use by several goroutines at
// once, and does not print the key.
type Client struct {
	*shared
	background bool
	reserved   *atomic.Bool // whether the next request is counted already; nil for never
}

// shared is what a client and its background clients have in common.
type shared struct {
	base     *url.URL
	key      func() string // a function, since fmt prints unexported fields
	http     *http.Client
	options  Options
	budget   *Budget
	features features

	mu    sync.Mutex
	quota *Quota
	ahead time.Duration // how far the service's clock is ahead of this machine's
	named InboxList     // what the last list named, without the inboxes

	catchesAll atomic.Bool
}

// features remembers which extensions the service has.
type features struct {
	longPollMessages, longPollInboxes, inboxes, inboxAt, raw, attachments feature
	deleteMessage, emptyInbox, extendInbox, sessions, states              feature
}

// feature is unknown until the service has shown whether it has it. A feature that was present once
// stays present.
type feature struct{ state atomic.Int32 }

const (
	featureUnknown int32 = iota
	featurePresent
	featureAbsent
)

func (f *feature) present()        { f.state.Store(featurePresent) }
func (f *feature) absent()         { f.state.CompareAndSwap(featureUnknown, featureAbsent) }
func (f *feature) isPresent() bool { return f.state.Load() == featurePresent }
func (f *feature) isAbsent() bool  { return f.state.Load() == featureAbsent }

// New returns a client of the service at baseURL, which may have a path. The key goes to that
// origin only, and over plain HTTP only to loopback unless o.Insecure is set.
func New(baseURL, key string, o Options) (*Client, error) {
	base, err := parseBase(baseURL, o.Insecure)
	if err != nil {
		return nil, err
	}
	if key == "" {
		return nil, errors.New("the API key is empty")
	}
	if strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, errors.New("the API key contains characters that no key has, such as spaces or line breaks")
	}
	if o.Transport == nil {
		o.Transport = NewTransport()
	}
	o.UserAgent = cmp.Or(o.UserAgent, "mayfly")
	o.Retries = cmp.Or(o.Retries, 3)
	o.MaxWait = cmp.Or(max(o.MaxWait, 0), 15*time.Second)
	o.MaxResponse = cmp.Or(max(o.MaxResponse, 0), 64<<20)
	c := &Client{shared: &shared{
		base:    base,
		key:     func() string { return key },
		options: o,
		budget:  newBudget(),
	}}
	c.http = &http.Client{Transport: o.Transport, CheckRedirect: c.checkRedirect}
	return c, nil
}

// CheckBaseURL returns what is wrong with a base URL, other than that it is insecure.
func CheckBaseURL(baseURL string) error {
	_, err := parseBase(baseURL, true)
	return err
}

func parseBase(baseURL string, insecure bool) (*url.URL, error) {
	base, err := url.Parse(strings.TrimSpace(baseURL))
	switch {
	case err != nil && strings.Contains(baseURL, "://"):
		// The error of url.Parse repeats the URL, which may contain a password.
		return nil, errors.New("the base URL is not a URL")
	case err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "":
		return nil, errors.New("the base URL must start with https:// or http:// and name a host")
	case base.User != nil:
		return nil, errors.New("the base URL must not contain a user or a password")
	case base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("the base URL must not have a query or a fragment")
	case base.Scheme == "http" && !insecure && !sockets.IsLoopback(base.Hostname()):
		return nil, fmt.Errorf("the API key is not sent over plain HTTP to %s: use https", base.Host)
	}
	return url.Parse(strings.TrimRight(base.Scheme+"://"+base.Host+base.EscapedPath(), "/"))
}

// NewTransport returns the network as clients use it unless [Options] name another.
func NewTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 32
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext
	// Else a long poll on a connection that died silently would just look quiet forever.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}
	return t
}

// BaseURL returns the address of the service, without a slash at the end.
func (c *Client) BaseURL() string { return c.base.String() }

// Background returns a client that shares everything with c but gives way to it: its requests leave
// part of the budget to c, fail at once with [ErrRateLimited] if there is no room for them, and are
// never retried.
func (c *Client) Background() *Client { return &Client{shared: c.shared, background: true} }

// Reserve counts a background request now and returns a client whose next call makes it, so that of
// several the most important can be made. Without room it returns nil and how long there is none.
func (c *Client) Reserve() (*Client, time.Duration) {
	if wait := c.budget.takeBackground(); wait > 0 {
		return nil, wait
	}
	r := c.Background()
	r.reserved = new(atomic.Bool)
	r.reserved.Store(true)
	return r, 0
}

// Budget returns the count of the requests made with c.
func (c *Client) Budget() *Budget { return c.budget }

// Quota returns the rate limit that the service last announced for the key; false if it never did.
func (c *Client) Quota() (Quota, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.quota == nil {
		return Quota{}, false
	}
	return *c.quota, true
}

// CatchesAll reports whether the service, when it last answered with a list of inboxes or the one at an address, said
// that mail to an address without an inbox creates one, an extension of the contract.
func (c *Client) CatchesAll() bool { return c.catchesAll.Load() }

// CannotDeleteMessages, CannotEmptyInboxes, CannotExtendInboxes and CannotListSessions report whether the service is known
// not to support the operation. False means supported or unknown.
func (c *Client) CannotDeleteMessages() bool { return c.features.deleteMessage.isAbsent() }
func (c *Client) CannotEmptyInboxes() bool   { return c.features.emptyInbox.isAbsent() }
func (c *Client) CannotExtendInboxes() bool  { return c.features.extendInbox.isAbsent() }
func (c *Client) CannotListSessions() bool   { return c.features.sessions.isAbsent() }

// Advertised returns what the service advertised in its last list of inboxes, both as [InboxList] has them: the domains
// that inboxes can be created at, and to whom messages can be released.
func (c *Client) Advertised() (domains, relayAllow []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.named.Domains, c.named.RelayAllow
}

// maxDrift is how far two clocks that agree may seem apart.
const maxDrift = 2 * time.Second

// ServiceTime returns the time by the service's clock, as far as the Date of its last answer (RFC
// 9110, 6.6.1) tells, in whole seconds. Without one, or if the clocks may agree, it is the time of this machine.
func (c *Client) ServiceTime() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ahead.Abs() <= maxDrift {
		return time.Now()
	}
	return time.Now().Add(c.ahead)
}

// CloseIdleConnections closes the connections that no request uses.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }
