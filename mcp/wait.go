package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dustin/go-humanize/english"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/message"
	"mayfly/render"
)

const (
	// defaultTimeout is less than the minute after which many clients give up on a call, since what
	// they do not see is consumed all the same.
	defaultTimeout = 50 // seconds
	maxTimeout     = 600
	noneTimeout    = 5 // if nothing is to arrive
	settleTime     = 2 // after the last of exactly so many
	progressEvery  = 2 * time.Second
)

type waitArgs struct {
	inboxArgs
	From    string `json:"from,omitempty"`
	Subject string `json:"subject,omitempty"`
	Since   string `json:"since,omitempty" jsonschema:"2m (ago) or RFC 3339"`
	Again   bool   `json:"again,omitempty" jsonschema:"newest, even if returned before"`
	Timeout int    `json:"timeout,omitempty" jsonschema:"seconds; default: 50"`
}

type waitForMessageArgs struct {
	waitArgs
	None    bool `json:"none,omitempty" jsonschema:"expect nothing"`
	Exactly int  `json:"exactly,omitempty" jsonschema:"no more than these"`
}

// inVainError is the error of a call to which nothing arrived in time, although the service worked.
type inVainError struct{ error }

func (t *tools) addWaitTools(s toolServer) {
	timeout := bound{"timeout", 1, maxTimeout}
	add(s, sdk.Tool{Name: "wait_for_message", Description: "Wait for the next message and return it as read_message does."},
		messageFields, t.waitForMessage, timeout, bound{"exactly", 1, maxLimit})
	add(s, sdk.Tool{Name: "get_code", Description: "Wait for the next one-time code."}, []string{"code", "message"}, t.getCode, timeout)
	add(s, sdk.Tool{Name: "get_link", Description: "Wait for the next link to follow (confirm, log in, reset)."},
		[]string{"link", "message"}, t.getLink, timeout)
}

func (t *tools) waitForMessage(ctx context.Context, r *sdk.CallToolRequest, in waitForMessageArgs) (out messageResult, err error) {
	var m *message.Message
	wait := func(timeout int) {
		in.Timeout = timeout
		m, err = t.await(ctx, r, in.waitArgs, watch.Message, func(*message.Message) bool { return true })
	}
	if in.None && in.Exactly > 0 {
		return out, errors.New("none and exactly cannot be combined")
	}
	if !in.None {
		for range max(1, in.Exactly) {
			if wait(in.Timeout); err != nil {
				return out, err
			}
			in.Again = false // newer ones alone
		}
		out = newResult(m, t.client(r).ServiceTime())
		if in.Exactly == 0 {
			return out, nil
		}
		wait(settleTime)
	} else {
		wait(cmp.Or(in.Timeout, noneTimeout))
		out.Note = "nothing arrived"
	}
	if err == nil {
		return messageResult{}, fmt.Errorf("a message more than expected arrived: %q from %s, %s", render.Clean(m.Subject), message.Sender(m.From.Name, m.From.Addr), m.ID)
	}
	if _, ok := errors.AsType[inVainError](err); ok {
		err = nil
	}
	return out, err
}

// origin is where a code or a link comes from.
type origin struct {
	Message string `json:"message"`
	From    string `json:"from"`
	Subject string `json:"subject"`
	receipt
}

func newOrigin(m *message.Message, now time.Time) origin {
	return origin{
		Message: m.ID, From: message.Sender(m.From.Name, m.From.Addr), Subject: render.Clean(m.Subject), receipt: newReceipt(m.ReceivedAt, now),
	}
}

type code struct {
	Warning string `json:"warning"`
	Code    string `json:"code"`
	origin
}

func (t *tools) getCode(ctx context.Context, r *sdk.CallToolRequest, in waitArgs) (code, error) {
	m, err := t.await(ctx, r, in, watch.Code, func(m *message.Message) bool { _, ok := m.Mail().Code(); return ok })
	if err != nil {
		return code{}, err
	}
	found, _ := m.Mail().Code()
	return code{Warning: warning, Code: render.Clean(found.Value), origin: newOrigin(m, t.client(r).ServiceTime())}, nil
}

