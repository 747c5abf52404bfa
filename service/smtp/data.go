package smtp

import (
	"bytes"
	"math/bits"
	"sync"

	"mayfly/service/limits"
)

// before is what precedes the next octet of a message.
type before uint8

const (
	lineStart before = iota // CRLF, or nothing yet
	bareLF
	bareCR // or a CR whose LF may still come
	inLine
)

// dotReader finds the end of a message sent with DATA, and undoes dot-stuffing. Only CRLF.CRLF ends
// the message. A lone dot between any other line breaks does not, but makes the message ambiguous.
type dotReader struct {
	before    before
	line      int  // octets of the current line so far
	longest   int  // octets of the longest line
	ambiguous bool // there was a lone dot between line breaks that are not both CRLF
}

// next consumes octets of p, passes those of the message to emit, and returns how many it consumed
// and whether the message is complete. It may leave up to two octets at the end of p, with which
// the next p has to start.
func (d *dotReader) next(p []byte, emit func([]byte)) (taken int, done bool) {
	start := 0 // of what is not emitted yet
	lf := -1   // index of the next LF; len(p) if there is none
	flush := func(end int) {
		if end > start {
			emit(p[start:end])
		}
		start = end
	}
	for i := 0; i < len(p); {
		if d.before != inLine && p[i] == '.' {
			if i+1 == len(p) {
				flush(i)
				return i, false
			}
			if follows := p[i+1]; follows == '\r' || follows == '\n' {
				if d.before == lineStart && follows == '\r' {
					if i+2 == len(p) {
						flush(i)
						return i, false
					}
					if p[i+2] == '\n' {
						flush(i)
						return i + 3, true
					}
				}
				d.ambiguous = true
			}
			if d.before == lineStart {
				flush(i)
				start = i + 1
			}
			d.before = inLine
			d.add(1)
			i++
			continue
		}
		if d.before == bareCR && p[i] == '\n' {
			d.line = 0
			d.before = lineStart
			i++
			continue
		}
		if lf < i {
			if lf = bytes.IndexByte(p[i:], '\n'); lf < 0 {
				lf = len(p)
			} else {
				lf += i
			}
		}
		i += d.skipLine(p[i:], lf-i)
	}
	flush(len(p))
	return len(p), false
}

// skipLine consumes a line and its line break, or what p has of it, but stops after a CR that no LF
// follows. lf is the index of the next LF, or len(p).
func (d *dotReader) skipLine(p []byte, lf int) (taken int) {
	cr := bytes.IndexByte(p[:lf], '\r')
	switch {
	case cr >= 0 && (cr < lf-1 || lf == len(p)):
		d.add(min(cr+1, len(p)-1)) // without one that may be the start of CRLF
		d.before = bareCR
		return cr + 1
	case lf == len(p):
		d.add(lf)
		d.before = inLine
		return lf
	case cr >= 0:
		d.add(cr)
		d.before = lineStart
	default:
		d.add(lf)
		d.before = bareLF
	}
	d.line = 0
	return lf + 1
}

func (d *dotReader) add(n int) {
	d.line += n
	d.longest = max(d.longest, d.line)
}

// A message's buffer has a power of two of octets, minBuffer at least, but not more than the limit of a message.
const minBuffer = 16 << 10

// bodyPools are the pools of buffers of 16 to 1,024 KiB. Larger ones are rare and left to the garbage collector.
var bodyPools [7]sync.Pool

// poolOf returns the pool of buffers of a size, or nil.
func poolOf(size int) *sync.Pool {
	if i := bits.Len(uint(size/minBuffer)) - 1; i >= 0 && i < len(bodyPools) && size == minBuffer<<i {
		return &bodyPools[i]
	}
	return nil
}

// newBuffer returns an empty buffer with room for n octets of a message, which has limit at most.
func newBuffer(n int, limit int64) *[]byte {
	size := int(min(int64(max(minBuffer, 1<<bits.Len(uint(n-1)))), limit))
	if pool := poolOf(size); pool != nil {
		if b, ok := pool.Get().(*[]byte); ok {
			*b = (*b)[:0]
			return b
		}
	}
	b := make([]byte, 0, size)
	return &b
}

// maxBufferBytes returns how many octets the buffers of one message can have together: while it
// grows to the limit, there are two.
func maxBufferBytes(limit int64) int64 {
	if limit <= minBuffer {
		return max(limit, 0)
	}
	return limit + 1<<(bits.Len64(uint64(limit-1))-1)
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
	if pool := poolOf(cap(*buf)); pool != nil {
		pool.Put(buf)
	}
}
