package pebble

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	pebbledb "github.com/cockroachdb/pebble/v2"

	"mayfly/service"
)

// groupBytes is the size of bodies at which a group is complete.
const groupBytes = 4 << 20

// queueSize is how many changes wait for the committer before their callers block.
const queueSize = 1024

// group is a group commit: changes that share a batch. Its maps have what changes, as it will be
// after the group, and is not in the database or the caches yet.
type group struct {
	store     *Store
	batch     *pebbledb.Batch
	waiting   []*op
	size      int // bytes of bodies
	inboxes   map[inboxOf]*inboxState
	addresses map[string]inboxOf
	emails    map[string]service.Emails // by ID of key
	counts    map[string]int            // by key of the database
	keys      map[string]service.StoredKey
	values    map[string][]byte // others, by their keys; nil for none
	removed   map[string]bool   // IDs of messages that are removed, and of inboxes all of whose messages are
	moved     bool              // the expiry of an inbox changes
	shares    bool              // messages come to share a body, or cease to
	next      *op               // which begins the next group
	err       error             // of the batch
}

type inboxState struct {
	service.Inbox
	gone bool
}

type inboxOf struct{ keyID, id string }

// inboxCountKey is the key of the database that counts the inboxes of a key.
func inboxCountKey(keyID string) string { return string(prefixed(numberPrefix, keyID)) }

// op is one change. The committer calls prepare, which adds to the group, or returns an error and
// adds nothing.
type op struct {
	size    int // bytes of bodies and summaries
	prepare func(*group) error
	done    chan error
	test    bool // whether the store can write: nothing depends on the outcome
	removes bool // messages, of which it has to read who shares their bodies: no group has that and a change of it before

	mu    sync.Mutex // locked during prepare
	taken bool       // by the committer, or withdrawn
	err   error      // of prepare
}

// cancel reports whether it has kept the committer from taking the change. After it, prepare does
// not run.
func (o *op) cancel() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	withdrawn := !o.taken
	o.taken = true
	return withdrawn
}

// commit passes a change to the committer and waits until it is on disk. If ctx ends before the
// committer has taken the change, nothing is changed; after that, ctx makes no difference. When the
// disk is full or the store fails, commit fails although the change may be made.
func (s *Store) commit(ctx context.Context, size int, prepare func(*group) error) error {
	return s.wait(ctx, &op{size: size, prepare: prepare})
}

// remove is commit for a change that removes messages.
func (s *Store) remove(ctx context.Context, prepare func(*group) error) error {
	return s.wait(ctx, &op{removes: true, prepare: prepare})
}

// wait is commit. For a test it does not wait longer than ctx.
func (s *Store) wait(ctx context.Context, o *op) error {
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	if err := s.failed(); err != nil {
		return err
	}
	queue := s.queue
	o.done = make(chan error, 1)
	select {
	case queue <- o: // each channel to wait for has its cost
		queue = nil
	default:
	}
	full, ended := s.disk.exhausted(), ctx.Done()
	for {
		select {
		case queue <- o:
			queue = nil
		case err := <-o.done:
			return err
		case <-full:
			o.cancel()
			return errFull
		case <-ended:
			if o.cancel() || o.test {
				return ctx.Err()
			}
			ended = nil
		case <-s.over:
			withdrawn := o.cancel()
			if err := s.failed(); err != nil {
				return err
			}
			if withdrawn {
				return service.ErrClosed
			}
			return <-o.done
		}
	}
}

// runCommits is the committer, the only goroutine that writes. The database panics if its log cannot be written.
func (s *Store) runCommits() {
	defer s.end()
	defer func() {
		if r := recover(); r != nil {
			s.fail(fmt.Errorf("write to the store: %v", r))
		}
	}()
	g := newGroup(s)
	for {
		select {
		case o := <-s.queue:
			g.take(o)
		case <-s.stop:
			return
		}
		runtime.Gosched() // lets more callers join the group, which makes groups larger under load
		for g.gather(); len(g.waiting) > 0; g.gather() {
			g.answer(s.commitGroup(g))
			next := g.next
			if g = newGroup(s); next != nil {
				g.take(next)
			}
			runtime.Gosched()
		}
	}
}

func newGroup(s *Store) *group {
	return &group{
		store: s, batch: s.db.NewBatch(), inboxes: make(map[inboxOf]*inboxState),
		addresses: make(map[string]inboxOf), emails: make(map[string]service.Emails), counts: make(map[string]int),
		keys: make(map[string]service.StoredKey), values: make(map[string][]byte), removed: make(map[string]bool),
	}
}

