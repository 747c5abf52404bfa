// Package message is one message, opened once: from the API or from a file, with its parts, what is
// found in them, its report and its files.
package message

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"mayfly/api"
	"mayfly/mail"
	"mayfly/render"
)

// Message is one message. It must not be changed; its methods may be called from several
// goroutines.
type Message struct {
	// Message is what it says: taken from the raw form, where that was fetched, else from the API's
	// object. The sender, the recipient, the subject and the time of receipt are the API's where it
	// names them.
	mail.Message
	InboxID string // empty for a file
	ID      string // for a file its name

	object json.RawMessage // of the API, as received; nil when it was not fetched

	opening sync.Mutex
	opened  *render.Mail // nil until it is asked for
	before  *render.Mail // opened before the raw form was added; nil when it was not
}

// Mail is the message read for the screen. It is read when it is first asked for, and once.
func (m *Message) Mail() *render.Mail {
	m.opening.Lock()
	defer m.opening.Unlock()
	switch {
	case m.opened != nil:
	case m.before != nil:
		m.opened, m.before = m.before.Reopen(m.Message), nil
	default:
		m.opened = render.Open(m.Message)
	}
	return m.opened
}

// Fetch gets a message with the API's object and, where the service gives it, the raw form, in two
// requests. That a service gives no raw messages is not an error: Raw is nil then.
func Fetch(ctx context.Context, c *api.Client, inboxID, id string) (*Message, error) {
	object, err := c.Message(ctx, inboxID, id)
	if err != nil {
		return nil, err
	}
	object.ID = cmp.Or(object.ID, id)
	return New(inboxID, object).WithRaw(ctx, c)
}

// FetchObject gets a message with the API's object alone, in one request. [Message.WithRaw] adds
// the raw form.
func FetchObject(ctx context.Context, c *api.Client, inboxID, id string) (*Message, error) {
	object, err := c.Message(ctx, inboxID, id)
	if err != nil {
		return nil, err
	}
	object.ID = cmp.Or(object.ID, id)
	object.Raw = nil // holds the bodies once more
	return New(inboxID, object), nil
}

// FetchRaw gets a message that a list names with the raw form alone, in one request; what the raw
// form cannot tell is the list's. From a service without raw messages it gets the API's object
// instead.
func FetchRaw(ctx context.Context, c *api.Client, inboxID string, s api.Summary) (*Message, error) {
	raw, err := c.Raw(ctx, inboxID, s.ID)
	if errors.Is(err, api.ErrUnsupported) {
		return FetchObject(ctx, c, inboxID, s.ID)
	}
	if err != nil {
		return nil, err
	}
	listed := New(inboxID, api.Message{ID: s.ID, From: s.From, FromName: s.FromName, Subject: s.Subject, ReceivedAt: s.ReceivedAt})
	return listed.withRaw(raw), nil
}

// New returns the message that an object of the API describes.
func New(inboxID string, object api.Message) *Message {
	m := &Message{InboxID: inboxID, ID: object.ID, object: object.Raw, Message: mail.Message{
		From: mail.Address{Name: object.FromName, Addr: object.From}, Subject: object.Subject, ReceivedAt: object.ReceivedAt,
		Text: object.Text, HTML: object.HTML,
	}}
	if object.To != "" {
		m.To = []mail.Address{{Addr: object.To}}
	}
	for _, a := range object.Attachments {
		m.Attachments = append(m.Attachments, mail.Attachment{
			ID: a.ID, Filename: a.Filename, ContentType: a.ContentType, ContentID: a.ContentID, Inline: a.Inline,
			Size: int(a.Size), Content: a.Content,
		})
	}
	return m
}

// File returns the message that a file holds. The kind is eml for a raw message, or html, md or txt
// for a body alone.
func File(name, kind, content string) *Message {
	m := &Message{ID: name}
	switch kind {
	case "eml":
		m.Message = *mail.Parse([]byte(content), mail.Limits{})
	case "html":
		m.HTML = content
	case "md":
		m.Text, m.TextType = content, "text/markdown"
	default:
		m.Text = content
	}
	return m
}

// WithRaw fetches the raw form and returns the message with it, or the message itself where the
// service gives none.
func (m *Message) WithRaw(ctx context.Context, c *api.Client) (*Message, error) {
	raw, err := c.Raw(ctx, m.InboxID, m.ID)
	if errors.Is(err, api.ErrUnsupported) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	return m.withRaw(raw), nil
}

// withRaw adds the raw form. A body that was read already and is the same is not read again. What
// the service says of sender, recipient and subject goes before what the header says.
func (m *Message) withRaw(raw []byte) *Message {
	w := &Message{Message: *mail.Parse(raw, mail.Limits{}), InboxID: m.InboxID, ID: m.ID, object: m.object}
	m.opening.Lock()
	w.before = m.opened
	m.opening.Unlock()
	w.ReceivedAt = m.ReceivedAt
	w.Subject = cmp.Or(m.Subject, w.Subject)
	if m.From.Addr != "" {
		w.From = m.From
	}
	if m.To != nil {
		w.To = m.To
	}
	return w
}

// AttachmentContent is the content of attachment i, fetched where it did not come with the message.
// The error is [api.ErrUnsupported] where the service does not give it.
func (m *Message) AttachmentContent(ctx context.Context, c *api.Client, i int) ([]byte, error) {
	a := m.Attachments[i]
	if m.Raw != nil {
		return a.Content, nil
	}
	return c.AttachmentContent(ctx, m.InboxID, m.ID, api.Attachment{ID: a.ID, Content: a.Content})
}

// Weight is about how many bytes the message takes in memory once it is opened: the document of an
// HTML body is several times its source.
func (m *Message) Weight() int {
	n := len(m.Raw) + 2*len(m.Text) + 5*len(m.HTML)
	for _, a := range m.Attachments {
		n += len(a.Content)
	}
	return n
}
