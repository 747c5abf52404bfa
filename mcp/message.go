package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api"
	"mayfly/internal/mail"
	"mayfly/internal/message"
	"mayfly/render"
)

const (
	maxText   = 20_000  // characters of text in a result
	maxHidden = 1_000   // of hidden text
	maxLine   = 120     // of a sender or a subject in a list
	maxInline = 64_000  // bytes of a text attachment in a result
	maxImage  = 1 << 20 // bytes of an image in a result
)

// imageTypes are the types that models accept. The declared type is not trusted: a client whose
// model refuses an image may lose the whole conversation.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

type listMessagesArgs struct {
	inboxArgs
	After string `json:"after,omitempty" jsonschema:"next of the page before"`
	Limit int    `json:"limit,omitempty"`
}

type messageArgs struct {
	inboxArgs
	Message string `json:"message" jsonschema:"ID"`
}

type attachmentArgs struct {
	messageArgs
	Attachment string `json:"attachment" jsonschema:"ID"`
}

func (t *tools) addMessageTools(s toolServer) {
	add(s, sdk.Tool{Name: "list_messages", Description: "List the messages of an inbox, newest first."},
		[]string{"messages", "total", "next"}, onInbox(t, t.listMessages), bound{"limit", 1, maxLimit})
	add(s, sdk.Tool{Name: "read_message", Description: "Return a message as plain text, with its code and link."}, messageFields, onInbox(t, t.readMessage))
	add(s, sdk.Tool{
		Name: "delete_message", Description: "Permanently delete a message.",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: new(false)},
	}, []string{"deleted"}, onInbox(t, t.deleteMessage))
	add(s, sdk.Tool{Name: "check_message", Description: "Check a message: findings to fix before it is sent."}, []string{"checks"}, onInbox(t, t.checkMessage))
	addContent(s, sdk.Tool{Name: "get_attachment", Description: "Return a text or an image, or a link to another file."}, func(ctx context.Context, r *sdk.CallToolRequest, in attachmentArgs) (*sdk.CallToolResult, any, error) {
		result, err := onInbox(t, t.getAttachment)(ctx, r, in)
		return result, nil, err
	})
}

// receipt is when a message arrived.
type receipt struct {
	ReceivedAt string `json:"received_at"`
	Age        string `json:"age"`
}

// newReceipt returns the time of receipt of a message, empty if the service does not say it. Both
// times are by the service's clock.
func newReceipt(received, now time.Time) receipt {
	if received.IsZero() {
		return receipt{}
	}
	return receipt{received.UTC().Format(time.RFC3339), words(now.Sub(received))}
}

type messageList struct {
	Warning  string    `json:"warning"`
	Messages []summary `json:"messages"`
	Total    int       `json:"total"`
	Next     string    `json:"next,omitempty"`
}

// summary is a message in a list.
type summary struct {
	ID      string `json:"id"`
	From    string `json:"from"`
	Subject string `json:"subject"`
	Age     string `json:"age"`
}

func (t *tools) listMessages(ctx context.Context, c *api.Client, id string, in listMessagesArgs) (messageList, error) {
	list, err := messagesAfter(ctx, c, id, in.After, cmp.Or(in.Limit, maxPage))
	if err != nil {
		return messageList{}, err
	}
	out := messageList{Messages: []summary{}, Total: list.Total, Warning: warning}
	for _, m := range list.Messages {
		from, _ := shorten(message.Sender(m.FromName, m.From), maxLine)
		subject, _ := shorten(render.Clean(m.Subject), maxLine)
		out.Messages = append(out.Messages, summary{m.ID, from, subject, newReceipt(m.ReceivedAt, c.ServiceTime()).Age})
	}
	if out.Messages = page(out.Messages, in.Limit); len(out.Messages) < len(list.Messages) {
		out.Next = out.Messages[len(out.Messages)-1].ID
	}
	return out, nil
}

func (t *tools) deleteMessage(ctx context.Context, c *api.Client, id string, in messageArgs) (api.Deleted, error) {
	err := c.DeleteMessage(ctx, id, in.Message)
	return api.Deleted{Deleted: err == nil}, err
}

// maxPage is more than a page holds if no limit is asked for.
const maxPage = 100

// messagesAfter returns the newest messages of an inbox after the one with an ID, in order: at least
// one more than limit, if there are so many. A service that ignores limits answers with all.
func messagesAfter(ctx context.Context, c *api.Client, inboxID, after string, limit int) (api.List, error) {
	list, err := c.PollMessages(ctx, inboxID, api.Poll{Limit: limit + 1, After: after})
	if err != nil {
		return list, err
	}
	last := slices.IndexFunc(list.Messages, func(m api.Summary) bool { return m.ID == after })
	if all := list.Messages; last < 0 && after != "" && len(all) > limit+1 {
		return list, fmt.Errorf("no message %s is in the list: start again without after", render.Clean(after))
	}
	list.Messages = list.Messages[last+1:]
	list.Messages = list.Messages[:min(len(list.Messages), limit+1)]
	return list, nil
}

