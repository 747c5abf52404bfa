package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api"
	"mayfly/internal/registry"
	"mayfly/render"
)

type createArgs struct {
	Username string `json:"username,omitempty"`
	Domain   string `json:"domain,omitempty"`
	TTL      int    `json:"ttl,omitempty" jsonschema:"seconds; default: 3600"`
}

type inboxArgs struct {
	Inbox string `json:"inbox" jsonschema:"address or ID"`
}

func (in inboxArgs) inbox() string { return in.Inbox }

type extendArgs struct {
	inboxArgs
	TTL int `json:"ttl" jsonschema:"seconds"`
}

type listInboxesArgs struct {
	After string `json:"after,omitempty" jsonschema:"next of the page before"`
	Limit int    `json:"limit,omitempty"`
}

func (t *tools) addInboxTools(s toolServer) {
	ttl := bound{"ttl", 60, 2_592_000}
	add(s, sdk.Tool{
		Name: "create_inbox", Description: "Create a temporary inbox.",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(false)},
	}, []string{"address", "id", "expires_in"}, t.createInbox, ttl)
	add(s, sdk.Tool{Name: "get_inbox", Description: "Get when an inbox expires and how many messages it has."},
		[]string{"address", "id", "expires_in", "messages"}, onInbox(t, t.getInbox))
	add(s, sdk.Tool{Name: "list_inboxes", Description: "List the inboxes, newest first."},
		[]string{"inboxes", "total", "next"}, t.listInboxes, bound{"limit", 1, maxLimit})
	add(s, sdk.Tool{
		Name: "delete_inbox", Description: "Permanently delete an inbox and its messages.",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: new(false)},
	}, []string{"deleted"}, t.deleteInbox)
	add(s, sdk.Tool{
		Name: "extend_inbox", Description: "Set when an inbox expires, from now.",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false)},
	}, []string{"expires_in"}, onInbox(t, t.extendInbox), ttl)
}

// inbox is an inbox as an agent needs it.
type inbox struct {
	Address   string `json:"address"`
	ID        string `json:"id,omitempty"` // not in lists, since every tool takes the address
	ExpiresIn string `json:"expires_in,omitempty"`
	Messages  *int   `json:"messages,omitempty"`
	SMTP      string `json:"smtp,omitempty"` // where to send mail, of a new one
}

// describe describes an inbox for a list, where one that is empty has no number. Its time is the service's.
func describe(i api.Inbox, now time.Time) inbox {
	out := inbox{Address: render.Clean(i.Email)}
	if i.MessageCount != nil && *i.MessageCount > 0 {
		out.Messages = i.MessageCount
	}
	if !i.ExpiresAt.IsZero() {
		out.ExpiresIn = words(i.ExpiresAt.Sub(now))
	}
	return out
}

func (t *tools) createInbox(ctx context.Context, r *sdk.CallToolRequest, in createArgs) (inbox, error) {
	c := t.client(r)
	made, err := c.CreateInbox(ctx, api.CreateInbox{Domain: in.Domain, Username: in.Username, TTL: in.TTL})
	if err != nil {
		return inbox{}, err
	}
	t.remember(made)
	out := describe(made, c.ServiceTime())
	out.ID, out.SMTP = made.ID, t.smtp(r)
	return out, nil
}

func (t *tools) getInbox(ctx context.Context, c *api.Client, id string, _ inboxArgs) (inbox, error) {
	found, err := c.Inbox(ctx, id)
	if err != nil {
		return inbox{}, err
	}
	out := describe(found, c.ServiceTime())
	out.ID, out.Messages = id, found.MessageCount
	return out, nil
}

func (t *tools) extendInbox(ctx context.Context, c *api.Client, id string, in extendArgs) (inbox, error) {
	extended, err := c.ExtendInbox(ctx, id, time.Duration(in.TTL)*time.Second)
	if err != nil {
		return inbox{}, err
	}
	t.remember(extended)
	return describe(extended, c.ServiceTime()), nil
}

// remember stores an inbox for services that list none.
func (t *tools) remember(i api.Inbox) {
	if t.known == nil {
		return
	}
	if err := t.known.Put(registry.FromAPI(i)); err != nil {
		t.log.Warn(err.Error())
	}
}

