package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mayfly/api/watch"
)

// Bounds of the sessions over HTTP, of which each takes 20 kB.
const (
	maxSessions    = 250              // of a key
	sessionTimeout = 30 * time.Minute // without a call, ends a session
	manySessions   = 5000             // of all keys: from here on, the next ends a session
	busyTimeout    = time.Minute
)

// sessions are those that run. It is safe for concurrent use.
type sessions struct {
	mu  sync.Mutex
	all map[string]*session // by their ID, or that over standard input and output by its address
}

// session is one session, and what it consumed.
type session struct {
	keyID   string // "" over standard input and output
	running *sdk.ServerSession
	calls   int       // that it carries out now, over HTTP
	used    time.Time // when the last of them began or ended

	mu       sync.Mutex
	consumed map[string]*watch.Consumed // by the ID of the inbox
	inboxes  []string                   // their IDs, in the order in which they were asked for first
}

// of returns the session of a request.
func (s *sessions) of(r sdk.Request) *session {
	running := r.GetSession().(*sdk.ServerSession)
	id := cmp.Or(running.ID(), fmt.Sprintf("%p", running))
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.all[id]
	if o == nil {
		o = &session{keyID: postOf(r).keyID, running: running, used: time.Now(), consumed: map[string]*watch.Consumed{}}
		s.all[id] = o
	}
	return o
}

// enter begins a call in a session of a key, and returns nil if the key has none with the ID.
func (s *sessions) enter(keyID, id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.all[id]
	if o == nil || o.keyID != keyID {
		return nil
	}
	o.calls++
	o.used = time.Now()
	return o
}

// leave ends a call.
func (s *sessions) leave(o *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.calls--
	o.used = time.Now()
}

// remove forgets a session that has ended.
func (s *sessions) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, id)
}

// makeRoom ends the sessions without a call for too long and, if a key has as many as it may, the one of
// them without a call for the longest. With a call in each it may have more: calls have bounds of their own.
func (s *sessions) makeRoom(keyID string) {
	s.mu.Lock()
	timeout := sessionTimeout
	if len(s.all) >= manySessions {
		timeout = busyTimeout
	}
	ofKey, oldest := 0, (*session)(nil)
	for _, o := range s.all {
		if o.keyID != keyID {
			continue
		}
		ofKey++
		if o.calls == 0 && (oldest == nil || o.used.Before(oldest.used)) {
			oldest = o
		}
	}
	var ended []*sdk.ServerSession
	for id, o := range s.all {
		if o == oldest && ofKey >= maxSessions || o.calls == 0 && time.Since(o.used) >= timeout {
			ended = append(ended, o.running)
			delete(s.all, id)
		}
	}
	s.mu.Unlock()
	for _, o := range ended {
		_ = o.Close() // nobody is there who could read an error
	}
}

// bounded makes room for sessions over HTTP, and ends a call when nobody waits for its answer any more.
func (t *tools) bounded(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		p := postOf(r)
		if p.client == nil { // not over HTTP
			return next(ctx, method, r)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(p.ctx, cancel)()
		result, err := next(ctx, method, r)
		if method == "initialize" && err == nil {
			t.sessions.makeRoom(p.keyID)
			t.sessions.of(r)
		}
		return result, err
	}
}

// maxConsumed bounds the inboxes whose returned messages a session records.
const maxConsumed = 1000

// inbox returns what was consumed of an inbox. The caller holds s.mu.
func (s *session) inbox(inboxID string) *watch.Consumed {
	consumed := s.consumed[inboxID]
	if consumed == nil {
		consumed = &watch.Consumed{}
		s.consumed[inboxID] = consumed
		if s.inboxes = append(s.inboxes, inboxID); len(s.inboxes) > maxConsumed {
			delete(s.consumed, s.inboxes[0])
			s.inboxes = s.inboxes[1:]
		}
	}
	return consumed
}

// after says which messages of an inbox the next wait considers.
func (s *session) after(inboxID string, q watch.Target, in waitArgs) (watch.Cursor, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	consumed := s.inbox(inboxID)
	switch {
	case in.Again && in.Since != "":
		return watch.Cursor{}, errors.New("again and since cannot be combined")
	case in.Again:
		return watch.Newest(1), nil
	case in.Since == "":
		return consumed.Cursor(q), nil
	}
	at, ago, err := watch.ParseMoment(in.Since)
	switch {
	case err != nil:
		return watch.Cursor{}, errors.New("since must be a duration such as 2m, or a time such as 2026-11-22T10:00:00Z")
	case ago > 0:
		return consumed.Ago(q, ago), nil
	}
	return consumed.Since(q, at), nil
}

// take records that a message is returned, unless it was and that matters.
func (s *session) take(inboxID string, q watch.Target, again bool, f watch.Found) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	consumed := s.inbox(inboxID)
	if again {
		consumed.Add(q, f)
		return true
	}
	return consumed.Take(q, f)
}
