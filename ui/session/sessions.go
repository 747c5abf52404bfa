package session

import (
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// makingTimeout is how long the end of the application waits for a session that is being made.
const makingTimeout = 2 * time.Second

// sessions owns every session that was made, also those whose making the screen did not live to
// see.
type sessions struct {
	making sync.WaitGroup
	mu     sync.Mutex
	open   map[*Session]bool
	closed bool
}

// begin takes note that a session is being made, and reports whether there is still use for it.
func (s *sessions) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.making.Add(1)
	}
	return !s.closed
}

func (s *sessions) add(x *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[*Session]bool{}
	}
	s.open[x] = true
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

// close waits for sessions that are being made and ends them all. One that takes longer ends with
// the process.
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
