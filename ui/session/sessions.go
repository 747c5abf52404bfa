package session

import (
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// makingTimeout bounds the wait at exit for sessions that are still connecting.
const makingTimeout = 2 * time.Second

// sessions owns every session, including those that finish connecting after the application has
// quit.
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
	closed := s.closed
	if !closed {
		if s.open == nil {
			s.open = map[*Session]bool{}
		}
		s.open[x] = true
	}
	s.mu.Unlock()
	if closed {
		x.close()
	}
	return !closed
}

// end ends a session in a command.
func (s *sessions) end(x *Session) tea.Cmd {
	if x == nil {
		return nil
	}
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
	s.open = nil
}
