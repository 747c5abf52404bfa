package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"mayfly/internal/server"
)

// State is what the local service says of itself.
type State struct {
	BaseURL  string `json:"base_url"` // of the REST API
	Key      string `json:"key"`      // API key, which has no limits
	SMTPAddr string `json:"smtp"`     // host:port
	PID      int    `json:"pid"`
	Version  string `json:"version"`
	LogFile  string `json:"log"`  // empty: it logs nothing
	Kept     bool   `json:"kept"` // it runs until it is stopped
	Clients  int    `json:"clients"`

	// HTTPMoved and SMTPMoved say why it does not listen where it should; else empty.
	HTTPMoved string `json:"http_moved,omitempty"`
	SMTPMoved string `json:"smtp_moved,omitempty"`

	// Stopped is set in what it says last, to those that are attached when [Stop] ends it.
	Stopped bool `json:"stopped,omitempty"`
}

// Moved says where the service listens instead of where it should, and why; empty if it listens
// where it should.
func (s State) Moved() string {
	var moves []string
	if s.SMTPMoved != "" {
		moves = append(moves, "SMTP moved to "+s.SMTPAddr)
	}
	if s.HTTPMoved != "" {
		moves = append(moves, "the API moved to "+strings.TrimPrefix(s.BaseURL, "http://"))
	}
	if moves == nil {
		return ""
	}
	return strings.Join(moves, ", ") + " (" + cmp.Or(s.SMTPMoved, s.HTTPMoved) + ")"
}

// Session is an attachment to the local service, which does not end by itself while there is one.
type Session struct {
	State   // as it was at the start
	options Options
	detach  context.CancelFunc
	done    chan struct{}
	err     error // why the service ended
}

// Done is closed when the service has ended, or the session is closed.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err is [ErrStopped] if the service ended because it was asked to. It is valid once Done is
// closed.
func (s *Session) Err() error { return s.err }

// Now returns the present state of the service, with this session among its clients.
func (s *Session) Now(ctx context.Context) (State, error) { return s.options.ask(ctx, "state") }

// Close ends the session.
func (s *Session) Close() {
	s.detach()
	<-s.done
}

// attach makes the request that is open as long as the session. Its answer is the state, and once
// more if [Stop] ends the service. The context bounds only the wait for the first.
func (o Options) attach(ctx context.Context, request string) (*Session, error) {
	life, detach := context.WithCancel(context.WithoutCancel(ctx))
	defer context.AfterFunc(ctx, detach)()
	answer, err := o.request(life, request)
	if err != nil {
		detach()
		return nil, err
	}
	s := &Session{options: o, detach: detach, done: make(chan struct{})}
	states := json.NewDecoder(answer)
	if states.Decode(&s.State) != nil {
		detach()
		return nil, errors.Join(errNoAnswer, answer.Close())
	}
	go func() {
		defer close(s.done)
		defer answer.Close()
		var last State
		if states.Decode(&last) == nil && last.Stopped {
			s.err = ErrStopped
		}
	}()
	return s, nil
}

// ask makes a request to the service and returns its state then.
func (o Options) ask(ctx context.Context, request string) (s State, err error) {
	answer, err := o.request(ctx, request)
	if err != nil {
		return s, err
	}
	defer answer.Close()
	if json.NewDecoder(answer).Decode(&s) != nil {
		return s, errNoAnswer
	}
	return s, nil
}

// request makes a request to the service. It fails with errNoAnswer if the service is absent, ends,
// or refuses.
func (o Options) request(ctx context.Context, request string) (answer io.ReadCloser, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://admin"+controlPath+request, nil)
	if err != nil {
		return nil, err
	}
	req.Close = true
	resp, err := server.ControlClient(o.StoreDir()).Do(req)
	switch {
	case err != nil:
		return nil, errNoAnswer
	case resp.StatusCode == http.StatusOK:
		return resp.Body, nil
	}
	_ = resp.Body.Close() // only its status counts
	if resp.StatusCode == http.StatusNotFound {
		return nil, errors.New("another version of mayfly runs the local service: quit it and try again")
	}
	return nil, errNoAnswer
}
