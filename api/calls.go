package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const rawType = "message/rfc822"

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

// get makes a call and reads the object that the service answers with.
func get[T any](ctx context.Context, c *Client, k call) (object T, err error) {
	a, err := c.do(ctx, k)
	if err != nil {
		return object, err
	}
	return decode[T](k.op, a)
}

// CreateInbox creates an inbox. A call whose answer was lost is not retried, since the inbox may
// have been created.
func (c *Client) CreateInbox(ctx context.Context, n CreateInbox) (Inbox, error) {
	i, err := getInbox(ctx, c, call{op: "create an inbox", method: http.MethodPost, path: []string{"inboxes"}, body: n})
	if err == nil && i.Email == "" {
		err = fmt.Errorf("create an inbox: %w: an inbox without an address", ErrUnexpected)
	}
	return i, err
}

// Inbox returns an inbox.
func (c *Client) Inbox(ctx context.Context, inboxID string) (Inbox, error) {
	return getInbox(ctx, c, call{op: "get the inbox", path: inboxPath(inboxID)})
}

func getInbox(ctx context.Context, c *Client, k call) (Inbox, error) {
	a, err := c.do(ctx, k)
	return readInbox(k.op, a, err)
}

// readInbox reads the answer to a call for an inbox.
func readInbox(op string, a *answer, err error) (Inbox, error) {
	if err != nil {
		return Inbox{}, err
	}
	i, err := decode[Inbox](op, a)
	if err == nil && i.ID == "" {
		err = fmt.Errorf("%s: %w: an inbox without an ID", op, ErrUnexpected)
	}
	return i, err
}

// DeleteInbox deletes an inbox and all its messages, immediately and permanently. An inbox that is
// gone when the call is retried counts as deleted.
func (c *Client) DeleteInbox(ctx context.Context, inboxID string) error {
	k := call{op: "delete the inbox", method: http.MethodDelete, path: inboxPath(inboxID)}
	a, err := c.do(ctx, k)
	return deleted(k.op, a, err)
}

// deleted reads the answer to a deletion.
func deleted(op string, a *answer, err error) error {
	if err != nil || len(a.body) == 0 {
		return err
	}
	d, err := decode[struct{ Deleted *bool }](op, a)
	if err == nil && d.Deleted != nil && !*d.Deleted {
		err = fmt.Errorf("%s: %w: the service says that it was not deleted", op, ErrUnexpected)
	}
	return err
}

// DeleteMessage permanently deletes a message, an extension of the contract. One that is gone when the call
// is retried counts as deleted. It fails with [ErrUnsupported] on a service that cannot.
func (c *Client) DeleteMessage(ctx context.Context, inboxID, messageID string) error {
	k := call{op: "delete the message", method: http.MethodDelete, path: messagePath(inboxID, messageID), needs: &c.features.deleteMessage}
	a, err := c.extension(ctx, k, func() error { return failure(c.Message(ctx, inboxID, messageID)) })
	return deleted(k.op, a, err)
}

// EmptyInbox deletes all messages of an inbox for good, an extension of the contract. It fails with
// [ErrUnsupported] on a service that cannot.
func (c *Client) EmptyInbox(ctx context.Context, inboxID string) error {
	k := call{op: "empty the inbox", method: http.MethodDelete, path: inboxPath(inboxID, "messages"), needs: &c.features.emptyInbox}
	a, err := c.extension(ctx, k, func() error { return failure(c.Inbox(ctx, inboxID)) })
	return deleted(k.op, a, err)
}

// ExtendInbox sets the end of an inbox to ttl from now, in whole seconds, sooner or later than it was, and
// returns the inbox: an extension of the contract. It fails with [ErrUnsupported] on a service that cannot,
// and with [ErrInvalid] if the plan does not allow that. It is not repeated after it may have been carried out.
func (c *Client) ExtendInbox(ctx context.Context, inboxID string, ttl time.Duration) (Inbox, error) {
	body := map[string]int{"ttl": int(ttl / time.Second)}
	k := call{op: "extend the inbox", method: http.MethodPatch, path: inboxPath(inboxID), body: body, needs: &c.features.extendInbox}
	a, err := c.extension(ctx, k, func() error { return failure(c.Inbox(ctx, inboxID)) })
	return readInbox(k.op, a, err)
}