// gather takes the changes that wait.
func (g *group) gather() {
	for g.size < groupBytes && g.next == nil {
		select {
		case o := <-g.store.queue:
			g.take(o)
		default:
			return
		}
	}
}

// take adds a change to the group unless it was withdrawn, or has to be in the next one.
func (g *group) take(o *op) {
	if o.removes && g.shares {
		g.next = o
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.taken {
		return
	}
	o.taken = true
	g.waiting = append(g.waiting, o)
	if o.err = o.prepare(g); o.err == nil {
		g.size += o.size
	}
}

func (g *group) set(key, value []byte) { g.err = cmp.Or(g.err, g.batch.Set(key, value, nil)) }

func (g *group) delete(key []byte) { g.err = cmp.Or(g.err, g.batch.Delete(key, nil)) }

func (g *group) deleteRange(start, end []byte) {
	g.err = cmp.Or(g.err, g.batch.DeleteRange(start, end, nil))
}

// commitGroup makes the group visible once it is on disk.
func (s *Store) commitGroup(g *group) error {
	if g.err != nil {
		s.fail(fmt.Errorf("write to the store: %w", g.err))
		return s.failed()
	}
	if g.batch.Empty() {
		return g.batch.Close()
	}
	s.syncStart.Store(int64(time.Since(s.opened)))
	defer s.syncStart.Store(0)
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	if err := s.db.ApplyNoSyncWait(g.batch, pebbledb.Sync); err != nil {
		s.fail(fmt.Errorf("write to the store: %w", err))
		return s.failed()
	}
	if err := g.batch.SyncWait(); err != nil {
		s.fail(fmt.Errorf("sync the store: %w", err))
		return s.failed()
	}
	if err := s.views.advance(s.db); err != nil {
		return err
	}
	g.updateCaches()
	if slices.ContainsFunc(g.waiting, func(o *op) bool { return !o.test }) {
		s.groups.Add(1)
		select {
		case s.written <- struct{}{}:
		default:
		}
	}
	return g.batch.Close()
}

// updateCaches brings the caches up to date with the group.
func (g *group) updateCaches() {
	s := g.store
	changed := make(map[inboxOf]service.Inbox, len(g.inboxes))
	for of, in := range g.inboxes {
		if !in.gone {
			changed[of] = in.Inbox
			continue
		}
		s.inboxes.drop(of)
		s.removed.Store(true)
	}
	if len(g.removed) > 0 {
		s.removed.Store(true)
	}
	s.inboxes.put(changed)
	s.addresses.put(g.addresses)
	s.emails.put(g.emails)
	s.counts.put(g.counts)
	for id, k := range g.keys {
		s.keys.drop(id)
		s.hashes.drop(k.Hash) // another key had it before
	}
}

// answer ends the group. What was refused is answered with the others: the reason may be one of
// their changes, which nobody could read before.
func (g *group) answer(err error) {
	for _, o := range g.waiting {
		o.done <- cmp.Or(err, o.err)
	}
}

// inbox returns the inbox as it will be after the group; gone is set if there is none.
func (g *group) inbox(of inboxOf) (*inboxState, error) {
	if in := g.inboxes[of]; in != nil {
		return in, nil
	}
	in, err := g.store.Inbox(context.Background(), of.keyID, of.id)
	if service.ErrorCode(err) == service.NotFound {
		return &inboxState{gone: true}, nil
	}
	if err != nil {
		return nil, err
	}
	g.inboxes[of] = &inboxState{Inbox: in}
	return g.inboxes[of], nil
}

// count returns a count as it will be after the group.
func (g *group) count(key string) (int, error) {
	if n, ok := g.counts[key]; ok {
		return n, nil
	}
	return g.store.count(key)
}

func (g *group) setCount(key string, n int) {
	if g.counts[key] = n; n == 0 {
		g.delete([]byte(key))
		return
	}
	g.set([]byte(key), binary.AppendUvarint(nil, uint64(n)))
}

// emailsOf returns a key's count of messages as it will be after the group.
func (g *group) emailsOf(keyID string) (service.Emails, error) {
	if e, ok := g.emails[keyID]; ok {
		return e, nil
	}
	return g.store.emailsOf(keyID)
}

// address returns the owner of an address and its inbox, as they will be after the group.
func (g *group) address(address string) (inboxOf, error) {
	if of, ok := g.addresses[address]; ok {
		return of, nil
	}
	return g.store.address(address)
}

// key returns a key as it will be after the group.
func (g *group) key(id string) (service.StoredKey, error) {
	if k, ok := g.keys[id]; ok {
		return k, nil
	}
	return g.store.readKey(id)
}
