package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	acceptJSON = "application/json"
	acceptRaw  = "message/rfc822"
)

// inboxPath and messagePath name what a call is about, see call.path.
func inboxPath(inboxID string, below ...string) []string {
	return append([]string{"inboxes", inboxID}, below...)
}

func messagePath(inboxID, messageID string, below ...string) []string {
	return inboxPath(inboxID, append([]string{"messages", messageID}, below...)...)
}

// escape joins the segments of a path. Identifiers come from the service or are typed by people.
func escape(path []string) (string, error) {
	escaped := "/v1"
	for _, id := range path {
		if id == "" || id == "." || id == ".." || len(id) > 1000 {
			return "", fmt.Errorf("%w: %.40q is not an ID", ErrInvalid, id)
		}
		escaped += "/" + url.PathEscape(id)
	}
	return escaped, nil
}

func unsupported(op string) error { return fmt.Errorf("%s: %w", op, ErrUnsupported) }

// CreateInbox creates an inbox. A call whose answer was lost is not retried, since the inbox may
// have been created.
func (c *Client) CreateInbox(ctx context.Context, n CreateInbox) (Inbox, error) {
	const op = "create an inbox"
	a, err := c.do(ctx, call{op: op, method: http.MethodPost, path: []string{"inboxes"}, body: n, accept: acceptJSON})
	if err != nil {
		return Inbox{}, err
	}
	i, err := decodeInbox(op, a)
	if err == nil && i.Email == "" {
		err = fmt.Errorf("%s: %w: an inbox without an address", op, ErrUnexpected)
	}
	return i, err
}

// Inbox returns an inbox.
func (c *Client) Inbox(ctx context.Context, inboxID string) (Inbox, error) {
	const op = "get the inbox"
	a, err := c.do(ctx, call{op: op, method: http.MethodGet, path: inboxPath(inboxID), accept: acceptJSON})
	if err != nil {
		return Inbox{}, err
	}
	return decodeInbox(op, a)
}

func decodeInbox(op string, a *answer) (Inbox, error) {
	i, err := decode[Inbox](op, a)
	if err == nil && i.ID == "" {
		err = fmt.Errorf("%s: %w: an inbox without an ID", op, ErrUnexpected)
	}
	return i, err
}

// DeleteInbox deletes an inbox and all its messages, immediately and permanently. An inbox that is
// gone when the call is retried counts as deleted.
func (c *Client) DeleteInbox(ctx context.Context, inboxID string) error {
	const op = "delete the inbox"
	a, err := c.do(ctx, call{op: op, method: http.MethodDelete, path: inboxPath(inboxID), accept: acceptJSON})
	if err != nil || len(a.body) == 0 {
		return err
	}
	d, err := decode[struct{ Deleted *bool }](op, a)
	if err == nil && d.Deleted != nil && !*d.Deleted {
		err = fmt.Errorf("%s: %w: the service says that it was not deleted", op, ErrUnexpected)
	}
	return err
}

// Messages returns the complete list of the messages of an inbox.
func (c *Client) Messages(ctx context.Context, inboxID string) (List, error) {
	return c.HoldMessages(ctx, inboxID, Hold{})
}

// Message returns a message.
func (c *Client) Message(ctx context.Context, inboxID, messageID string) (Message, error) {
	const op = "get the message"
	a, err := c.do(ctx, call{op: op, method: http.MethodGet, path: messagePath(inboxID, messageID), accept: acceptJSON})
	if err != nil {
		return Message{}, err
	}
	return decode[Message](op, a)
}

// Page asks for part of a list of messages.
type Page struct {
	Limit int    // the most messages to return; 0 leaves it to the service
	After string // return only messages older than this one, by ID; empty to start with the newest
}

// MessagesPage returns part of the list of the messages of an inbox. A service without pages
// answers with the complete list, which is returned along with [ErrUnsupported].
func (c *Client) MessagesPage(ctx context.Context, inboxID string, p Page) (List, error) {
	const op = "list a page of messages"
	if c.features.pages.isAbsent() {
		return List{}, unsupported(op)
	}
	query := url.Values{}
	if p.Limit > 0 {
		query.Set("limit", strconv.Itoa(p.Limit))
	}
	if p.After != "" {
		query.Set("after", p.After)
	}
	list, _, err := c.list(ctx, op, inboxID, query, Hold{})
	if err != nil {
		return list, err
	}
	ignored := p.Limit > 0 && len(list.Messages) > p.Limit
	for _, m := range list.Messages {
		ignored = ignored || m.ID == p.After
	}
	if ignored {
		c.features.pages.absent()
		return list, unsupported(op)
	}
	return list, nil
}

