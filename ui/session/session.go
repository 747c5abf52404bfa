// Package session connects to a service and reconnects, watches its inboxes, and makes requests.
// Requests are commands. A result names its session, so that a stale one can be dropped.
package session

import (
	"context"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/registry"
	"mayfly/ui/host"
)

const (
	closeTimeout   = 5 * time.Second
	requestTimeout = 30 * time.Second
	signInterval   = 4 * time.Second // between signs of life
	signTimeout    = 2 * time.Second
)

// Target is what to connect to. The zero Target is the service the program was started for.
type Target struct {
	Profile, BaseURL string
	Key              string // typed by the user; otherwise the key is looked up
}

// Service is access to a service.
type Service struct {
	Client   *api.Client
	Registry *registry.Registry
	Name     string // shown to the user: "local" or a host
	Profile  string
	SMTPAddr string // host:port of the SMTP server for the inboxes; empty if unknown
	Local    bool
	Close    func(context.Context) error // may be nil
	// Notice is what the user should know about the service; empty if there is nothing.
	Notice string
	// Done is closed when the service has ended, as the local service may. Connecting again starts
	// it. It is nil for services that do not report this.
	Done <-chan struct{}
	// Stopped reports, once Done is closed, whether the user has ended the service. It is then not
	// started again unasked.
	Stopped func() bool
	// Started waits until a service that the user has ended is started by another process; nil where
	// that is impossible.
	Started func(context.Context) error
	// Answers asks the service for a sign of life; nil where that costs a request.
	Answers func(context.Context) error
}

// Session is the use of a service: its watcher, and what saves which messages were seen. Their goroutines
// end before close returns.
type Session struct {
	*Service
	Watcher *watch.Watcher
	Mode    watch.Mode
	Behind  time.Time // since when what is on the screen has been out of date; zero if it is not
	// NoRaw is set once the service is known not to provide raw messages.
	NoRaw bool

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	inView  []string // as last passed to the watcher
	unsaved unsaved

	samples int     // sample mails sent
	refresh refresh // the one that is awaited
}

func newSession(ctx context.Context, service *Service) *Session {
	s := &Session{Service: service, Watcher: watch.New(service.Client, watch.Options{}), unsaved: newUnsaved()}
	s.ctx, s.cancel = context.WithCancel(ctx)
	// The error is the context's: failures of an inbox are events.
	s.running.Go(func() { _ = s.Watcher.Run(s.ctx) })
	s.running.Go(func() { s.unsaved.run(s.ctx, service.Registry) })
	if service.Answers != nil {
		s.running.Go(s.watchSigns)
	}
	return s
}

// watchSigns tells the watcher when the service no longer gives signs of life, long before a held
// request would time out, and when it does again.
func (s *Session) watchSigns() {
	tick := time.NewTicker(signInterval)
	defer tick.Stop()
	for alive := true; ; {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(s.ctx, signTimeout)
		err := s.Answers(ctx)
		cancel()
		if alive != (err == nil) {
			alive = err == nil
			s.Watcher.Report(err)
		}
	}
}

// close ends the session and waits for it.
func (s *Session) close() {
	s.cancel()
	s.running.Wait()
	if s.Service.Close != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		_ = s.Service.Close(ctx) // there is nobody left to report it to
	}
}

// sameService reports whether two sessions are with the same service. The ports of the local service
// may change when it is started again.
func (s *Session) sameService(t *Session) bool {
	return s.Local && t.Local || s.Client.BaseURL() == t.Client.BaseURL() && s.Profile == t.Profile
}

// SetView tells the watcher which inboxes are on the screen.
func (s *Session) SetView(ids []string) {
	if !slices.Equal(ids, s.inView) {
		s.inView = ids
		s.Watcher.SetView(ids)
	}
}

// origin is the session that a result comes from.
type origin struct{ session *Session }

// Session returns the session that made the request.
func (o origin) Session() *Session { return o.session }

// Result is the result of a request. It is stale if its session is not the current one.
type Result interface{ Session() *Session }

// Events are the watcher's events since the last time.
type Events struct {
	origin
	Events []watch.Event
}

// Listen waits for events of the watcher. It is started with the session, and again after each
// [Events], and nowhere else.
func (s *Session) Listen() tea.Msg {
	events, ok := <-s.Watcher.Events()
	if !ok {
		return nil
	}
	return Events{origin{s}, events}
}

// Lost means that the service of a session has ended.
type Lost struct {
	origin
	Stopped bool // by the user
}

// wait waits for the service to end.
func (s *Session) wait() tea.Msg {
	select {
	case <-s.Done:
		return Lost{origin{s}, s.Stopped != nil && s.Stopped()}
	case <-s.ctx.Done():
		return nil
	}
}

// waitForStart loses the session once more when a service that the user ended runs again.
func (s *Session) waitForStart() tea.Cmd {
	if s.Started == nil {
		return nil
	}
	return func() tea.Msg {
		if s.Started(s.ctx) != nil {
			return nil
		}
		return Lost{origin: origin{s}}
	}
}

// refresh is a refresh that is awaited. The zero value is none.
type refresh struct {
	inboxID string // "" for all
	answer  chan<- error
}

// Refresh fetches the list of an inbox now, even if it is paused, or all lists if id is empty. It is
// answered by what the watcher then tells of that inbox, or of the first one.
func (s *Session) Refresh(id string) Request {
	return Request{What: "refreshing", Start: func() tea.Cmd {
		answer := make(chan error, 1)
		s.refresh = refresh{id, answer}
		s.Watcher.Refresh(id)
		return s.request(func(ctx context.Context) tea.Msg {
			select {
			case err := <-answer:
				return host.Done{Text: "refreshed just now", Err: err}
			case <-ctx.Done():
				return host.Done{Err: ctx.Err()}
			}
		})
	}}
}

// refreshed answers the refresh that is awaited if e is its outcome: a list, or why there is none.
func (s *Session) refreshed(e watch.Event) {
	r := s.refresh
	switch e.Kind {
	case watch.Listed, watch.Arrived, watch.Inboxes, watch.Gone, watch.Failed:
	default:
		return
	}
	whole := e.InboxID == "" && e.Kind == watch.Failed
	if r.answer != nil && (r.inboxID == "" || r.inboxID == e.InboxID || whole) {
		r.answer <- e.Err
		s.refresh = refresh{}
	}
}

// ask is a request in one step, which may take requestTimeout.
func (s *Session) ask(what string, do func(ctx context.Context) tea.Msg) Request {
	return Request{What: what, Start: func() tea.Cmd { return s.request(do) }}
}

// request runs do in a command, for at most requestTimeout.
func (s *Session) request(do func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(s.ctx, requestTimeout)
		defer cancel()
		return do(ctx)
	}
}
