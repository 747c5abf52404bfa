package registry

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"mayfly/api"
	"mayfly/api/watch"
)

// Keeper keeps what clients know of the inboxes of an API key, with the key, for all that use it.
type Keeper interface {
	// States returns what is kept of each inbox, by its ID.
	States(ctx context.Context) (map[string][]byte, error)
	// SetState replaces what is kept of an inbox, nil at first. It fails with [ErrChanged] if that is not before, and with
	// [api.ErrNotFound] if the inbox is gone.
	SetState(ctx context.Context, inboxID string, before, after []byte) error
}

// ErrChanged is the error of replacing what another client has replaced.
var ErrChanged = errors.New("another client has changed it")

// remote is where a registry keeps everything that has a keeper, which lists inboxes itself.
type remote struct {
	keeper Keeper
	mu     sync.Mutex
	states map[string][]byte
	read   time.Time
}

// remoteInterval is how often it is read what other processes have kept; remoteTimeout bounds a request.
const (
	remoteInterval = 5 * time.Second
	remoteTimeout  = 10 * time.Second
	lease          = 5 * time.Second // of one that hands over a message
	leaseRetry     = 50 * time.Millisecond
)

// Remote returns a registry that has a keeper. Those that share it see at once what one of them keeps.
func Remote(k Keeper) *Registry { return &Registry{remote: &remote{keeper: k}} }

// state is what is kept of an inbox.
type state struct {
	Inbox     Inbox          `json:"inbox,omitzero"` // if it has a label
	Seen      ReadState      `json:"seen,omitzero"`
	Delivered watch.Consumed `json:"delivered,omitzero"`
	Holder    string         `json:"holder,omitempty"` // hands over a message
	Held      time.Time      `json:"held,omitzero"`    // until then
}

// refresh reads what is kept, unless that was done less than age ago. The caller has locked r.mu.
func (r *remote) refresh(ctx context.Context, age time.Duration) error {
	if r.states != nil && time.Since(r.read) < age {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, remoteTimeout)
	defer cancel()
	states, err := r.keeper.States(ctx)
	if err == nil {
		r.states, r.read = states, time.Now()
	}
	return err
}

// of returns what is kept of an inbox, which was read less than age ago.
func (r *remote) of(ctx context.Context, inboxID string, age time.Duration) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.refresh(ctx, age)
	return r.states[inboxID], err
}

func decode(content []byte) (s state) {
	if json.Unmarshal(content, &s) != nil {
		return state{} // of another version: nothing is known
	}
	return s
}

// change changes what is kept of an inbox until f returns false, or the change is made. What is gone is not kept.
func (r *remote) change(ctx context.Context, inboxID string, f func(*state) (changed bool)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lockTimeout, ErrBusy)
	defer cancel()
	for age := remoteInterval; ; age = 0 {
		before, err := r.of(ctx, inboxID, age)
		if err != nil {
			return err
		}
		s := decode(before)
		if !f(&s) {
			return nil
		}
		content, err := json.Marshal(s)
		if err != nil {
			return err
		}
		switch err := r.keeper.SetState(ctx, inboxID, before, content); {
		case err == nil:
			r.mu.Lock()
			r.states[inboxID] = content
			r.mu.Unlock()
			return nil
		case errors.Is(err, api.ErrNotFound):
			return nil
		case !errors.Is(err, ErrChanged):
			return err
		}
	}
}

// handOver is [Registry.UpdateConsumed]. Who hands over a message has a lease, which one that is killed loses soon.
func (r *remote) handOver(ctx context.Context, inboxID string, give func(*watch.Consumed) (changed bool)) error {
	holder := rand.Text()
	var delivered watch.Consumed
	for held := false; !held; {
		if err := r.change(ctx, inboxID, func(s *state) bool {
			if held = s.Holder == "" || time.Now().After(s.Held); held {
				s.Holder, s.Held, delivered = holder, time.Now().Add(lease), s.Delivered
			}
			return held
		}); err != nil {
			return err
		}
		if held {
			break
		}
		select {
		case <-time.After(leaseRetry):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if _, err := r.of(ctx, inboxID, leaseRetry); err != nil {
			return err
		}
	}
	changed := give(&delivered)
	return r.change(context.WithoutCancel(ctx), inboxID, func(s *state) bool {
		if s.Holder != holder {
			return changed // another one has the lease: at worst a message is handed over again
		}
		if s.Holder, s.Held = "", (time.Time{}); changed {
			s.Delivered = delivered
		}
		return true
	})
}

// list returns the inboxes that have a label.
func (r *remote) list() (all []Inbox, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err = r.refresh(context.Background(), 0)
	for _, content := range r.states {
		if s := decode(content); s.Inbox.ID != "" {
			all = append(all, s.Inbox)
		}
	}
	return all, err
}

// label keeps an inbox that has a label: the others are listed by the service.
func (r *remote) label(i Inbox) error {
	if i.Label == "" {
		return nil
	}
	return r.change(context.Background(), i.ID, func(s *state) bool { s.Inbox = i; return true })
}

// readRemote is [SeenReader.Read] of a registry with a keeper.
func (s *SeenReader) readRemote() (map[string]ReadState, error) {
	r := s.registry.remote
	all := map[string]ReadState{}
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.refresh(context.Background(), remoteInterval)
	for id, content := range r.states {
		if slices.Equal(s.states[id], content) {
			continue
		}
		if s.states[id] = content; decode(content).Seen.InboxID == id {
			all[id] = decode(content).Seen
		}
	}
	return all, err
}