// Hold asks for a list only if it has changed, and to wait until it does.
type Hold struct {
	// ETag is the entity tag of the list that the caller has; empty without one.
	ETag string
	// Wait is how long the service may hold the request, in whole seconds; 0 for not at all.
	Wait time.Duration
	// Limit asks for the newest messages only; 0 for all. A service may ignore it.
	Limit int
}

// HoldMessages returns the list of the messages of an inbox as soon as it differs from the one
// tagged h.ETag, and [ErrNotModified] if it does not within h.Wait. The list returned along with
// that error has only ETag and Held.
//
// A service that does not hold requests answers at once. If h.Wait is set, its first answer is
// returned along with [ErrUnsupported], and later calls fail without a request. A service that held
// a request before may stop doing so for a while: see Held.
func (c *Client) HoldMessages(ctx context.Context, inboxID string, h Hold) (List, error) {
	const op = "list the messages"
	if h.Wait >= time.Second && c.features.holdMessages.isAbsent() {
		return List{}, unsupported(op)
	}
	query := url.Values{}
	if h.Limit > 0 {
		query.Set("limit", strconv.Itoa(h.Limit))
	}
	list, a, err := c.list(ctx, op, inboxID, query, h)
	if a != nil && h.Wait >= time.Second {
		if heldErr := c.features.holdMessages.heldOr(op, list.Held); err == nil || heldErr != nil {
			err = heldErr
		}
	}
	return list, err
}

// heldOr records whether the service holds requests.
func (f *feature) heldOr(op string, held bool) error {
	if held {
		f.present()
	} else if f.absent(); f.isAbsent() {
		return fmt.Errorf("%s: hold the request: %w", op, ErrUnsupported)
	}
	return nil
}

// list returns a nil answer with every error but ErrNotModified.
func (c *Client) list(ctx context.Context, op, inboxID string, query url.Values, h Hold) (List, *answer, error) {
	a, err := c.do(ctx, call{op: op, method: http.MethodGet, path: inboxPath(inboxID, "messages"), query: query, accept: acceptJSON, etag: h.ETag, wait: h.Wait})
	if err != nil {
		return List{}, nil, err
	}
	var list List
	if a.status == http.StatusNotModified {
		err = fmt.Errorf("%s: %w", op, ErrNotModified)
	} else if list, err = decode[List](op, a); err != nil {
		return List{}, nil, err
	}
	list.ETag, list.Held = a.tag(h), waitApplied(a.header)
	return list, a, err
}

// tag returns the entity tag of an answer to h.
func (a *answer) tag(h Hold) string {
	if tag := a.header.Get("ETag"); tag != "" && len(tag) < 1000 {
		return tag
	}
	if a.status == http.StatusNotModified {
		return h.ETag
	}
	return ""
}

// waitApplied reports whether the service applied the preference to wait.
func waitApplied(h http.Header) bool {
	for _, value := range h["Preference-Applied"] {
		for p := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ';' }) {
			name, _, _ := strings.Cut(p, "=")
			if strings.EqualFold(strings.TrimSpace(name), "wait") {
				return true
			}
		}
	}
	return false
}

// Inboxes returns the inboxes of the key, an extension of the contract.
func (c *Client) Inboxes(ctx context.Context) (InboxList, error) {
	return c.HoldInboxes(ctx, Hold{})
}

