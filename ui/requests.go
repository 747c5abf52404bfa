package ui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"mayfly/ui/host"
	"mayfly/ui/session"
)

// session is the session with the service, nil until the first connection.
func (c *common) session() *session.Session { return c.connection.Session }

var errConnectionChanged = errors.New("the connection changed")

// stale reports whether a request was made for another session.
func (c *common) stale(r *session.Request) bool { return r.Session != nil && r.Session != c.session() }

// begin begins a request, which the bottom line shows until it is answered. One of an earlier session is not begun.
func (c *common) begin(r *session.Request) tea.Cmd {
	if c.stale(r) {
		return c.report(host.Result{Err: fmt.Errorf("not %s: %w", r.What, errConnectionChanged)})
	}
	return c.footer.begin(r, c.now)
}

// ask begins a request to the session: do runs in a command, apply shows what it returned.
func ask[T any](c *common, what, about string, do func(context.Context) (T, error), apply func(T) tea.Cmd) tea.Cmd {
	return c.begin(session.Ask(c.session(), what, about, do, apply))
}

// onAnswer ends a request, and shows what it brought.
func (c *common) onAnswer(answer session.Answer) tea.Cmd {
	r, err := answer.Request, answer.Err
	c.footer.end(r)
	stale := c.stale(r)
	if stale {
		err = fmt.Errorf("stopped %s: %w", r.What, errConnectionChanged)
	}
	closed := c.answerForm(r, err)
	switch {
	case stale && r.What == "": // nobody asked for it
		return nil
	case stale || answer.Apply == nil:
		return c.report(host.Result{Err: err})
	}
	cmd := answer.Apply()
	if closed != nil {
		cmd = tea.Batch(cmd, closed())
	}
	return cmd
}

// submit begins the request of a form that stays open until it is answered. Closed follows once that has closed it.
func (c *common) submit(r *session.Request, closed func() tea.Cmd) tea.Cmd {
	c.submitted, c.closed = r, closed
	if c.stale(r) {
		c.answerForm(r, errConnectionChanged)
		return nil
	}
	return c.footer.start(r)
}
