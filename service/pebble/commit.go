package pebble

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"mayfly/service"
)

// groupBytes is the size of bodies at which a group is complete.
const groupBytes = 4 << 20

// group is a group commit: changes that share a batch.
type group struct {
	*state
	batch   *pebbledb.Batch
	waiting []*op
	size    int             // bytes of bodies
	touched map[string]bool // IDs of keys whose list of inboxes changes
	quotas  map[quotaOf]int // new counts
	grown   map[inboxOf]service.Inbox
	deleted []inboxOf
	moved   []string // addresses that get or lose an inbox
	swept   bool     // any number of inboxes are removed
}

// commit passes a change to the committer and waits until it is on disk. If ctx ends before the
// committer has taken the change, nothing is changed; after that, ctx makes no difference. When the
// disk is full, commit fails although the change may be made later, when there is space again.
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
				// prepare uses what the caller may change after the return.
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

// runCommits is the committer, the only goroutine that writes.
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
		runtime.Gosched() // lets more callers join the group, which makes groups larger under load
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

// gather moves changes from the queue into the group.
func (g *group) gather() {
	for g.size < groupBytes {
		o := g.store.queue.take()
		if o == nil {
			return
		}
		o.err = o.prepare(g)
		o.preparing.Unlock()
		g.waiting = append(g.waiting, o)
		if o.err == nil {
			g.size += o.size
		}
	}
}

// commitGroup makes the group visible once it is on disk.
func (s *Store) commitGroup(g *group) error {
	keys := slices.Collect(maps.Keys(g.keys))
	var hashes [][32]byte
	for _, k := range g.keys {
		hashes = append(hashes, k.Hash)
	}
	g.trim()
	if g.batch.Empty() {
		return g.batch.Close()
	}
	s.syncStart.Store(int64(time.Since(s.opened)))
	defer s.syncStart.Store(0)
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	s.apply(g.batch)
	if err := s.failed(); err != nil {
		g.forget()
		return err
	}
	if err := g.batch.SyncWait(); err != nil {
		s.fail(fmt.Errorf("sync the store: %w", err))
		return s.failed()
	}
	if err := s.views.advance(s.db); err != nil {
		return err
	}
	s.addresses.drop(g.moved...)
	s.inboxes.update(g.grown)
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
	s.hashes.drop(hashes...) // another key had one before
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
	return g.batch.Close()
}

// answer ends the group. What was refused is answered with the others: the reason may be one of
// their changes, which nobody could read before.
func (g *group) answer(err error) {
	for _, o := range g.waiting {
		o.done <- cmp.Or(err, o.err)
	}
}

// apply writes the group, but does not wait until it is on disk. The database panics if its
// log cannot be written.
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

// state is the committer's own cache of the store. It includes the changes of the group that is
// being prepared, which cannot be read from the database yet. When it is full, half of it is
// dropped.
type state struct {
	store    *Store
	inboxes  map[string]*inboxState
	emails   map[quotaOf]int
	quotaDay service.Day // the counts of earlier days are removed

	// Changes of the current group:
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

// stateSize is the largest number of inboxes in state, which take 250 bytes each. A delivery to
// another one takes three times as long.
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

// trim ends a group: it drops the group's own state, and what is too much of the rest.
func (st *state) trim() {
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

// inbox returns the inbox as it will be after the group; gone is set if there is none.
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

// emailsOn returns the count of the key's messages on the day, including those of the group.
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

// address returns the owner of an address and its inbox, as they will be after the group.
func (st *state) address(address string) (keyID, inboxID string, err error) {
	if a, ok := st.addresses[address]; ok {
		return a[0], a[1], nil
	}
	return st.store.address(address)
}

// key returns a key as it will be after the group.
func (st *state) key(id string) (service.StoredKey, error) {
	if k, ok := st.keys[id]; ok {
		return k, nil
	}
	return st.store.readKey(id)
}
