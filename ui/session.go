package ui

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/api/watch"
	"mayfly/registry"
)

// session is a connection and the watcher of its inboxes. Its goroutine ends before close returns.
type session struct {
	conn    *Connection
	watcher *watch.Watcher
	ctx     context.Context
	cancel  context.CancelFunc
	done    chan struct{}
	inView  []string // what the watcher was told to be on the screen
}

func newSession(ctx context.Context, conn *Connection) *session {
	s := &session{conn: conn, watcher: watch.New(conn.Client, watch.Options{}), done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(ctx)
	go func() {
		defer close(s.done)
		// The error is that of the context: what goes wrong with an inbox is an event.
		_ = s.watcher.Run(s.ctx)
	}()
	return s
}

// close ends the session and waits for it.
func (s *session) close() {
	s.cancel()
	<-s.done
	if s.conn.Close != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		_ = s.conn.Close(ctx) // the service is left; there is nobody to tell
	}
}

const (
	closeTimeout   = 5 * time.Second
	requestTimeout = 30 * time.Second
)

// connectedMsg is the outcome of connecting.
type connectedMsg struct {
	attempt uint64
	session *session
	inboxes []api.Inbox
	known   []registry.Inbox
	err     error
}

// connect makes a session and lists the inboxes there are.
func connect(ctx context.Context, o Options, t Target, attempt uint64) connectedMsg {
	conn, err := o.Connect(ctx, t)
	if err != nil {
		return connectedMsg{attempt: attempt, err: err}
	}
	m := connectedMsg{attempt: attempt, session: newSession(ctx, conn)}
	if conn.Registry != nil {
		if m.known, err = conn.Registry.List(); err != nil {
			o.Log.Warn("read the registry", "error", err)
		}
	}
	list, err := conn.Client.Inboxes(ctx)
	if err != nil && !errors.Is(err, api.ErrUnsupported) {
		m.err = err
	}
	m.inboxes = list.Inboxes
	return m
}

// watchMsg carries what the watcher said since the last one.
type watchMsg struct {
	session *session
	events  []watch.Event
	ended   bool
}

// listen waits for the watcher. It is started once with a session and again by each watchMsg, and by
// nothing else.
func (s *session) listen() tea.Msg {
	e, ok := <-s.watcher.Events()
	if !ok {
		return watchMsg{session: s, ended: true}
	}
	m := watchMsg{session: s, events: []watch.Event{e}}
	for len(m.events) < 64 {
		select {
		case e, ok := <-s.watcher.Events():
			if !ok {
				return m // the end is heard of next time
			}
			m.events = append(m.events, e)
		default:
			return m
		}
	}
	return m
}

// lostMsg says that the service of a session is gone.
type lostMsg struct{ session *session }

// await waits for the service to be gone.
func (s *session) await() tea.Msg {
	select {
	case <-s.conn.Done:
		return lostMsg{s}
	case <-s.ctx.Done():
		return nil
	}
}

// do runs a request of the user in a command, bounded in time.
func (s *session) do(request func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(s.ctx, requestTimeout)
		defer cancel()
		return request(ctx)
	}
}
