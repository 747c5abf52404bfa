package smtp

import (
	"math/bits"
	"sync"

	"mayfly/service/limits"
)

// Sizes of a connection's input buffer.
const (
	commandSize = 1 << 10
	bulkSize    = 32 << 10 // while it sends a message or a long line
)

var bulkBuffers = sync.Pool{New: func() any { b := make([]byte, bulkSize); return &b }}

// bodyPools are pools of message buffers of 16, 64, 256 and 1,024 KiB. Larger buffers are rare and
// left to the garbage collector.
var bodyPools [4]sync.Pool

// pooledSize returns the size of the buffers in pool i.
func pooledSize(i int) int { return 16 << 10 << (2 * i) }

// poolFor returns the pool with the smallest buffers that hold n octets, or -1.
func poolFor(n int) int {
	for i := range bodyPools {
		if n <= pooledSize(i) {
			return i
		}
	}
	return -1
}

// newBuffer returns an empty buffer with room for n octets. A buffer too large for the pools has
// room for more, but not beyond limit unless n is.
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

// maxBufferBytes returns how many octets the buffers of one message can have together: while it
// grows to the limit, there are two.
func maxBufferBytes(limit int64) int64 {
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

// body is a message being received, in a buffer that is counted to an API key.
type body struct {
	memory  *limits.Memory
	keyID   string
	limit   int64   // octets of a message
	buf     *[]byte // may be nil
	size    int64   // octets received, whether or not they are in buf
	refused reason  // octets are only counted; empty: they are kept
}

// reserve makes room for n octets in all, or refuses the message.
func (b *body) reserve(n int) bool {
	if b.buf != nil && n <= cap(*b.buf) {
		return true
	}
	next := newBuffer(n, b.limit)
	if !b.memory.Acquire(b.keyID, int64(cap(*next))) {
		recycle(next)
		b.refuse(busy)
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
	if b.size > b.limit {
		b.refuse(tooBig)
	}
	if b.refused == "" && b.reserve(int(b.size)) {
		*b.buf = append(*b.buf, p...)
	}
}

// refuse discards the message and all that follows of it. The first reason counts.
func (b *body) refuse(r reason) {
	if b.refused == "" {
		b.refused = r
		b.release()
	}
}

// bytes returns the message, valid until release.
func (b *body) bytes() []byte {
	if b.buf == nil {
		return nil
	}
	return *b.buf
}

// release frees the buffer.
func (b *body) release() {
	if b.buf != nil {
		b.memory.Release(b.keyID, int64(cap(*b.buf)))
		recycle(b.buf)
		b.buf = nil
	}
}

func recycle(buf *[]byte) {
	if pool := poolFor(cap(*buf)); pool >= 0 {
		bodyPools[pool].Put(buf)
	}
}
