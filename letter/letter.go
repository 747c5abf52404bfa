// Package letter is a message as the API tells it, with its raw form where the service has one, made ready for package
// render: the one way from a service or a file to a rendered mail.
package letter

import (
	"context"
	"errors"
	"strings"

	"mayfly/api"
	"mayfly/mail"
	"mayfly/render"
)

// Letter is one message.
type Letter struct {
	Message api.Message
	Raw     []byte // as received; nil where the service has none
}

// Fetch gets a message and its raw form. A service without raw messages is no error: Raw is nil.
func Fetch(ctx context.Context, c *api.Client, inboxID, messageID string) (Letter, error) {
	m, err := c.Message(ctx, inboxID, messageID)
	if err != nil {
		return Letter{}, err
	}
	l := Letter{Message: m}
	return l, l.FetchRaw(ctx, c, inboxID)
}

// FetchRaw adds the raw form, where the service has one.
func (l *Letter) FetchRaw(ctx context.Context, c *api.Client, inboxID string) error {
	raw, err := c.Raw(ctx, inboxID, l.Message.ID)
	if errors.Is(err, api.ErrUnsupported) {
		return nil
	}
	l.Raw = raw
	return err
}

// Content is what the letter says: as the raw form tells it, which tells more (the header, the kind of the text, what is
// attached), else as the API does.
func (l Letter) Content() render.Message {
	if l.Raw == nil {
		return FromAPI(l.Message)
	}
	m := FromRaw(l.Raw)
	m.From, m.FromName, m.To = l.Message.From, l.Message.FromName, l.Message.To
	m.Subject, m.ReceivedAt = l.Message.Subject, l.Message.ReceivedAt
	return m
}

// FromAPI is the message that the API tells of.
func FromAPI(m api.Message) render.Message {
	out := render.Message{
		Subject: m.Subject, From: m.From, FromName: m.FromName, To: m.To, ReceivedAt: m.ReceivedAt,
		Text: m.Text, HTML: m.HTML,
	}
	for _, a := range m.Attachments {
		out.Attachments = append(out.Attachments, render.Attachment{
			Filename: a.Filename, ContentType: a.ContentType, ContentID: a.ContentID, Inline: a.Inline,
			Size: int(a.Size), Content: a.Content,
		})
	}
	return out
}

// FromRaw is the message that raw holds (RFC 5322, MIME). When it was received is not known.
func FromRaw(raw []byte) render.Message {
	p := mail.Parse(raw, mail.Limits{})
	out := render.Message{
		Subject: p.Subject, From: p.From.Addr, FromName: p.From.Name, To: addresses(p.To),
		Text: p.Text, HTML: p.HTML, TextType: p.TextType, Flowed: p.Flowed, DelSp: p.DelSp, Raw: raw,
	}
	for _, f := range p.Fields {
		out.Headers = append(out.Headers, render.Header{Name: f.Name, Value: f.Value})
	}
	for _, a := range p.Attachments {
		out.Attachments = append(out.Attachments, render.Attachment{
			Filename: a.Filename, ContentType: a.ContentType, ContentID: a.ContentID, Inline: a.Inline,
			Size: a.Size, Content: a.Content,
		})
	}
	return out
}

func addresses(list []mail.Address) string {
	all := make([]string, len(list))
	for i, a := range list {
		all[i] = a.Addr
	}
	return strings.Join(all, ", ")
}
