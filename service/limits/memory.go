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

// LargeAnswers bounds the memory for large answers. No key gets more than it leaves free. So a key
// with slow readers delays only its own answers, and several of them only the largest of others. It is
// safe for concurrent use.
type LargeAnswers struct {
	limit int64 // bytes in all

	mu    sync.Mutex
	used  int64
	byKey map[string]int64 // bytes that keys use
	freed chan struct{}    // closed when some are freed; nil if nobody waits
}

// NewLargeAnswers returns a bound of so many bytes; 0 stands for 256 MiB.
func NewLargeAnswers(limit int64) *LargeAnswers {
	limit = cmp.Or(limit, 256<<20)
	return &LargeAnswers{limit: limit, byKey: make(map[string]int64)}
}

// acquire waits until an answer for the key may use n bytes, and returns what frees them.
func (l *LargeAnswers) acquire(ctx context.Context, keyID string, n int64) (release func(), err error) {
	n = min(n, l.limit/2)
	for {
		freed := l.take(keyID, n)
		if freed == nil {
			return func() { l.free(keyID, n) }, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take returns nil if the key now uses n bytes more, or else a channel to wait for.
func (l *LargeAnswers) take(keyID string, n int64) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byKey[keyID]+n > l.limit-l.used-n {
		if l.freed == nil {
			l.freed = make(chan struct{})
		}
		return l.freed
	}
	l.used += n
	l.byKey[keyID] += n
	return nil
}

func (l *LargeAnswers) free(keyID string, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used -= n
	if l.byKey[keyID] -= n; l.byKey[keyID] == 0 {
		delete(l.byKey, keyID)
	}
	if l.freed != nil {
		close(l.freed)
		l.freed = nil
	}
}

// Reserve waits until an answer of n bytes for the key may be made, but not for long. The caller
// releases it.
func (l *LargeAnswers) Reserve(ctx context.Context, keyID string, n int64) (release func(), err error) {
	if n <= SmallAnswer {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	if release, err = l.acquire(ctx, keyID, n); err != nil {
		return nil, &service.Error{Code: service.Unavailable, Message: "Too many large messages are being read", Err: errors.New("no memory left for large answers")}
	}
	return release, nil
}
