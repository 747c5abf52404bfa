package postgres

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"mayfly/service"
)

// delivery is a call of Append that waits for its commit.
type delivery struct {
	service.Append
	twoPhase bool   // has keys on several servers, whose commit costs more
	size     int64  // of the raw message
	packed   []byte // the raw message as it is stored
	done     chan error
	err      error // why it is not part of the current attempt's transaction
}

// fits reports whether it can share a transaction with another one.
func (d *delivery) fits(other *delivery) bool {
	return !d.twoPhase && !other.twoPhase && service.DayOf(d.Received) == service.DayOf(other.Received)
}

// bytes returns about how much is written for it: its body once for each key, or message if it is small, see share.
func (d *delivery) bytes() int {
	if len(d.packed) < minShared {
		return len(d.packed) * len(d.Messages)
	}
	keys := make(map[string]bool, 1)
	for _, m := range d.Messages {
		keys[m.KeyID] = true
	}
	return len(d.packed) * len(keys)
}

// timeFor returns how long storing deliveries may take: more than other operations if they are large.
func (s *Store) timeFor(group []*delivery) time.Duration {
	timeout := s.timeout
	for _, d := range group {
		timeout += time.Duration(d.bytes()>>20) * time.Second / 4
	}
	return timeout
}

// Append implements service.Store.
func (s *Store) Append(ctx context.Context, a service.Append) error {
	d := &delivery{Append: a, size: int64(len(a.Raw)), packed: pack(a.Raw), done: make(chan error, 1)}
	d.Raw = nil
	var at *server
	for _, m := range d.Messages {
		v, err := s.serverOf(ctx, m.KeyID)
		if err != nil {
			return err
		}
		if at != nil && at != v {
			d.twoPhase = true
			if err := at.room(); err != nil {
				return err
			}
		}
		at = v
	}
	if at == nil {
		return service.ErrNotFound
	}
	if err := at.room(); err != nil {
		return err
	}
	at.deliveries.put(d)
	select {
	case err := <-d.done:
		return err
	case <-ctx.Done():
		if at.deliveries.remove(d) {
			return ctx.Err()
		}
	case <-s.ctx.Done():
		if at.deliveries.remove(d) {
			return service.ErrClosed
		}
	}
	return <-d.done // the timeout bounds this
}

// committers is the largest number of concurrent transactions of deliveries of a process on a
// server.
const committers = 4

// slowCommit is after what time a transaction no longer keeps the next one from starting. Until
// then deliveries gather for the next one, since the more of them share a transaction, the less
// each costs.
const slowCommit = 10 * time.Millisecond

