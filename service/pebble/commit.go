package pebble

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"mayfly/service"
)

// groupBytes ends a group: what a commit may hold of bodies unless a single one is larger.
const groupBytes = 4 << 20

// group is what shares a commit.
type group struct {
	*state
	batch   *pebbledb.Batch
	waiting []*op
	size    int             // octets of bodies
	touched map[string]bool // keys whose list of inboxes changes
	quotas  map[quotaOf]int // that change
	grown   map[inboxOf]service.Inbox
	deleted []inboxOf
	inboxIn []string // addresses that get or lose an inbox
	swept   bool     // so do others, and inboxes are removed
}

// commit hands a change to the committer and waits until it is on disk. When ctx ends before the
// committer has taken it, nothing happens; after that, the change is waited for. When the disk is full,
// it fails although it may be made when there is room again.
func (s *Store) commit(ctx context.Context, size int, prepare func(*group) error) error {
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	if err := s.failed(); err != nil {
		return err
	}
	full := s.space.exhausted()
	o := &op{size: size, prepare: prepare, done: make(chan error, 1)}
	if !s.queue.put(o) {
		return errClosed
	}
	ended := ctx.Done()
	for {
		select {
		case err := <-o.done:
			return err
		case <-full:
			if !s.queue.withdraw(o) {
				// It reads what the caller may change after the return.
				o.preparing.Lock()
				defer o.preparing.Unlock()
			}
			return errFull
		case <-ended:
			if s.queue.withdraw(o) {
				return ctx.Err()
			}
			ended = nil
		}
	}
}

// runCommits is the committer, the only one that writes. What arrives while a group waits for the disk
// shares the next one.
func (s *Store) runCommits() {
	state := newState(s)
	g := s.newGroup(state)
	for {
		select {
		case <-s.queue.more:
		case <-s.stop:
			for _, o := range s.queue.close() {
				o.done <- errClosed
			}
			return
		}
		runtime.Gosched() // whoever can run may bring something: fewer, larger groups when there is much to do
		for g.gather(); len(g.waiting) > 0; g.gather() {
			g.answer(s.commitGroup(g))
			g = s.newGroup(state)
			runtime.Gosched()
		}
	}
}

func (s *Store) newGroup(st *state) *group {
	return &group{
		state: st, batch: s.db.NewBatch(),
		touched: make(map[string]bool), quotas: make(map[quotaOf]int), grown: make(map[inboxOf]service.Inbox),
	}
}

// gather takes what has come into the group.
func (g *group) gather() {
	for g.size < groupBytes {
		o := g.store.queue.take()
		if o == nil {
			return
		}
		err := o.prepare(g)
		o.preparing.Unlock()
		if err != nil {
			o.done <- err
			continue
		}
		g.waiting = append(g.waiting, o)
		g.size += o.size
	}
}

// commitGroup makes the group visible, brings it to the disk, and returns when it is there.
func (s *Store) commitGroup(g *group) error {
	keys := slices.Collect(maps.Keys(g.keys))
	g.prepared()
	if g.batch.Empty() {
		return g.batch.Close()
	}
	s.began.Store(int64(time.Since(s.opened)))
	defer s.began.Store(0)
	s.apply(g.batch)
	if err := s.failed(); err != nil {
		g.forget()
		return err
	}
	s.addresses.drop(g.inboxIn...)
	s.inboxes.renew(g.grown)
	s.inboxes.drop(g.deleted...)
	if g.swept {
		s.addresses.dropAll()
		s.inboxes.dropAll()
		s.quotas.dropAll()
	}
	for q, n := range g.quotas {
		s.quotas.put(q, n)
	}
	s.keys.drop(keys...)
	for keyID := range g.touched {
		s.versions.bump(keyID)
	}
	if g.swept || len(g.deleted) > 0 {
		s.removed.Store(true)
	}
	select {
	case s.written <- struct{}{}:
	default:
	}
	if err := g.batch.SyncWait(); err != nil {
		s.fail(fmt.Errorf("sync the store: %w", err))
		return s.failed()
	}
	return g.batch.Close()
}

func (g *group) answer(err error) {
	for _, o := range g.waiting {
		o.done <- err
	}
}

// apply makes the group visible; it is not on disk yet. The database panics when its log cannot be
// written.
func (s *Store) apply(b *pebbledb.Batch) {
	defer func() {
		if r := recover(); r != nil {
			s.fail(fmt.Errorf("write to the store: %v", r))
		}
	}()
	if err := s.db.ApplyNoSyncWait(b, pebbledb.Sync); err != nil {
		s.fail(fmt.Errorf("write to the store: %w", err))
	}
}

// state is what the committer knows of the store without reading it. It includes the group that is
// being prepared, which cannot be read yet; it is bounded, and half of it forgotten when it is full.
type state struct {
	store    *Store
	inboxes  map[string]*inboxState
	emails   map[quotaOf]int
	quotaDay service.Day // the counts of days before it are removed

	// Changed in this group only:
	addresses map[string][2]string // owner and inbox
	keys      map[string]service.StoredKey
}

type inboxState struct {
	service.Inbox
	gone bool
}

type inboxOf struct{ keyID, id string }

type quotaOf struct {
	keyID string
	day   service.Day
}

// stateSize is how many inboxes are known at most, of 250 octets each. A delivery to one that is not takes
// three times as long.
const stateSize = 128 << 10

func newState(s *Store) *state {
	st := &state{store: s}
	st.forget()
	return st
}

func (st *state) forget() {
	st.inboxes = make(map[string]*inboxState)
	st.emails = make(map[quotaOf]int)
	st.addresses = make(map[string][2]string)
	st.keys = make(map[string]service.StoredKey)
}

// prepared is called when a group is complete.
func (st *state) prepared() {
	clear(st.addresses)
	clear(st.keys)
	if len(st.inboxes) > stateSize {
		left := stateSize / 2
		maps.DeleteFunc(st.inboxes, func(string, *inboxState) bool { left--; return left >= 0 })
	}
	if len(st.emails) > stateSize {
		clear(st.emails)
	}
}

// inbox returns the inbox as the group will leave it; gone when there is none.
func (st *state) inbox(keyID, id string) (*inboxState, error) {
	if in := st.inboxes[id]; in != nil && (in.gone || in.KeyID == keyID) {
		return in, nil
	}
	in, err := st.store.inbox(keyID, id)
	if service.ErrorCode(err) == service.NotFound {
		return &inboxState{gone: true}, nil
	}
	if err != nil {
		return nil, err
	}
	st.inboxes[id] = &inboxState{Inbox: in}
	return st.inboxes[id], nil
}

// emailsOn returns the messages of the key on the day, the group's included.
func (st *state) emailsOn(q quotaOf) (int, error) {
	if n, ok := st.emails[q]; ok {
		return n, nil
	}
	n, err := st.store.emails(q)
	if err != nil {
		return 0, err
	}
	st.emails[q] = n
	return n, nil
}

// address returns who owns an address and the inbox that has it, as the group will leave it.
func (st *state) address(address string) (keyID, inboxID string, err error) {
	if a, ok := st.addresses[address]; ok {
		return a[0], a[1], nil
	}
	return st.store.address(address)
}

// key returns a key as the group will leave it.
func (st *state) key(id string) (service.StoredKey, error) {
	if k, ok := st.keys[id]; ok {
		return k, nil
	}
	return st.store.readKey(id)
}
