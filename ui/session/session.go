// Package session is the work with a service: the connection, which is made and made again, the
// watcher of its inboxes, and everything that is asked of it. Requests are commands. What a command
// brings back names its session, so that what comes from an earlier one can be dropped.
package session

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/registry"
)

const (
	closeTimeout   = 5 * time.Second
	requestTimeout = 30 * time.Second
)

// Target is what to connect to; the zero Target is what the program was started for.
type Target struct {
	Profile, BaseURL string
	Key              string // typed by the user; otherwise the key is looked up
}

// Connection is access to a service.
type Connection struct {
	Client   *api.Client
	Registry *registry.Registry // nil where the inboxes are not kept
	Name     string             // for people: "local" or a host
	Profile  string
	SMTPAddr string // host:port that takes mail for the inboxes; empty when not known
	Local    bool
	Close    func(context.Context) error // may be nil
	// Done is closed when the service is gone for good, as the local one is when the process that
	// owns it ends; connecting again makes another. Nil where that does not happen.
	Done <-chan struct{}
}

// Session is a connection and the watcher of its inboxes. Its goroutine ends before close returns.
type Session struct {
	*Connection
	Watcher *watch.Watcher
	// Raw reports whether the service gives raw messages, as far as is known.
	NoRaw bool

	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	inView []string // the inboxes that the watcher knows to be on the screen
}

func newSession(ctx context.Context, conn *Connection) *Session {
	s := &Session{Connection: conn, Watcher: watch.New(conn.Client, watch.Options{}), done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(ctx)
	go func() {
		defer close(s.done)
		// The error is that of the context: what goes wrong with an inbox is an event.
		_ = s.Watcher.Run(s.ctx)
	}()
	return s
}

// close ends the session and waits for it.
func (s *Session) close() {
	s.cancel()
	<-s.done
	if s.Connection.Close != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		_ = s.Connection.Close(ctx) // nobody is left who could do something about it
	}
}

// sameService reports whether two sessions are with one service: another process that owns the
// local one changes nothing but the port.
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

// Session returns the session that the result comes from.
func (o origin) Session() *Session { return o.session }

// Result is what a request brings back. It is stale when its session is not the present one.
type Result interface{ Session() *Session }

// Events are what the watcher said since the last time.
type Events struct {
	origin
	Events []watch.Event
}

// Listen waits for the watcher. It is started once with a session and again by each [Events], and
// by nothing else.
func (s *Session) Listen() tea.Msg {
	e, ok := <-s.Watcher.Events()
	if !ok {
		return nil
	}
	m := Events{origin{s}, []watch.Event{e}}
	for len(m.Events) < 64 {
		select {
		case e, ok := <-s.Watcher.Events():
			if !ok {
				return m
			}
			m.Events = append(m.Events, e)
		default:
			return m
		}
	}
	return m
}

// Lost says that the service of a session is gone.
type Lost struct{ origin }

// wait waits for the service to be gone.
func (s *Session) wait() tea.Msg {
	select {
	case <-s.Done:
		return Lost{origin{s}}
	case <-s.ctx.Done():
		return nil
	}
}

// request runs a request of the user in a command, bounded in time.
func (s *Session) request(do func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(s.ctx, requestTimeout)
		defer cancel()
		return do(ctx)
	}
}
