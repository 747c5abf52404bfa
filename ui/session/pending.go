package session

import (
	"context"
	"errors"
	"slices"

	"mayfly/ui/host"

	tea "charm.land/bubbletea/v2"
)

// Request is something the user asked for that may take a while.
type Request struct {
	What        string // in words, such as "making an inbox"; one is under way at a time
	Done, Total int    // its steps; Total is 0 for a request in one step
	// Start begins it, and is not called while it is under way already. The command ends it with
	// the message that it returns.
	Start func() tea.Cmd
}

// Answer is the end of a request.
type Answer struct {
	What string
	Msg  tea.Msg
}

// Pending are the requests without an answer yet. The zero value has none.
type Pending struct{ requests []Request }

// Begin begins a request, and returns nil if it is under way already.
func (p *Pending) Begin(r Request) tea.Cmd {
	if slices.ContainsFunc(p.requests, func(x Request) bool { return x.What == r.What }) {
		return nil
	}
	p.requests = append(p.requests, r)
	cmd := r.Start()
	return func() tea.Msg { return Answer{r.What, cmd()} }
}

// End removes the request that was answered.
func (p *Pending) End(a Answer) {
	p.requests = slices.DeleteFunc(p.requests, func(r Request) bool { return r.What == a.What })
}

// Latest is the request begun last. Its What is "" if there is none.
func (p *Pending) Latest() Request {
	if len(p.requests) == 0 {
		return Request{}
	}
	return p.requests[len(p.requests)-1]
}

// Interrupted is the error of a request that ended with an earlier session than s, nil otherwise.
func (a Answer) Interrupted(s *Session) error {
	r, ok := a.Msg.(Result)
	d, _ := a.Msg.(host.Done)
	if ok && r.Session() != s || errors.Is(d.Err, context.Canceled) {
		return errors.New("stopped " + a.What + ": the connection changed")
	}
	return nil
}