// runCommits is a committer: it stores the deliveries in the queue, group by group.
func (s *Store) runCommits(v *server) {
	for {
		select {
		case v.committing <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		group := v.deliveries.next(s.ctx)
		if group == nil {
			<-v.committing
			return
		}
		release := sync.OnceFunc(func() { <-v.committing })
		slow := time.AfterFunc(slowCommit, release)
		s.commit(v, group)
		slow.Stop()
		release()
	}
}

// commit stores a group and answers its callers. If a row that it needs stays locked, the
// deliveries for each key are tried again in a transaction of their own, and if the store fails,
// each delivery is, so that only those wait, or are refused, that cannot be stored.
func (s *Store) commit(v *server, group []*delivery) {
	// The group is stored even if the store is closed meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.timeFor(group))
	defer cancel()
	end := func(part []*delivery, err error) {
		for _, d := range part {
			d.done <- cmp.Or(err, d.err)
		}
		v.deliveries.stored(part)
	}
	err := s.commitTogether(ctx, v.pool, group)
	var parts, last [][]*delivery
	switch {
	case sqlState(err) == stateLocked:
		for keys, part := range byKeys(group) {
			if strings.Contains(keys, " ") { // it waits for rows of the others
				last = append(last, part)
			} else {
				parts = append(parts, part)
			}
		}
	case service.ErrorCode(err) == service.Internal:
		parts = slices.Collect(slices.Chunk(group, 1))
	default:
		end(group, err)
		return
	}
	var committing errgroup.Group
	committing.SetLimit(committers)
	for _, part := range parts {
		committing.Go(func() error {
			end(part, s.commitTogether(ctx, v.pool, part))
			return nil
		})
	}
	_ = committing.Wait() // there is no error that was not passed on
	for _, part := range last {
		end(part, s.commitTogether(ctx, v.pool, part))
	}
}

// commitTogether stores a whole group or, with an error, nothing.
func (s *Store) commitTogether(ctx context.Context, pool *pgxpool.Pool, group []*delivery) error {
	started := time.Now()
	var changed []string
	err := s.retry(ctx, pool, func() (err error) {
		changed, err = s.store(ctx, pool, group)
		return err
	})
	if err == nil {
		s.commits.Observe(time.Since(started).Seconds())
		s.announcer.announce(changed...)
	}
	return err
}

// byKeys splits a group into deliveries for the same keys.
func byKeys(group []*delivery) map[string][]*delivery {
	parts := make(map[string][]*delivery)
	for _, d := range group {
		var keys []string
		for _, m := range d.Messages {
			keys = append(keys, m.KeyID)
		}
		slices.Sort(keys)
		same := strings.Join(slices.Compact(keys), " ")
		parts[same] = append(parts[same], d)
	}
	return parts
}

// store stores a group in one transaction. It first counts the messages, which locks the rows of
// their keys, in order, and then of their inboxes, and tells their sequence numbers. If some cannot be stored,
// it begins again without them, and if a table is missing, with it. It returns the IDs of the inboxes that have changed.
func (s *Store) store(ctx context.Context, pool *pgxpool.Pool, group []*delivery) ([]string, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	// The pool closes a connection that is still in a transaction, which rolls it back.
	defer conn.Release()
	for _, d := range group {
		d.err = nil
	}
	gone, remade := make(map[*service.NewMessage]bool), false
	for {
		t := newTally(group, gone)
		if len(t.deliveries) == 0 {
			return nil, nil
		}
		if err := t.count(ctx, conn.Conn(), s); err != nil {
			return nil, err
		}
		if t.refuse(gone) {
			if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
				return nil, err
			}
			continue
		}
		err := t.write(ctx, conn.Conn())
		if sqlState(err) == stateNoTable && !remade {
			// Some process believed that a slot was over.
			if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
				return nil, err
			}
			for _, in := range t.inboxes {
				s.slots.Delete(slotOf(in))
				if err := s.ensureSlot(ctx, slotOf(in)); err != nil {
					return nil, err
				}
			}
			remade = true
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, o := range t.owners {
			s.counts.put(o.keyID, o)
		}
		return t.changed(), nil
	}
}

// queue holds the deliveries that wait. While deliveries for a key are being stored, others for it
// stay in the queue: in the database they would have to wait for the same lock.
type queue struct {
	mu      sync.Mutex
	waiting []*delivery
	storing map[string]bool // IDs of keys
	wake    chan struct{}   // has an element if there may be something to take
}

// groupBytes is the size of bodies at which a group is complete, groupSize the number of
// deliveries.
const (
	groupBytes = 4 << 20
	groupSize  = 1000
)

func newQueue() *queue {
	return &queue{storing: make(map[string]bool), wake: make(chan struct{}, 1)}
}

func (q *queue) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) put(d *delivery) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, d)
	q.notify()
}

// remove removes a delivery, or returns false if it is being stored.
func (q *queue) remove(d *delivery) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, d)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return i >= 0
}

// length returns the number of deliveries that wait.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// next waits for deliveries that can be stored, and returns them, or nil when ctx ends. Only one
// goroutine calls it at a time.
func (q *queue) next(ctx context.Context) []*delivery {
	for ctx.Err() == nil {
		if group := q.take(); group != nil {
			return group
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
	return nil
}

// take removes and returns the deliveries for a transaction, oldest first. One that has to wait is
// not overtaken by others for its keys.
func (q *queue) take() []*delivery {
	q.mu.Lock()
	defer q.mu.Unlock()
	var group, left []*delivery
	size := 0
	awaited := make(map[string]bool) // IDs of keys
	for _, d := range q.waiting {
		full := size >= groupBytes || len(group) == groupSize || len(group) > 0 && !d.fits(group[0])
		if full || slices.ContainsFunc(d.Messages, func(m service.NewMessage) bool { return q.storing[m.KeyID] || awaited[m.KeyID] }) {
			left = append(left, d)
			for _, m := range d.Messages {
				awaited[m.KeyID] = true
			}
			continue
		}
		group = append(group, d)
		size += d.bytes()
	}
	q.waiting = left
	for _, d := range group {
		for _, m := range d.Messages {
			q.storing[m.KeyID] = true
		}
	}
	return group
}

// stored makes the next deliveries for the keys of a group available.
func (q *queue) stored(group []*delivery) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range group {
		for _, m := range d.Messages {
			delete(q.storing, m.KeyID)
		}
	}
	q.notify()
}
