package session

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/internal/registry"
	"mayfly/ui/host"
	"mayfly/ui/store"
)

// Request is something the user asked for that may take a while. Each is one of its own, whatever its words: it is
// told apart by its address.
type Request struct {
	What  string // in words, such as "creating an inbox"
	About string // the ID of what it changes. While it is under way, another of its What and About is not begun
	// Session is the one that it was made for, nil if it needs none. With any other it is not begun, and what it
	// brings is dropped.
	Session     *Session
	Limit       time.Duration // how long it may take; [requestTimeout] if it is 0
	Done, Total int           // its steps; Total is 0 for a request in one step
	// Start begins it. The command returns its [Answer].
	Start func() tea.Cmd
}

// Answer is the end of a request, or of work in the background.
type Answer struct {
	Request *Request
	Err     error // why it failed
	// Apply shows what it brought. It is nil where only Err is to be said.
	Apply func() tea.Cmd
}

// Ask is a request to a session. Do runs in a command; apply gets what it returned, on the screen's side, unless it
// failed.
func Ask[T any](s *Session, what, about string, do func(ctx context.Context) (T, error), apply func(T) tea.Cmd) *Request {
	r := &Request{What: what, About: about, Session: s}
	r.Start = func() tea.Cmd {
		limit := cmp.Or(r.Limit, requestTimeout)
		return func() tea.Msg {
			ctx, cancel := context.WithTimeout(s.context(), limit)
			defer cancel()
			got, err := do(ctx)
			if err != nil {
				return Answer{Request: r, Err: err}
			}
			return Answer{Request: r, Apply: func() tea.Cmd { return apply(got) }}
		}
	}
	return r
}

// background is work for a session that the user did not ask for: nothing is said of it, and it is dropped with the
// session.
func background[T any](s *Session, limit time.Duration, do func(ctx context.Context) T, apply func(T) tea.Cmd) tea.Cmd {
	r := &Request{Session: s}
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(s.ctx, limit)
		defer cancel()
		got := do(ctx)
		return Answer{Request: r, Apply: func() tea.Cmd { return apply(got) }}
	}
}

// context ends with the session.
func (s *Session) context() context.Context {
	if s == nil {
		return context.Background()
	}
	return s.ctx
}

// Create creates an inbox.
func (s *Session) Create(ctx context.Context, in api.CreateInbox) (api.Inbox, error) {
	return s.remember(s.Client.CreateInbox(ctx, in))
}

// Adopt fetches an inbox by its ID.
func (s *Session) Adopt(ctx context.Context, id string) (api.Inbox, error) {
	return s.remember(s.Client.Inbox(ctx, id))
}

// remember keeps an inbox in the registry.
func (s *Session) remember(in api.Inbox, err error) (api.Inbox, error) {
	s.Watcher.Report(err)
	if err == nil {
		s.unsaved.failed(s.Registry.Put(registry.FromAPI(in)))
	}
	return in, err
}

// Ahead is how far the clock of the service is ahead of this machine's.
func (s *Session) Ahead() time.Duration { return time.Until(s.Client.ServiceTime()) }

// Label saves the label of an inbox in the registry.
func (s *Session) Label(i *store.Inbox) tea.Cmd {
	k := registry.Inbox{ID: i.ID, Email: i.Email, Label: i.Label, CreatedAt: i.Created, ExpiresAt: i.Expires}
	return func() tea.Msg {
		if err := s.Registry.Put(k); err != nil {
			return host.Result{Err: err}
		}
		return nil
	}
}

// Forget removes an inbox that is gone from the registry.
func (s *Session) Forget(id string) tea.Cmd {
	return func() tea.Msg {
		s.unsaved.failed(s.Registry.Remove(id))
		return nil
	}
}

// DeleteInbox deletes an inbox. Gone says that the service did not have it any more, which is as good.
func (s *Session) DeleteInbox(ctx context.Context, id string) (gone bool, err error) {
	if gone, err = s.deleted(s.Client.DeleteInbox(ctx, id)); err == nil {
		s.unsaved.failed(s.Registry.Remove(id))
	}
	return gone, err
}

