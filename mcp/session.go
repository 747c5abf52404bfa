package mcp

import (
	"errors"
	"runtime"
	"sync"
	"weak"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api/watch"
)

// sessions has what each session was handed over, for as long as the session lasts. It is safe for
// concurrent use.
type sessions struct {
	mu  sync.Mutex
	all map[weak.Pointer[sdk.ServerSession]]*session
}

func newSessions() *sessions { return &sessions{all: map[weak.Pointer[sdk.ServerSession]]*session{}} }

// session is what one session was handed over.
type session struct {
	mu      sync.Mutex
	handed  map[string]*watch.Handed // by the ID of the inbox
	inboxes []string                 // their IDs, in the order in which they were asked for first
}

// maxHanded is of how many inboxes a session knows what it was handed over.
const maxHanded = 1000

func (s *sessions) of(r sdk.Request) *session {
	running := r.GetSession().(*sdk.ServerSession)
	key := weak.Make(running)
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.all[key]
	if found == nil {
		found = &session{handed: map[string]*watch.Handed{}}
		s.all[key] = found
		runtime.AddCleanup(running, s.end, key)
	}
	return found
}

func (s *sessions) end(ended weak.Pointer[sdk.ServerSession]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, ended)
}

// inbox returns what was handed over of an inbox. The caller holds s.mu.
func (s *session) inbox(inboxID string) *watch.Handed {
	handed := s.handed[inboxID]
	if handed == nil {
		handed = &watch.Handed{}
		s.handed[inboxID] = handed
		if s.inboxes = append(s.inboxes, inboxID); len(s.inboxes) > maxHanded {
			delete(s.handed, s.inboxes[0])
			s.inboxes = s.inboxes[1:]
		}
	}
	return handed
}

// after says which messages of an inbox the next wait considers.
func (s *session) after(inboxID string, q watch.Question, in waitArgs) (watch.After, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	handed := s.inbox(inboxID)
	switch {
	case in.Again && in.Since != "":
		return watch.After{}, errors.New("again and since cannot be combined")
	case in.Again:
		return watch.Newest(1), nil
	case in.Since == "":
		return handed.After(q), nil
	}
	at, ago, err := watch.ParseMoment(in.Since)
	switch {
	case err != nil:
		return watch.After{}, errors.New("since must be a duration such as 2m, or a time such as 2026-11-22T10:00:00Z")
	case ago > 0:
		return handed.Ago(q, ago), nil
	}
	return handed.Since(q, at), nil
}

// take records that a message is handed over, unless it was and that matters.
func (s *session) take(inboxID string, q watch.Question, again bool, f watch.Found) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	handed := s.inbox(inboxID)
	if again {
		handed.Add(q, f)
		return true
	}
	return handed.Take(q, f)
}
