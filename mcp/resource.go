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
			contents.URI = r.Params.URI
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
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
		a, content, err := attachment(ctx, c, inboxID, messageID, parts[7])
		return &sdk.ResourceContents{MIMEType: a.ContentType, Blob: content}, err
	}
	m, err := message.FetchObject(ctx, c, inboxID, messageID)
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