// DeleteMessage deletes a message.
func (s *Session) DeleteMessage(ctx context.Context, inboxID, id string) (gone bool, err error) {
	return s.deleted(s.Client.DeleteMessage(ctx, inboxID, id))
}

// EmptyInbox deletes all messages of an inbox.
func (s *Session) EmptyInbox(ctx context.Context, id string) (gone bool, err error) {
	return s.deleted(s.Client.EmptyInbox(ctx, id))
}

func (s *Session) deleted(err error) (gone bool, _ error) {
	if gone = errors.Is(err, api.ErrNotFound); gone {
		err = nil
	}
	s.Watcher.Report(err)
	return gone, err
}

// Extend sets the end of an inbox to ttl from now.
func (s *Session) Extend(ctx context.Context, id string, ttl time.Duration) (api.Inbox, error) {
	i, err := s.Client.ExtendInbox(ctx, id, ttl)
	s.Watcher.Report(err)
	switch {
	case err == nil:
		s.unsaved.failed(s.Registry.Put(registry.FromAPI(i)))
	case errors.Is(err, api.ErrUnsupported):
		err = errors.New("this service cannot extend inboxes")
	}
	return i, err
}

// SendSample sends the next sample message to an address.
func (s *Session) SendSample(ctx context.Context, to string) (host.Result, error) {
	n := s.samples.Add(1) - 1
	server, _ := s.SendTo()
	sender, err := host.SendSample(ctx, server, to, int(n))
	return host.Result{Text: "sent “" + sender + "” over SMTP"}, err
}

// seenInterval is how often what was marked is saved, and what other applications saved to files is read: both within a second.
const seenInterval = 400 * time.Millisecond

// unsaved are marks, by inbox ID, that the registry does not have yet.
type unsaved struct {
	mu     sync.Mutex
	marks  map[string][]registry.Mark
	saving sync.Mutex
	err    error // the last of the registry that was not said yet
	said   bool  // one of what was seen was: they come with each message
}

// failed has an error of the registry said, if it is one: what was asked of the service is done all the same.
func (u *unsaved) failed(err error) {
	if err != nil {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.err = err
	}
}

// SaveSeen has marks saved in the background, at the latest when the session ends.
func (s *Session) SaveSeen(marks map[string][]registry.Mark) {
	u := &s.unsaved
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, m := range marks {
		u.marks[id] = append(u.marks[id], m...)
	}
}

// save saves the marks. Without them messages are unread again in the next run, or are not.
func (u *unsaved) save(r *registry.Registry) {
	u.saving.Lock()
	defer u.saving.Unlock()
	u.mu.Lock()
	marks := u.marks
	u.marks = map[string][]registry.Mark{}
	u.mu.Unlock()
	for id, m := range marks {
		if err := r.SaveSeen(id, m); err != nil && !u.said {
			u.said = true
			u.failed(err)
		}
	}
}

// awaitSeen saves what was marked, and waits until what is saved has changed, again and again. It is started with the session.
func (s *Session) awaitSeen(apply func(map[string]registry.ReadState, error) tea.Cmd) tea.Cmd {
	u := &s.unsaved
	var failed error
	return background(s, forever, func(ctx context.Context) map[string]registry.ReadState {
		for {
			select {
			case <-time.After(seenInterval):
			case <-ctx.Done():
				return nil
			}
			u.save(s.Registry)
			u.mu.Lock()
			failed, u.err = u.err, nil
			u.mu.Unlock()
			if seen, _ := s.seen.Read(); failed != nil || len(seen) > 0 { // what cannot be read was said when the session began
				return seen
			}
		}
	}, func(seen map[string]registry.ReadState) tea.Cmd {
		u.mu.Lock() // what was marked since is saved before it is read again
		maps.DeleteFunc(seen, func(id string, _ registry.ReadState) bool { _, marked := u.marks[id]; return marked })
		u.mu.Unlock()
		return tea.Batch(apply(seen, failed), s.awaitSeen(apply))
	})
}
