package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"mayfly/api"
	"mayfly/internal/registry"
	"mayfly/render"
	"mayfly/ui/host"
	"mayfly/ui/store"
)

// Created is the outcome of creating an inbox, or of adopting one that was created elsewhere.
type Created struct {
	origin
	Inbox   api.Inbox
	Copy    bool // copy its address
	Adopted bool
	Err     error
}

// Create creates an inbox.
func (s *Session) Create(request api.CreateInbox, copyAddress bool) Request {
	what := "making an inbox"
	if request.Username != "" {
		what = "making the inbox " + render.Clean(request.Username)
	}
	return s.add(what, Created{Copy: copyAddress}, func(ctx context.Context) (api.Inbox, error) {
		return s.Client.CreateInbox(ctx, request)
	})
}

// Adopt fetches an inbox by its ID.
func (s *Session) Adopt(id string) Request {
	return s.add("adding an inbox", Created{Adopted: true}, func(ctx context.Context) (api.Inbox, error) {
		return s.Client.Inbox(ctx, id)
	})
}

func (s *Session) add(what string, c Created, get func(context.Context) (api.Inbox, error)) Request {
	c.origin = origin{s}
	return s.ask(what, func(ctx context.Context) tea.Msg {
		c.Inbox, c.Err = get(ctx)
		s.Watcher.Report(c.Err)
		if c.Err == nil {
			_ = s.Registry.Put(registry.Of(c.Inbox)) // if it fails, the next run may not list it
		}
		return c
	})
}

// Label saves the label of an inbox in the registry.
func (s *Session) Label(i *store.Inbox) tea.Cmd {
	k := registry.Inbox{ID: i.ID, Email: i.Email, Label: i.Label, CreatedAt: i.Created, ExpiresAt: i.Expires}
	return func() tea.Msg {
		if err := s.Registry.Put(k); err != nil {
			return host.Done{Err: err}
		}
		return nil
	}
}

// Forget removes an inbox that is gone from the registry.
func (s *Session) Forget(id string) tea.Cmd {
	return func() tea.Msg {
		_ = s.Registry.Remove(id) // an entry too many is found gone the next time
		return nil
	}
}

// Deleted is the outcome of deleting one of several inboxes or messages, or of emptying an inbox.
type Deleted struct {
	origin
	ID     string   // of the inbox
	Keys   []string // of its messages that are gone, while it stays; nil if the inbox itself is
	What   string   // the address or the subject, or how many
	Rest   []deletion
	Failed int
	Total  int
	Gone   bool // the service did not have it any more
	Err    error
	kind   *kind
}

// deletion is one of several to be made.
type deletion struct {
	inboxID string
	keys    []string
	do      func(context.Context) error
}

// kind is what deletions are, in words.
type kind struct{ doing, done, failed, lacking string }

var (
	ofInboxes  = &kind{doing: "deleting", done: "deleted", failed: "inboxes could not be deleted"}
	ofMessages = &kind{"deleting", "deleted", "messages could not be deleted", "this service cannot delete single messages"}
	ofContents = &kind{doing: "emptying", done: "emptied", lacking: "this service cannot empty inboxes"}
)

// Delete deletes the first of several inboxes; [Deleted.Next] goes on. What names them.
func (s *Session) Delete(ids []string, what string) Request {
	var all []deletion
	for _, id := range ids {
		all = append(all, deletion{id, nil, func(ctx context.Context) error { return s.Client.DeleteInbox(ctx, id) }})
	}
	return s.delete(ofInboxes, what, all...)
}

// DeleteMessages deletes the first of several messages, of any inboxes; [Deleted.Next] goes on.
func (s *Session) DeleteMessages(messages []*store.Message, what string) Request {
	var all []deletion
	for _, m := range messages {
		inboxID, id := m.InboxID, m.ID
		all = append(all, deletion{inboxID, []string{m.Key}, func(ctx context.Context) error { return s.Client.DeleteMessage(ctx, inboxID, id) }})
	}
	return s.delete(ofMessages, what, all...)
}

// Empty deletes all messages of an inbox. Its Keys are of those known now: what arrives meanwhile may stay.
func (s *Session) Empty(i *store.Inbox) Request {
	id := i.ID
	return s.delete(ofContents, i.Email, deletion{id, append([]string{}, i.Keys...), func(ctx context.Context) error { return s.Client.EmptyInbox(ctx, id) }})
}

func (s *Session) delete(kind *kind, what string, all ...deletion) Request {
	return Deleted{origin: origin{s}, What: what, Rest: all, Total: len(all), kind: kind}.Next()
}

// Outcome says what was deleted, and sums up several. Retry is the key that retries what failed.
func (d Deleted) Outcome(retry string) host.Done {
	switch {
	case errors.Is(d.Err, api.ErrUnsupported):
		return host.Done{Err: errors.New(d.kind.lacking)}
	case d.Total == 1 && d.Err != nil:
		return host.Done{Err: d.Err}
	case d.Failed > 0:
		return host.Done{Err: fmt.Errorf("%d of %d %s: %s tries again", d.Failed, d.Total, d.kind.failed, retry)}
	case d.Total == 1 && d.Gone && d.Keys == nil:
		return host.Done{Text: d.What + " is off the list: it was already gone", EndMatters: true}
	}
	return host.Done{Text: d.kind.done + " " + d.What, EndMatters: d.Total == 1}
}

