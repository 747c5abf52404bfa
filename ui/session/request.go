package session

import (
	"context"
	"errors"

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

// Interrupted is the error of a request that ended with an earlier session than s, nil otherwise.
func (a Answer) Interrupted(s *Session) error {
	r, ok := a.Msg.(Result)
	d, _ := a.Msg.(host.Done)
	if ok && r.Session() != s || errors.Is(d.Err, context.Canceled) {
		return errors.New("stopped " + a.What + ": the connection changed")
	}
	return nil
}
