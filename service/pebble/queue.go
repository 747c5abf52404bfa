package pebble

import (
	"slices"
	"sync"
)

// op is one change. The committer calls prepare, which adds to the group, or returns an error and
// adds nothing.
type op struct {
	size      int // bytes of bodies
	prepare   func(*group) error
	preparing sync.Mutex // locked from leaving the queue until prepare has returned
	err       error      // of prepare
	done      chan error
}

// queue holds the changes that the committer has not taken yet.
type queue struct {
	mu     sync.Mutex
	ops    []*op
	first  int // index of the first that is not taken
	closed bool
	more   chan struct{} // has an element if an op may have arrived
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

// put adds a change, or returns false if the queue is closed.
func (q *queue) put(o *op) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	if q.first > 0 && len(q.ops) == cap(q.ops) {
		q.ops = slices.Delete(q.ops, 0, q.first)
		q.first = 0
	}
	q.ops = append(q.ops, o)
	select {
	case q.more <- struct{}{}:
	default:
	}
	return true
}

// take removes and returns the first op, with preparing locked, or nil.
func (q *queue) take() *op {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.first == len(q.ops) {
		q.ops, q.first = q.ops[:0], 0
		return nil
	}
	o := q.ops[q.first]
	q.ops[q.first] = nil
	q.first++
	o.preparing.Lock()
	return o
}

// withdraw removes o, or returns false if it was taken already.
func (q *queue) withdraw(o *op) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.ops[q.first:], o)
	if i < 0 {
		return false
	}
	q.ops = slices.Delete(q.ops, q.first+i, q.first+i+1)
	return true
}

// close closes the queue and returns what was not taken.
func (q *queue) close() []*op {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	left := q.ops[q.first:]
	q.ops, q.first = nil, 0
	return left
}
