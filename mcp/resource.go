package mcp

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api"
	"mayfly/message"
)

const (
	messageTemplate    = "mayfly://inbox/{inbox}/message/{message}"
	rawTemplate        = messageTemplate + "/raw"
	attachmentTemplate = messageTemplate + "/attachment/{attachment}"
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
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "message", Title: "Message", URITemplate: messageTemplate, MIMEType: "text/plain",
		Description: "the complete body of a message as plain text, untrusted",
	}, t.readText)
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "raw", Title: "Raw message", URITemplate: rawTemplate, MIMEType: "message/rfc822",
		Description: "a message as it was received, untrusted",
	}, t.readRaw)
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "attachment", Title: "Attachment", URITemplate: attachmentTemplate,
		Description: "the content of an attachment, untrusted",
	}, t.readAttachment)
}

// place is the target of a resource's URI.
type place struct{ inboxID, messageID, kind, attachmentID string }

func parseURI(uri string) (place, bool) {
	rest, ok := strings.CutPrefix(uri, "mayfly://inbox/")
	parts := strings.Split(rest, "/")
	for i := range parts {
		part, err := url.PathUnescape(parts[i])
		ok = ok && err == nil && part != ""
		parts[i] = part
	}
	if !ok || len(parts) < 3 || len(parts) > 5 || parts[1] != "message" {
		return place{}, false
	}
	p := place{inboxID: parts[0], messageID: parts[2]}
	if len(parts) > 3 {
		p.kind = parts[3]
	}
	if len(parts) > 4 {
		p.attachmentID = parts[4]
	}
	return p, true
}

func (t *tools) readText(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	p, ok := parseURI(r.Params.URI)
	if !ok || p.kind != "" {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	m, err := message.FetchObject(ctx, t.client(r), p.inboxID, p.messageID)
	if err != nil {
		return nil, resourceError(r.Params.URI, err)
	}
	return contents(&sdk.ResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: m.Mail().Plain()}), nil
}

func (t *tools) readRaw(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	p, ok := parseURI(r.Params.URI)
	if !ok || p.kind != "raw" || p.attachmentID != "" {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	raw, err := t.client(r).Raw(ctx, p.inboxID, p.messageID)
	if err != nil {
		return nil, resourceError(r.Params.URI, err)
	}
	return contents(&sdk.ResourceContents{URI: r.Params.URI, MIMEType: "message/rfc822", Blob: raw}), nil
}

func (t *tools) readAttachment(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	p, ok := parseURI(r.Params.URI)
	if !ok || p.kind != "attachment" || p.attachmentID == "" {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	a, content, err := attachment(ctx, t.client(r), p.inboxID, p.messageID, p.attachmentID)
	if err != nil {
		return nil, resourceError(r.Params.URI, err)
	}
	return contents(&sdk.ResourceContents{URI: r.Params.URI, MIMEType: a.ContentType, Blob: content}), nil
}

func contents(c *sdk.ResourceContents) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{c}}
}

func resourceError(uri string, err error) error {
	if errors.Is(err, api.ErrNotFound) || errors.Is(err, api.ErrInvalid) || errors.Is(err, errNoAttachment) {
		return sdk.ResourceNotFoundError(uri)
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: explain(err).Error()}
}