// HoldInboxes returns the inboxes of the key as soon as the list differs from the one tagged
// h.ETag, as [Client.HoldMessages] does for messages. It fails with [ErrUnsupported], and returns
// no list, on a service that has none.
func (c *Client) HoldInboxes(ctx context.Context, h Hold) (InboxList, error) {
	const op = "list the inboxes"
	if c.features.inboxes.isAbsent() || h.Wait >= time.Second && c.features.holdInboxes.isAbsent() {
		return InboxList{}, unsupported(op)
	}
	a, err := c.do(ctx, call{op: op, method: http.MethodGet, path: []string{"inboxes"}, accept: acceptJSON, etag: h.ETag, wait: h.Wait})
	if e, ok := errors.AsType[*Error](err); ok && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented) {
		c.features.inboxes.absent()
		return InboxList{}, unsupported(op)
	}
	if err != nil {
		return InboxList{}, err
	}
	var list InboxList
	if a.status == http.StatusNotModified {
		err = fmt.Errorf("%s: %w", op, ErrNotModified)
	} else if list, err = decode[InboxList](op, a); err != nil {
		return InboxList{}, err
	} else if !list.has {
		c.features.inboxes.absent()
		return InboxList{}, unsupported(op)
	}
	list.ETag, list.Held = a.tag(h), waitApplied(a.header)
	c.features.inboxes.present()
	c.catchesAll.Store(a.header.Get("Catch-All") == "?1") // a boolean item (RFC 9651, 3.3.6)
	if h.Wait >= time.Second {
		if heldErr := c.features.holdInboxes.heldOr(op, list.Held); heldErr != nil {
			err = heldErr
		}
	}
	return list, err
}

// Raw returns a message as it was received (RFC 5322), an extension of the contract.
func (c *Client) Raw(ctx context.Context, inboxID, messageID string) ([]byte, error) {
	const op = "get the raw message"
	if c.features.raw.isAbsent() {
		return nil, unsupported(op)
	}
	a, err := c.do(ctx, call{op: op, method: http.MethodGet, path: messagePath(inboxID, messageID), accept: acceptRaw})
	e, ok := errors.AsType[*Error](err)
	refused := ok && e.Status == http.StatusNotAcceptable
	if err != nil && !refused {
		return nil, err
	}
	if refused || a.mediaType() != acceptRaw {
		c.features.raw.absent()
		return nil, unsupported(op)
	}
	c.features.raw.present()
	return a.body, nil
}

// AttachmentContent returns the decoded content of an attachment of a message: the one that came
// with the message, else the one at the path that Mayfly's own service has, an extension of the
// contract. A URL in the attachment is not followed.
func (c *Client) AttachmentContent(ctx context.Context, inboxID, messageID string, attachment Attachment) ([]byte, error) {
	const op = "get the attachment"
	if attachment.Content != nil {
		return attachment.Content, nil
	}
	if attachment.ID == "" || c.features.attachments.isAbsent() {
		return nil, unsupported(op)
	}
	path := messagePath(inboxID, messageID, "attachments", attachment.ID)
	a, err := c.do(ctx, call{op: op, method: http.MethodGet, path: path, accept: "*/*"})
	if e, ok := errors.AsType[*Error](err); ok && c.features.attachments.state.Load() == featureUnknown {
		switch e.Status {
		case http.StatusMethodNotAllowed, http.StatusNotImplemented:
			c.features.attachments.absent()
			return nil, unsupported(op)
		case http.StatusNotFound:
			// No such attachment or no such path, which look the same: do not remember it.
			return nil, unsupported(op)
		}
	}
	if err != nil {
		return nil, err
	}
	c.features.attachments.present()
	return a.body, nil
}

// releaseTimeout is how long a service may take to hand a message on to a mail server.
const releaseTimeout = 90 * time.Second

// Release has the service send a message on to addresses, byte for byte as it was received, and
// returns once a mail server has taken it for all of them: an extension of the contract. It fails
// with [ErrUnsupported] on a service that does not, with [ErrForbidden] for an address that is not
// allowed, and with [ErrUnavailable] if the mail server does not take the message. It is not
// retried after it may have been carried out.
func (c *Client) Release(ctx context.Context, inboxID, messageID string, to []string) error {
	const op = "release the message"
	_, err := c.do(ctx, call{op: op, method: http.MethodPost, path: messagePath(inboxID, messageID, "release"), body: Released{orEmpty(to)}, accept: acceptJSON, wait: releaseTimeout})
	if e, ok := errors.AsType[*Error](err); ok && (e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented) {
		return unsupported(op)
	}
	return err
}
