// Package message is one message, opened once: from the API or from a file, with its parts, what is
// found in them, its report and its files.
package message

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"mime"
	"strconv"
	"strings"
	"sync"

	"mayfly/api"
	"mayfly/internal/mail"
	"mayfly/render"
	"mayfly/render/check"
	"mayfly/render/client"
	"mayfly/render/layout"
)

// Message is one message. It must not be changed; its methods may be called from several
// goroutines.
type Message struct {
	// Message has the content, from the raw message if that was fetched, else from the API's
	// object. Sender, recipient, subject and time of receipt are those of the API, where it has
	// them.
	mail.Message
	InboxID string // empty for a file
	ID      string // the name of a file

	Rules check.Rules // of its checks; to be set before the first call of Mail

	object   json.RawMessage // of the API, as received; nil if it was not fetched or not kept
	delivery *api.Delivery   // nil if it was not fetched

	opening sync.Mutex
	opened  *render.Mail // nil before the first call of Mail
	before  *render.Mail // the same message opened without its raw form; nil if it was not
}

// Mail returns the message opened for the screen. The first call opens it.
func (m *Message) Mail() *render.Mail {
	m.opening.Lock()
	defer m.opening.Unlock()
	switch {
	case m.opened != nil:
	case m.before != nil:
		m.opened, m.before = m.before.Reopen(m.Message).Under(m.Rules), nil
	default:
		m.opened = render.Open(m.Message).Under(m.Rules)
	}
	return m.opened
}

// Fetch gets both the API's object of a message and its raw form, in two requests. On a service
// without raw messages Raw is nil.
func Fetch(ctx context.Context, c *api.Client, inboxID, id string) (*Message, error) {
	m, err := fetch(ctx, c, inboxID, id)
	if err != nil {
		return nil, err
	}
	return m.WithRaw(ctx, c)
}

// FetchObject gets only the API's object of a message, in one request. [Message.WithRaw] adds the
// raw form.
func FetchObject(ctx context.Context, c *api.Client, inboxID, id string) (*Message, error) {
	m, err := fetch(ctx, c, inboxID, id)
	if err == nil {
		m.object = nil // it contains the bodies again
	}
	return m, err
}

func fetch(ctx context.Context, c *api.Client, inboxID, id string) (*Message, error) {
	object, err := c.Message(ctx, inboxID, id)
	if err != nil {
		return nil, err
	}
	object.ID = cmp.Or(object.ID, id)
	return New(inboxID, object), nil
}

// FetchRaw gets only the raw form of a message, in one request. The rest, such as the time of
// receipt, comes from its summary in a list. On a service without raw messages it gets the API's
// object instead.
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

// New returns the message of an object of the API.
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

// File returns the message in a file. The kind is eml for a raw message, or html, md or txt for
// just a body.
func File(name, kind, content string) *Message {
	m := &Message{ID: name}
	switch kind {
	case "eml":
		m.Message = *mail.Parse([]byte(content))
	case "html":
		m.HTML = content
	case "md":
		m.Text, m.TextType = content, "text/markdown"
	default:
		m.Text = content
	}
	return m
}

// WithRaw returns another message with the raw form, which it fetches if it is not there, or m on a service without raw
// messages. A body that is the same in both and was read is not read again.
func (m *Message) WithRaw(ctx context.Context, c *api.Client) (*Message, error) {
	if m.Raw != nil {
		return m.withRaw(m.Raw), nil
	}
	raw, err := c.Raw(ctx, m.InboxID, m.ID)
	if errors.Is(err, api.ErrUnsupported) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	return m.withRaw(raw), nil
}

