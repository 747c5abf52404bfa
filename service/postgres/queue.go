package postgres

import (
	"context"
	"slices"
	"sync"

	"mayfly/service"
)

// queue is the deliveries that wait. Those for a key wait while others for it are being stored: in the database they
// would only wait for these.
type queue struct {
	mu      sync.Mutex
	waiting []*delivery
	storing map[string]bool // keys
	stirred chan struct{}   // tells that there may be something to take
}

// groupBytes ends a group: what a commit may hold of bodies unless a single one is larger. groupSize is how many
// deliveries it may hold.
const (
	groupBytes = 4 << 20
	groupSize  = 1000
)

func newQueue() *queue {
	return &queue{storing: make(map[string]bool), stirred: make(chan struct{}, 1)}
}

func (q *queue) stir() {
	select {
	case q.stirred <- struct{}{}:
	default:
	}
}

func (q *queue) put(d *delivery) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, d)
	q.stir()
}

// remove takes back a delivery, unless it is being stored.
func (q *queue) remove(d *delivery) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, d)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return i >= 0
}

// length is how many deliveries wait.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// next waits for deliveries that can be stored, and returns nil when ctx ends. One goroutine at a time calls it.
func (q *queue) next(ctx context.Context) []*delivery {
	for ctx.Err() == nil {
		if group := q.take(); group != nil {
			return group
		}
		select {
		case <-q.stirred:
		case <-ctx.Done():
		}
	}
	return nil
}

// take returns the deliveries of a transaction, the first that came first.
func (q *queue) take() []*delivery {
	q.mu.Lock()
	defer q.mu.Unlock()
	var group, left []*delivery
	size := 0
	for _, d := range q.waiting {
		if size >= groupBytes || len(group) == groupSize || slices.ContainsFunc(d.Messages, func(m service.NewMessage) bool { return q.storing[m.KeyID] }) {
			left = append(left, d)
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

// stored lets the next deliveries for the keys of a group go.
func (q *queue) stored(group []*delivery) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range group {
		for _, m := range d.Messages {
			delete(q.storing, m.KeyID)
		}
	}
	q.stir()
}
