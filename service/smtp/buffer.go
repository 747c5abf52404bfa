package smtp

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

const (
	commandSize = 4 << 10  // of a connection's input buffer
	bulkSize    = 32 << 10 // of its input buffer while it sends a message or a long line
)

var bulkBuffers = sync.Pool{New: func() any { b := make([]byte, bulkSize); return &b }}

// A budget bounds the octets held by messages in flight.
type budget struct {
	limit int64
	used  atomic.Int64
	whole *budget // of which it is a part; nil: it is the whole
}

func (b *budget) take(n int) bool {
	if b.used.Add(int64(n)) <= b.limit && (b.whole == nil || b.whole.take(n)) {
		return true
	}
	b.used.Add(-int64(n))
	return false
}

func (b *budget) give(n int) {
	b.used.Add(-int64(n))
	if b.whole != nil {
		b.whole.give(n)
	}
}

// Message buffers of 16, 64, 256 and 1,024 KiB are pooled. Larger ones are rare and left to the collector.
var bodyPools [4]sync.Pool

// pooledSize is the size of the buffers in pool i.
func pooledSize(i int) int { return 16 << 10 << (2 * i) }

// poolFor is the pool with the smallest buffers for n octets, or -1.
func poolFor(n int) int {
	for i := range bodyPools {
		if n <= pooledSize(i) {
			return i
		}
	}
	return -1
}

// newBuffer returns an empty buffer with room for n octets; from limit on with no more room than that.
func newBuffer(n int, limit int64) *[]byte {
	pool := poolFor(n)
	if pool < 0 {
		size := max(n, int(min(1<<bits.Len(uint(n-1)), limit)))
		b := make([]byte, 0, size)
		return &b
	}
	if b, ok := bodyPools[pool].Get().(*[]byte); ok {
		*b = (*b)[:0]
		return b
	}
	b := make([]byte, 0, pooledSize(pool))
	return &b
}

// mostHeld is the most octets that buffers of one message have at a time: while it grows to the limit, in two of them.
func mostHeld(limit int64) int64 {
	if limit <= 0 {
		return 0
	}
	switch pool := poolFor(int(min(limit, 1<<30))); {
	case pool < 0:
		return limit + 1<<(bits.Len64(uint64(limit-1))-1)
	case pool == 0:
		return int64(pooledSize(0))
	default:
		return int64(pooledSize(pool) + pooledSize(pool-1))
	}
}

// A body is a message being received, in a buffer that is charged to a budget.
type body struct {
	budget  *budget
	limit   int64   // octets of a message
	buf     *[]byte // nil: nothing held
	size    int64   // octets received, held or not
	dropped bool    // what comes is only counted
	full    bool    // dropped since the budget was spent
}

// reserve makes room for n octets in all. When the budget is spent it drops the message.
func (b *body) reserve(n int) bool {
	if b.buf != nil && n <= cap(*b.buf) {
		return true
	}
	next := newBuffer(n, b.limit)
	if !b.budget.take(cap(*next)) {
		recycle(next)
		b.full = true
		b.drop()
		return false
	}
	if b.buf != nil {
		*next = append(*next, *b.buf...)
		b.release()
	}
	b.buf = next
	return true
}

// add appends p.
func (b *body) add(p []byte) {
	b.size += int64(len(p))
	if b.tooBig() {
		b.drop()
	}
	if b.dropped || !b.reserve(int(b.size)) {
		return
	}
	*b.buf = append(*b.buf, p...)
}

func (b *body) tooBig() bool { return b.size > b.limit }

// drop lets go of what is held, and of all that follows.
func (b *body) drop() {
	b.dropped = true
	b.release()
}

// bytes is the message, until release.
func (b *body) bytes() []byte {
	if b.buf == nil {
		return nil
	}
	return *b.buf
}

// release gives the buffer back.
func (b *body) release() {
	if b.buf != nil {
		b.budget.give(cap(*b.buf))
		recycle(b.buf)
		b.buf = nil
	}
}

func recycle(buf *[]byte) {
	if pool := poolFor(cap(*buf)); pool >= 0 {
		bodyPools[pool].Put(buf)
	}
}
