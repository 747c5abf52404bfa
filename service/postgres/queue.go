package postgres

import (
	"context"
	"slices"
	"sync"

	"mayfly/service"
)

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
		size += len(d.packed) * len(d.Messages)
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