// Next makes the next deletion.
func (d Deleted) Next() Request {
	done, next := d.Total-len(d.Rest), d.Rest[0]
	d.ID, d.Keys, d.Rest = next.inboxID, next.keys, d.Rest[1:]
	s := d.session
	r := s.ask(d.kind.doing+" "+d.What, func(ctx context.Context) tea.Msg {
		d.Err = next.do(ctx)
		if d.Gone = errors.Is(d.Err, api.ErrNotFound); d.Gone {
			d.Err = nil // as good as deleted
		}
		s.Watcher.Report(d.Err)
		switch {
		case errors.Is(d.Err, api.ErrUnsupported):
			d.Rest = nil // nor are the others
		case d.Err != nil:
			d.Failed++
		case d.Keys == nil:
			_ = s.Registry.Remove(d.ID) // an entry too many is found gone the next time
		}
		return d
	})
	if d.Total > 1 {
		r.Done, r.Total = done, d.Total
	}
	return r
}

// Extended is the outcome of setting when an inbox ends.
type Extended struct {
	origin
	Inbox api.Inbox // as it is now; its ID without an answer, too
	Err   error
}

// Extend sets the end of an inbox to ttl from now.
func (s *Session) Extend(inboxID string, ttl time.Duration) Request {
	return s.ask("extending the inbox", func(ctx context.Context) tea.Msg {
		i, err := s.Client.ExtendInbox(ctx, inboxID, ttl)
		s.Watcher.Report(err)
		switch {
		case err == nil:
			_ = s.Registry.Put(registry.Of(i)) // if it fails, the next run may not list it
		case errors.Is(err, api.ErrUnsupported):
			err = errors.New("this service cannot extend inboxes")
		}
		i.ID = inboxID
		return Extended{origin{s}, i, err}
	})
}

// SendSample sends the next sample message to an address.
func (s *Session) SendSample(to string) Request {
	return s.ask("sending a sample", func(ctx context.Context) tea.Msg {
		n := s.samples.Add(1) - 1
		sender, err := host.SendSample(ctx, s.SMTPAddr, to, int(n))
		return host.Done{Text: "sent “" + sender + "” by SMTP", Err: err}
	})
}

// Request is something the user asked for that may take a while.
type Request struct {
	What        string // in words, such as "making an inbox"; one is under way at a time
	Done, Total int    // its steps; Total is 0 for a request in one step
	// Start begins it, unless it is under way. The command ends it with the message that it returns.
	Start func() tea.Cmd
}

// Answer is the end of a request.
type Answer struct {
	What string
	Msg  tea.Msg
}

// Err is why a request that a form waits for has failed, nil if it has not.
func (a Answer) Err() error {
	switch m := a.Msg.(type) {
	case Created:
		return m.Err
	case Connected:
		return m.Err
	case host.Done:
		return m.Err
	}
	return nil
}

// Interrupted is the error of a request that ended with an earlier session than s, nil otherwise.
func (a Answer) Interrupted(s *Session) error {
	r, ok := a.Msg.(Result)
	d, _ := a.Msg.(host.Done)
	if ok && r.Session() != s || errors.Is(d.Err, context.Canceled) {
		return errors.New("stopped " + a.What + ": the connection changed")
	}
	return nil
}

// seenInterval is how often what was marked is saved, and what other applications saved is read: both within a second.
const seenInterval = 400 * time.Millisecond

// unsaved are changes of what was seen, by inbox ID, that the registry does not have yet.
type unsaved struct {
	mu      sync.Mutex
	changes map[string]registry.Change
	saving  sync.Mutex
}

// SaveSeen has changes saved in the background, at the latest when the session ends.
func (s *Session) SaveSeen(changes []registry.Change) {
	u := &s.unsaved
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, c := range changes {
		maps.Copy(c.Marked, u.changes[c.InboxID].Marked)
		u.changes[c.InboxID] = c
	}
}

// save ignores failures: messages are unread again in the next run, or are not.
func (u *unsaved) save(r *registry.Registry) {
	u.saving.Lock()
	defer u.saving.Unlock()
	u.mu.Lock()
	changes := u.changes
	u.changes = map[string]registry.Change{}
	u.mu.Unlock()
	for _, c := range changes {
		_ = r.SaveSeen(c)
	}
}

// SeenChanged is what was seen of inboxes, as this application or another one has saved it.
type SeenChanged struct {
	origin
	seen map[string]registry.Seen
}

// AwaitSeen saves what was marked, and waits until what is saved has changed. It is started with the session, and
// again after each [SeenChanged], and nowhere else.
func (s *Session) AwaitSeen() tea.Msg {
	for {
		select {
		case <-time.After(seenInterval):
		case <-s.ctx.Done():
			return nil
		}
		s.unsaved.save(s.Registry)
		if seen, _ := s.seen.Read(); len(seen) > 0 { // what cannot be read was said when the session began
			return SeenChanged{origin{s}, seen}
		}
	}
}

// Seen is what was seen of inboxes in which nothing was marked since: that is saved before it is read again.
func (c SeenChanged) Seen() map[string]registry.Seen {
	u := &c.session.unsaved
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(c.seen, func(id string, _ registry.Seen) bool { _, marked := u.changes[id]; return marked })
	return c.seen
}