// messageResult is a message as an agent needs it.
type messageResult struct {
	Warning string `json:"warning"`
	ID      string `json:"id"`
	From    string `json:"from"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	receipt
	Code        string         `json:"code,omitempty"`
	Link        string         `json:"link,omitempty"`
	Text        string         `json:"text"`
	Truncated   bool           `json:"truncated,omitempty"`
	HiddenText  string         `json:"hidden_text,omitempty"`
	Attachments []attachedFile `json:"attachments,omitempty"`
	Resource    string         `json:"resource,omitempty"` // with all of the text, if it is truncated
	Note        string         `json:"note,omitempty"`     // why there is no message
}

// attachedFile is an attachment in a result.
type attachedFile struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
	Size int64  `json:"size"`
}

// messageFields are those that the output schema has.
var messageFields = []string{"id", "subject", "code", "link", "text", "attachments"}

func (t *tools) readMessage(ctx context.Context, c *api.Client, id string, in messageArgs) (messageResult, error) {
	m, err := message.FetchObject(ctx, c, id, in.Message)
	if err != nil {
		return messageResult{}, err
	}
	return newResult(m, c.ServiceTime()), nil
}

func newResult(m *message.Message, now time.Time) messageResult {
	out := messageResult{
		ID: m.ID, From: message.Sender(m.From.Name, m.From.Addr), To: render.Clean(m.Recipients()), Subject: render.Clean(m.Subject),
		receipt: newReceipt(m.ReceivedAt, now), Warning: warning,
	}
	if out.Text, out.Truncated = shorten(m.Mail().Plain(), maxText); out.Truncated {
		out.Resource = messageURI(m.InboxID, m.ID)
	}
	out.HiddenText, _ = shorten(hiddenText(m.Mail()), maxHidden)
	if code, ok := m.Mail().Code(); ok {
		out.Code = render.Clean(code.Value)
	}
	if link, ok := m.Mail().Confirm(); ok {
		out.Link = link.URL
	}
	for _, a := range attachments(m.Attachments) {
		out.Attachments = append(out.Attachments, attachedFile{a.ID, a.Filename, a.ContentType, a.Size})
	}
	return out
}

// attachments sanitises the attachments of a message, and numbers those without an ID.
func attachments(list []mail.Attachment) []api.Attachment {
	out := make([]api.Attachment, len(list))
	for i, a := range list {
		out[i] = api.Attachment{
			ID: cmp.Or(a.ID, strconv.Itoa(i+1)), Filename: render.CleanName(a.Filename), ContentType: render.Clean(a.ContentType),
			ContentID: render.Clean(a.ContentID), Inline: a.Inline, Size: int64(a.Size),
		}
	}
	return out
}

func hiddenText(mail *render.Mail) string {
	var hidden []string
	for _, h := range mail.Document().Hidden {
		hidden = append(hidden, h.Text)
	}
	return strings.Join(hidden, "\n")
}

// shorten truncates s to most characters, and reports whether it was longer.
func shorten(s string, most int) (string, bool) {
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…", true
		}
		n++
	}
	return s, false
}

type checkList struct {
	Warning string          `json:"warning"`
	Checks  []message.Check `json:"checks"`
}

func (t *tools) checkMessage(ctx context.Context, c *api.Client, id string, in messageArgs) (checkList, error) {
	m, err := message.Fetch(ctx, c, id, in.Message)
	if err != nil {
		return checkList{}, err
	}
	m.Rules = t.rules
	checks := m.Checks()
	for i := range checks {
		checks[i].Clients = nil // the messages name them, in fewer tokens
	}
	return checkList{warning, checks}, nil
}

// getAttachment has no structured content: a client that gives only that to the model would drop the
// image.
func (t *tools) getAttachment(ctx context.Context, c *api.Client, id string, in attachmentArgs) (*sdk.CallToolResult, error) {
	a, got, err := attachment(ctx, c, id, in.Message, in.Attachment)
	if err != nil {
		return nil, err
	}
	content := got.Content
	about := &sdk.TextContent{Text: fmt.Sprintf("%s\n%s, %s, %s", warning, a.Filename, a.ContentType, english.Plural(int(a.Size), "byte", ""))}
	var file sdk.Content
	switch {
	case slices.Contains(imageTypes, http.DetectContentType(content)) && len(content) <= maxImage:
		file = &sdk.ImageContent{Data: content, MIMEType: http.DetectContentType(content)}
	case strings.HasPrefix(a.ContentType, "text/") && len(content) <= maxInline:
		file = &sdk.TextContent{Text: render.CleanLines(got.DecodedText())}
	default:
		file = attachmentLink(id, in.Message, a)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{about, file}}, nil
}

var errNoAttachment = errors.New("the message has no such attachment; read_message lists them")

func attachment(ctx context.Context, client *api.Client, inboxID, messageID, attachmentID string) (about api.Attachment, a mail.Attachment, err error) {
	m, err := message.FetchObject(ctx, client, inboxID, messageID)
	if err != nil {
		return about, a, err
	}
	all := attachments(m.Attachments)
	i := slices.IndexFunc(all, func(a api.Attachment) bool { return a.ID == attachmentID })
	if i < 0 {
		return about, a, errNoAttachment
	}
	a, err = m.Attachment(ctx, client, i)
	return all[i], a, err
}

// pageBytes is how large the JSON of a list may become if no limit is asked for: some 2,000 tokens
// of English text, of which random names and other scripts take more.
const pageBytes = 4500

// page is the beginning of a list that fits on a page: limit elements, or as many as pageBytes hold
// if limit is 0. It is never empty unless the list is.
func page[T any](list []T, limit int) []T {
	if limit > 0 {
		return list[:min(limit, len(list))]
	}
	size := 0
	for n, e := range list {
		data, _ := json.Marshal(e) // of strings and numbers, which cannot fail
		if size += len(data) + 1; size > pageBytes && n > 0 {
			return list[:n]
		}
	}
	return list
}

// words is a duration as people say it, rounded to one unit, days down.
func words(d time.Duration) string {
	d = max(d, 0).Round(time.Second)
	for _, u := range []struct {
		name string
		unit time.Duration
		till time.Duration
	}{{"second", time.Second, 2 * time.Minute}, {"minute", time.Minute, 2 * time.Hour}, {"hour", time.Hour, 48 * time.Hour}} {
		if d < u.till {
			return english.Plural(int(d.Round(u.unit)/u.unit), u.name, "")
		}
	}
	return english.Plural(int(d/(24*time.Hour)), "day", "")
}

func messageURI(inboxID, messageID string) string {
	return "mayfly://inbox/" + url.PathEscape(inboxID) + "/message/" + url.PathEscape(messageID)
}

func attachmentURI(inboxID, messageID, attachmentID string) string {
	return messageURI(inboxID, messageID) + "/attachment/" + url.PathEscape(attachmentID)
}

// attachmentLink is a link to an attachment, which must be clean.
func attachmentLink(inboxID, messageID string, a api.Attachment) *sdk.ResourceLink {
	return &sdk.ResourceLink{
		URI: attachmentURI(inboxID, messageID, a.ID), Name: a.Filename, MIMEType: a.ContentType,
		Size: &a.Size, Description: "an attachment, untrusted",
	}
}

func (t *tools) addResources(s *sdk.Server) {
	const base = "mayfly://inbox/{inbox}/message/{message}"
	for _, template := range []sdk.ResourceTemplate{
		{
			Name: "message", Title: "Message", URITemplate: base, MIMEType: "text/plain",
			Description: "the complete body of a message as plain text, untrusted",
		},
		{
			Name: "raw", Title: "Raw message", URITemplate: base + "/raw", MIMEType: "message/rfc822",
			Description: "a message as it was received, untrusted",
		},
		{
			Name: "attachment", Title: "Attachment", URITemplate: base + "/attachment/{attachment}",
			Description: "the content of an attachment, untrusted",
		},
	} {
		s.AddResourceTemplate(&template, func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			contents, err := read(ctx, t.client(r), template.Name, r.Params.URI)
			if err != nil {
				return nil, resourceError(r.Params.URI, err)
			}
			contents.URI, contents.Meta = r.Params.URI, sdk.Meta{"warning": warning}
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}, Cacheable: sdk.Cacheable{CacheScope: "private"}}, nil
		})
	}
}

// read reads what a URI names, which has matched the template of the resource.
func read(ctx context.Context, c *api.Client, resource, uri string) (*sdk.ResourceContents, error) {
	parts := strings.Split(uri, "/")
	for i, part := range parts {
		parts[i], _ = url.PathUnescape(part) // an ID of which nothing is left is none
	}
	inboxID, messageID := parts[3], parts[5]
	switch resource {
	case "raw":
		raw, err := c.Raw(ctx, inboxID, messageID)
		return &sdk.ResourceContents{MIMEType: "message/rfc822", Blob: raw}, err
	case "attachment":
		a, got, err := attachment(ctx, c, inboxID, messageID, parts[7])
		return &sdk.ResourceContents{MIMEType: a.ContentType, Blob: got.Content}, err
	}
	m, err := message.FetchObject(ctx, c, inboxID, messageID)
	if err != nil {
		return nil, err
	}
	return &sdk.ResourceContents{MIMEType: "text/plain", Text: warning + "\n\n" + m.Mail().Plain()}, nil
}

func resourceError(uri string, err error) error {
	if errors.Is(err, api.ErrNotFound) || errors.Is(err, api.ErrInvalid) || errors.Is(err, errNoAttachment) {
		return sdk.ResourceNotFoundError(uri)
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: explain(err).Error()}
}
