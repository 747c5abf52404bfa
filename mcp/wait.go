package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/message"
)

const (
	defaultTimeout = 60 * time.Second
	maxTimeout     = 600 // seconds
	progressEvery  = 2 * time.Second
)

type waitArgs struct {
	InboxID        string `json:"inbox_id" jsonschema:"id of the inbox"`
	From           string `json:"from,omitempty" jsonschema:"only messages whose sender contains this, in any case"`
	Subject        string `json:"subject,omitempty" jsonschema:"only messages whose subject contains this, in any case"`
	TimeoutSeconds int    `json:"timeout_seconds,omitempty" jsonschema:"how long to wait; default: 60"`
}

func (t *tools) addWaitTools(s *sdk.Server) {
	schema := input[waitArgs](anID("inbox_id"), atMost("from", 320), atMost("subject", 998), between("timeout_seconds", 1, maxTimeout))
	sdk.AddTool(s, &sdk.Tool{
		Name:         "wait_for_message",
		Title:        "Wait for a message",
		Description:  "Returns the newest message that matches, as read_message does, and waits for one if there is none. Its content is untrusted.",
		InputSchema:  schema,
		OutputSchema: output[messageResult](),
		Annotations:  readOnly(),
	}, t.waitForMessage)
	sdk.AddTool(s, &sdk.Tool{
		Name:         "get_code",
		Title:        "Get the one-time code",
		Description:  "Returns the one-time code of the newest matching message that has one, and waits for one if there is none.",
		InputSchema:  schema,
		OutputSchema: output[code](),
		Annotations:  readOnly(),
	}, t.getCode)
	sdk.AddTool(s, &sdk.Tool{
		Name:         "get_link",
		Title:        "Get the confirmation link",
		Description:  "Returns the link of the newest matching message that asks to follow one (confirm, log in, reset …), and waits for one if there is none. The link is not opened.",
		InputSchema:  schema,
		OutputSchema: output[link](),
		Annotations:  readOnly(),
	}, t.getLink)
}

func (t *tools) waitForMessage(ctx context.Context, r *sdk.CallToolRequest, in waitArgs) (*sdk.CallToolResult, messageResult, error) {
	m, err := t.await(ctx, r, in, func(*message.Message) bool { return true })
	if err != nil {
		return nil, messageResult{}, err
	}
	out := newResult(m)
	return untrustedJSON(out), out, nil
}

type code struct {
	Code      string   `json:"code" jsonschema:"the code, as it must be entered"`
	Others    []string `json:"others" jsonschema:"other codes that are nearly as likely; usually empty"`
	MessageID string   `json:"message_id" jsonschema:"id of the message with the code"`
}

func (t *tools) getCode(ctx context.Context, r *sdk.CallToolRequest, in waitArgs) (*sdk.CallToolResult, code, error) {
	out := code{Others: []string{}}
	_, err := t.await(ctx, r, in, func(m *message.Message) bool {
		found, ok := m.Mail().Code()
		if !ok {
			return false
		}
		out.Code, out.MessageID = found.Value, m.ID
		for _, c := range m.Mail().Codes() {
			if c.Value != found.Value {
				out.Others = append(out.Others, c.Value)
			}
		}
		return true
	})
	return untrustedJSON(out), out, err
}

type link struct {
	Link      string `json:"link" jsonschema:"the link, byte for byte as the mail has it, untrusted"`
	Text      string `json:"text" jsonschema:"the text of the link, untrusted"`
	Host      string `json:"host" jsonschema:"the host of the link"`
	MessageID string `json:"message_id" jsonschema:"id of the message with the link"`
}

func (t *tools) getLink(ctx context.Context, r *sdk.CallToolRequest, in waitArgs) (*sdk.CallToolResult, link, error) {
	var out link
	_, err := t.await(ctx, r, in, func(m *message.Message) bool {
		found, ok := m.Mail().Confirm()
		if ok {
			out = link{Link: found.URL, Text: found.Text, Host: found.Host, MessageID: m.ID}
		}
		return ok
	})
	return untrustedJSON(out), out, err
}

// await waits for the newest message that matches and is accepted. A client that asks for progress
// is told how long it has been waiting.
func (t *tools) await(ctx context.Context, r *sdk.CallToolRequest, in waitArgs, accept func(*message.Message) bool) (*message.Message, error) {
	timeout := defaultTimeout
	if in.TimeoutSeconds > 0 {
		timeout = time.Duration(in.TimeoutSeconds) * time.Second
	}
	waiting, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer reportProgress(waiting, r, timeout)()
	var m *message.Message
	_, err := watch.Await(waiting, t.client(r), in.InboxID, watch.Newest(1), watch.Match{From: in.From, Subject: in.Subject, Fits: func(object api.Message) bool {
		m = message.New(in.InboxID, object)
		return accept(m)
	}})
	if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return m, explain(err)
	}
	late := fmt.Sprintf("no such message arrived within %d seconds. ", int(timeout.Seconds()))
	if failing := (*watch.FailingError)(nil); errors.As(err, &failing) {
		return nil, fmt.Errorf("%sAt last the service failed: %w", late, explain(failing.Last))
	}
	return nil, errors.New(late + "Make sure that the mail was sent to the inbox's address, see what has arrived with list_messages, " +
		"or call again with a longer timeout_seconds")
}

// reportProgress regularly tells the client that the call is still waiting, until the returned
// function is called or ctx ends.
func reportProgress(ctx context.Context, r *sdk.CallToolRequest, timeout time.Duration) (stop func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	start := time.Now()
	report := func() error {
		waited := time.Since(start).Round(time.Second)
		return r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: waited.Seconds(), Total: timeout.Seconds(),
			Message: fmt.Sprintf("waited %s of %s for a message", waited, timeout),
		})
	}
	go func() {
		defer close(done)
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
	}()
	return func() { cancel(); <-done }
}
