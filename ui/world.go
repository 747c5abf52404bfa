package ui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/adrg/xdg"

	"mayfly/ui/safecopy"
)

// world is what the application does to the machine it runs on; tests put their own in its place.
type world struct {
	copy      func(text string, env clipboardEnv) (ways string)
	open      func(target string) error // with the system's opener
	copies    *safecopy.Copies
	downloads string // folder for saved messages and attachments
	sessions  *sessions
}

func realWorld() world {
	return world{
		copy: copyNative, open: openWithSystem, copies: &safecopy.Copies{},
		downloads: xdg.UserDirs.Download, sessions: &sessions{},
	}
}

// close ends every session and removes the copies.
func (w world) close() error {
	w.sessions.close()
	return w.copies.Remove()
}

// sessions owns every session that was made, also those whose making the screen did not live to see.
type sessions struct {
	making sync.WaitGroup
	mu     sync.Mutex
	open   map[*session]bool
	closed bool
}

// connect makes a session in a command.
func (s *sessions) connect(ctx context.Context, o Options, t Target, attempt uint64) tea.Cmd {
	return func() tea.Msg {
		if !s.begin() {
			return nil
		}
		defer s.making.Done()
		m := connect(ctx, o, t, attempt)
		if m.session != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.open == nil {
				s.open = map[*session]bool{}
			}
			s.open[m.session] = true
		}
		return m
	}
}

// makingTimeout is how long the end of the application waits for a session that is being made.
const makingTimeout = 2 * time.Second

// begin says that a session is being made, unless all is over.
func (s *sessions) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.making.Add(1)
	}
	return !s.closed
}

// end ends a session in a command.
func (s *sessions) end(x *session) tea.Cmd {
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

// close waits for sessions that are being made and ends them all. One whose making hears of no end is left: it goes
// with the process.
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