// withRaw adds the raw form. Sender, recipient and subject of the API take precedence over the
// header.
func (m *Message) withRaw(raw []byte) *Message {
	w := &Message{Message: *mail.Parse(raw), InboxID: m.InboxID, ID: m.ID, Rules: m.Rules, object: m.object}
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

// Sender is the name and the address of who sent a message, cleaned for a terminal.
func Sender(name, address string) string {
	name, address = render.Clean(name), render.Clean(address)
	if name == "" {
		return address
	}
	return name + " <" + address + ">"
}

// Attachment returns attachment i with its content and its charset, which it fetches if they did not come with the
// message. The error is [api.ErrUnsupported] if the service does not provide it.
func (m *Message) Attachment(ctx context.Context, c *api.Client, i int) (mail.Attachment, error) {
	a := m.Attachments[i]
	if m.Raw != nil {
		return a, nil
	}
	got, err := c.Download(ctx, m.InboxID, m.ID, api.Attachment{ID: a.ID, ContentType: a.ContentType, Content: a.Content})
	a.Content = got.Content
	for _, declared := range []string{a.ContentType, got.ContentType} {
		_, params, _ := mime.ParseMediaType(declared)
		a.Charset = cmp.Or(params["charset"], a.Charset)
	}
	return a, err
}

// MemorySize estimates how many bytes the opened message takes in memory: the document of an HTML body
// is several times as large as its source.
func (m *Message) MemorySize() int {
	n := len(m.Raw) + 2*len(m.Text) + 5*len(m.HTML)
	for _, a := range m.Attachments {
		n += len(a.Content)
	}
	return n
}

// Report describes a message and what was found in it: the object that the command line prints.
type Report struct {
	Message  any     `json:"message"`  // the API's object, as received if it was fetched
	Rendered string  `json:"rendered"` // the rich view at a width, without styles
	Code     *string `json:"code"`     // the one-time code, null without one
	Link     *string `json:"link"`     // the link that the message asks to follow, null without one
	Links    []Link  `json:"links"`
	Checks   []Check `json:"checks"`

	Delivery *api.Delivery `json:"delivery,omitempty"` // if it was fetched
}

// Link is a link of the body by its number.
type Link struct {
	N    int    `json:"n"`
	Text string `json:"text"`
	URL  string `json:"url"`
}

// Check is something that a tester should look at.
type Check struct {
	ID      string `json:"id"`
	Level   string `json:"level"`
	Message string `json:"message"`
	Where   string `json:"where"`

	Clients []client.Unsupported `json:"clients,omitempty"` // that do not support what was found
}

// Report returns the report, with the message rendered at width columns.
func (m *Message) Report(width int) Report {
	r := Report{Message: m.object, Rendered: m.Plain(render.Options{Width: width}), Links: m.Links(), Checks: m.Checks(), Delivery: m.delivery}
	if m.object == nil {
		r.Message = m.described()
	}
	if code, ok := m.Mail().Code(); ok {
		r.Code = &code.Value
	}
	if link, ok := m.Mail().Confirm(); ok {
		r.Link = &link.URL
	}
	return r
}

// described returns an object of the API for a message without one.
func (m *Message) described() api.Message {
	object := api.Message{
		ID: m.ID, From: m.From.Addr, FromName: m.From.Name, To: m.Recipients(), Subject: m.Subject, Text: m.Text, HTML: m.HTML,
		ReceivedAt: m.ReceivedAt,
	}
	for _, a := range m.Attachments {
		object.Attachments = append(object.Attachments, api.Attachment{
			ID: a.ID, Filename: a.Filename, ContentType: a.ContentType, ContentID: a.ContentID, Inline: a.Inline, Size: int64(a.Size),
		})
	}
	return object
}

// Plain returns the rich view without styles and trailing spaces.
func (m *Message) Plain(o render.Options) string { return m.plain(render.Rich, o) }

// PlainText returns the text of the message, or else that of its HTML, cleaned for a terminal.
func (m *Message) PlainText() string {
	return m.plain(render.Text, render.Options{Width: layout.Unwrapped})
}

func (m *Message) plain(v render.View, o render.Options) string {
	var s strings.Builder
	for i, line := range m.Mail().Lines(v, o) {
		if i > 0 {
			s.WriteByte('\n')
		}
		s.WriteString(strings.TrimRight(line.Plain, " "))
	}
	return s.String()
}

// Source returns what the message has for the view Text, HTML or Raw, not cleaned: bodies are decoded to UTF-8,
// and a message without text has that of its HTML. The error is for people.
func (m *Message) Source(v render.View) (string, error) {
	source, what := string(m.Raw), "raw form"
	switch v {
	case render.HTML:
		source, what = m.HTML, "HTML part"
	case render.Text:
		if source, what = m.Text, "text"; strings.TrimSpace(source) == "" && m.HTML != "" {
			return m.Mail().Plain() + "\n", nil
		}
	}
	if source == "" {
		return "", errors.New("the message has no " + what)
	}
	return source, nil
}

// Contains reports whether the text of the message, as a reader sees it or as its plain text part has
// it, contains a text, in any case and whatever white space is between its words.
func (m *Message) Contains(part string) bool {
	words := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	var body strings.Builder
	for leaf := range m.Mail().Document().Leaves() {
		for _, span := range leaf.Spans {
			body.WriteString(span.Text)
		}
		body.WriteByte('\n')
	}
	return strings.Contains(words(body.String()), words(part)) || strings.Contains(words(m.Text), words(part))
}

// Links returns the links of the body, never nil.
func (m *Message) Links() []Link {
	links := []Link{}
	for _, l := range m.Mail().Links() {
		links = append(links, Link{l.N, l.Text, l.URL})
	}
	return links
}

// Checks returns what a tester should look at before the message is sent, never nil.
func (m *Message) Checks() []Check {
	checks := []Check{}
	for _, f := range m.Mail().Findings() {
		c := Check{f.ID, f.Level.String(), f.Message, f.Where, nil}
		if f.Use != nil {
			c.Where, c.Clients = f.Where+", line "+strconv.Itoa(f.Line), f.Use.Gaps
		}
		checks = append(checks, c)
	}
	return checks
}
