package mcp

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api"
	"mayfly/internal/message"
)

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
	for kind, template := range map[string]*sdk.ResourceTemplate{
		"": {
			Name: "message", Title: "Message", URITemplate: base, MIMEType: "text/plain",
			Description: "the complete body of a message as plain text, untrusted",
		},
		"raw": {
			Name: "raw", Title: "Raw message", URITemplate: base + "/raw", MIMEType: "message/rfc822",
			Description: "a message as it was received, untrusted",
		},
		"attachment": {
			Name: "attachment", Title: "Attachment", URITemplate: base + "/attachment/{attachment}",
			Description: "the content of an attachment, untrusted",
		},
	} {
		s.AddResourceTemplate(template, func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			p, ok := parseURI(r.Params.URI)
			if !ok || p.kind != kind {
				return nil, sdk.ResourceNotFoundError(r.Params.URI)
			}
			contents, err := p.read(ctx, t.client(r))
			if err != nil {
				return nil, resourceError(r.Params.URI, err)
			}
			contents.URI = r.Params.URI
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
		})
	}
}

// resource is what a URI names.
type resource struct{ inboxID, messageID, kind, attachmentID string }

func parseURI(uri string) (resource, bool) {
	rest, ok := strings.CutPrefix(uri, "mayfly://inbox/")
	parts := strings.Split(rest, "/")
	for i := range parts {
		part, err := url.PathUnescape(parts[i])
		ok = ok && err == nil && part != ""
		parts[i] = part
	}
	if !ok || len(parts) < 3 || parts[1] != "message" {
		return resource{}, false
	}
	p := resource{inboxID: parts[0], messageID: parts[2]}
	switch rest := parts[3:]; {
	case len(rest) == 0:
	case len(rest) == 1 && rest[0] == "raw":
		p.kind = "raw"
	case len(rest) == 2 && rest[0] == "attachment":
		p.kind, p.attachmentID = "attachment", rest[1]
	default:
		return resource{}, false
	}
	return p, true
}

func (p resource) read(ctx context.Context, c *api.Client) (*sdk.ResourceContents, error) {
	switch p.kind {
	case "raw":
		raw, err := c.Raw(ctx, p.inboxID, p.messageID)
		return &sdk.ResourceContents{MIMEType: "message/rfc822", Blob: raw}, err
	case "attachment":
		a, content, err := attachment(ctx, c, p.inboxID, p.messageID, p.attachmentID)
		return &sdk.ResourceContents{MIMEType: a.ContentType, Blob: content}, err
	}
	m, err := message.FetchObject(ctx, c, p.inboxID, p.messageID)
	if err != nil {
		return nil, err
	}
	return &sdk.ResourceContents{MIMEType: "text/plain", Text: m.Mail().Plain()}, nil
}

func resourceError(uri string, err error) error {
	if errors.Is(err, api.ErrNotFound) || errors.Is(err, api.ErrInvalid) || errors.Is(err, errNoAttachment) {
		return sdk.ResourceNotFoundError(uri)
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: explain(err).Error()}
}