// extension makes a call that is an extension of the contract, and learns whether the service has it. One that
// does not may answer 404 for the path, as for an inbox or message that does not exist: get tells which it is.
func (c *Client) extension(ctx context.Context, k call, get func() error) (*answer, error) {
	a, err := c.do(ctx, k)
	e, refused := errors.AsType[*Error](err)
	switch {
	case err == nil:
		k.needs.present()
	case refused && (e.absent() || e.Status == http.StatusNotFound && !k.needs.isPresent() && get() == nil):
		k.needs.absent()
		return nil, unsupported(k.op)
	}
	return a, err
}

// failure returns the error of a call whose result does not matter.
func failure[T any](_ T, err error) error { return err }

// Messages returns the complete list of the messages of an inbox, newest first.
func (c *Client) Messages(ctx context.Context, inboxID string) (List, error) {
	return c.PollMessages(ctx, inboxID, Poll{})
}

// Message returns a message.
func (c *Client) Message(ctx context.Context, inboxID, messageID string) (Message, error) {
	return get[Message](ctx, c, call{op: "get the message", path: messagePath(inboxID, messageID)})
}

// Poll says which part of a list is asked for, and when. The zero value asks for all of it, now.
type Poll struct {
	// ETag is the entity tag of the list that the caller has: the list is asked for only if it has
	// changed. Empty without one.
	ETag string
	// Wait is how long the service may wait for a change, in whole seconds; 0 for not at all.
	Wait time.Duration
	// Limit asks for so many of the newest; 0 for all messages, or a page of inboxes. A service may ignore it.
	Limit int
	// After asks for those older than the one with this ID. A service may ignore it.
	After string
}

// PollMessages returns the list of the messages of an inbox, newest first, as soon as it differs from the one
// tagged p.ETag, and [ErrNotModified] if it does not within p.Wait. The list returned along with
// that error has only ETag and Waited.
//
// A service without long polls answers at once. If p.Wait is set, its first answer is returned along
// with [ErrUnsupported], and later calls fail without a request. A service that waited before may
// stop doing so for a while: see Waited.
func (c *Client) PollMessages(ctx context.Context, inboxID string, p Poll) (List, error) {
	k := call{op: "list the messages", path: inboxPath(inboxID, "messages")}
	list, answered, err := poll[List](ctx, c, k, p, &c.features.longPollMessages)
	slices.SortStableFunc(list.Messages, func(a, b Summary) int { return b.ReceivedAt.Compare(a.ReceivedAt) })
	if answered != nil {
		list.ETag, list.Waited = answered.tag(p), waitApplied(answered.header)
	}
	return list, err
}

// poll asks for a list, and learns whether the service has long polls for it. There is an answer with
// [ErrNotModified], and with [ErrUnsupported] if that is news; else it is nil with an error.
func poll[T any](ctx context.Context, c *Client, k call, p Poll, longPolls *feature) (list T, a *answer, err error) {
	if p.Wait >= time.Second && longPolls.isAbsent() {
		return list, nil, unsupported(k.op)
	}
	k.etag, k.wait, k.query = p.ETag, p.Wait, url.Values{}
	if p.Limit > 0 {
		k.query.Set("limit", strconv.Itoa(p.Limit))
	}
	if p.After != "" {
		k.query.Set("after", p.After)
	}
	if a, err = c.do(ctx, k); err != nil {
		return list, nil, err
	}
	if a.status == http.StatusNotModified {
		err = fmt.Errorf("%s: %w", k.op, ErrNotModified)
	} else if list, err = decode[T](k.op, a); err != nil {
		return list, nil, err
	}
	switch {
	case p.Wait < time.Second:
	case waitApplied(a.header):
		longPolls.present()
	default:
		if longPolls.absent(); longPolls.isAbsent() {
			err = fmt.Errorf("%s: long poll: %w", k.op, ErrUnsupported)
		}
	}
	return list, a, err
}