type inboxList struct {
	Inboxes []inbox `json:"inboxes"`
	Total   int     `json:"total"`
	Next    string  `json:"next,omitempty"`
}

const (
	maxLimit = 500 // the most on a page
	// unlistedPage is how many are on a page if each costs a request: such services may allow no more
	// than 60 a minute.
	unlistedPage = 10
)

func (t *tools) listInboxes(ctx context.Context, r *sdk.CallToolRequest, in listInboxesArgs) (inboxList, error) {
	c := t.client(r)
	all, total, listed, err := t.inboxesAfter(ctx, c, in.After, cmp.Or(in.Limit, maxPage))
	if err != nil {
		return inboxList{}, err
	}
	out := inboxList{Inboxes: []inbox{}, Total: total}
	if !listed {
		in.Limit = cmp.Or(in.Limit, unlistedPage)
	}
	last := "" // the ID of the last on the page
	for _, i := range all {
		if !listed {
			if i, err = c.Inbox(ctx, i.ID); errors.Is(err, api.ErrNotFound) {
				continue
			} else if err != nil {
				return inboxList{}, err
			}
		}
		out.Inboxes = append(out.Inboxes, describe(i, c.ServiceTime()))
		if shown := page(out.Inboxes, in.Limit); len(shown) < len(out.Inboxes) {
			out.Inboxes, out.Next = shown, last
			break
		}
		last = i.ID
	}
	return out, nil
}

// inboxesAfter returns the newest inboxes after the one with an ID, in order: at least one more than limit, if there are
// so many. Total is how many there are in all, listed whether the service lists them.
func (t *tools) inboxesAfter(ctx context.Context, c *api.Client, after string, limit int) (all []api.Inbox, total int, listed bool, err error) {
	list, err := c.PollInboxes(ctx, api.Poll{Limit: limit + 1, After: after})
	all, total, listed = list.Inboxes, list.Total, true
	if errors.Is(err, api.ErrUnsupported) {
		all, listed, err = t.known.Inboxes(ctx, c, nil)
		total = len(all)
	}
	last := slices.IndexFunc(all, func(i api.Inbox) bool { return i.ID == after })
	if errors.Is(err, api.ErrNotFound) || last < 0 && after != "" && (!listed || len(all) > limit+1) {
		err = fmt.Errorf("no inbox %s is in the list: start again without after", render.Clean(after))
	}
	if err != nil {
		return nil, 0, false, err
	}
	return all[last+1:], total, listed, nil
}

// errNoInbox is the error for an address or an ID that no inbox has.
var errNoInbox = errors.New("unknown inbox")

// onInbox makes a handler of one that is given the client of the request and the ID of the inbox.
func onInbox[In interface{ inbox() string }, Out any](
	t *tools, call func(ctx context.Context, c *api.Client, inboxID string, in In) (Out, error),
) func(context.Context, *sdk.CallToolRequest, In) (Out, error) {
	return func(ctx context.Context, r *sdk.CallToolRequest, in In) (out Out, err error) {
		id, err := t.inboxID(ctx, r, in.inbox())
		if err != nil {
			return out, err
		}
		return call(ctx, t.client(r), id, in)
	}
}

// inboxID returns the ID of the inbox that name names. An ID costs no request.
func (t *tools) inboxID(ctx context.Context, r *sdk.CallToolRequest, name string) (string, error) {
	if !strings.Contains(name, "@") {
		return name, nil
	}
	found, err := t.known.InboxAt(ctx, t.client(r), name)
	if errors.Is(err, api.ErrNotFound) {
		err = fmt.Errorf("%w: %s", errNoInbox, name)
	}
	return found.ID, err
}

func (t *tools) deleteInbox(ctx context.Context, r *sdk.CallToolRequest, in inboxArgs) (api.Deleted, error) {
	id, err := t.inboxID(ctx, r, in.inbox())
	if err == nil {
		err = t.client(r).DeleteInbox(ctx, id)
	}
	if err == nil || errors.Is(err, api.ErrNotFound) || errors.Is(err, errNoInbox) {
		known, failed := t.known.Gone(cmp.Or(id, in.inbox()))
		if known {
			err = nil
		}
		if failed != nil {
			t.log.Warn(failed.Error())
		}
	}
	return api.Deleted{Deleted: err == nil}, err
}
