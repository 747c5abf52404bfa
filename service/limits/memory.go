package limits

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"mayfly/service"
)

const (
	// SmallAnswer is the number of bytes up to which an answer is not counted. Most of it goes
	// straight into the socket's buffer, so that a slow reader ties up little memory here.
	SmallAnswer = 1 << 20
	// reserveTimeout is how long a request waits for memory.
	reserveTimeout = 10 * time.Second
)

// Memory bounds the memory for large answers, or for messages being received. No API key gets more
// than it leaves free, so that none can use up what others need. It is safe for concurrent use.
type Memory struct {
	limit int64 // bytes in all

	mu    sync.Mutex
	used  int64
	byKey map[string]int64 // bytes in use, by ID
	freed chan struct{}    // closed when some are freed; nil if nobody waits
}

// NewMemory returns a Memory limited to n bytes; 0 means 256 MiB.
func NewMemory(limit int64) *Memory {
	return &Memory{limit: cmp.Or(limit, 256<<20), byKey: make(map[string]int64)}
}

// Used returns how many bytes are in use.
func (m *Memory) Used() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// Acquire takes n bytes for a key until Release, or reports that they are not free.
func (m *Memory) Acquire(keyID string, n int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.take(keyID, n)
}

func (m *Memory) take(keyID string, n int64) bool {
	if m.byKey[keyID]+n > m.limit-m.used-n {
		return false
	}
	m.used += n
	m.byKey[keyID] += n
	return true
}

// Release frees n bytes of a key.
func (m *Memory) Release(keyID string, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= n
	if m.byKey[keyID] -= n; m.byKey[keyID] == 0 {
		delete(m.byKey, keyID)
	}
	if m.freed != nil {
		close(m.freed)
		m.freed = nil
	}
}

// Reserve waits until an answer of n bytes for the key may be made, but not for long. The caller
// releases it. Unavailable: there is no memory for it.
func (m *Memory) Reserve(ctx context.Context, keyID string, n int64) (release func(), err error) {
	if n <= SmallAnswer {
		return func() {}, nil
	}
	n = min(n, m.limit/2)
	ctx, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	for {
		freed := m.takeOrWait(keyID, n)
		if freed == nil {
			return func() { m.Release(keyID, n) }, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, &service.Error{Code: service.Unavailable, Message: "Too many large messages are being read", Err: errors.New("no memory left for large answers")}
		}
	}
}

// takeOrWait returns nil if the key now uses n bytes more, or else a channel to wait for.
func (m *Memory) takeOrWait(keyID string, n int64) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.take(keyID, n) {
		return nil
	}
	if m.freed == nil {
		m.freed = make(chan struct{})
	}
	return m.freed
}