type link struct {
	Warning string `json:"warning"`
	Link    string `json:"link"`
	Text    string `json:"text"`
	origin
}

func (t *tools) getLink(ctx context.Context, r *sdk.CallToolRequest, in waitArgs) (link, error) {
	m, err := t.await(ctx, r, in, watch.Link, func(m *message.Message) bool { _, ok := m.Mail().Confirm(); return ok })
	if err != nil {
		return link{}, err
	}
	found, _ := m.Mail().Confirm()
	return link{Warning: warning, Link: found.URL, Text: found.Text, origin: newOrigin(m, t.client(r).ServiceTime())}, nil
}

// await waits for the message that is next to be consumed for a question. A client that asks for
// progress is told how long it has been waiting.
func (t *tools) await(ctx context.Context, r *sdk.CallToolRequest, in waitArgs, q watch.Target, fits func(*message.Message) bool) (*message.Message, error) {
	in.Timeout = cmp.Or(in.Timeout, defaultTimeout)
	timeout := time.Duration(in.Timeout) * time.Second
	waiting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer reportProgress(waiting, r, timeout)()
	m, err := t.next(waiting, r, in, q, fits)
	if err == nil {
		return m, nil
	}
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	_, failing := errors.AsType[*watch.FailingError](err)
	why := watch.Explain(ctx, t.client(r), watch.Vain{Address: in.Inbox, SMTP: t.smtp(r), Took: timeout, Err: err, Again: "again returns the newest once more"})
	err = fmt.Errorf("no such message arrived within %s; %s. list_messages lists what has arrived; or call again with a longer timeout",
		english.Plural(in.Timeout, "second", ""), why)
	if failing {
		return nil, err
	}
	return nil, inVainError{err}
}

// next returns the message that is next to be consumed for a question, once it is there.
func (t *tools) next(ctx context.Context, r *sdk.CallToolRequest, in waitArgs, q watch.Target, fits func(*message.Message) bool) (*message.Message, error) {
	c := t.client(r)
	id, err := t.inboxID(ctx, r, in.Inbox)
	if errors.Is(err, errNoInbox) && c.CatchesAll() {
		var made api.Inbox
		var isNew bool
		made, isNew, err = watch.AwaitInbox(ctx, c, in.Inbox)
		id = made.ID
		if isNew && !in.Again && in.Since == "" {
			in.Since = made.CreatedAt.Format(time.RFC3339) // all that there is
		}
	}
	if err != nil {
		return nil, err
	}
	s := t.sessions.of(r)
	after, err := s.after(id, q, in)
	if err != nil {
		return nil, err
	}
	found, err := watch.WaitForMessage(ctx, c, id, after, watch.Match{
		From: in.From, Subject: in.Subject,
		Fits: func(object api.Message) bool { return fits(message.New(id, object)) },
		Take: func(f watch.Found) bool { return s.take(id, q, in.Again, f) },
	})
	if errors.Is(err, watch.ErrGone) && id == in.Inbox { // perhaps it never was
		err = fmt.Errorf("%w: %s", errNoInbox, id)
	}
	return message.New(id, found), err
}

// reportProgress regularly tells the client that the call is still waiting, until the returned
// function is called or ctx ends.
func reportProgress(ctx context.Context, r *sdk.CallToolRequest, timeout time.Duration) (stop func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	start := time.Now()
	report := func() error {
		waited := time.Since(start).Round(time.Second)
		return r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: waited.Seconds(), Total: timeout.Seconds(),
			Message: fmt.Sprintf("waited %s of %s for a message", waited, timeout),
		})
	}
	var reporting sync.WaitGroup
	reporting.Go(func() {
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		// An error means that the client is gone, which ends the call anyway.
		for err := report(); err == nil; err = report() {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
	return func() { cancel(); reporting.Wait() }
}
