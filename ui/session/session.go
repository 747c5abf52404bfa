// Package session connects to a service and reconnects, watches its inboxes, and makes requests.
// Requests are commands. A result names its session, so that a stale one can be dropped.
package session

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/internal/registry"
	"mayfly/render"
	"mayfly/render/check"
	"mayfly/ui/host"
)

const (
	closeTimeout      = 5 * time.Second
	requestTimeout    = 30 * time.Second
	forever           = 1 << 62
	heartbeatInterval = 4 * time.Second // between heartbeats
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
	Local    bool
	Rules    check.Rules                 // of the checks of its messages
	Close    func(context.Context) error // may be nil
	// Notice is what the user should know about the service; empty if there is nothing.
	Notice string
	// SMTP is the SMTP server for the inboxes, host:port, which may change, and what follows it on the screen, such as
	// " (2525 was taken)". It is nil if that is unknown.
	SMTP func() (address, note string)
	// Answers asks the service for a heartbeat, and waits for it for a moment; nil where that costs a request.
	Answers func(context.Context) error
}

// Session is the use of a service. Its goroutines end before close returns.
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
	seen    *registry.SeenReader

	samples atomic.Int64 // sample messages sent
	refresh refresh      // the one that is awaited
}

func newSession(ctx context.Context, service *Service) *Session {
	s := &Session{Service: service, Watcher: watch.New(service.Client, watch.Options{}), unsaved: unsaved{marks: map[string][]registry.Mark{}}, seen: service.Registry.SeenReader()}
	s.ctx, s.cancel = context.WithCancel(ctx)
	// The error is the context's: failures of an inbox are events.
	s.running.Go(func() { _ = s.Watcher.Run(s.ctx) })
	if service.Answers != nil {
		s.running.Go(s.watchHeartbeat)
	}
	return s
}

// watchHeartbeat tells the watcher when the heartbeat of the service stops, and when it goes on.
func (s *Session) watchHeartbeat() {
	tick := time.NewTicker(heartbeatInterval)
	defer tick.Stop()
	for alive := true; ; {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		err := s.Answers(s.ctx)
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
	s.unsaved.save(s.Registry)
	if s.Service.Close != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		_ = s.Service.Close(ctx) // there is nobody left to report it to
	}
}

// sameService reports whether two sessions are with the same service. A local one may change its ports.
func (s *Session) sameService(t *Session) bool {
	return s.Local && t.Local || s.Client.BaseURL() == t.Client.BaseURL() && s.Profile == t.Profile
}

// SendTo is where mail to the inboxes is sent, see [Service]; "" if that is unknown.
func (s *Session) SendTo() (address, note string) {
	if s == nil || s.SMTP == nil {
		return "", ""
	}
	return s.SMTP()
}

// SetView tells the watcher which inboxes are on the screen.
func (s *Session) SetView(ids []string) {
	if !slices.Equal(ids, s.inView) {
		s.inView = ids
		s.Watcher.SetView(ids)
	}
}

// listen waits for events of the watcher, again and again. It is started with the session.
func (s *Session) listen(apply func([]watch.Event) tea.Cmd) tea.Cmd {
	return background(s, forever, func(context.Context) []watch.Event { return <-s.Watcher.Events() }, func(e []watch.Event) tea.Cmd {
		return tea.Batch(s.listen(apply), apply(e))
	})
}

// refresh is a refresh that is awaited. The zero value is none.
type refresh struct {
	inboxID string // "" for all
	answer  chan<- error
}

// Refresh fetches the list of an inbox now, even if it is paused, or all lists if id is empty. It is
// answered by what the watcher then tells of that inbox, or of the first one.
func (s *Session) Refresh(id string, apply func(host.Result) tea.Cmd) *Request {
	answer := make(chan error, 1)
	r := Ask(s, "refreshing", "", func(ctx context.Context) (host.Result, error) {
		select {
		case err := <-answer:
			return host.Result{Text: "refreshed just now"}, err
		case <-ctx.Done():
			return host.Result{}, ctx.Err()
		}
	}, apply)
	start := r.Start
	r.Start = func() tea.Cmd {
		s.refresh = refresh{id, answer}
		s.Watcher.Refresh(id)
		return start()
	}
	return r
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

// makingTimeout bounds the wait at exit for sessions that are still connecting.
const makingTimeout = 2 * time.Second

// sessions owns every session, including those that finish connecting after the application has quit.
type sessions struct {
	making sync.WaitGroup
	mu     sync.Mutex
	open   map[*Session]bool
	closed bool
}

// begin registers a connection attempt, and reports false once the application is quitting.
func (s *sessions) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.making.Add(1)
	}
	return !s.closed
}

// add takes over a session. Once the application has ended it closes it instead, and reports false.
func (s *sessions) add(x *Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		x.close()
		return false
	}
	s.open[x] = true
	return true
}

// end ends a session in a command.
func (s *sessions) end(x *Session) tea.Cmd {
	return func() tea.Msg {
		s.mu.Lock()
		open := s.open[x]
		delete(s.open, x)
		s.mu.Unlock()
		if open {
			x.close()
		}
		return nil
	}
}

// close ends all sessions, after waiting up to makingTimeout for those still connecting.
func (s *sessions) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	made := make(chan struct{})
	go func() { s.making.Wait(); close(made) }()
	select {
	case <-made:
	case <-time.After(makingTimeout):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for x := range s.open {
		x.close()
	}
	clear(s.open)
}

// Profile names a service. Without a base URL it is the local service.
type Profile struct{ Name, BaseURL string }

// title is how the screen names the service.
func (p Profile) title() string {
	if p.Name != "" || p.BaseURL == "" {
		return cmp.Or(render.Clean(p.Name), "local")
	}
	if u, err := url.Parse(p.BaseURL); err == nil && u.Host != "" {
		return render.Clean(u.Host)
	}
	return render.Clean(p.BaseURL)
}

// profile is the service that a target means.
func (c *Connection) profile(t Target) Profile {
	p := Profile{Name: t.Profile, BaseURL: t.BaseURL}
	if t == (Target{Key: t.Key}) {
		p = c.options.Start
	}
	for _, x := range c.options.Profiles {
		if x.Name == p.Name && p.BaseURL == "" {
			return x
		}
	}
	return p
}

// AskedProfile is the service that was asked for last.
func (c *Connection) AskedProfile() Profile { return c.profile(c.Asked) }

// Profiles are the services to switch between.
func (c *Connection) Profiles() []Profile { return c.options.Profiles }

// Name is the name of the service: the one in use, otherwise the one that was asked for.
func (c *Connection) Name() string {
	if c.Session != nil {
		return c.Session.Name
	}
	return c.AskedProfile().title()
}

// Flag is the option that names the service on a command line, after a space; "" for the local one.
func (c *Connection) Flag() string {
	switch p := c.AskedProfile(); {
	case p.BaseURL == "":
		return ""
	case p.Name != "":
		return " --profile " + render.Clean(p.Name)
	default:
		return " --base-url " + render.Clean(p.BaseURL)
	}
}
