package registry

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"mayfly/api"
	"mayfly/api/watch"
)

// Keeper stores the clients' records of inboxes with an API key, for all clients that use the key. An [api.Client] is one.
type Keeper interface {
	// States returns what is kept of each inbox, by its ID. It fails with [api.ErrUnsupported] if nothing is.
	States(ctx context.Context) (map[string][]byte, error)
	// SetState replaces what is kept of an inbox, nil at first. It fails with [api.ErrChanged] if that is not before, and with
	// [api.ErrNotFound] if the inbox is gone.
	SetState(ctx context.Context, inboxID string, before, after []byte) error
}

// remote is where a registry that has a keeper keeps what was seen and consumed.
type remote struct {
	keeper Keeper
	*kept
}

// kept is what a keeper was seen to keep.
type kept struct {
	mu     sync.Mutex
	states map[string][]byte
	read   time.Time // when that was tried last
	err    error     // of that
}

// remoteInterval is how often it is read what other processes have kept; remoteTimeout bounds a request. Each counts in the
// plan of the key.
const (
	remoteInterval = 30 * time.Second
	remoteTimeout  = 10 * time.Second
)

// Remote returns a registry that has nothing but a keeper. Those that share it see at once what one of them keeps.
func Remote(k Keeper) *Registry { return new(Registry).KeptBy(k) }

// As returns a registry that sees at once what this one keeps, but asks another keeper, since who asks may lose access.
func (r *Registry) As(k Keeper) *Registry { return &Registry{remote: &remote{k, r.remote.kept}} }

// KeptBy has a keeper keep what was seen and consumed, if it does, instead of files.
func (r *Registry) KeptBy(k Keeper) *Registry {
	r.remote = &remote{k, new(kept)}
	return r
}

// elsewhere returns what keeps what was seen and consumed, nil if files do.
func (r *Registry) elsewhere(ctx context.Context) *remote {
	if r.remote == nil {
		return nil
	}
	r.remote.mu.Lock()
	defer r.remote.mu.Unlock()
	if err := r.remote.refresh(ctx, remoteInterval); r.dir != "" && errors.Is(err, api.ErrUnsupported) {
		return nil
	}
	return r.remote
}

// state is what is kept of an inbox.
type state struct {
	Inbox    Inbox          `json:"inbox,omitzero"` // if it has a label
	Seen     ReadState      `json:"seen,omitzero"`
	Consumed watch.Consumed `json:"delivered,omitzero"`
}

// refresh reads what is kept, unless that was done less than age ago. The caller has locked r.mu.
func (r *remote) refresh(ctx context.Context, age time.Duration) error {
	if time.Since(r.read) < age {
		return r.err
	}
	bounded, cancel := context.WithTimeout(ctx, remoteTimeout)
	defer cancel()
	states, err := r.keeper.States(bounded)
	if ctx.Err() != nil {
		return ctx.Err() // which says nothing of the service
	}
	if r.read, r.err = time.Now(), err; err == nil {
		r.states = states
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

// copy returns the state as it is kept.
func (s state) copy() state {
	content, _ := json.Marshal(s)
	return decode(content)
}

// change changes what is kept of an inbox until f returns false, or the change is made. What is gone is not kept.
func (r *remote) change(ctx context.Context, inboxID string, f func(*state) (changed bool)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lockTimeout, ErrBusy)
	defer cancel()
	for age := remoteInterval; ; age = 0 {
		before, err := r.of(ctx, inboxID, age)
		switch {
		case err != nil && age > 0:
			continue // that may be over
		case err != nil:
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
		case !errors.Is(err, api.ErrChanged):
			return err
		}
	}
}

// updateConsumed is [Registry.UpdateConsumed]. What is consumed is kept first: nobody else outputs it then.
func (r *remote) updateConsumed(ctx context.Context, inboxID string, take func(*watch.Consumed) bool, output func() (done bool)) error {
	var before, after watch.Consumed
	var taken bool
	err := r.change(ctx, inboxID, func(s *state) bool {
		before = s.copy().Consumed
		taken = take(&s.Consumed)
		after = s.copy().Consumed
		return taken
	})
	if err != nil || !taken || output() {
		return err
	}
	return r.change(context.WithoutCancel(ctx), inboxID, func(s *state) bool { s.Consumed.Undo(before, after); return true })
}

// list returns the inboxes that have a label.
func (r *remote) list() (all []Inbox, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err = r.refresh(context.Background(), time.Second)
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
func (s *SeenReader) readRemote(r *remote) (map[string]ReadState, error) {
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
