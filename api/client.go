package api

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Options are the choices of a [Client]. The zero value is right for most.
type Options struct {
	// Insecure lets the key go over plain HTTP to other hosts than loopback.
	Insecure bool
	// Transport sends the requests; one that honours the environment's proxy settings when nil.
	Transport http.RoundTripper
	// UserAgent is the User-Agent header field; "mayfly" when empty.
	UserAgent string
	// RequestsPerMinute is the budget, see [Budget]. When 0 it is 60, the least a
	// paid plan allows, until the service says what the plan's is.
	RequestsPerMinute int
	// Timeout is how long an attempt may take without a byte arriving; 30 s when 0.
	// A held request gets the time it is held for on top.
	Timeout time.Duration
	// Retries is how often a call is tried again; 3 when 0, none when negative.
	Retries int
	// MaxWait bounds the wait before another attempt and the wait for the budget;
	// 15 s when 0. What would take longer fails with [ErrRateLimited] at once.
	MaxWait time.Duration
	// MaxResponse is the size of the largest answer accepted, in bytes; 64 MiB when 0.
	MaxResponse int64
	// Trace, when set, is told of every attempt after its end, by the goroutine that made it.
	Trace func(Trace)
}

// Trace describes an attempt. It holds neither the key nor anything of a body.
type Trace struct {
	Method   string
	Path     string
	Attempt  int // counted from 1
	Status   int // 0 when there was no answer
	Bytes    int64
	Duration time.Duration
	Err      error
}

// Hold asks for a list only when it has changed, and to wait until it does.
type Hold struct {
	// ETag is the entity tag of the list that the caller has; empty for none.
	ETag string
	// Wait is how long the service may hold the request, in whole seconds; 0 not to hold.
	Wait time.Duration
	// Limit asks for the newest messages only; 0 for all. A service may ignore it.
	Limit int
}

// Page asks for a part of a list of messages.
type Page struct {
	Limit int    // at most so many messages; 0 for all
	After string // only messages older than this one; empty to start with the newest
}

// Client makes calls to one service with one API key. It is safe for use by
// several goroutines at once.
type Client struct{}

// New returns a client of the service at baseURL, which may have a path. The
// key goes to that origin only, and over plain HTTP only to loopback.
func New(baseURL, key string, o Options) (*Client, error) { return nil, errors.ErrUnsupported }

// BaseURL returns the address of the service, without a slash at the end.
func (c *Client) BaseURL() string { return "" }

// Background returns a client that shares everything with c but gives way to
// it: its requests leave a part of the budget to c's, fail at once with
// [ErrRateLimited] when there is nothing for them, and are never repeated.
func (c *Client) Background() *Client { return nil }

// Budget returns the account of the requests made with c.
func (c *Client) Budget() *Budget { return nil }

// Quota returns what the service last said about its rate limit; false when it never did.
func (c *Client) Quota() (Quota, bool) { return Quota{}, false }

// Quota is what a service says about the rate limit of a key.
type Quota struct {
	Limit     int           // requests
	Window    time.Duration // in this time
	Remaining int           // requests left
	Reset     time.Duration // from now, until there are more
}

// Budget is the account of the requests made with a client.
type Budget struct{}

// Usage returns the number of requests of the last minute, and the most that there may be.
func (b *Budget) Usage() (used, limit int) { return 0, 0 }

// CreateInbox creates an inbox.
func (c *Client) CreateInbox(ctx context.Context, n CreateInbox) (Inbox, error) {
	return Inbox{}, errors.ErrUnsupported
}

// Inbox returns an inbox.
func (c *Client) Inbox(ctx context.Context, inboxID string) (Inbox, error) {
	return Inbox{}, errors.ErrUnsupported
}

// DeleteInbox deletes an inbox and all its messages, at once and for ever.
func (c *Client) DeleteInbox(ctx context.Context, inboxID string) error {
	return errors.ErrUnsupported
}

// Messages returns the list of the messages of an inbox, whole.
func (c *Client) Messages(ctx context.Context, inboxID string) (List, error) {
	return List{}, errors.ErrUnsupported
}

// Message returns a whole message.
func (c *Client) Message(ctx context.Context, inboxID, messageID string) (Message, error) {
	return Message{}, errors.ErrUnsupported
}

// MessagesPage returns a part of the list.
func (c *Client) MessagesPage(ctx context.Context, inboxID string, p Page) (List, error) {
	return List{}, errors.ErrUnsupported
}

// HoldMessages returns the list when it differs from h.ETag.
func (c *Client) HoldMessages(ctx context.Context, inboxID string, h Hold) (List, error) {
	return List{}, errors.ErrUnsupported
}

// Inboxes returns the inboxes of the key.
func (c *Client) Inboxes(ctx context.Context) (InboxList, error) {
	return InboxList{}, errors.ErrUnsupported
}

// HoldInboxes returns the list of inboxes when it differs from h.ETag.
func (c *Client) HoldInboxes(ctx context.Context, h Hold) (InboxList, error) {
	return InboxList{}, errors.ErrUnsupported
}

// Raw returns a message as it was received.
func (c *Client) Raw(ctx context.Context, inboxID, messageID string) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// AttachmentContent returns the decoded content of an attachment of a message.
func (c *Client) AttachmentContent(ctx context.Context, inboxID, messageID string, a Attachment) ([]byte, error) {
	return nil, errors.ErrUnsupported
}
