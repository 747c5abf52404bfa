package mcp

import (
	"context"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api"
)

type createArgs struct {
	Domain   string `json:"domain,omitempty" jsonschema:"one of the service's mail domains; default: the service's choice"`
	Username string `json:"username,omitempty" jsonschema:"local part of the address; default: random"`
	TTL      int    `json:"ttl,omitempty" jsonschema:"lifetime in seconds; default: 3600"`
}

type inboxArgs struct {
	InboxID string `json:"inbox_id" jsonschema:"id of the inbox"`
}

type noArgs struct{}

func (t *tools) addInboxTools(s *sdk.Server) {
	sdk.AddTool(s, &sdk.Tool{
		Name:        "create_inbox",
		Title:       "Create a temporary inbox",
		Description: "Creates a temporary e-mail inbox and returns it with its address.",
		InputSchema: input[createArgs](
			atMost("username", 64), atMost("domain", 253), between("ttl", 60, 2_592_000)),
		OutputSchema: output[api.Inbox](),
		Annotations:  &sdk.ToolAnnotations{DestructiveHint: no, OpenWorldHint: no},
	}, t.createInbox)
	sdk.AddTool(s, &sdk.Tool{
		Name:         "get_inbox",
		Title:        "Get an inbox",
		Description:  "Returns an inbox: address, expiry, number of messages.",
		InputSchema:  input[inboxArgs](anID("inbox_id")),
		OutputSchema: output[api.Inbox](),
		Annotations:  readOnly(),
	}, t.getInbox)
	sdk.AddTool(s, &sdk.Tool{
		Name:         "list_inboxes",
		Title:        "List the inboxes",
		Description:  "Lists the inboxes of the API key, or those that this machine knows if the service cannot list them.",
		InputSchema:  input[noArgs](),
		OutputSchema: output[inboxList](),
		Annotations:  readOnly(),
	}, t.listInboxes)
	sdk.AddTool(s, &sdk.Tool{
		Name:         "delete_inbox",
		Title:        "Delete an inbox",
		Description:  "Deletes an inbox and all its messages, immediately and permanently.",
		InputSchema:  input[inboxArgs](anID("inbox_id")),
		OutputSchema: output[api.Deleted](),
		Annotations:  &sdk.ToolAnnotations{DestructiveHint: yes, IdempotentHint: true, OpenWorldHint: no},
	}, t.deleteInbox)
}

func (t *tools) createInbox(ctx context.Context, r *sdk.CallToolRequest, in createArgs) (*sdk.CallToolResult, api.Inbox, error) {
	inbox, err := t.client(r).CreateInbox(ctx, api.CreateInbox(in))
	if err != nil {
		return nil, api.Inbox{}, explain(err)
	}
	if t.known != nil {
		t.known.Put(inbox)
	}
	return nil, inbox, nil
}

func (t *tools) getInbox(ctx context.Context, r *sdk.CallToolRequest, in inboxArgs) (*sdk.CallToolResult, api.Inbox, error) {
	inbox, err := t.client(r).Inbox(ctx, in.InboxID)
	return nil, inbox, explain(err)
}

type inboxList struct {
	Inboxes []api.Inbox `json:"inboxes"`
	Total   int         `json:"total"`
}

func (t *tools) listInboxes(ctx context.Context, r *sdk.CallToolRequest, _ noArgs) (*sdk.CallToolResult, inboxList, error) {
	list, err := t.client(r).Inboxes(ctx)
	switch {
	case err == nil:
		return nil, inboxList{append([]api.Inbox{}, list.Inboxes...), list.Total}, nil
	case !errors.Is(err, api.ErrUnsupported) || t.known == nil:
		return nil, inboxList{}, explain(err)
	}
	known, err := t.knownInboxes(ctx, t.client(r))
	return nil, inboxList{known, len(known)}, explain(err)
}

// knownInboxes gets each inbox that this machine knows, and omits those that are gone.
func (t *tools) knownInboxes(ctx context.Context, client *api.Client) ([]api.Inbox, error) {
	ids, err := t.known.IDs()
	if err != nil {
		return nil, err
	}
	inboxes := []api.Inbox{}
	for _, id := range ids {
		inbox, err := client.Inbox(ctx, id)
		if errors.Is(err, api.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		inboxes = append(inboxes, inbox)
	}
	return inboxes, nil
}

func (t *tools) deleteInbox(ctx context.Context, r *sdk.CallToolRequest, in inboxArgs) (*sdk.CallToolResult, api.Deleted, error) {
	err := t.client(r).DeleteInbox(ctx, in.InboxID)
	if t.known != nil && (err == nil || errors.Is(err, api.ErrNotFound)) {
		t.known.Remove(in.InboxID)
	}
	return nil, api.Deleted{Deleted: err == nil}, explain(err)
}