// tag returns the entity tag of an answer to p.
func (a *answer) tag(p Poll) string {
	if tag := a.header.Get("ETag"); tag != "" && len(tag) < 1000 {
		return tag
	}
	if a.status == http.StatusNotModified {
		return p.ETag
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

// maxPages bounds the pages that InboxesUntil reads, which together may be twice as large as one answer. Mayfly's own service has 1,000 inboxes on each.
const maxPages = 1000

// Inboxes returns all inboxes of the key, read page by page: an extension of the contract. It fails as
// [Client.PollInboxes] does.
func (c *Client) Inboxes(ctx context.Context) (InboxList, error) {
	return c.InboxesUntil(ctx, nil)
}

// InboxesUntil is Inboxes, but reads no page after one with an inbox that is enough. If enough is nil, none is.
func (c *Client) InboxesUntil(ctx context.Context, enough func(Inbox) bool) (InboxList, error) {
	all, err := c.PollInboxes(ctx, Poll{})
	size := len(all.Inboxes) // of each page but the last, whatever is deleted meanwhile
	read := len(all.Raw)
	for n, page := 1, all.Inboxes; err == nil && len(page) == size && len(all.Inboxes) < all.Total; n++ {
		if enough != nil && slices.ContainsFunc(page, enough) {
			break
		}
		var p Poll
		if size > 0 {
			p.After = all.Inboxes[len(all.Inboxes)-1].ID
		}
		next, err := c.PollInboxes(ctx, p)
		if err != nil {
			return InboxList{}, err
		}
		if page = next.Inboxes; len(page) == 0 || slices.ContainsFunc(all.Inboxes, func(i Inbox) bool { return i.ID == page[len(page)-1].ID }) {
			break // those are all, or the service has no pages
		}
		all.Inboxes = append(all.Inboxes, page...)
		if read += len(next.Raw); int64(read) > 2*c.options.MaxResponse || n == maxPages-1 {
			return InboxList{}, fmt.Errorf("list the inboxes: %w: the list has no end", ErrUnexpected)
		}
	}
	return all, err
}

// PollInboxes returns a page of the inboxes of the key as soon as it differs from the one tagged
// p.ETag, as [Client.PollMessages] does for messages. It fails with [ErrUnsupported], and returns
// no list, on a service that has none.
func (c *Client) PollInboxes(ctx context.Context, p Poll) (InboxList, error) {
	const op = "list the inboxes"
	k := call{op: op, path: []string{"inboxes"}, needs: &c.features.inboxes}
	list, a, err := poll[InboxList](ctx, c, k, p, &c.features.longPollInboxes)
	e, refused := errors.AsType[*Error](err)
	if refused && (e.Status == http.StatusNotFound && p.After == "" || e.absent()) || a != nil && a.status == http.StatusOK && !list.has {
		c.features.inboxes.absent()
		return InboxList{}, unsupported(op)
	}
	if a == nil {
		return InboxList{}, err
	}
	list.ETag, list.Waited = a.tag(p), waitApplied(a.header)
	c.features.inboxes.present()
	if a.status == http.StatusOK {
		c.mu.Lock()
		c.named = InboxList{Domains: list.Domains, RelayAllow: list.RelayAllow}
		c.mu.Unlock()
	}
	c.sayCatchAll(a.header)
	return list, err
}

// InboxAt returns the inbox of the key that mail to an address goes to, as the service decides it: an extension of the
// contract. While there is none it waits for one, in whole seconds. It fails with [ErrNotFound] if there is none, and with
// [ErrUnsupported] on a service that does not tell.
func (c *Client) InboxAt(ctx context.Context, address string, wait time.Duration) (Inbox, error) {
	k := call{op: "find the inbox", path: []string{"inboxes"}, query: url.Values{"address": {address}}, wait: wait, needs: &c.features.inboxAt}
	a, err := c.do(ctx, k)
	e, refused := errors.AsType[*Error](err)
	switch {
	case refused && (e.absent() || e.Status == http.StatusNotFound && e.header.Get(catchAll) == "") && !k.needs.isPresent():
		k.needs.absent() // it has no such path
		return Inbox{}, unsupported(k.op)
	case refused && e.Status == http.StatusNotFound:
		k.needs.present()
		c.sayCatchAll(e.header)
	}
	if err != nil {
		return Inbox{}, err
	}
	i, err := decode[Inbox](k.op, a)
	if err == nil && i.ID == "" { // a list, whatever was asked for
		k.needs.absent()
		return Inbox{}, unsupported(k.op)
	}
	k.needs.present()
	c.sayCatchAll(a.header)
	return i, err
}

// catchAll is the name of the field that says what becomes of mail to unknown addresses. An answer about an address has
// it in any case.
const catchAll = "Catch-All"

// sayCatchAll records what an answer says of unknown addresses.
func (c *Client) sayCatchAll(h http.Header) {
	c.catchesAll.Store(h.Get(catchAll) == "?1") // a boolean item (RFC 9651, 3.3.6)
}

// absent reports whether a service says that it has no such method.
func (e *Error) absent() bool {
	return e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented
}

// Raw returns a message as it was received (RFC 5322), an extension of the contract.
func (c *Client) Raw(ctx context.Context, inboxID, messageID string) ([]byte, error) {
	const op = "get the raw message"
	a, err := c.do(ctx, call{op: op, path: messagePath(inboxID, messageID), accept: rawType, needs: &c.features.raw})
	e, ok := errors.AsType[*Error](err)
	refused := ok && e.Status == http.StatusNotAcceptable
	if err != nil && !refused {
		return nil, err
	}
	if refused || a.mediaType() != rawType {
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
	attachment, err := c.Download(ctx, inboxID, messageID, attachment)
	return attachment.Content, err
}

// Download returns an attachment with the content that [Client.AttachmentContent] returns and, if it is downloaded, with
// the type as which it was sent, which has the charset of a text.
func (c *Client) Download(ctx context.Context, inboxID, messageID string, attachment Attachment) (Attachment, error) {
	const op = "get the attachment"
	if attachment.Content != nil {
		return attachment, nil
	}
	if attachment.ID == "" {
		return attachment, unsupported(op)
	}
	path := messagePath(inboxID, messageID, "attachments", attachment.ID)
	a, err := c.do(ctx, call{op: op, path: path, accept: "*/*", needs: &c.features.attachments})
	if e, ok := errors.AsType[*Error](err); ok && c.features.attachments.state.Load() == featureUnknown {
		if e.absent() {
			c.features.attachments.absent()
		}
		// 404 means either no such attachment or no such path, which look the same: it is not remembered.
		if e.absent() || e.Status == http.StatusNotFound {
			return attachment, unsupported(op)
		}
	}
	if err != nil {
		return attachment, err
	}
	c.features.attachments.present()
	attachment.Content, attachment.ContentType = a.body, a.header.Get("Content-Type")
	return attachment, nil
}

// Delivery returns the delivery details of a message, an extension of the contract: [ErrNotFound] if the service does not say.
func (c *Client) Delivery(ctx context.Context, inboxID, messageID string) (Delivery, error) {
	return get[Delivery](ctx, c, call{op: "get the delivery", path: messagePath(inboxID, messageID, "delivery")})
}

// Sessions returns what connected to the service's SMTP server lately: an extension of the contract. It fails with
// [ErrUnsupported] on a service that does not say.
func (c *Client) Sessions(ctx context.Context) (SessionList, error) {
	return getExtra[SessionList](ctx, c, call{op: "list the SMTP sessions", path: []string{"sessions"}, needs: &c.features.sessions})
}

// getExtra is get for a path that only a service with an extension has.
func getExtra[T any](ctx context.Context, c *Client, k call) (T, error) {
	object, err := get[T](ctx, c, k)
	if e, ok := errors.AsType[*Error](err); ok && (e.absent() || e.Status == http.StatusNotFound) {
		k.needs.absent()
		return object, unsupported(k.op)
	}
	return object, err
}

// States returns what clients keep of the inboxes of the key, by their IDs: an extension of the contract. It fails with
// [ErrUnsupported] on a service that keeps nothing.
func (c *Client) States(ctx context.Context) (map[string][]byte, error) {
	k := call{op: "read what was kept", path: []string{"states"}, needs: &c.features.states}
	if c.features.inboxAt.isAbsent() || c.features.inboxes.isAbsent() { // then it has not this one either
		return nil, unsupported(k.op)
	}
	kept, err := getExtra[States](ctx, c, k)
	return kept.States, err
}

// SetState replaces what clients keep of an inbox, nil at first: an extension of the contract. It fails with [ErrChanged] if
// that is not before.
func (c *Client) SetState(ctx context.Context, inboxID string, before, after []byte) error {
	_, err := c.do(ctx, call{op: "keep the state", method: http.MethodPut, path: inboxPath(inboxID, "state"), body: StateChange{before, after}})
	return err
}

// releaseTimeout is how long a service may take to release a message.
const releaseTimeout = 90 * time.Second

// Release has the service release a message to addresses, byte for byte as it was received, and
// returns once the relay has accepted it for all of them: an extension of the contract. It fails
// with [ErrUnsupported] on a service that does not, with [ErrForbidden] for an address that is not
// allowed, and with [ErrUnavailable] if the relay does not accept the message. It is not
// retried after it may have been carried out.
func (c *Client) Release(ctx context.Context, inboxID, messageID string, to []string) error {
	const op = "release the message"
	_, err := c.do(ctx, call{op: op, method: http.MethodPost, path: messagePath(inboxID, messageID, "release"), body: Released{orEmpty(to)}, wait: releaseTimeout})
	if e, ok := errors.AsType[*Error](err); ok && e.absent() {
		return unsupported(op)
	}
	return err
}
