package postgres

import (
	"context"
	"slices"
	"sync"
)

// queue holds the deliveries that wait. While deliveries for a key are being stored, others for it
// stay in the queue: in the database they would have to wait for the same lock. So do others for a
// shard, so that they gather, until its transaction turns out to be slow.
type queue struct {
	mu      sync.Mutex
	waiting []*delivery
	storing map[string]bool // IDs of keys
	busy    map[shard]bool
	wake    chan struct{} // has an element if there may be something to take
}

// groupBytes is the size of bodies at which a group is complete, groupSize the number of
// deliveries.
const (
	groupBytes = 4 << 20
	groupSize  = 1000
)

func newQueue() *queue {
	return &queue{storing: make(map[string]bool), busy: make(map[shard]bool), wake: make(chan struct{}, 1)}
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

// next waits for deliveries that can be stored, and returns them, or nil when ctx ends.
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

// take removes and returns the deliveries for a transaction, oldest first: the first that can be
// stored now, and others in its shards. One for several shards waits until all of them are free, and
// is not overtaken in these.
func (q *queue) take() []*delivery {
	q.mu.Lock()
	defer q.mu.Unlock()
	var group, left []*delivery
	size := 0
	awaited := make(map[shard]bool)
	for _, d := range q.waiting {
		free := !slices.ContainsFunc(d.shards, func(n shard) bool { return q.busy[n] || awaited[n] })
		if !free && len(d.shards) > 1 {
			for _, n := range d.shards {
				awaited[n] = true
			}
		}
		if size >= groupBytes || len(group) == groupSize || !free || q.blocked(d) || len(group) > 0 && !d.joins(group[0]) {
			left = append(left, d)
			continue
		}
		group = append(group, d)
		size += len(d.packed) * len(d.Messages)
	}
	q.waiting = left
	for _, d := range group {
		for i, m := range d.Messages {
			q.storing[m.KeyID] = true
			q.busy[d.shards[i]] = true
		}
	}
	if len(group) > 0 && len(left) > 0 {
		q.notify() // another committer may find more
	}
	return group
}

// blocked reports whether a delivery has to wait for others of its keys.
func (q *queue) blocked(d *delivery) bool {
	for _, m := range d.Messages {
		if q.storing[m.KeyID] {
			return true
		}
	}
	return false
}

// joins reports whether a delivery is only for shards of another.
func (d *delivery) joins(first *delivery) bool {
	return !slices.ContainsFunc(d.shards, func(n shard) bool { return !slices.Contains(first.shards, n) })
}

// release makes the next deliveries for the shards of a group available, except those for its keys.
func (q *queue) release(group []*delivery) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, n := range group[0].shards {
		delete(q.busy, n)
	}
	q.notify()
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
